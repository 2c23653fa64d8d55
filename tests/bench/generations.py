# SPDX-License-Identifier: Apache-2.0
"""Both generations of XCP on the same paths, several seeds: runs what is missing, prints a table in Markdown.

    .venv/bin/python tests/bench/generations.py --seeds 5 --out out/generations

As root, on a quiet machine. A run that is complete in --out is not made again; --table only reads.

Of each run: what it carries of the limit and Jain's index in the measured window; how many round trips after
the first data the bottleneck carries 90 %, and the deepest queue in 20 round trips; with a newcomer the round
trips to 95 % of its share, and from its start to 20 round trips after it the deepest queue and the least
utilisation in a round trip; with a link whose rate steps the round trips until each has carried 95 % for one,
and the deepest queue; how long half of the transfers took at most; packets that queues dropped. Of several
bottlenecks it is the worst. Queues are in bandwidth-delay products of the longest path. Ports are sampled
each 100 ms.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from clarion_base import text_table
from clarion_base.errors import UserError
from clarion_lab.recording import files

Summary = dict[str, Any]
INITIAL_WINDOW = 10
EARLY_ROUND_TRIPS = 20
FULL = 0.9
SETTLED = 0.95
TRANSFER_GROUPS = 10

ERROR_FREE = "links.bottleneck={rate: 100 Mbit/s, rtt: 550 ms, queue: 1 bdp}"
PARKED = ("duration=20 s", "measure-from=10 s")
JOIN = ("duration=37 s", "measure-from=32 s")


def newcomers(settled: int, joining: int) -> tuple[str, ...]:
    """The settings of a scenario in which some flows join others after 20 s."""
    return (*JOIN, f"flows=[{{count: {settled}}}, {{count: {joining}, start: 20 s}}]")


def lossy(rate: float) -> str:
    """The gigabit link with packet errors."""
    loss = f"{{forward: {{model: packet, rate: {rate}}}}}"
    return f"links.bottleneck={{rate: 1 Gbit/s, rtt: 48 ms, queue: 1 bdp, loss: {loss}}}"


def hops(*rates: str, rtt: str) -> str:
    """Bottlenecks in a row."""
    links = ", ".join(f"{{rate: {rate}, rtt: {rtt}, queue: 1 bdp}}" for rate in rates)
    return f"links.bottleneck=[{links}]"


def transfers(rtt: str, load: float) -> tuple[str, ...]:
    """Three long flows and 500 transfers of 1 MB over 100 Mbit/s, in groups of 50 that are each at even
    distances of their own, so that together they come at all distances.
    """
    mean_s = 8 / (100 * load)  # between two transfers
    groups = []
    for index in range(TRANSFER_GROUPS):
        apart_s = mean_s * TRANSFER_GROUPS * (0.9 + 0.02 * index)
        groups.append(
            f"{{count: 50, size: 1 MB, start: {20 + index * mean_s:.3f} s, "
            f"stagger: {apart_s:.3f} s, host-pairs: 5}}"
        )
    return (
        f"links.bottleneck={{rate: 100 Mbit/s, rtt: {rtt}, queue: 1 bdp}}",
        f"flows=[{{count: 3}}, {', '.join(groups)}]",
        f"duration={20 + 600 * mean_s:.0f} s",
        "measure-from=20 s",
    )


@dataclass(frozen=True)
class Case:
    """A scenario and what is set in it; of one that sweeps over senders XCP's run. `link`: the only one of
    several, counted from 1, that limits a flow.
    """

    scenario: str
    settings: Sequence[str] = ()
    sweeps: bool = False
    link: int | None = None


CASES = {
    "4 + 1 at 570 ms": Case("newcomer", newcomers(4, 1)),
    "1 + 1 at 570 ms": Case("newcomer", newcomers(1, 1)),
    "20 + 5 at 570 ms": Case("newcomer", newcomers(20, 5)),
    "4 start at 560 ms": Case(
        "geo", ("flows=[{count: 4}]", ERROR_FREE, "duration=17 s", "measure-from=12 s")
    ),
    "32 start at 560 ms": Case(
        "geo", ("flows=[{count: 32}]", ERROR_FREE, "duration=17 s", "measure-from=12 s")
    ),
    "10 at 560 ms, 0.1 % errors": Case("geo", ("duration=25 s", "measure-from=12 s")),
    "10 at 560 ms, 1 % errors": Case(
        "geo", ("duration=25 s", "measure-from=12 s", "links.bottleneck.loss.forward.rate=0.01")
    ),
    "8 of 54 to 604 ms, 100 Mbit/s": Case(
        "parking-lot",
        (
            "links.bottleneck=[{rate: 100 Mbit/s, rtt: 46 ms, queue: 1 bdp}, "
            "{rate: 300 Mbit/s, rtt: 150 ms}, {rate: 300 Mbit/s, rtt: 200 ms}, "
            "{rate: 300 Mbit/s, rtt: 200 ms}]",
            "flows=[{count: 2, crosses: [1, 1]}, {count: 2, crosses: [1, 2]}, {count: 2, crosses: [1, 3]}, "
            "{crosses: [1, 4]}, {crosses: [1, 4], start: 20 s}]",
            *JOIN,
        ),
        sweeps=True,
        link=1,
    ),
    "parking lot 100/50/100 Mbit/s": Case("parking-lot", PARKED, sweeps=True),
    "the same, second switch of generation 1": Case(
        "parking-lot", ("switches.s2.generation=1", *PARKED), sweeps=True
    ),
    "the same, its middle link from 50 to 150 Mbit/s": Case(
        "parking-lot",
        (
            "links.bottleneck.1.rate-steps=[{at: 15 s, rate: 150 Mbit/s}]",
            "xcp.capacity=told",
            "duration=20 s",
            "measure-from=17 s",
        ),
        sweeps=True,
    ),
    "five hops of 50 Mbit/s": Case(
        "parking-lot",
        (
            hops(*["50 Mbit/s"] * 5, rtt="18 ms"),
            "flows=[{crosses: [1, 5]}, {crosses: [1, 1]}, {crosses: [2, 2]}, {crosses: [3, 3]}, "
            "{crosses: [4, 4]}, {crosses: [5, 5]}]",
            *PARKED,
        ),
        sweeps=True,
    ),
    "155 and 100 Mbit/s, 8 flows over both, 2 over the first": Case(
        "parking-lot",
        (
            hops("155 Mbit/s", "100 Mbit/s", rtt="38 ms"),
            "flows=[{count: 8, crosses: [1, 2]}, {count: 2, crosses: [1, 1]}]",
            *PARKED,
        ),
        sweeps=True,
    ),
    "4 at 100 Mbit/s, 50 ms, 30 % of the ACKs lost": Case(
        "gigabit",
        (
            "links.bottleneck={rate: 100 Mbit/s, rtt: 48 ms, queue: 1 bdp, "
            "hazards: {reverse: {ack-loss: 30 %}}}",
        ),
    ),
    "4 beside one of CUBIC, 100 Mbit/s, 50 ms": Case(
        "gigabit",
        (
            "links.bottleneck={rate: 100 Mbit/s, rtt: 48 ms, queue: 1 bdp}",
            "flows=[{count: 4}, {algorithm: cubic}]",
            "duration=25 s",
            "measure-from=10 s",
        ),
    ),
    "3 and 500 transfers, 100 ms, load 0.5": Case("gigabit", transfers("98 ms", 0.5)),
    "3 and 500 transfers, 100 ms, load 0.8": Case("gigabit", transfers("98 ms", 0.8)),
    "3 and 500 transfers, 570 ms, load 0.5": Case("gigabit", transfers("568 ms", 0.5)),
    "3 and 500 transfers, 570 ms, load 0.8": Case("gigabit", transfers("568 ms", 0.8)),
    "4 at 1 Gbit/s, 50 ms": Case("gigabit"),
    "32 at 1 Gbit/s, 50 ms": Case("gigabit", ("flows=[{count: 32}]",)),
    "4 at 1 Gbit/s, 0.1 % errors": Case("gigabit", (lossy(0.001),)),
    "32 at 1 Gbit/s, 0.1 % errors": Case("gigabit", ("flows=[{count: 32}]", lossy(0.001))),
}


@dataclass(frozen=True)
class Figures:
    """What one run has shown; None where it has no such figure."""

    of_limit: float | None
    jain: float | None
    rounds_to_full: float | None
    start_queue_bdp: float
    rounds_to_share: float | None
    join_queue_bdp: float | None
    least_utilisation: float | None
    transfer_s: float | None
    drops: float


@dataclass(frozen=True)
class Sample:
    """Of a port, at a time since the run's start."""

    time_s: float
    tx_bytes: int
    queue_bytes: int


