# SPDX-License-Identifier: Apache-2.0
"""The hostile paths with several senders and seeds: runs what is missing, prints tables in Markdown.

    .venv/bin/python tests/bench/safety.py --senders xcp,boost,fast,cubic,bbr --seeds 5 --out out/safety

As root. CUBIC is always among the senders: retransmissions, and what is left to the CUBIC flow of the
paths `hostile-shared-...`, are compared with what it makes and what it leaves. A run that is complete in
--out is not made again, so that the matrix can be interrupted; --table only reads.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clarion_base import text_table
from clarion_base.errors import UserError
from clarion_lab.recording.files import read_summary
from clarion_lab.scenario import documents
from clarion_lab.scenario.algorithms import ALGORITHMS

PREFIX = "hostile-"
SHARED = "shared-"
REFERENCE = "cubic"
SENDERS = ("xcp", "boost", "boost-literal", "boost-judged", "fast", "bbr")
VERDICTS = ("right", "wrong", "missed")
Summary = dict[str, Any]
Cell = Callable[[Sequence[Summary], Sequence[Summary]], str]  # of a sender's runs, and CUBIC's


@dataclass(frozen=True)
class Matrix:
    """Which runs there are, and where."""

    paths: Sequence[str]
    senders: Sequence[str]
    seeds: int
    out: Path
    settings: Sequence[str] = ()

    def runs(self) -> Iterator[tuple[str, str, int, Path]]:
        """Path, sender, seed and directory of every run; one seed after the other, so that any stop leaves
        whole matrices.
        """
        for seed in range(1, self.seeds + 1):
            for path in self.paths:
                for sender in self.senders:
                    yield path, sender, seed, self.directory(path, sender, seed)

    def directory(self, path: str, sender: str, seed: int) -> Path:
        """Where a run leaves its results."""
        return self.out / path / sender / f"seed-{seed}"

    def summaries(self, path: str, sender: str) -> list[Summary]:
        """The complete runs of a path and a sender."""
        directories = (self.directory(path, sender, seed) for seed in range(1, self.seeds + 1))
        return [summary for directory in directories if (summary := complete(directory)) is not None]


def complete(directory: Path) -> Summary | None:
    """The summary of a run that came to its end."""
    try:
        summary = read_summary(directory)
    except UserError:
        return None
    return summary if summary["state"] == "complete" else None


def run(path: str, sender: str, seed: int, directory: Path, settings: Sequence[str]) -> bool:
    """Makes one run; False, with its message, if it failed."""
    command = [sys.executable, "-m", "clarion", "run", PREFIX + path, "--out", str(directory)]
    command += ["--set", f"algorithm={sender}", "--seed", str(seed)]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"safety: {path}, {sender}, seed {seed}: {done.stderr.strip()[-300:]}", file=sys.stderr)
    return done.returncode == 0


def tables(matrix: Matrix) -> str:
    """One table for each figure, in Markdown: a row for each path, a column for each sender."""
    found = []
    for title, (cell, prefix) in FIGURES.items():
        rows = [row(matrix, path, cell) for path in matrix.paths if path.startswith(prefix)]
        rows = [cells for cells in rows if any(each != text_table.MISSING for each in cells[1:])]
        if rows:
            found.append(f"### {title}\n\n{text_table.markdown(rows, ('path', *matrix.senders))}")
    return "\n\n".join(found)


def row(matrix: Matrix, path: str, cell: Cell) -> list[str]:
    """One figure of all senders on one path; a dash for those without any complete run."""
    reference = matrix.summaries(path, REFERENCE)
    runs = [matrix.summaries(path, sender) for sender in matrix.senders]
    return [path, *(cell(each, reference) if each else text_table.MISSING for each in runs)]


def goodput_cell(runs: Sequence[Summary], _: Sequence[Summary]) -> str:
    """The mean, the least and the most."""
    return spread(runs, goodput_mbps, 1)


def retransmits_cell(runs: Sequence[Summary], reference: Sequence[Summary]) -> str:
    """The mean, the least and the most; times CUBIC's mean, as if that were at least one packet."""
    times = quotient(mean(runs, retransmits), max(mean(reference, retransmits) or 0.0, 1.0))
    return f"{spread(runs, retransmits, 0)}; {text_table.number(times, 1)}x"


def verdicts_cell(runs: Sequence[Summary], _: Sequence[Summary]) -> str:
    """Means over the runs."""
    return "/".join(text_table.number(mean(runs, counter(verdict)), 0) for verdict in VERDICTS)


