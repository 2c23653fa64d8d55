# SPDX-License-Identifier: Apache-2.0
"""Benchmark of the simulator: packets per second of processor time, memory, and how long a long run takes.

    python -m tests.bench.bench_sim [--json FILE] [--runs 5]

Packets are those that the bottleneck carries, data and ACKs counted once each; processor time and memory are
those of the whole process, its start included. Where ns-3 is installed (pkg-config ns3-internet), the path of
three CUBIC flows runs there, too, for at most NS3_LIMIT_S of processor time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.figures import parser, summary, text, write
from clarion_base import paths
from clarion_lab.engines.simulation import PROGRAM, simulation_config
from clarion_lab.scenario.documents import locate, parse_assignment, points, read
from clarion_lab.scenario.model import build
from clarion_lab.scenario.topology import plan

HERE = Path(__file__).resolve().parent
NS3_MODULES = ("core", "network", "internet", "point-to-point", "applications")
NS3_LIMIT_S = 60
NS3_VIRTUAL_S = 20
FLOWS = "3 CUBIC flows, 1 Gbit/s x 100 ms"


@dataclass(frozen=True)
class Case:
    """A path to be simulated, and its goal: packets/s of processor time, seconds of it, or GiB at most."""

    name: str
    settings: tuple[str, ...]
    figure: str
    goal: tuple[str, float] | None = None


def path(rate: str, rtt: str, flows: str, seconds: float) -> tuple[str, ...]:
    """One bottleneck with a queue of one bandwidth-delay product; the access hops take 1 ms each way."""
    return (
        f"links={{access: {{rtt: 1 ms}}, bottleneck: {{rate: {rate}, rtt: {rtt}, queue: 1 bdp}}}}",
        f"flows=[{flows}]",
        f"duration={seconds} s",
        "measure-from=0 s",
    )


CASES = (
    Case(
        "3 XCP flows, 1 Gbit/s x 100 ms",
        path("1 Gbit/s", "98 ms", "{count: 3}", 60),
        "packets_per_s",
        ("at least", 2.0),
    ),
    Case(
        FLOWS,
        ("algorithm=cubic", *path("1 Gbit/s", "98 ms", "{count: 3}", 60)),
        "packets_per_s",
    ),
    Case(
        "10,000 XCP flows, 10 Gbit/s x 100 ms",
        path("10 Gbit/s", "98 ms", "{count: 10000, host-pairs: 200}", 10),
        "packets_per_s",
        ("at least", 1.0),
    ),
    Case(
        "3 XCP flows, 622 Mbit/s x 512 ms, 1200 s",
        path("622 Mbit/s", "510 ms", "{count: 3}", 1200),
        "processor_s",
        ("at most", 120),
    ),
    Case(
        "100,000 XCP flows, 100 Gbit/s x 100 ms, 3 s",
        path("100 Gbit/s", "98 ms", "{count: 100000, host-pairs: 200}", 3),
        "peak_bytes",
        ("at most", 8),
    ),
)
SCALES = {"packets_per_s": (1e-6, "M/s"), "processor_s": (1.0, "s"), "peak_bytes": (2.0**-30, "GiB")}


def simulate(case: Case, directory: Path) -> dict[str, float]:
    """One run of the simulator."""
    document = points("geo", read(locate("geo")), [parse_assignment(each) for each in case.settings])[
        0
    ].document
    scenario = build("geo", document)
    config = directory / "simulation.json"
    settings = {**simulation_config(scenario, plan(scenario), directory), "sample_us": scenario.duration_us}
    config.write_text(json.dumps(settings))
    with subprocess.Popen(
        [paths.binary(PROGRAM), "--config", str(config)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"bench_sim: {PROGRAM} ended with status {process.returncode}")
    ports = json.loads(lines[-2])["ports"]
    packets = sum(port[2] for port in ports if port[0] in ("s1-right", "s2-left"))
    processor_s = usage.ru_utime + usage.ru_stime
    return {
        "packets_per_s": packets / processor_s,
        "processor_s": processor_s,
        "peak_bytes": usage.ru_maxrss * 1024,
        "packets": packets,
    }


def ns3_flags() -> list[str] | None:
    """What the compiler needs for ns-3; None: it is not installed."""
    command = ["pkg-config", "--cflags", "--libs", *(f"ns3-{module}" for module in NS3_MODULES)]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return found.stdout.split() if found.returncode == 0 else None


def ns3(flags: list[str], directory: Path) -> dict[str, float]:
    """The path of FLOWS in ns-3."""
    program = directory / "ns3-dumbbell"
    source = str(HERE / "ns3_dumbbell.cpp")
    if not program.exists():
        subprocess.run(["c++", "-O2", "-std=c++17", source, "-o", str(program), *flags], check=True)
    command = [str(program), "3", str(NS3_VIRTUAL_S), str(NS3_LIMIT_S)]
    measured = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return {**measured, "packets_per_s": measured["packets"] / measured["processor_s"]}


def main() -> int:
    """Prints medians; the JSON has every run."""
    given = parser(__doc__, 5).parse_args()
    results: dict[str, object] = {}
    medians: dict[str, float] = {}
    print(f"simulator, median of {given.runs} runs (least .. most)")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for case in CASES:
            runs = [simulate(case, directory) for _ in range(given.runs)]
            results[case.name] = runs
            figures = summary(runs)
            medians[case.name] = figures["packets_per_s"]["median"]
            scale, unit = SCALES[case.figure]
            print(text(case.name, figures[case.figure], scale, unit, case.goal), flush=True)
        flags = ns3_flags()
        if flags is None:
            print("  ns-3: not installed, not compared")
        else:
            runs = [ns3(flags, directory)]
            results["ns-3"] = runs
            figures = summary(runs)
            print(text(f"ns-3, {FLOWS}, one run", figures["packets_per_s"], 1e-6, "M/s"))
            ratio = medians[FLOWS] / figures["packets_per_s"]["median"]
            print(f"  the simulator carries {ratio:.0f} times the packets of ns-3 in the same processor time")
    write(given.json, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