def read_run(directory: Path) -> Summary | None:
    """The summary of a run that came to its end."""
    try:
        summary = files.read_summary(directory)
    except UserError:
        return None
    return summary if summary["state"] == "complete" else None


def figures_of(directory: Path, summary: Summary, link: int | None = None) -> Figures:
    """All of them; the worst bottleneck where there are several."""
    totals = summary["totals"]
    rtt_s = max(flow["path_rtt_ms"] for flow in summary["flows"]) / 1e3
    links = [port for port in summary["ports"] if port["role"] in roles(link, summary)]
    series = {port["port"]: samples(directory, port["port"]) for port in links}
    limits = {port["port"]: port["rate_bits_per_s"] / 8 for port in links}
    later = {port["port"]: rate_at_last(port) / 8 for port in links}
    first_s = first_data_s(directory)
    join_s = max(flow["start_s"] for flow in summary["flows"] if flow["size_bytes"] is None)
    step_s = max((step["at_s"] for port in links for step in port["rate_steps"]), default=0.0)
    change_s = max(join_s, step_s)
    early = (first_s, first_s + EARLY_ROUND_TRIPS * rtt_s)
    late = (change_s, change_s + EARLY_ROUND_TRIPS * rtt_s)
    times_s = transfer_times(summary)
    newcomer = None if times_s else totals["newcomer"]
    settled = newcomer and newcomer["round_trips"]
    if step_s:
        settled = most(
            [(settled_s(series[name], step_s, rtt_s, later[name]) - step_s) / rtt_s for name in later]
        )
    has_limit = len(links) == 1 and link is None and not times_s
    return Figures(
        of_limit=totals["fraction_of_limit"] if has_limit else min(port["utilisation"] for port in links),
        jain=totals["jain"] if len(links) == 1 and not times_s else None,
        rounds_to_full=most([(full_s(series[name], limits[name]) - first_s) / rtt_s for name in limits]),
        start_queue_bdp=max(deepest(series[name], early) / (limits[name] * rtt_s) for name in limits),
        rounds_to_share=settled,
        join_queue_bdp=max(deepest(series[name], late) / (later[name] * rtt_s) for name in later)
        if change_s
        else None,
        least_utilisation=min(least_rate(series[name], late, rtt_s) / limits[name] for name in limits)
        if join_s
        else None,
        transfer_s=statistics.median(times_s) if times_s else None,
        drops=float(totals["losses"]["data_queue"]),
    )