def left_cell(runs: Sequence[Summary], reference: Sequence[Summary]) -> str:
    """The mean, the least and the most; and as a share of what CUBIC leaves."""
    share = quotient(mean(runs, left_mbps), mean(reference, left_mbps))
    return f"{spread(runs, left_mbps, 1)}; {text_table.percent(share)}"


def sender_flow(summary: Summary) -> Summary:
    """The flow whose sender is compared: the first; beside it is CUBIC's."""
    flow: Summary = summary["flows"][0]
    return flow


def goodput_mbps(summary: Summary) -> float | None:
    """Of the sender."""
    return float(sender_flow(summary)["goodput_bits_per_s"]) / 1e6


def retransmits(summary: Summary) -> float | None:
    """Of the sender, whole run."""
    return float(sender_flow(summary)["retransmits"])


def left_mbps(summary: Summary) -> float | None:
    """What the second flow had."""
    return float(summary["flows"][1]["goodput_bits_per_s"]) / 1e6


def counter(verdict: str) -> Callable[[Summary], float | None]:
    """The number of the sender's decisions with that verdict."""

    def count(summary: Summary) -> float | None:
        decisions = sender_flow(summary)["decisions"]
        return None if decisions is None else float(decisions[verdict])

    return count


def mean(runs: Sequence[Summary], of: Callable[[Summary], float | None]) -> float | None:
    """The mean of what was measured; None if nothing was."""
    values = [value for run in runs if (value := of(run)) is not None]
    return statistics.fmean(values) if values else None


def spread(runs: Sequence[Summary], of: Callable[[Summary], float | None], digits: int) -> str:
    """The mean, and the least and the most where there are several runs."""
    values = [value for run in runs if (value := of(run)) is not None]
    if not values:
        return text_table.MISSING
    middle, least, most = (
        text_table.number(each, digits) for each in (statistics.fmean(values), min(values), max(values))
    )
    return middle if len(values) == 1 else f"{middle} ({least} to {most})"


def quotient(value: float | None, by: float | None) -> float | None:
    """None where one is missing or the divisor is 0."""
    return value / by if value is not None and by else None


FIGURES: dict[str, tuple[Cell, str]] = {  # title, cell, the paths that have it
    "Goodput, Mbit/s": (goodput_cell, ""),
    "Retransmissions, and times CUBIC's": (retransmits_cell, ""),
    "What is left to the CUBIC flow beside it, Mbit/s, and of what CUBIC leaves": (left_cell, SHARED),
    "Decisions right/wrong/missed": (verdicts_cell, ""),
}


def hostile_paths() -> list[str]:
    """The names of the hostile scenarios that ship, without their prefix."""
    return [name.removeprefix(PREFIX) for name in documents.shipped() if name.startswith(PREFIX)]


def chosen(text: str, known: Sequence[str], option: str) -> list[str]:
    """The names of a list; UserError for one that is not known."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            raise UserError(f"{option} {name}: unknown; use {', '.join(known)}")
    return names


def parse(arguments: Sequence[str]) -> tuple[Matrix, bool]:
    """The matrix, and whether it is only read."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--senders", default=",".join(SENDERS), metavar="A,B,...")
    parser.add_argument("--paths", default=",".join(hostile_paths()), metavar="A,B,...")
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="1 to N (default 5)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as of clarion run")
    parser.add_argument("--out", type=Path, default=Path("out/safety"), metavar="DIR")
    parser.add_argument("--table", action="store_true", help="only read what is there")
    options = parser.parse_args(arguments)
    if options.seeds < 1:
        raise UserError(f"--seeds {options.seeds}: must be at least 1")
    senders = chosen(options.senders, list(ALGORITHMS), "--senders")
    paths = chosen(options.paths, hostile_paths(), "--paths")
    everyone = senders if REFERENCE in senders else [*senders, REFERENCE]
    return Matrix(paths, everyone, options.seeds, options.out, options.set), options.table


def main(arguments: Sequence[str]) -> int:
    """Runs what is missing and prints the tables; 1 if a run failed."""
    try:
        matrix, only_table = parse(arguments)
    except UserError as error:
        print(f"safety: {error}", file=sys.stderr)
        return 2
    failed = 0
    wanted = [] if only_table else [each for each in matrix.runs() if complete(each[-1]) is None]
    for index, (path, sender, seed, directory) in enumerate(wanted, 1):
        print(f"safety: {index} of {len(wanted)}: {path}, {sender}, seed {seed}", file=sys.stderr)
        failed += not run(path, sender, seed, directory, matrix.settings)
    print(tables(matrix))
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
