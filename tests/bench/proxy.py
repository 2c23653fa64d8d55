# SPDX-License-Identifier: Apache-2.0
"""FTP through a pair of proxies over the paths of the TCP-QUIC proxy paper (docs/results/proxy.md).

    .venv/bin/python tests/bench/proxy.py --scenarios s1-1,s1-3 --sizes 512,1024 --transfers 4 --out out/proxy

As root, on a quiet machine. A row is one run, in which the transfers follow each other: the *first* finds
its tunnel new, the *later* ones find it idle. A run that is complete in --out is not made again; --table only
reads. Goodputs are of the file's bytes: whole ones from its first byte at the receiver to its last, without
the login before; *steady* those of the middle half of the bytes that arrived, without start and tail. They
are set against what the link carries at most (proxy_ceiling.py). What would take far too long is made once,
ends after --cap-s and counts with what arrived.
"""

from __future__ import annotations

import argparse
import json
import math
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
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import build

SCENARIOS = ("s1-1", "s1-2", "s1-3", "s1-4")
SIZES_MB = (512, 1024)
MARGIN = 1.3  # between the starts of two transfers, of what a full link needs
LOGIN_RTTS = 20  # ... and round trips
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


Name = tuple[str, int, str]  # scenario, size in MB and variant of a row


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

    def rows(self) -> Iterator[Name]:
        """Scenario, size and variant of every row of the table."""
        for scenario in self.scenarios:
            for size_mb in self.sizes_mb:
                for variant in self.variants:
                    yield scenario, size_mb, variant

    def directory(self, name: Name) -> Path:
        """Where a row's run leaves its results."""
        scenario, size_mb, variant = name
        return self.out / scenario / f"{size_mb}-MB" / variant

    def command(self, name: Name) -> list[str]:
        """What makes a row's run."""
        scenario, size_mb, variant = name
        chosen = VARIANTS[variant]
        settings = [f"flows.0.size={size_mb} MB", *chosen.settings]
        if chosen.is_capped:
            settings.append(f"duration={self.cap_s} s")
        else:
            apart_s = seconds_apart(scenario, size_mb)
            settings += [
                f"flows.0.count={self.transfers}",
                "flows.0.host-pairs=1",
                f"flows.0.stagger={apart_s} s",
                f"duration={self.transfers * apart_s} s",
            ]
        command = [sys.executable, "-m", "clarion", "run", scenario]
        for setting in (*settings, *self.settings):
            command += ["--set", setting]
        return [*command, "--out", str(self.directory(name))]


def seconds_apart(scenario: str, size_mb: int) -> int:
    """Time from the start of a transfer to that of the next, which should find the tunnel idle."""
    document = documents.points(scenario, documents.read(documents.locate(scenario)))[0].document
    model = build(scenario, document)
    flow = model.flows[0]
    full_link_s = 8e6 * size_mb / model.narrowest_bps(flow)
    return math.ceil(MARGIN * full_link_s + LOGIN_RTTS * model.path_rtt_us(flow) / 1e6)


@dataclass(frozen=True)
class Transfer:
    """The figures of one."""

    whole_share: float  # of the ceiling that survives
    steady_share: float
    whole_mbps: float
    arrived_mb: float
    first_byte_s: float
    is_intact: bool  # all has arrived, and is what was sent
    overlaps: bool  # it was going on when the next began


@dataclass(frozen=True)
class Series:
    """The transfers of one run, in order, and what they have in common."""

    transfers: Sequence[Transfer]
    ceiling_mbps: float  # that survives
    client_cpu_s_per_gbyte: float | None
    server_cpu_s_per_gbyte: float | None
    queue_losses: int  # packets, of both directions
    machine_drops: int  # packets that no path has lost
    late_s: float | None  # that the machine kept the switch waiting


def read(directory: Path, header: str | None) -> Series | None:
    """That of a run; None if it is not complete."""
    summary = complete(directory)
    if summary is None:
        return None
    ceiling_mbps = surviving_ceiling_bps(summary, header) / 1e6
    table = files.read_table(directory / files.FLOWS)
    sides = summary["totals"]["proxy"]
    return Series(
        [
            transfer(summary, table, number, ceiling_mbps)
            for number, flow in enumerate(summary["flows"])
            if flow["application"]["first_byte_s"] is not None
        ],
        ceiling_mbps,
        sides and sides["client"]["cpu_s_per_gbyte"],
        sides and sides["server"]["cpu_s_per_gbyte"],
        sum(port["drop_packets"] for port in summary["ports"]),
        summary["totals"]["unasked_drop_packets"],
        summary["sampler"]["late_s"],
    )


