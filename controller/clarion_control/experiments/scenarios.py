# SPDX-License-Identifier: Apache-2.0
"""What may be run: shipped scenarios only, with settings that their builder takes."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from clarion import documents
from clarion.engines import ENGINES
from clarion.errors import ScenarioError, UserError
from clarion.scenario import build

MAX_SETTINGS = 50
MAX_SETTING_CHARACTERS = 10_000  # a command line holds 50 of them
MAX_REPEAT = 100
MAX_RUN_S = 24 * 3600
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,9}")


class ExperimentFault(UserError):  # noqa: N818 - of the request, not of a run
    """A request that cannot be run; `path` leads to the field of it."""

    def __init__(self, path: tuple[str | int, ...], reason: str) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason


@dataclass(frozen=True)
class ScenarioInfo:
    """A shipped scenario."""

    name: str
    description: str
    points: int
    run_s: float  # of one repeat of all points


@dataclass(frozen=True)
class Request:
    """A run that was checked. `settings` are those of `--set`."""

    scenario: str
    engine: str
    settings: tuple[str, ...]
    repeat: int


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


def settings_object(settings: Iterable[str]) -> dict[str, Any]:
    """The settings of a run as JSON again."""
    return dict(documents.parse_assignment(text) for text in settings)


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
        raise ExperimentFault(_blamed(error.field, settings), str(error)) from error


def _blamed(field: str, settings: Mapping[str, Any]) -> tuple[str | int, ...]:
    """The setting that a fault of the scenario is about: the longest that the field begins with."""
    dotted = re.sub(r"\[(\d+)\]", r".\1", field)
    fits = [key for key in settings if f"{dotted}.".startswith(f"{key}.") or key.startswith(f"{dotted}.")]
    return ("settings", max(fits, key=len)) if fits else ("settings",)


def _info(name: str) -> ScenarioInfo:
    document = documents.read(documents.shipped()[name])
    durations = _durations(name, (), {})
    return ScenarioInfo(name, " ".join(document["description"].split()), len(durations), sum(durations))
