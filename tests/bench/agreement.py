# SPDX-License-Identifier: Apache-2.0
"""The same scenarios on engines `emu` and `sim`, several seeds: runs what is missing, prints a table in
Markdown.

    .venv/bin/python tests/bench/agreement.py --engines emu,sim --seeds 5 --out out/agreement

Engine emu as root, on a quiet machine. A run that is complete in --out is not made again, so that a series
can be interrupted; --table only reads.

Of each run, in the measured window: goodput of all flows, Jain's index, the mean queue before each bottleneck
in bandwidth-delay products of the longest path; and the data packets that were lost in the whole run, in
queues and on wires. A row has the means of the seeds with their spread, and says where both engines differ by
more than WITHIN allows: with **differs** where a permutation test tells their runs apart, else with (chance).
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clarion_base import text_table
from clarion_base.errors import UserError
from clarion_lab.recording import files

Summary = dict[str, Any]
ENGINES = ("emu", "sim")
WITHIN = {"goodput": 0.05, "jain": 0.02, "queue": 0.05, "losses": 0.10}  # goodput and losses are relative
FEWEST_LOSSES = 10  # below, a difference is chance
SHUFFLES = 20_000
CHANCE = 0.05  # of a gap as wide between means of runs dealt to both engines at random

# On a real machine no two runs have the same instants; without errors, simulations differ in nothing else. So
# there a seed moves starts by milliseconds, and makes the access longer by tens of microseconds, which real
# hosts take.
APART_MS = 230
SEED_MOVES_MS = 7
APART = f"stagger: {APART_MS} ms"
AT_ONCE = "start=0 ms"
ACCESS = "access: {rtt: 2 ms}"
SEED_LENGTHENS_US = 20


def path(rate: str, rtt: str, loss: float = 0.0, queue: str = "1 bdp") -> str:
    """One bottleneck between hosts without limits of their own."""
    errors = f", loss: {{forward: {{model: packet, rate: {loss}}}}}" if loss else ""
    return f"links={{{ACCESS}, bottleneck: {{rate: {rate}, rtt: {rtt}, queue: {queue}{errors}}}}}"


def many(count: int) -> str:
    """Flows that start one after the other."""
    return f"flows=[{{count: {count}, {APART}}}]"


def lasts(seconds: int, settles: int) -> tuple[str, str]:
    """Duration and start of the measured window."""
    return f"duration={seconds} s", f"measure-from={settles} s"


SHORT = (path("100 Mbit/s", "18 ms"), "flows=[{count: 1}]", *lasts(25, 5))
MEDIUM = (path("100 Mbit/s", "98 ms"), "flows=[{count: 1}]", *lasts(30, 5))
LOSSY = (path("50 Mbit/s", "96 ms", 0.001), many(4), *lasts(30, 8))
CLEAN = (path("50 Mbit/s", "96 ms"), many(4), *lasts(40, 10))
GEO = (path("100 Mbit/s", "566 ms", 0.001), many(10), *lasts(40, 20))
PARKED = tuple(f"flows.{flow}.{AT_ONCE}" for flow in range(4))
CROWD = (path("100 Mbit/s", "48 ms"), many(24), *lasts(30, 10))
STEPS = (
    f"links={{{ACCESS}, bottleneck: {{rate: 50 Mbit/s, rtt: 48 ms, queue: 1 bdp, "
    "rate-steps: [{at: 10 s, rate: 20 Mbit/s}, {at: 20 s, rate: 50 Mbit/s}]}}",
    many(3),
    *lasts(30, 5),
)
MOVES = (
    f"links={{{ACCESS}, bottleneck: {{rate: 50 Mbit/s, rtt: 18 ms, queue: 1 bdp, "
    "delay-steps: [{at: 10 s, rtt: 58 ms}, {at: 20 s, rtt: 33 ms}]}}",
    many(2),
    *lasts(30, 5),
)


def _cases() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for sender in ("xcp", "boost", "fast", "cubic", "reno", "newreno", "bbr"):
        yield f"{sender}, 100 Mbit/s, 20 ms, 1 flow", "geo", (f"algorithm={sender}", *SHORT)
    yield "bbr, 100 Mbit/s, 100 ms, 1 flow", "geo", ("algorithm=bbr", *MEDIUM)
    for sender in (
        "xcp",
        "xcp-notags",
        "boost",
        "boost-literal",
        "boost-judged",
        "fast",
        "cubic",
        "reno",
        "bbr",
    ):
        yield f"{sender}, 50 Mbit/s, 98 ms, 0.1 % errors, 4 flows", "geo", (f"algorithm={sender}", *LOSSY)
    for sender in ("cubic", "bbr"):
        yield f"{sender}, 50 Mbit/s, 98 ms, 4 flows", "geo", (f"algorithm={sender}", *CLEAN)
    for sender in ("xcp", "boost", "bbr"):
        yield f"{sender}, 100 Mbit/s, 568 ms, 0.1 % errors, 10 flows", "geo", (f"algorithm={sender}", *GEO)
    for sender in ("xcp", "cubic"):
        yield f"{sender}, 100 Mbit/s, 50 ms, 24 flows", "geo", (f"algorithm={sender}", *CROWD)
    for sender in ("xcp", "cubic"):
        yield f"{sender}, parking lot", "parking-lot", (f"algorithm={sender}", *PARKED)
    for sender in ("xcp", "boost"):
        yield (
            f"{sender}, rate steps 50, 20, 50 Mbit/s, 50 ms, 3 flows",
            "geo",
            (f"algorithm={sender}", *STEPS),
        )
    for sender in ("xcp", "cubic"):
        yield f"{sender}, delay steps 20, 60, 35 ms, 2 flows", "geo", (f"algorithm={sender}", *MOVES)


CASES = {name: (scenario, settings) for name, scenario, settings in _cases()}


@dataclass(frozen=True)
class Series:
    """Which runs there are, and where."""

    engines: Sequence[str]
    cases: Sequence[str]
    seeds: int
    out: Path

    def runs(self) -> Iterator[tuple[str, str, int]]:
        """Engine, case and seed of every run, one seed after the other: any stop leaves whole tables."""
        for seed in range(1, self.seeds + 1):
            for case in self.cases:
                for engine in self.engines:
                    yield engine, case, seed

    def directory(self, engine: str, case: str, seed: int) -> Path:
        """Where a run leaves its results."""
        folder = "-".join("".join(each if each.isalnum() or each == "." else " " for each in case).split())
        return self.out / engine / folder / f"seed-{seed}"

    def summaries(self, engine: str, case: str) -> list[Summary]:
        """The complete runs of a case on an engine."""
        found = (complete(self.directory(engine, case, seed)) for seed in range(1, self.seeds + 1))
        return [summary for summary in found if summary is not None]


def complete(directory: Path) -> Summary | None:
    """The summary of a run that came to its end."""
    try:
        summary = files.read_summary(directory)
    except UserError:
        return None
    return summary if summary["state"] == "complete" else None


def run(series: Series, engine: str, case: str, seed: int) -> bool:
    """Makes one run; False, with its message, if it failed."""
    scenario, settings = CASES[case]
    command = [sys.executable, "-m", "clarion", "run", scenario, "--engine", engine, "--seed", str(seed)]
    command += ["--out", str(series.directory(engine, case, seed))]
    for setting in settings:
        command += ["--set", moved(setting, seed) if engine == "sim" else setting]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"agreement: {case}, {engine}, seed {seed}: {done.stderr.strip()[-300:]}", file=sys.stderr)
    return done.returncode == 0


def moved(setting: str, seed: int) -> str:
    """A setting with the instants of a seed."""
    if setting.endswith(AT_ONCE):
        flow = int(setting.split(".")[1])
        return setting.replace(AT_ONCE, f"start={flow * seed} ms")
    longer = ACCESS.replace("2 ms", f"{2000 + SEED_LENGTHENS_US * (seed - 1)} us")
    return setting.replace(APART, f"stagger: {APART_MS + SEED_MOVES_MS * (seed - 1)} ms").replace(
        ACCESS, longer
    )


def goodput(summary: Summary) -> float:
    """Of all flows, in Mbit/s."""
    return float(summary["totals"]["goodput_bits_per_s"]) / 1e6


def jain(summary: Summary) -> float:
    """Of the flows."""
    return float(summary["totals"]["jain"])


def queue(summary: Summary) -> float:
    """The fullest of the queues before the bottlenecks in the direction of the data, in bdp."""
    return max(float(p["queue_mean_bdp"]) for p in summary["ports"] if p["role"].endswith("forward"))


def losses(summary: Summary) -> float:
    """Data packets, whole run."""
    lost = summary["totals"]["losses"]
    return float(lost["data_queue"] + lost["data_wire"])


FIGURES: Mapping[str, tuple[Callable[[Summary], float], int]] = {
    "goodput": (goodput, 2),
    "jain": (jain, 3),
    "queue": (queue, 3),
    "losses": (losses, 0),
}


def differs(figure: str, emu: float, sim: float) -> bool:
    """Whether the means of a figure are further apart than WITHIN."""
    gap = abs(sim - emu)
    if figure == "losses" and max(emu, sim) < FEWEST_LOSSES:
        return False
    return gap > WITHIN[figure] * (emu if figure in ("goodput", "losses") else 1.0)


def is_chance(emu: Sequence[float], sim: Sequence[float]) -> bool:
    """Whether runs dealt to both engines at random lie as far apart often enough (a permutation test)."""
    rng = np.random.default_rng(1)
    runs = np.array([*emu, *sim])
    dealt = rng.permuted(np.tile(runs, (SHUFFLES, 1)), axis=1)
    gaps = np.abs(dealt[:, : len(emu)].mean(axis=1) - dealt[:, len(emu) :].mean(axis=1))
    gap = abs(statistics.mean(emu) - statistics.mean(sim))
    return bool(np.mean(gaps >= gap * (1 - 1e-9)) > CHANCE)


def verdict(figure: str, emu: Sequence[float], sim: Sequence[float]) -> str:
    """What a cell says after the figures of both engines."""
    if not emu or not sim or not differs(figure, statistics.mean(emu), statistics.mean(sim)):
        return ""
    return " (chance)" if is_chance(emu, sim) else " **differs**"


def row(series: Series, case: str) -> list[str]:
    """Both engines' figures of a case."""
    runs = {engine: series.summaries(engine, case) for engine in ENGINES}
    cells = [case]
    for name, (figure, digits) in FIGURES.items():
        values = {engine: [figure(summary) for summary in found] for engine, found in runs.items()}
        cells.append(" / ".join(spread(values[engine], digits) for engine in ENGINES))
        cells[-1] += verdict(name, *(values[engine] for engine in ENGINES))
    return cells


def spread(values: Sequence[float], digits: int) -> str:
    """The mean, and half of the distance from the least to the most."""
    if not values:
        return text_table.MISSING
    return f"{statistics.mean(values):.{digits}f} ± {(max(values) - min(values)) / 2:.{digits}f}"


def table(series: Series) -> str:
    """A row for each case, in Markdown."""
    heads = ("case", "goodput, Mbit/s, emu / sim", "Jain", "mean queue, bdp", "lost data packets")
    return text_table.markdown([row(series, case) for case in series.cases], heads)


def main() -> int:
    """Makes what is missing, then prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--cases", default="", help="only names that contain one of these, by semicolon")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("out/agreement"))
    parser.add_argument("--table", action="store_true", help="only read")
    given = parser.parse_args()
    wanted = [part for part in given.cases.split(";") if part]
    cases = [case for case in CASES if not wanted or any(part in case for part in wanted)]
    series = Series(given.engines.split(","), cases, given.seeds, given.out)
    failed = 0
    if not given.table:
        missing = [each for each in series.runs() if complete(series.directory(*each)) is None]
        failed = sum(not run(series, *each) for each in missing)
    print(table(series))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
