# SPDX-License-Identifier: Apache-2.0
"""The page of verdicts: Markdown for the repository, and one HTML file with its plots in it.

Everything on it is computed from experiment files and tables of results; nothing is written by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from clarion_lab.reproduce.criteria import Judged
from clarion_lab.reproduce.experiment import KINDS, NOTE, OTHER_ENGINE, QUESTIONS, Experiment
from clarion_lab.reproduce.table import Row
from clarion_lab.reproduce.verdict import Verdict, counts
from clarion_lab.results import report

PAPERS = {
    "S0": "BoostTCP, Sensors 2022, 22(23), 9187",
    "S1": "A TCP-QUIC proxy for satellite links",
    "S2": "Mod TCP WestwoodNew over Iridium",
    "S3": "High-speed TCP variants in simulation and on real links",
    "S4": "XCP and FAST TCP over a GEO satellite",
    QUESTIONS: "Beyond the papers",
}
FEW_PLACES = 4  # findings of a criterion that are shown when all hold


@dataclass(frozen=True)
class Entry:
    """An experiment with what came out of it."""

    experiment: Experiment
    rows: Sequence[Row]
    verdict: Verdict
    quick: bool
    plot: Path | None


def markdown(entries: Sequence[Entry], title: str, plots: str) -> str:
    """The page; `plots` is the directory of the pictures as the page names it."""
    return _environment().get_template("reproduction.md.j2").render(plots=plots, **_content(entries, title))


def html(entries: Sequence[Entry], title: str) -> str:
    """The same as one file: styles and pictures are in it."""
    return (
        _environment()
        .get_template("reproduction.html.j2")
        .render(picture=_picture, **_content(entries, title))
    )


def _content(entries: Sequence[Entry], title: str) -> dict[str, Any]:
    questions = [entry for entry in entries if entry.experiment.paper == QUESTIONS]
    claims = {entry.experiment.id: entry.verdict for entry in entries if entry not in questions}
    return {
        "title": title,
        "papers": _by_paper(entries),
        "counts": counts(claims),
        "total": len(claims),
        "noes": [(entry, noes(entry)) for entry in questions],
        "any_quick": any(entry.quick for entry in entries),
        "kinds": KINDS,
        **_FUNCTIONS,
    }


def noes(entry: Entry) -> list[Judged]:
    """The questions whose answer is no."""
    return [judged for judged in entry.verdict.judged if state(judged, QUESTIONS) == "no"]


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("clarion_lab.reproduce"),
        autoescape=jinja2.select_autoescape(["html.j2"]),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )


def _by_paper(entries: Sequence[Entry]) -> list[tuple[str, str, list[Entry]]]:
    present = {entry.experiment.paper for entry in entries}
    return [
        (paper, name, [entry for entry in entries if entry.experiment.paper == paper])
        for paper, name in PAPERS.items()
        if paper in present
    ]


def _picture(path: Path) -> str:
    return report.inline(path.read_bytes())


def state(judged: Judged, paper: str) -> str:
    """Whether a criterion holds, in a word or two."""
    if judged.missing:
        return "not run"
    if judged.criterion.kind == NOTE:
        return ""
    if paper == QUESTIONS:
        return "yes" if judged.holds else "no"
    if judged.holds:
        return "holds"
    return "out of reach" if judged.bound else "fails"


def findings(judged: Judged) -> list[str]:
    """The findings of a criterion: all that fail, and some of those that hold."""
    if judged.missing:
        return [judged.missing]
    failed = [each for each in judged.findings if not each.holds]
    held = [each for each in judged.findings if each.holds]
    shown = failed or (held if judged.criterion.kind == NOTE else held[:FEW_PLACES])
    lines = [f"{each.place}: {each.found}" if each.place else each.found for each in shown]
    rest = len(judged.findings) - len(shown)
    if rest:
        lines.append(f"{rest} more {'hold' if not failed or held else 'fail'}")
    if judged.bound:
        lines.append(f"bound: {judged.bound}")
    return lines


def made_of(entry: Entry) -> str:
    """Runs, engines and why: in one line."""
    parts = []
    for series in entry.experiment.series:
        number = sum(row.series == series.name and row.engine == series.engine for row in entry.rows)
        sampled = sum(
            row.series == series.name and row.engine == OTHER_ENGINE[series.engine] for row in entry.rows
        )
        also = f", and {sampled} on {OTHER_ENGINE[series.engine]}" if sampled else ""
        repeats = f", {series.repeats} repeats" if series.repeats > 1 else ""
        parts.append(f"{series.name}: {number} on {series.engine}{repeats}{also} ({series.why})")
    return "; ".join(parts)


@dataclass(frozen=True)
class Agreement:
    """A measure at a place on both engines."""

    place: str
    measure: str
    meant: float
    other: float


def agreements(entry: Entry) -> list[Agreement]:
    """What both engines ran, by the first measure of its series."""
    found = []
    for series in entry.experiment.series:
        measure = next(iter(series.measures), None)
        rows = [row for row in entry.rows if row.series == series.name and measure in row.measures]
        for other in [row for row in rows if row.engine != series.engine]:
            same = [row for row in rows if row.engine == series.engine and _place(row) == _place(other)]
            if same and measure is not None:
                mean = float(np.mean([row.measures[measure] for row in same]))
                found.append(Agreement(_place(other), measure, mean, other.measures[measure]))
    return found


def _place(row: Row) -> str:
    return ", ".join([row.sender, *(f"{name} {value:g}" for name, value in row.values.items())])


def command(entry: Entry) -> str:
    """What makes this entry again."""
    return f"clarion reproduce {entry.experiment.id}{' --quick' if entry.quick else ''}"


def verdict_name(paper: str) -> str:
    """What the result of an experiment is called."""
    return "Answer" if paper == QUESTIONS else "Verdict"


def claim_name(paper: str) -> str:
    """What an experiment is about."""
    return "Question" if paper == QUESTIONS else "Claim"


_FUNCTIONS: Mapping[str, Any] = {
    "verdict_name": verdict_name,
    "claim_name": claim_name,
    "state": state,
    "findings": findings,
    "made_of": made_of,
    "agreements": agreements,
    "command": command,
}