def roles(link: int | None, summary: Summary) -> set[str]:
    """Of the ports before the bottlenecks, or before one of them."""
    found = {port["role"] for port in summary["ports"] if port["role"].endswith("forward")}
    return found if link is None else {f"bottleneck {link} forward"}


def rate_at_last(port: Summary) -> float:
    """Bits per second after all steps."""
    return float(port["rate_steps"][-1]["rate_bits_per_s"] if port["rate_steps"] else port["rate_bits_per_s"])


def transfer_times(summary: Summary) -> list[float]:
    """How long each took; infinity: it has not come to its end."""
    return [
        float("inf") if flow["completed_s"] is None else flow["completed_s"] - flow["start_s"]
        for flow in summary["flows"]
        if flow["size_bytes"] is not None
    ]


def settled_s(series: Sequence[Sample], change_s: float, rtt_s: float, limit: float) -> float:
    """When a link has carried 95 % of its rate for a round trip; never: infinity."""
    after = [sample for sample in series if sample.time_s >= change_s]
    for end in after:
        begin = max((each for each in after if each.time_s <= end.time_s - rtt_s), key=time_of, default=None)
        if begin and end.tx_bytes - begin.tx_bytes >= SETTLED * limit * (end.time_s - begin.time_s):
            return end.time_s
    return float("inf")


