# SPDX-License-Identifier: Apache-2.0
"""Benchmark of BMv2 with the P4 program beside the embedded switch: packets/s through one port.

    python -m tests.bench.bench_p4 [--json FILE] [--runs 5]      (root)

Ceiling: the highest rate that the switch carries in a ramp of constant rates, each 5 % above the one
before. A rate counts as carried if, after one second of it, at most 1 % of that second's frames are missing
at the far device, lost or in flight; a source that takes longer has not offered the rate. A failed rate is
tried once more, because a virtual machine stalls now and then; a second failure ends the ramp. The ramp
rises, and starts with a new process, because BMv2 stays slower after a long queue until it is restarted.

The switches take turns, so that disturbances of the machine affect all of them. BMv2 runs with either
generation of XCP. `l2` is a program of one
table, for the cost of BMv2 itself; it is left out without p4c. Processor time is that of all threads of the
switch's process, at the ceiling; it includes the kernel's work to send a frame, up to the far device's
receive path, but not the source's, which ends in the switch's receive ring. The source has a higher
priority than the switch, which requests real-time priority itself. `source` is the highest rate that can be
offered, without a switch.

Everything runs in an unnamed network namespace, which disappears with this process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import forwarders
from bench.figures import Json, need_root, parser, summary, text, write
from bench.packet_source import FRAME_BYTES, Source
from clarion_base.errors import RunFailedError, UserError
from clarion_lab.machine import bmv2_installation
from clarion_lab.machine.state import RunState

NEAR, FAR = "bench-near", "bench-far"  # the source's device and the one that counts
FIRST_PER_S = {"bmv2": 12_000, "bmv2_2": 12_000, "l2": 40_000, "embedded": 200_000}  # where the ramps begin
LEAST_PER_S = 500
STEP = 1.05
STEP_S = 1.0
TOLERANCE = 0.01  # of a step: frames that may be missing, time that the source may be late
GENERATIONS = {1: "bmv2", 2: "bmv2_2"}  # of XCP, and the switch that has it
TIME_GOAL = ("at most", 2.5)  # times the processor time per packet of l2.p4
SOURCE_BATCH = 512
SOURCE_S = 1.0
SOURCE_PRIORITY = 2  # the switches have 1
OWN_NAMESPACE = ["unshare", "--net", "--mount", "sh", "-c", 'mount -t sysfs sysfs /sys && exec "$@"', "sh"]

Forwarder = Callable[[RunState, Path], AbstractContextManager[int]]


class Counter:
    """Frames received by a device."""

    def __init__(self, device: str) -> None:
        self._file = os.open(f"/sys/class/net/{device}/statistics/rx_packets", os.O_RDONLY)

    def __call__(self) -> int:
        return int(os.pread(self._file, 32, 0))

    def __enter__(self) -> Counter:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


def make_devices() -> None:
    """Two veth pairs, near - port 1 and port 2 - far; the kernel itself sends nothing on them."""
    for name in ("all", "default"):
        Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
    commands = ["link set lo up"]
    for outer, inner in ((NEAR, forwarders.PORTS[1]), (FAR, forwarders.PORTS[2])):
        commands += [f"link add {inner} type veth peer name {outer}", f"link set {inner} up"]
        commands += [f"link set {outer} up"]
    for command in commands:
        subprocess.run(["ip", *command.split()], check=True)


def processor_ns(pid: int) -> int:
    """Processor time of all threads of a process."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)


class Ramp:
    """Offers rising rates to a switch; its figures are those of the last rate carried."""

    def __init__(self, source: Source, pid: int) -> None:
        self._source = source
        self._pid = pid
        self.figures: dict[str, float] = {}

    def carried(self, rate: float) -> bool:
        """Offers a rate; true if it was carried, with its processor time in `figures`."""
        self._source.settle()
        before, begun, used_ns = self._source.missing, self._source.delivered, processor_ns(self._pid)
        spent_s = self._source.offer(rate, STEP_S)
        missing, come = self._source.missing - before, self._source.delivered - begun
        used_ns = processor_ns(self._pid) - used_ns
        late = spent_s > STEP_S * (1 + TOLERANCE)
        if late or missing > TOLERANCE * rate * STEP_S:
            self.figures["ended_by_source"] = float(late)
            return False
        us_per_packet = used_ns / 1000 / come
        self.figures = {
            "packets_per_s": rate,
            "us_per_packet": us_per_packet,
            "processors": used_ns / 1e9 / spent_s,
        }
        return True

    def climb(self, rate: float) -> bool:
        """Raises the rate from this one to the ceiling; false if the first rate is not carried."""
        while self.carried(rate) or self.carried(rate):
            rate *= STEP
        return "packets_per_s" in self.figures


def measure(forwarder: Forwarder, rate: float, state: RunState, directory: Path) -> dict[str, float]:
    """One ramp on a new process; starts again at half the rate while the first rate is not carried."""
    with Counter(FAR) as counter, forwarder(state, directory) as pid, Source(NEAR, counter) as source:
        ramp = Ramp(source, pid)
        with ahead_of_switches():
            done = ramp.climb(rate)
    if done:
        return ramp.figures
    if rate < LEAST_PER_S:
        raise RunFailedError(f"{rate:.0f} packets/s are not carried; does the switch forward at all?")
    return measure(forwarder, rate / 2, state, directory)


