# SPDX-License-Identifier: Apache-2.0
"""The verdict on an experiment, computed from its table of results alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clarion_base.errors import UserError
from clarion_lab.reproduce.criteria import Judged, judge
from clarion_lab.reproduce.experiment import QUESTIONS, Criterion, Experiment, spots
from clarion_lab.reproduce.formula import Formula
from clarion_lab.reproduce.points import Points
from clarion_lab.reproduce.table import Row

WITH_NUMBERS = "reproduced with numbers"
REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
OUT_OF_REACH = "out of reach"
NOT_RUN = "not run"
SHAPES = ("T", "O")  # which decide
NUMBERS = ("R", "V")  # which only add "with numbers"


@dataclass(frozen=True)
class Verdict:
    """What came out, and the criteria behind it."""

    text: str
    judged: tuple[Judged, ...]
    reason: str = ""


def verdict(experiment: Experiment, rows: Sequence[Row], quick: bool) -> Verdict:
    """Judges every criterion: on the engine that each series is meant for. UserError: the file is wrong."""
    chosen = meant(experiment, rows)
    if experiment.series and not chosen:
        return Verdict(NOT_RUN, ())
    points = Points(chosen)
    known = constants(experiment)
    absent = _absent(experiment, chosen, points)
    judged = tuple(_judged(each, points, known, quick, absent) for each in experiment.criteria)
    reasons = [f"without the runs of {', '.join(absent)}"] if absent else []
    reasons += _left_out(points)
    if experiment.paper == QUESTIONS:
        return Verdict(_answers(judged), judged, "; ".join(reasons))
    text = _text(judged)
    if text == WITH_NUMBERS and experiment.trend_only is not None:
        return Verdict(REPRODUCED, judged, "; ".join([experiment.trend_only, *reasons]))
    return Verdict(text, judged, "; ".join(reasons))


def meant(experiment: Experiment, rows: Sequence[Row]) -> list[Row]:
    """The rows of the engine that each series is meant for."""
    engines = {series.name: series.engine for series in experiment.series}
    return [row for row in rows if row.engine == engines.get(row.series)]


def in_order(experiment: Experiment, rows: Sequence[Row]) -> list[Row]:
    """Rows as the file has their series and senders. UserError for a row that it does not know: the table is
    of another file.
    """
    known = [(series.name, sender) for series in experiment.series for sender in series.senders]
    for row in rows:
        if (row.series, row.sender) not in known:
            raise UserError(
                f"experiment {experiment.id}: the table has runs of {row.sender} in {row.series}, the file "
                "has not: run it again"
            )
    return sorted(rows, key=lambda row: known.index((row.series, row.sender)))


def _absent(experiment: Experiment, rows: Sequence[Row], points: Points) -> list[str]:
    """The series of which places have no run at all, or of which no repeat is whole, in words."""
    found = []
    for series in experiment.series:
        there = {(row.sender, *sorted(row.values.items())) for row in rows if row.series == series.name}
        wanted = {(sender, *sorted(values.items())) for sender, values in spots(series)}
        seeds = {row.seed for row in rows if row.series == series.name}
        if not seeds - points.left_out.get(series.name, set()):
            found.append(series.name)
        elif missing := len(wanted - there):
            found.append(f"{missing} of {len(wanted)} points of {series.name}")
    return found


def _left_out(points: Points) -> list[str]:
    """The repeats that do not count."""
    return [
        f"without the repeats {', '.join(map(str, sorted(seeds)))} of {series}, of which runs have failed"
        for series, seeds in points.left_out.items()
        if seeds
    ]


def _answers(judged: Sequence[Judged]) -> str:
    """Questions of our own have answers, not a claim that holds or does not."""
    known = [each for each in judged if each.missing is None]
    if not known:
        return NOT_RUN
    return f"yes to {sum(each.holds for each in known)} of {len(known)}"


def _judged(
    criterion: Criterion, points: Points, known: Mapping[str, float], quick: bool, absent: Sequence[str]
) -> Judged:
    """Where runs are missing (without root those on real hosts), what needs them is open."""
    try:
        return judge(criterion, points, known, with_intervals=not quick)
    except UserError:
        if not absent:
            raise
        return Judged(criterion, (), missing=f"needs the runs of {', '.join(absent)}")


def constants(experiment: Experiment) -> dict[str, float]:
    """The constants, each of which may use those before it: all there is of an analytic experiment."""
    found: dict[str, float] = {}
    for name, text in experiment.constants.items():
        try:
            found[name] = float(Formula({}, found).evaluate(str(text)))
        except UserError as error:
            raise UserError(f"experiment {experiment.id}: constants.{name}: {error}") from error
    return found


def _text(judged: Sequence[Judged]) -> str:
    known = [each for each in judged if each.missing is None]
    shapes = [each for each in known if each.criterion.kind in SHAPES]
    numbers = [each for each in known if each.criterion.kind in NUMBERS]
    missed = [each for each in numbers if not each.holds]
    if not all(each.holds for each in shapes):
        return NOT_REPRODUCED
    if len(known) < len(judged):
        return NOT_RUN
    if not missed:
        return WITH_NUMBERS if numbers else REPRODUCED
    if shapes:
        return REPRODUCED
    return OUT_OF_REACH if all(each.bound for each in missed) else NOT_REPRODUCED


def counts(verdicts: Mapping[str, Verdict]) -> dict[str, int]:
    """How many experiments have each verdict."""
    order = (WITH_NUMBERS, REPRODUCED, NOT_REPRODUCED, OUT_OF_REACH, NOT_RUN)
    texts = [each.text for each in verdicts.values()]
    return {text: texts.count(text) for text in order if text in texts}
