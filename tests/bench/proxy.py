# SPDX-License-Identifier: Apache-2.0
"""FTP through a pair of proxies over the paths of the TCP-QUIC proxy paper (docs/results/proxy.md).

    .venv/bin/python tests/bench/proxy.py --scenarios s1-1,s1-3 --sizes 512,1024 --transfers 4 --out out/proxy

As root, on a quiet machine. A transfer that is complete in --out is not made again, and one of each row is
made after the other, so that any stop leaves a whole table; --table only reads. Goodputs are of the file's
bytes: *whole* from its first byte at the receiver to its last, without the login before; *steady* those of
the middle half of the bytes that arrived, without start and tail. Both are set against what the link
carries at most (proxy_ceiling.py). Transfers that would take far too long end after --cap-s and count with
what arrived.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from bench.proxy_ceiling import surviving_ceiling_bps
from bench.series import complete
from clarion_base import text_table
from clarion_base.errors import UserError
from clarion_lab.recording import files

SCENARIOS = ("s1-1", "s1-2", "s1-3", "s1-4")
SIZES_MB = (512, 1024)
STEADY = (0.25, 0.75)  # of the bytes

PLAIN_SWITCHES = ("xcp.enabled=false", "tagging=false")


@dataclass(frozen=True)
class Variant:
    """How the file is carried."""

    settings: tuple[str, ...]
    header: str | None  # on QUIC's full-size packets; None: TCP from end to end
    is_capped: bool = False  # takes far too long otherwise


VARIANTS = {
    "boost": Variant(("proxy.law=boost",), "TAG"),
    "boost-judged": Variant(
        (
            "proxy.law=boost",
            "proxy.header=off",
            "proxy.set.boost_loss=2",
            "xcp.enabled=false",
            "tagging=false",
        ),
        "none",
    ),
    "xcp": Variant(("proxy.law=xcp",), "DATA"),
    "cubic": Variant(("proxy.law=cubic", "proxy.header=off"), "none", is_capped=True),
    "tcp": Variant(("proxy.law=none",), None, is_capped=True),
}


@dataclass(frozen=True)
class Plan:
    """Which transfers there are, and where."""

    scenarios: Sequence[str]
    sizes_mb: Sequence[int]
    variants: Sequence[str]
    transfers: int
    cap_s: int
    settings: Sequence[str]
    out: Path

    def rows(self) -> Iterator[tuple[str, int, str]]:
        """Scenario, size and variant of every row of the table."""
        for scenario in self.scenarios:
            for size_mb in self.sizes_mb:
                for variant in self.variants:
                    yield scenario, size_mb, variant

    def directory(self, scenario: str, size_mb: int, variant: str, seed: int) -> Path:
        """Where a transfer leaves its results."""
        return self.out / scenario / f"{size_mb}-MB" / variant / f"seed-{seed}"

    def command(self, scenario: str, size_mb: int, variant: str, seed: int) -> list[str]:
        """What makes a transfer."""
        chosen = VARIANTS[variant]
        settings = [f"flows.0.size={size_mb} MB", *chosen.settings]
        if chosen.is_capped:
            settings.append(f"duration={self.cap_s} s")
        command = [sys.executable, "-m", "clarion", "run", scenario, "--seed", str(seed)]
        for setting in (*settings, *self.settings):
            command += ["--set", setting]
        return [*command, "--out", str(self.directory(scenario, size_mb, variant, seed))]


@dataclass(frozen=True)
class Transfer:
    """The figures of one."""

    whole_mbps: float
    steady_mbps: float
    ceiling_mbps: float  # that survives
    arrived_mb: float
    first_byte_s: float
    client_cpu_s_per_gbyte: float | None
    server_cpu_s_per_gbyte: float | None
    queue_losses: float  # packets, of both directions
    machine_drops: float  # packets that no path has lost
    is_intact: bool  # all has arrived, and is what was sent


def read(directory: Path, header: str | None) -> Transfer | None:
    """That of a run; None if it is not complete, or nothing arrived."""
    summary = complete(directory)
    if summary is None:
        return None
    moved = summary["flows"][0]["application"]
    if moved["first_byte_s"] is None:
        return None
    times_s, arrived = growth(directory, summary)
    sides = summary["totals"]["proxy"]
    return Transfer(
        whole_mbps=8e-6 * arrived[-1] / (times_s[-1] - times_s[0]),
        steady_mbps=8e-6 * steady_rate(times_s, arrived),
        ceiling_mbps=surviving_ceiling_bps(summary, header) / 1e6,
        arrived_mb=arrived[-1] / 1e6,
        first_byte_s=moved["first_byte_s"],
        client_cpu_s_per_gbyte=sides and sides["client"]["cpu_s_per_gbyte"],
        server_cpu_s_per_gbyte=sides and sides["server"]["cpu_s_per_gbyte"],
        queue_losses=sum(port["drop_packets"] for port in summary["ports"]),
        machine_drops=summary["totals"]["unasked_drop_packets"],
        is_intact=moved["checksum_equal"] is True,
    )


def growth(directory: Path, summary: dict[str, Any]) -> tuple[Any, Any]:
    """Instants in s, from the file's first byte to its last or the run's end, and the bytes by then."""
    moved, start_s = summary["flows"][0]["application"], summary["flows"][0]["start_s"]
    table = files.read_table(directory / files.FLOWS)
    first_s = start_s + moved["first_byte_s"]
    last_s = summary["measured_s"][1] if moved["last_byte_s"] is None else start_s + moved["last_byte_s"]
    is_inside = (table["time_us"] > first_s * 1e6) & (table["time_us"] < last_s * 1e6)
    times_s = np.concatenate(([first_s], table["time_us"][is_inside] / 1e6, [last_s]))
    return times_s, np.concatenate(([0], table["received_bytes"][is_inside], [moved["received_bytes"]]))


def steady_rate(times_s: Any, arrived: Any) -> float:
    """Bytes per second between the instants when the shares STEADY of the bytes had arrived."""
    begin, end = (share * arrived[-1] for share in STEADY)
    begin_s, end_s = np.interp((begin, end), arrived, times_s)
    return float((end - begin) / (end_s - begin_s))


def row(name: tuple[str, int, str], found: Sequence[Transfer]) -> list[str]:
    """A row of the table: means of the transfers."""
    scenario, size_mb, variant = name
    cells = [f"{scenario}, {size_mb} MB, {variant}", str(len(found))]
    if not found:
        return [*cells, *[text_table.MISSING] * (len(HEADS) - 2)]
    shares = ([100 * each.whole_mbps / each.ceiling_mbps for each in found],
              [100 * each.steady_mbps / each.ceiling_mbps for each in found])  # fmt: skip
    return [
        *cells,
        spread([each.whole_mbps for each in found], 1),
        *(spread(each, 1) for each in shares),
        spread([each.first_byte_s for each in found], 2),
        spread([each.client_cpu_s_per_gbyte for each in found], 1),
        spread([each.server_cpu_s_per_gbyte for each in found], 1),
        spread([each.queue_losses for each in found], 0),
        spread([each.arrived_mb for each in found], 0),
        str(sum(each.is_intact for each in found)),
    ]


HEADS = (
    "path, file, carried by",
    "transfers",
    "whole, Mbit/s",
    "% of ceiling",
    "steady, % of ceiling",
    "first byte, s",
    "client, CPU s/GB",
    "server, CPU s/GB",
    "lost in queues",
    "arrived, MB",
    "complete, checksum equal",
)


def spread(values: Sequence[float | None], digits: int) -> str:
    """The mean, and the least and the most where there are several."""
    known = [value for value in values if value is not None]
    if not known:
        return text_table.MISSING
    middle, least, most = (f"{each:.{digits}f}" for each in (statistics.fmean(known), min(known), max(known)))
    return middle if len(known) == 1 else f"{middle} ({least} to {most})"


def make(plan: Plan, name: tuple[str, int, str], seed: int) -> bool:
    """Makes one transfer; False, with its message, if that failed."""
    done = subprocess.run(plan.command(*name, seed), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"proxy: {name}, seed {seed}: {done.stderr.strip()[-300:]}", file=sys.stderr)
    return done.returncode == 0


def make_missing(plan: Plan) -> bool:
    """Makes the transfers that are not complete, one of each row after the other; whether all are now."""
    missing = [
        (name, seed)
        for seed in range(1, plan.transfers + 1)
        for name in plan.rows()
        if complete(plan.directory(*name, seed)) is None
    ]
    failed = 0
    for index, (name, seed) in enumerate(missing, 1):
        print(f"proxy: {index} of {len(missing)}: {name}, seed {seed}", file=sys.stderr, flush=True)
        failed += not make(plan, name, seed)
    return not failed


def transfers(plan: Plan) -> dict[tuple[str, int, str], list[Transfer]]:
    """What is complete, by row."""
    found = {}
    for name in plan.rows():
        runs = (
            read(plan.directory(*name, seed), VARIANTS[name[2]].header)
            for seed in range(1, plan.transfers + 1)
        )
        found[name] = [each for each in runs if each is not None]
    return found


def parse(arguments: Sequence[str]) -> tuple[Plan, argparse.Namespace]:
    """The options; UserError for a name that is not known."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenarios", default=",".join(SCENARIOS), metavar="A,B,...")
    parser.add_argument(
        "--sizes", default=",".join(map(str, SIZES_MB)), metavar="MB,MB,...", help="in 10^6 bytes"
    )
    parser.add_argument("--variants", default=",".join(VARIANTS), metavar="A,B,...")
    parser.add_argument(
        "--transfers", type=int, default=4, metavar="N", help="of each, seeds 1 to N (default 4)"
    )
    parser.add_argument("--cap-s", type=int, default=60, help="of what is far slower (default 60)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as of clarion run")
    parser.add_argument("--out", type=Path, default=Path("out/proxy"), metavar="DIR")
    parser.add_argument("--table", action="store_true", help="only read what is there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures of every transfer")
    given = parser.parse_args(arguments)
    variants = known(given.variants.split(","), VARIANTS, "--variants")
    scenarios = known(given.scenarios.split(","), SCENARIOS, "--scenarios")
    sizes = [int(size) for size in given.sizes.split(",") if size.isdigit()]
    if not sizes or len(sizes) != len(given.sizes.split(",")):
        raise UserError(f"--sizes {given.sizes}: not a list of whole numbers of MB; use 512,1024")
    if given.transfers < 1:
        raise UserError(f"--transfers {given.transfers}: must be at least 1")
    plan = Plan(scenarios, sizes, variants, given.transfers, given.cap_s, given.set, given.out)
    return plan, given


def known(names: Sequence[str], all_names: Sequence[str] | dict[str, Variant], option: str) -> list[str]:
    """The names of a list; UserError for one that there is not."""
    for name in names:
        if name not in all_names:
            raise UserError(f"{option} {name}: unknown; use {', '.join(all_names)}")
    return list(names)


def main(arguments: Sequence[str]) -> int:
    """Makes what is missing and prints the table; 1 if a transfer failed."""
    try:
        plan, given = parse(arguments)
    except UserError as error:
        print(f"proxy: {error}", file=sys.stderr)
        return 2
    is_whole = given.table or make_missing(plan)
    found = transfers(plan)
    print(text_table.markdown([row(name, each) for name, each in found.items()], HEADS))
    for name, each in found.items():
        if any(transfer.machine_drops for transfer in each):
            print(f"proxy: {name}: the machine itself has lost packets", file=sys.stderr)
    if given.json is not None:
        document = [
            {"scenario": name[0], "size_mb": name[1], "variant": name[2], **asdict(transfer)}
            for name, each in found.items()
            for transfer in each
        ]
        given.json.write_text(json.dumps(document, indent=1) + "\n")
    return 0 if is_whole else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