@contextmanager
def ahead_of_switches() -> Iterator[None]:
    """The calling thread has a higher priority than the switches."""
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(SOURCE_PRIORITY))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def measure_source() -> dict[str, float]:
    """The source's highest rate, without a receiver and without other load."""
    with Counter(FAR) as counter, Source(NEAR, counter) as source, ahead_of_switches():
        begun_s = time.monotonic()
        while time.monotonic() < begun_s + SOURCE_S:
            source.send(SOURCE_BATCH)
        rate = source.sent / (time.monotonic() - begun_s)
    return {"packets_per_s": rate}


def measure_all(count: int, directory: Path) -> Json:
    """All runs, in turn."""
    makers: dict[str, Forwarder] = {
        name: partial(forwarders.bmv2, program=partial(forwarders.clarion_program, generation=generation))
        for generation, name in GENERATIONS.items()
    }
    makers["embedded"] = forwarders.embedded
    if forwarders.l2_can_be_compiled():
        makers["l2"] = partial(forwarders.bmv2, program=forwarders.l2_program(directory))
    load = os.getloadavg()[0]
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in (*makers, "source")}
    with RunState() as state:
        for _ in range(count):
            for name, forwarder in makers.items():
                runs[name].append(measure(forwarder, FIRST_PER_S[name], state, directory))
            runs["source"].append(measure_source())
    return {
        "runs": count,
        "frame_bytes": FRAME_BYTES,
        "processors": os.cpu_count(),
        "load_before": load,
        **{name: summary(results) for name, results in runs.items()},
        "ratios": summary(ratios(runs)),
        "time_ratios": summary(time_ratios(runs)),
    }


def ratios(runs: dict[str, list[dict[str, float]]]) -> list[dict[str, float]]:
    """Per repeat, the ceilings of the others relative to BMv2's with the P4 program."""
    return [
        {
            f"{name}_to_bmv2": run[name]["packets_per_s"] / run["bmv2"]["packets_per_s"]
            for name in run
            if name not in ("bmv2", "source")
        }
        for run in (dict(zip(runs, repeat, strict=True)) for repeat in zip(*runs.values(), strict=True))
    ]


def time_ratios(runs: dict[str, list[dict[str, float]]]) -> list[dict[str, float]]:
    """Per repeat, BMv2's processor time per packet with the P4 program relative to that of BMv2 itself."""
    if "l2" not in runs:
        return [{}]
    return [
        {
            f"{name}_to_l2": runs[name][number]["us_per_packet"] / l2["us_per_packet"]
            for name in GENERATIONS.values()
        }
        for number, l2 in enumerate(runs["l2"])
    ]


TITLES = {
    "bmv2": "BMv2, clarion.p4",
    "bmv2_2": "BMv2, clarion.p4, generation 2",
    "l2": "BMv2, l2.p4",
    "embedded": "embedded switch",
}


def report(result: Json) -> None:
    """Prints the table."""
    print(f"{FRAME_BYTES}-byte DATA frames through one port, median of {result['runs']} runs (least .. most)")
    for name, title in TITLES.items():
        if name in result:
            figures = result[name]
            print(text(f"{title}: ceiling", figures["packets_per_s"], 1e-3, "kpps"))
            print(text("  processor time per packet", figures["us_per_packet"], 1, "us"))
            print(text("  processors used", figures["processors"], 1, ""))
            print(text("  ramp ended by the source", figures["ended_by_source"], 1, ""))
    print(text("source without a switch", result["source"]["packets_per_s"], 1e-3, "kpps"))
    for name, figure in result["ratios"].items():
        print(text(f"{TITLES[name.removesuffix('_to_bmv2')]} / BMv2, clarion.p4", figure, 1, ""))

    for name, figure in result["time_ratios"].items():
        title = f"processor time, {TITLES[name.removesuffix('_to_l2')]} / {TITLES['l2']}"
        print(text(title, figure, 1, "", TIME_GOAL))


def main() -> int:
    """Prints the table; writes the JSON."""
    options = parser("packets/s of BMv2 and of clarion-switch", 5)
    options.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)  # the namespace is made
    given = options.parse_args()
    if fault := bmv2_installation.fault():
        print(f"bench_p4: skipped: {bmv2_installation.PROGRAM}: {fault}")
        return 0
    need_root("bench_p4")
    if not given.inside:
        os.execvp(OWN_NAMESPACE[0], [*OWN_NAMESPACE, sys.executable, *sys.argv, "--inside"])
    make_devices()
    try:
        with tempfile.TemporaryDirectory() as directory:
            result = measure_all(given.runs, Path(directory))
    except UserError as error:
        print(f"bench_p4: {error}", file=sys.stderr)
        return 1
    report(result)
    write(given.json, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