def time_of(sample: Sample) -> float:
    """Seconds since the run's start."""
    return sample.time_s


def samples(directory: Path, port: str) -> list[Sample]:
    """A port's, in the order of their times."""
    table = pq.read_table(directory / files.PORTS, filters=[("port", "=", port)])
    rows = table.select(["time_us", "tx_bytes", "queue_bytes"]).to_pylist()
    return [Sample(row["time_us"] / 1e6, row["tx_bytes"], row["queue_bytes"]) for row in rows]


def first_data_s(directory: Path) -> float:
    """When a flow has first sent most of its initial window; iperf3 sends a cookie before that, and waits."""
    table = pq.read_table(directory / files.FLOWS, filters=[("unacked_packets", ">=", INITIAL_WINDOW - 2)])
    return float(min(table["time_us"].to_pylist())) / 1e6


def full_s(series: Sequence[Sample], limit: float) -> float:
    """When a link carries 90 % of its rate for the first time; never: infinity."""
    for before, sample in pairwise(series):
        if sample.tx_bytes - before.tx_bytes >= FULL * limit * (sample.time_s - before.time_s):
            return sample.time_s
    return float("inf")


def deepest(series: Sequence[Sample], window: tuple[float, float]) -> int:
    """Bytes waiting, at most."""
    return max((each.queue_bytes for each in series if window[0] <= each.time_s <= window[1]), default=0)


def least_rate(series: Sequence[Sample], window: tuple[float, float], rtt_s: float) -> float:
    """Bytes/s over the emptiest round trip, which begins at any sample."""
    inside = [sample for sample in series if window[0] <= sample.time_s <= window[1]]
    rates = []
    for index, begin in enumerate(inside):
        end = next((each for each in inside[index:] if each.time_s - begin.time_s >= rtt_s), None)
        if end is not None:
            rates.append((end.tx_bytes - begin.tx_bytes) / (end.time_s - begin.time_s))
    return min(rates, default=0.0)


def most(values: Sequence[float]) -> float | None:
    """The largest; None for infinity."""
    largest = max(values)
    return None if largest == float("inf") else largest


@dataclass(frozen=True)
class Matrix:
    """Which runs there are, and where."""

    cases: Sequence[str]
    generations: Sequence[int]
    seeds: int
    out: Path
    engine: str

    def runs(self) -> Iterator[tuple[str, int, int, Path]]:
        """Case, generation, seed and directory; one seed after the other, so that any stop leaves whole
        matrices.
        """
        for seed in range(1, self.seeds + 1):
            for case in self.cases:
                for generation in self.generations:
                    yield case, generation, seed, self.directory(case, generation, seed)

    def directory(self, case: str, generation: int, seed: int) -> Path:
        """Where a run leaves its results."""
        name = "".join(letter if letter.isalnum() or letter in "+.%" else "-" for letter in case)
        return self.out / name / f"generation-{generation}" / f"seed-{seed}"

    def run_directory(self, case: str, generation: int, seed: int) -> Path:
        """Where its summary is."""
        directory = self.directory(case, generation, seed)
        return directory / "xcp" if CASES[case].sweeps else directory

    def figures(self, case: str, generation: int) -> list[Figures]:
        """Of the complete runs."""
        directories = [self.run_directory(case, generation, seed) for seed in range(1, self.seeds + 1)]
        link = CASES[case].link
        return [
            figures_of(each, summary, link) for each in directories if (summary := read_run(each)) is not None
        ]


