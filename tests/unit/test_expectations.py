# SPDX-License-Identifier: Apache-2.0
"""Expectations of scenarios: their conditions (`where`), bounds and messages."""

from __future__ import annotations

from typing import Any

import pytest

from clarion_lab.results.expectations import evaluate, missed

SUMMARY: dict[str, Any] = {
    "scenario": "geo",
    "point": "xcp",
    "totals": {"jain": 0.95, "convergence": None},
    "document": {"algorithm": "cubic", "links": {"bottleneck": {"loss": {"forward": {"rate": 0.001}}}}},
}
RATE = "links.bottleneck.loss.forward.rate"


def test_where_reads_settings_first_and_then_the_document() -> None:
    expect = [{"metric": "totals.jain", "at-least": 0.9, "where": {"algorithm": "xcp", RATE: 0.001}}]
    assert evaluate(expect, SUMMARY, {}) == []
    (judged,) = evaluate(expect, SUMMARY, {"algorithm": "xcp"})
    assert (judged["value"], judged["met"]) == (0.95, True)
    assert evaluate(expect, SUMMARY, {"algorithm": "xcp", RATE: 0.01}) == []


@pytest.mark.parametrize(
    ("bounds", "met"),
    [
        ({"at-least": 0.95}, True),
        ({"at-least": 0.951}, False),
        ({"at-most": 0.95}, True),
        ({"at-most": 0.949}, False),
        ({"at-least": 0.9, "at-most": 1}, True),
        ({"at-least": 0.5, "at-most": 0.9}, False),
        ({"at-least": 0.96, "at-most": 1}, False),
    ],
)
def test_an_expectation_is_met_within_its_bounds(bounds: dict[str, float], met: bool) -> None:
    (judged,) = evaluate([{"metric": "totals.jain", **bounds}], SUMMARY, {})
    assert (judged["value"], judged["met"]) == (0.95, met)


def test_what_was_missed_is_one_line_each() -> None:
    expect = [
        {"metric": "totals.jain", "at-least": 0.9},
        {"metric": "totals.jain", "at-least": 0.99},
        {"metric": "totals.convergence.time_s", "at-most": 5},
    ]
    summary = {**SUMMARY, "expectations": evaluate(expect, SUMMARY, {})}
    assert missed(summary) == [
        "geo xcp: expected totals.jain at-least 0.99, found 0.95",
        "geo xcp: expected totals.convergence.time_s at-most 5, found nothing",
    ]
