# SPDX-License-Identifier: Apache-2.0
"""What the controller needs to know of the scenarios that it may run; the command line supplies it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from clarion_base.errors import UserError

MAX_SETTINGS = 50
MAX_REPEAT = 100


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


class ScenarioLibrary(Protocol):
    """The scenarios, how a request for one is checked, and how results are read."""

    def catalogue(self) -> tuple[ScenarioInfo, ...]:
        """The scenarios that ship, in the order of `clarion list`."""

    def engines(self) -> list[str]:
        """Names of the engines, the default first."""

    def checked(self, scenario: str, engine: str, settings: Mapping[str, Any], repeat: int) -> Request:
        """A run that can be queued, or ExperimentFault."""

    def expected_s(self, request: Request) -> float:
        """How long the flows of all its runs last together."""

    def parse_setting(self, text: str) -> tuple[str, Any]:
        """KEY=VALUE as `clarion run --set` takes it; UserError says what is wrong."""

    def summary_file(self) -> str:
        """Name of the summary among the results."""

    def columns(self) -> Sequence[str]:
        """Headings of the table of results."""

    def rows(self, summary: Mapping[str, Any]) -> list[list[str]]:
        """The table of a summary, one row for each run; none for a document of another kind."""

    def to_compare(self, results: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
        """What there is to choose from in summaries by name: lists of `metrics`, `senders` and `engines`, and
        `parameters` with their values. UserError for a document of another kind.
        """

    def compared(
        self,
        results: Mapping[str, Mapping[str, Any]],
        *,
        metric: str | None,
        senders: Sequence[str],
        engines: Sequence[str],
        where: Mapping[str, Sequence[Any]],
        over: str | None,
        pool: bool,
    ) -> Mapping[str, Any]:
        """The comparison of summaries by name, as `clarion compare --json` prints it; UserError if the choice
        leaves nothing.
        """


def settings_texts(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The settings of a JSON object as KEY=JSON."""
    return tuple(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in settings.items())


def settings_object(settings: Iterable[str]) -> dict[str, Any]:
    """The settings of a checked request, KEY=JSON, as one JSON object."""
    return {key: json.loads(value) for key, _, value in (text.partition("=") for text in settings)}
