# SPDX-License-Identifier: Apache-2.0
"""The expectations of a scenario, evaluated: each is a metric of the summary and its bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def evaluate(
    expectations: Sequence[Mapping[str, Any]], summary: Mapping[str, Any], settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Every expectation that applies at this point of the sweep, with the value found and whether it was met.

    `where` compares with the point's settings and with the scenario's own fields, by dotted name. A metric
    that the run did not produce is not met.
    """
    judged = []
    document = summary.get("document", {})
    for expectation in expectations:
        where = expectation.get("where", {})
        if any(settings.get(key, _found(document, key)) != wanted for key, wanted in where.items()):
            continue
        value = _value(summary, expectation["metric"])
        met = (
            value is not None
            and value >= expectation.get("at-least", float("-inf"))
            and value <= expectation.get("at-most", float("inf"))
        )
        judged.append({**expectation, "value": value, "met": met})
    return judged


def missed(summary: Mapping[str, Any]) -> list[str]:
    """One line for each expectation of a run that its judged summary did not meet."""
    name = " ".join(part for part in (summary["scenario"], summary["point"]) if part)
    lines = []
    for expectation in summary["expectations"]:
        if not expectation["met"]:
            bounds = [
                f"{bound} {expectation[bound]:g}" for bound in ("at-least", "at-most") if bound in expectation
            ]
            value = "nothing" if expectation["value"] is None else f"{expectation['value']:.4g}"
            lines.append(f"{name}: expected {expectation['metric']} {' and '.join(bounds)}, found {value}")
    return lines


def _value(summary: Mapping[str, Any], metric: str) -> float | None:
    here = _found(summary, metric)
    return float(here) if isinstance(here, (int, float)) else None


def _found(document: Mapping[str, Any], name: str) -> Any:
    here: Any = document
    for part in name.split("."):
        if isinstance(here, Mapping) and part in here:
            here = here[part]
        elif isinstance(here, list) and part.isdigit() and int(part) < len(here):
            here = here[int(part)]
        else:
            return None
    return here
