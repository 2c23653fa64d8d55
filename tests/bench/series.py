# SPDX-License-Identifier: Apache-2.0
"""The same scenarios on engines `emu` and `sim`, several seeds: runs what is missing, and makes tables of it.

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clarion_base import text_table
from clarion_base.errors import UserError
from clarion_lab.recording import files

Summary = dict[str, Any]
Cases = Mapping[str, tuple[str, Sequence[str]]]  # by name: scenario and settings
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


@dataclass(frozen=True)
class Series:
    """Which runs there are, and where."""

    all_cases: Cases
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
    scenario, settings = series.all_cases[case]
    command = [sys.executable, "-m", "clarion", "run", scenario, "--engine", engine, "--seed", str(seed)]
    command += ["--out", str(series.directory(engine, case, seed))]
    for setting in settings:
        command += ["--set", moved(setting, seed) if engine == "sim" else setting]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{case}, {engine}, seed {seed}: {done.stderr.strip()[-300:]}", file=sys.stderr)
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


def table(series: Series, cases: Sequence[str]) -> str:
    """A row for each of the cases, in Markdown."""
    heads = ("case", "goodput, Mbit/s, emu / sim", "Jain", "mean queue, bdp", "lost data packets")
    return text_table.markdown([row(series, case) for case in cases], heads)


def parser(description: str | None, out: str) -> argparse.ArgumentParser:
    """The options of such a series."""
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--engines", default=",".join(ENGINES))
    options.add_argument("--cases", default="", help="only names that contain one of these, by semicolon")
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--out", type=Path, default=Path(out))
    options.add_argument("--table", action="store_true", help="only read")
    return options


def chosen(given: argparse.Namespace, all_cases: Cases) -> Series:
    """The series that the options ask for."""
    wanted = [part for part in given.cases.split(";") if part]
    cases = [case for case in all_cases if not wanted or any(part in case for part in wanted)]
    return Series(all_cases, given.engines.split(","), cases, given.seeds, given.out)


def make_missing(series: Series, runs: Iterable[tuple[str, str, int]]) -> bool:
    """Makes those of the runs that are not complete; whether all are now."""
    missing = [each for each in runs if complete(series.directory(*each)) is None]
    failed = [each for each in missing if not run(series, *each)]
    return not failed
