# SPDX-License-Identifier: Apache-2.0
"""The runs of any number of results as samples: who sent, on which engine, with which parameters, and what
was measured. Results are directories, or the summaries that a controller holds.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clarion_base import units
from clarion_base.errors import UserError
from clarion_lab.recording import files
from clarion_lab.results.key_metrics import key_metrics

Document = Mapping[str, Any]
LARGEST = 1e100  # of a number: beyond anything that is measured or set, and spreads square it


@dataclass(frozen=True)
class Sample:
    """One run of a result."""

    result: str
    senders: tuple[str, ...]  # ascending
    engine: str
    settings: Document  # the swept fields of the scenario, by dotted name
    complete: bool
    metrics: Mapping[str, float | None]
    scenario: Callable[[], Document]  # all fields as written; read on demand

    def parameter(self, name: str) -> Any:
        """A field of its scenario by its dotted name, such as "links.bottleneck.rate"; None without it."""
        if name in self.settings:
            return self.settings[name]
        here: Any = self.scenario()
        for part in name.split("."):
            if isinstance(here, Mapping):
                here = here.get(part)
            elif isinstance(here, Sequence) and not isinstance(here, str) and part.isdecimal():
                here = here[int(part)] if int(part) < len(here) else None
            else:
                return None
        return here


def of_directory(directory: Path) -> list[Sample]:
    """The runs of a result on disk; UserError if there is none."""
    return of_summary(str(directory), files.read_summary(directory), directory)


def of_summary(result: str, summary: Document, directory: Path | None = None) -> list[Sample]:
    """The runs of a summary of a run or of a batch; UserError if it is neither.

    Without the directory of its runs, fields that were not swept are not known of a batch.
    """
    try:
        if summary["format"] == files.RUN_FORMAT:
            return [_of_run(result, summary)]
        if summary["format"] == files.BATCH_FORMAT:
            return [_of_entry(result, entry, directory) for entry in summary["runs"]]
    except (KeyError, TypeError, AttributeError, ValueError):
        pass
    raise UserError(f"{result}: not a summary of clarion that can be compared; run it again")


def _of_run(result: str, summary: Document) -> Sample:
    return Sample(
        result,
        tuple(sorted({flow["algorithm"] for flow in summary["flows"]})),
        summary["engine"],
        dict(summary["settings"]),
        summary["state"] == "complete",
        {name: _number(value) for name, value in key_metrics(dict(summary)).items()},
        lambda: summary["document"],
    )


def _of_entry(result: str, entry: Document, directory: Path | None) -> Sample:
    @functools.cache
    def run() -> Document:
        if directory is None:
            return {}
        return files.read_summary(directory / entry["directory"])

    if "senders" not in entry and directory is not None:  # of an earlier version
        entry = {**entry, "senders": _of_run(result, run()).senders, "engine": run()["engine"]}
    return Sample(
        result,
        tuple(map(str, entry["senders"])),
        str(entry["engine"]),
        dict(entry["settings"]),
        entry["state"] == "complete",
        {str(name): _number(value) for name, value in entry["metrics"].items()},
        lambda: run().get("document", {}),
    )


def _number(value: Any) -> float | None:
    """A number to reckon with; None for one that is infinite or absurdly large, as JSON may hold."""
    if value is None:
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer of hundreds of digits
        return None
    return number if abs(number) <= LARGEST else None


def quantity(value: Any) -> tuple[float, str] | None:
    """A parameter as a number in bit/s, s, B, bdp or packets, with that unit; None for words and for numbers
    that are no quantity.

    Fractions and plain numbers have no unit: "0.1 %" is 0.001.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        number = _number(value)
        return None if number is None else (number, "")
    if not isinstance(value, str):
        return None
    readers: tuple[tuple[Callable[[object], float], str], ...] = (
        (units.parse_fraction, ""),
        (units.parse_rate, "bit/s"),
        (lambda text: units.parse_time(text) / 1e6, "s"),
        (units.parse_size, "B"),
    )
    for read, unit in readers:
        with suppress(ValueError):
            return float(read(value)), unit
    with suppress(ValueError):
        limit = units.parse_queue(value)
        return limit.amount, limit.unit
    return None


def same(one: Any, other: Any) -> bool:
    """Whether two values of a parameter are the same, however written: "1 Gbit/s" is "1000 Mbit/s"."""
    first, second = quantity(one), quantity(other)
    if first is None or second is None:
        return str(one) == str(other)
    return first[1] == second[1] and math.isclose(first[0], second[0])