def transfer(summary: dict[str, Any], table: dict[str, Any], number: int, ceiling_mbps: float) -> Transfer:
    """The figures of a run's flow."""
    flows = summary["flows"]
    moved = flows[number]["application"]
    times_s, arrived = growth(summary, table, number)
    whole_mbps = 8e-6 * arrived[-1] / (times_s[-1] - times_s[0])
    return Transfer(
        whole_share=whole_mbps / ceiling_mbps,
        steady_share=8e-6 * steady_rate(times_s, arrived) / ceiling_mbps,
        whole_mbps=whole_mbps,
        arrived_mb=arrived[-1] / 1e6,
        first_byte_s=moved["first_byte_s"],
        is_intact=moved["checksum_equal"] is True,
        overlaps=number + 1 < len(flows) and bool(times_s[-1] > flows[number + 1]["start_s"]),
    )


def growth(summary: dict[str, Any], table: dict[str, Any], number: int) -> tuple[Any, Any]:
    """Instants in s, from the file's first byte to its last or the run's end, and the bytes by then."""
    moved, start_s = summary["flows"][number]["application"], summary["flows"][number]["start_s"]
    first_s = start_s + moved["first_byte_s"]
    last_s = summary["measured_s"][1] if moved["last_byte_s"] is None else start_s + moved["last_byte_s"]
    is_inside = (
        (table["flow"] == number) & (table["time_us"] > first_s * 1e6) & (table["time_us"] < last_s * 1e6)
    )
    times_s = np.concatenate(([first_s], table["time_us"][is_inside] / 1e6, [last_s]))
    return times_s, np.concatenate(([0], table["received_bytes"][is_inside], [moved["received_bytes"]]))


def steady_rate(times_s: Any, arrived: Any) -> float:
    """Bytes per second between the instants when the shares STEADY of the bytes had arrived."""
    begin, end = (share * arrived[-1] for share in STEADY)
    begin_s, end_s = np.interp((begin, end), arrived, times_s)
    return float((end - begin) / (end_s - begin_s))


def row(name: Name, found: Series | None) -> list[str]:
    """A row of the table: means of the transfers."""
    scenario, size_mb, variant = name
    cells = [f"{scenario}, {size_mb} MB, {variant}"]
    if found is None or not found.transfers:
        return [*cells, *[text_table.MISSING] * (len(HEADS) - 1)]
    everything = found.transfers
    first, later = everything[:1], everything[1:]
    return [
        *cells,
        spread([each.whole_mbps for each in first], 1),
        spread([100 * each.whole_share for each in first], 1),
        spread([each.whole_mbps for each in later], 1),
        spread([100 * each.whole_share for each in later], 1),
        spread([100 * each.steady_share for each in everything], 1),
        spread([each.first_byte_s for each in everything], 2),
        spread([found.client_cpu_s_per_gbyte], 1),
        spread([found.server_cpu_s_per_gbyte], 1),
        str(found.queue_losses),
        spread([each.arrived_mb for each in everything], 0),
        f"{sum(each.is_intact for each in everything)} of {len(everything)}",
    ]


HEADS = (
    "path, file, carried by",
    "first, Mbit/s",
    "first, % of ceiling",
    "later, Mbit/s",
    "later, % of ceiling",
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


def make(plan: Plan, name: Name) -> bool:
    """Makes a row's run; False, with its message, if that failed."""
    done = subprocess.run(plan.command(name), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"proxy: {name}: {done.stderr.strip()[-300:]}", file=sys.stderr)
    return done.returncode == 0


def make_missing(plan: Plan) -> bool:
    """Makes the runs that are not complete; whether all are now."""
    missing = [name for name in plan.rows() if complete(plan.directory(name)) is None]
    failed = 0
    for index, name in enumerate(missing, 1):
        print(f"proxy: {index} of {len(missing)}: {name}", file=sys.stderr, flush=True)
        failed += not make(plan, name)
    return not failed


def found_by_row(plan: Plan) -> dict[Name, Series | None]:
    """What is complete."""
    return {name: read(plan.directory(name), VARIANTS[name[2]].header) for name in plan.rows()}


def doubts(found: Series) -> Iterator[str]:
    """Why a run is not to be believed."""
    if found.machine_drops:
        yield "the machine itself has lost packets"
    if any(each.overlaps for each in found.transfers):
        yield "a transfer had not ended when the next began"
    if found.late_s and found.late_s >= 0.1:
        yield f"the machine kept the switch waiting, for {found.late_s:.1f} s in all"


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
        "--transfers", type=int, default=4, metavar="N", help="one after the other (default 4)"
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
    found = found_by_row(plan)
    print(text_table.markdown([row(name, series) for name, series in found.items()], HEADS))
    present = {name: series for name, series in found.items() if series is not None}
    for name, series in present.items():
        for doubt in doubts(series):
            print(f"proxy: {name}: {doubt}", file=sys.stderr)
    if given.json is not None:
        document = [
            {"scenario": name[0], "size_mb": name[1], "variant": name[2], **asdict(series)}
            for name, series in present.items()
        ]
        given.json.write_text(json.dumps(document, indent=1) + "\n")
    return 0 if is_whole else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
