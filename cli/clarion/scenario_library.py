# SPDX-License-Identifier: Apache-2.0
"""The experiments that a controller may start: shipped scenarios, with settings that their builder takes.

The functions are those of clarion_control.experiments.library.ScenarioLibrary.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clarion_base.errors import UserError
from clarion_base.faults import Path, ScenarioError
from clarion_control.experiments.library import (
    MAX_REPEAT,
    MAX_SETTINGS,
    ExperimentFault,
    Request,
    ScenarioInfo,
)
from clarion_lab.engines.registry import ENGINES
from clarion_lab.recording.files import BATCH_FORMAT, SUMMARY
from clarion_lab.results import comparison, samples, selection, tables
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import build

MAX_SETTING_CHARACTERS = 10_000  # a command line holds 50 of them
MAX_RUN_S = 24 * 3600
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,9}")


@functools.cache
def catalogue() -> tuple[ScenarioInfo, ...]:
    """The scenarios that ship, in the order of `clarion list`."""
    return tuple(_info(name) for name in documents.shipped())


def engines() -> list[str]:
    """Names of the engines."""
    return list(ENGINES)


def checked(scenario: str, engine: str, settings: Mapping[str, Any], repeat: int) -> Request:
    """A run that can be queued, or ExperimentFault."""
    known = documents.shipped()
    if scenario not in known:
        raise ExperimentFault(("scenario",), f"no such scenario ships; use {', '.join(known)}")
    if engine not in ENGINES:
        raise ExperimentFault(("engine",), f"no such engine; use {', '.join(ENGINES)}")
    if not 1 <= repeat <= MAX_REPEAT:
        raise ExperimentFault(("repeat",), f"use a whole number from 1 to {MAX_REPEAT}")
    if len(settings) > MAX_SETTINGS:
        raise ExperimentFault(("settings",), f"give at most {MAX_SETTINGS}")
    texts = tuple(_assignment(key, value) for key, value in settings.items())
    run_s = repeat * sum(_durations(scenario, texts, settings))
    if run_s > MAX_RUN_S:
        raise ExperimentFault(
            ("repeat",) if repeat > 1 else ("settings",),
            f"would run for {run_s:.0f} s; at most {MAX_RUN_S} s are allowed",
        )
    return Request(scenario, engine, texts, repeat)


def expected_s(request: Request) -> float:
    """How long its flows run in all."""
    return request.repeat * sum(_durations(request.scenario, request.settings, {}))


def parse_setting(text: str) -> tuple[str, Any]:
    """KEY=VALUE as `clarion run --set` takes it; UserError says what is wrong."""
    return documents.parse_assignment(text)


def summary_file() -> str:
    """Name of the summary among the results."""
    return SUMMARY


def columns() -> Sequence[str]:
    """Headings of the table that `clarion run` prints."""
    return tables.COLUMNS


def rows(summary: Mapping[str, Any]) -> list[list[str]]:
    """One row for each run, as on the terminal; none if this is no summary of ours."""
    try:
        if summary.get("format") == BATCH_FORMAT:
            return [list(map(str, row)) for row in summary["rows"]]
        return [tables.row(str(summary["scenario"]), dict(summary))]
    except (KeyError, TypeError, AttributeError):
        return []


def to_compare(results: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """What there is to choose from in summaries by name."""
    return selection.offered(_samples(results))


def compared(
    results: Mapping[str, Mapping[str, Any]],
    *,
    metric: str | None,
    senders: Sequence[str],
    engines: Sequence[str],
    where: Mapping[str, Sequence[Any]],
    over: str | None,
    pool: bool,
) -> Mapping[str, Any]:
    """The comparison of summaries by name, as `clarion compare --json` prints it."""
    wanted = {key: tuple(values) for key, values in where.items()}
    choice = selection.Choice(metric or selection.METRIC, tuple(senders), tuple(engines), wanted, over, pool)
    return comparison.compared(_samples(results), choice)


def _samples(results: Mapping[str, Mapping[str, Any]]) -> list[samples.Sample]:
    return [each for name, summary in results.items() for each in samples.of_summary(name, summary)]


def _assignment(key: str, value: Any) -> str:
    """KEY=VALUE as `--set` takes it; JSON is YAML, too."""
    if not _KEY.fullmatch(key):
        raise ExperimentFault(("settings", key), "use a dotted name, such as links.bottleneck.rate")
    text = f"{key}={json.dumps(value, ensure_ascii=False)}"
    if len(text) > MAX_SETTING_CHARACTERS:
        raise ExperimentFault(("settings", key), f"is longer than {MAX_SETTING_CHARACTERS} characters")
    try:
        documents.parse_assignment(text)
    except UserError as error:
        raise ExperimentFault(("settings", key), str(error)) from error
    return text


def _durations(scenario: str, texts: Iterable[str], settings: Mapping[str, Any]) -> list[float]:
    document = documents.read(documents.shipped()[scenario])
    try:
        assignments = [documents.parse_assignment(text) for text in texts]
        points = documents.points(scenario, document, assignments)
        return [build(scenario, point.document).duration_us / 1e6 for point in points]
    except ScenarioError as error:
        raise ExperimentFault(_blamed(error.fault.path, settings), str(error)) from error


def _blamed(path: Path, settings: Mapping[str, Any]) -> Path:
    """The setting that a fault of the scenario is about: the longest that the path begins with."""
    parts = [str(part) for part in path]
    keys = {key: key.split(".") for key in settings}
    fits = [key for key, names in keys.items() if all(a == b for a, b in zip(names, parts, strict=False))]
    return ("settings", max(fits, key=len)) if fits and parts else ("settings",)


def _info(name: str) -> ScenarioInfo:
    document = documents.read(documents.shipped()[name])
    durations = _durations(name, (), {})
    return ScenarioInfo(name, " ".join(document["description"].split()), len(durations), sum(durations))
