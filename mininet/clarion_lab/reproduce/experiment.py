# SPDX-License-Identifier: Apache-2.0
"""Experiment files: the claim of a figure, what is run for it, what is measured, and when the claim holds.

Format: docs/experiments.md.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clarion_base import faults
from clarion_base.errors import UserError
from clarion_base.faults import Fault, FaultError
from clarion_base.paths import EXPERIMENTS
from clarion_lab.scenario.documents import Document, assign, locate, points, read
from clarion_lab.scenario.validation import first_fault

KINDS = {"T": "trend", "O": "order", "R": "ratio", "V": "value", "N": "note, decides nothing"}
NOTE = "N"
ENGINES = ("sim", "emu")
OTHER_ENGINE = {"sim": "emu", "emu": "sim"}  # for samples
QUESTIONS = "beyond"  # the "paper" of questions of our own


@dataclass(frozen=True)
class Column:
    """A swept parameter: a number of each point, and the text that the scenario gets."""

    name: str
    key: str
    values: tuple[float, ...]
    unit: str
    fields: tuple[Mapping[str, Any], ...] = ()  # for each value in place of the key: all that it sets

    def settings(self, value: float) -> Mapping[str, Any]:
        """What the fields of the scenario are set to, by dotted name."""
        if self.fields:
            return self.fields[self.values.index(value)]
        return {self.key: f"{value:g} {self.unit}" if self.unit else value}


@dataclass(frozen=True)
class Sample:
    """Points of a series that are run on the other engine, too: their senders, columns and repeats."""

    senders: tuple[str, ...]
    at: Mapping[str, Sequence[float]]
    repeats: int

    def takes(self, sender: str, values: Mapping[str, float]) -> bool:
        """Whether this place is one of them."""
        return sender in self.senders and all(values[name] in wanted for name, wanted in self.at.items())


@dataclass(frozen=True)
class Series:
    """Runs of one scenario over senders and swept parameters."""

    name: str
    scenario: str
    document: Document
    senders: Mapping[str, Mapping[str, Any]]
    columns: tuple[Column, ...]
    engine: str
    why: str
    repeats: int
    measures: Mapping[str, str]
    sample: Sample | None  # what is run on the other engine, too
    by_repeat: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # fields that differ between repeats


@dataclass(frozen=True)
class Place:
    """One point of a series: its sender, the values of its columns, and its document without a seed."""

    series: Series
    sender: str
    values: Mapping[str, float]
    document: Document

    def repeated(self, repeat: int, seed: int) -> Document:
        """The document of one repeat, counted from 0."""
        document = {**copy.deepcopy(self.document), "seed": seed}
        for key, values in self.series.by_repeat.items():
            assign(self.series.scenario, document, key, values[repeat % len(values)])
        return document


@dataclass(frozen=True)
class Criterion:
    """One condition of a reproduction (docs/experiments.md): its kind, what the paper says, the formula."""

    kind: str
    says: str
    expect: str
    each: Mapping[str, Any]
    paired: bool
    ceiling: str | None


@dataclass(frozen=True)
class Plot:
    """A figure of ours: curves of a measure over a column, or bars by sender; at one place of other columns,
    and as a ratio to one sender's, if that is given.
    """

    of: str
    series: str | None
    over: str | None
    title: str
    unit: str
    log: str
    reported: tuple[Mapping[str, Any], ...]
    at: Mapping[str, float] = field(default_factory=dict)
    relative_to: str | None = None


@dataclass(frozen=True)
class Trace:
    """A figure of ours over time: of the first run of each of these senders at one place."""

    of: str
    series: str
    senders: tuple[str, ...]
    at: Mapping[str, float]
    every_s: float
    title: str
    reported: tuple[float, ...]

    def takes(self, series: str, sender: str, values: Mapping[str, float]) -> bool:
        """Whether it shows runs of this series and sender at this place."""
        return series == self.series and sender in self.senders and values == self.at


@dataclass(frozen=True)
class Experiment:
    """One row of the list of experiments."""

    id: str
    paper: str
    figure: str
    title: str
    claim: str
    reported: tuple[Mapping[str, Any], ...]
    differs: tuple[str, ...]
    series: tuple[Series, ...]
    constants: Mapping[str, str]
    criteria: tuple[Criterion, ...]
    plots: tuple[Plot, ...]
    traces: tuple[Trace, ...]
    document: Document
    trend_only: str | None = None  # why no numbers can be claimed even if they hold


def shipped() -> dict[str, Path]:
    """The experiments that come with Clarion by their ids, in the order of papers and figures."""
    found = {}
    for path in EXPERIMENTS.glob("*/*.yaml"):
        found[read(path)["id"]] = path
    return dict(sorted(found.items(), key=lambda each: _natural(each[0])))


def _natural(text: str) -> list[tuple[int, str]]:
    parts = itertools.groupby(text.lower(), str.isdigit)
    return [(int(part), "") if digits else (-1, part) for digits, group in parts for part in ["".join(group)]]


def load(path: Path, quick: bool = False) -> Experiment:
    """Reads an experiment; `quick` takes its shorter form. FaultError names the field to mend."""
    document = read(path)
    fault = first_fault("experiment", document)
    if fault:
        raise FaultError(fault, f"experiment {path.stem}")
    return _build(path, document, quick)


def _build(path: Path, document: Document, quick: bool) -> Experiment:
    made = tuple(
        _series(path, index, {**part, **part.get("quick", {}), "sample": None} if quick else part, document)
        for index, part in enumerate(document.get("runs", []))
    )
    return Experiment(
        id=document["id"],
        paper=document["paper"],
        figure=document["figure"],
        title=document["title"],
        claim=" ".join(document["claim"].split()),
        reported=tuple(document.get("reported", [])),
        differs=tuple(document.get("differs", [])),
        series=made,
        constants=document.get("constants", {}),
        criteria=tuple(_criterion(each) for each in document["criteria"]),
        plots=tuple(_plot(each) for each in document.get("plots", [])),
        traces=tuple(
            _trace(path, ("traces", index), each, made, quick)
            for index, each in enumerate(document.get("traces", []))
        ),
        document=document,
        trend_only=document.get("trend_only"),
    )


def _series(path: Path, index: int, part: Document, experiment: Document) -> Series:
    name = part.get("name", "runs")
    scenario = part["scenario"]
    if isinstance(scenario, str):
        given = read(locate(scenario))
        given.pop("sweep", None)
        given.pop("expect", None)
    else:
        given, scenario = copy.deepcopy(scenario), f"{experiment['id'].lower()}-{name}"
    for key, value in part.get("set", {}).items():
        assign(path.stem, given, key, value)
    given.setdefault("description", experiment["title"])
    columns = tuple(
        _column(path, ("runs", index, "over", column), each) for column, each in part.get("over", {}).items()
    )
    return Series(
        name=name,
        scenario=scenario,
        document=given,
        senders=part.get("senders", {"all": {}}),
        columns=columns,
        engine=part["engine"],
        why=part["why"],
        repeats=part.get("repeats", 5),
        measures={**experiment.get("measures", {}), **part.get("measures", {})},
        sample=_sample(part["sample"]) if part.get("sample") else None,
        by_repeat=part.get("by_repeat", {}),
    )


def _column(path: Path, where: faults.Path, each: Document) -> Column:
    if ("key" in each) == ("fields" in each):
        raise _fault(path, where, "give either key or fields")
    if "fields" in each and len(each["fields"]) != len(each["values"]):
        reason = f"give one for each of the {len(each['values'])} values"
        raise _fault(path, (*where, "fields"), reason)
    return Column(
        str(where[-1]),
        each.get("key", ""),
        tuple(each["values"]),
        each.get("unit", ""),
        tuple(each.get("fields", [])),
    )


def _fault(path: Path, where: faults.Path, reason: str) -> FaultError:
    return FaultError(Fault(where, reason), f"experiment {path.stem}")


def _sample(each: Document) -> Sample:
    return Sample(tuple(each["senders"]), each.get("at", {}), each.get("repeats", 1))


def _criterion(each: Document) -> Criterion:
    return Criterion(
        each["kind"],
        each["says"],
        each["expect"],
        each.get("each", {}),
        each.get("paired", True),
        each.get("ceiling"),
    )


def _plot(each: Document) -> Plot:
    return Plot(
        each["of"],
        each.get("series"),
        each.get("over"),
        each.get("title", ""),
        each.get("unit", ""),
        each.get("log", ""),
        tuple(each.get("reported", [])),
        each.get("at", {}),
        each.get("relative_to"),
    )


def _trace(path: Path, where: faults.Path, each: Document, made: Sequence[Series], quick: bool) -> Trace:
    name = each.get("series", "runs")
    shown = next((series for series in made if series.name == name), None)
    if shown is None:
        raise _fault(path, (*where, "series"), f"use {', '.join(series.name for series in made)}")
    at = each.get("at", {})
    columns = [column.name for column in shown.columns]
    if set(at) != set(columns):
        reason = f"give one value of each column: {', '.join(columns) or 'there is none'}"
        raise _fault(path, (*where, "at"), reason)
    senders = tuple(each.get("senders", shown.senders))
    if not quick and not set(senders) <= set(shown.senders):  # quick forms may have fewer
        raise _fault(path, (*where, "senders"), f"use {', '.join(shown.senders)}")
    every_s, reported = each.get("every_s", 1.0), tuple(each.get("reported", []))
    return Trace(each["of"], name, senders, at, every_s, each.get("title", ""), reported)


def spots(series: Series) -> Iterator[tuple[str, dict[str, float]]]:
    """The points of a series, sender by sender, each with the values of its columns."""
    for sender in series.senders:
        for values in itertools.product(*(column.values for column in series.columns)):
            yield sender, {column.name: number for column, number in zip(series.columns, values, strict=True)}


def places(series: Series) -> Iterator[Place]:
    """The same with their documents."""
    for sender, values in spots(series):
        document = copy.deepcopy(series.document)
        for key, value in series.senders[sender].items():
            assign(series.scenario, document, key, value)
        for column in series.columns:
            for key, value in column.settings(values[column.name]).items():
                assign(series.scenario, document, key, value)
        (point,) = points(series.scenario, document)
        yield Place(series, sender, values, point.document)


def chosen(ids: Sequence[str]) -> dict[str, Path]:
    """The shipped experiments of these ids or beginnings of ids, all if none is given; paths are taken, too.
    UserError lists what there is.
    """
    known = shipped()
    if not ids:
        return known
    found: dict[str, Path] = {}
    for wanted in ids:
        if wanted.endswith((".yaml", ".yml")):
            path = Path(wanted)
            if not path.is_file():
                raise UserError(f"experiment {wanted}: no such file")
            found[read(path).get("id", path.stem)] = path
            continue
        matching = {name: path for name, path in known.items() if _matches(name, wanted)}
        if not matching:
            raise UserError(
                f"experiment {wanted}: unknown; use {', '.join(known)}, a paper such as S0, or a file"
            )
        found |= matching
    return found


def _matches(name: str, wanted: str) -> bool:
    return name.lower() == wanted.lower() or name.lower().startswith(wanted.lower() + "-")