def run(case: Case, generation: int, seed: int, directory: Path, engine: str) -> bool:
    """Makes one run; False, with its message, if it failed."""
    command = [sys.executable, "-m", "clarion", "run", case.scenario, "--out", str(directory)]
    command += ["--engine", engine, "--seed", str(seed), "--set", f"xcp.generation={generation}"]
    command += ["--sweep", "algorithm=xcp"] if case.sweeps else []
    for setting in case.settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"generations: {case.scenario}, seed {seed}: {done.stderr.strip()[-300:]}", file=sys.stderr)
    return done.returncode == 0


def cell(runs: Sequence[Figures], of: Callable[[Figures], float | None], scale: float, digits: int) -> str:
    """The median, and the least and the most where they differ from it."""
    values = [value * scale for each in runs if (value := of(each)) is not None]
    if not values:
        return text_table.MISSING
    middle, low, high = (
        text_table.number(each, digits) for each in (statistics.median(values), min(values), max(values))
    )
    return str(middle) if low == high else f"{middle} ({low} to {high})"


COLUMNS: dict[str, tuple[Callable[[Figures], float | None], float, int]] = {
    "of limit, %": (lambda each: each.of_limit, 100, 1),
    "Jain": (lambda each: each.jain, 1, 4),
    "start: RTTs to 90 %": (lambda each: each.rounds_to_full, 1, 1),
    "queue, % of BDP": (lambda each: each.start_queue_bdp, 100, 1),
    "newcomer, step: RTTs to 95 %": (lambda each: each.rounds_to_share, 1, 1),
    "queue after it, % of BDP": (lambda each: each.join_queue_bdp, 100, 1),
    "least utilisation of an RTT": (lambda each: each.least_utilisation, 1, 2),
    "transfer, s": (lambda each: each.transfer_s, 1, 2),
    "queue drops": (lambda each: each.drops, 1, 0),
}


def table(matrix: Matrix) -> str:
    """A row for each case and generation that has runs."""
    rows = []
    for case in matrix.cases:
        for generation in matrix.generations:
            runs = matrix.figures(case, generation)
            if runs:
                cells = [cell(runs, *column) for column in COLUMNS.values()]
                rows.append([case, str(generation), str(len(runs)), *cells])
    return str(text_table.markdown(rows, ("path", "generation", "runs", *COLUMNS)))


def parse(arguments: Sequence[str]) -> tuple[Matrix, bool]:
    """The matrix, and whether it is only read."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", default="", metavar="TEXT", help="only those whose name has it")
    parser.add_argument("--generations", default="1,2", choices=("1", "2", "1,2"))
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="1 to N (default 5)")
    parser.add_argument("--engine", default="emu", choices=("emu", "bmv2"))
    parser.add_argument("--out", type=Path, default=Path("out/generations"), metavar="DIR")
    parser.add_argument("--table", action="store_true", help="only read what is there")
    options = parser.parse_args(arguments)
    if options.seeds < 1:
        raise UserError(f"--seeds {options.seeds}: must be at least 1")
    cases = [name for name in CASES if options.cases in name]
    if not cases:
        raise UserError(f"--cases {options.cases}: no case has it; there are {', '.join(CASES)}")
    generations = [int(each) for each in options.generations.split(",")]
    return Matrix(cases, generations, options.seeds, options.out, options.engine), options.table


def main(arguments: Sequence[str]) -> int:
    """Runs what is missing and prints the table; 1 if a run failed."""
    try:
        matrix, only_table = parse(arguments)
    except UserError as error:
        print(f"generations: {error}", file=sys.stderr)
        return 2
    failed = 0
    wanted = (
        []
        if only_table
        else [each for each in matrix.runs() if read_run(matrix.run_directory(*each[:3])) is None]
    )
    for index, (case, generation, seed, directory) in enumerate(wanted, 1):
        print(
            f"generations: {index} of {len(wanted)}: {case}, generation {generation}, seed {seed}",
            file=sys.stderr,
        )
        failed += not run(CASES[case], generation, seed, directory, matrix.engine)
    print(table(matrix))
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
