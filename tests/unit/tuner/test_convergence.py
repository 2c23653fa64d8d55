# SPDX-License-Identifier: Apache-2.0
"""Gamma is large while newcomers wait for their share: on a model of a port, and verdict by verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from clarion_control.model import Interval
from clarion_control.tuner.convergence import SPEC
from clarion_control.tuner.policy import NOTHING, Proposal, Verdict, View
from clarion_control.tuner.registry import checked_parameters

from .link_model import Flow, Link, port, run
from .reports import START_US, reports

SHARE_BPS = 20e6  # a fifth of the link


def round_trips_to_share(policy: bool) -> tuple[float, list[tuple[float, Proposal]]]:
    """A fifth flow joins four after 20 s; returns the round trips until it has 95 % of its share."""
    link = Link([*(Flow(0.1) for _ in range(4)), Flow(0.1, start_s=20)], lambda _: 100e6, port())
    at_start = run(link, 20, SPEC if policy else None)
    assert all(time_s < 10 for time_s, _ in at_start)
    reached: list[float] = []
    step = link.step

    def watched() -> None:
        step()
        if link.flows[4].rate * 8 >= 0.95 * SHARE_BPS:
            reached.append(link.now_s)

    link.step = watched  # type: ignore[method-assign]
    decided = run(link, 40, SPEC if policy else None)
    return (reached[0] - 20) / 0.1, decided


def test_a_newcomer_has_its_share_in_half_the_time() -> None:
    plain, _ = round_trips_to_share(False)
    tuned, decided = round_trips_to_share(True)
    # With gamma 0.1 the missing share shrinks by a tenth per round trip: 0.9^28 = 0.05; with 0.3, 0.7^8.4.
    assert 26 < plain < 31
    assert tuned < 16
    gammas = [proposal.changes["xcp"]["gamma"] for _, proposal in decided]
    assert gammas == [0.3, 0.1]
    assert decided[0][0] < 20.8  # three intervals and a look
    assert decided[1][0] < 22.0


def test_flows_that_stay_leave_gamma_alone() -> None:
    link = Link([Flow(0.02) for _ in range(3)] + [Flow(0.2) for _ in range(4)], lambda _: 100e6, port())
    assert [time_s for time_s, _ in run(link, 60, SPEC) if time_s > 10] == []


def judge(
    given: Sequence[Interval], gamma: float = 0.1, memory: Any = NOTHING, **parameters: float
) -> Verdict:
    view = View(given[-1].time_us, port(100_000_000, gamma=gamma), 0, given)
    return SPEC.judge(view, checked_parameters("convergence", parameters), memory)


def flows(numbers: Sequence[float], **more: Any) -> list[Mapping[str, Any]]:
    """Intervals of 100 ms with that many flows, a tenth of whose rate is redistributed."""
    return [{"sum_x_s": 0.1 * number, **more} for number in numbers]


def gamma_of(verdict: Verdict) -> float:
    assert verdict.proposal is not None
    gamma: float = verdict.proposal.changes["xcp"]["gamma"]
    return gamma


def test_newcomers_are_counted_whatever_their_rate() -> None:
    verdict = judge(reports(flows([4, 4, 4, 4, 5, 5, 5])))
    assert gamma_of(verdict) == 0.3
    assert verdict.observed["flows"] == 5
    # One of five flows lacks all of its fifth.
    assert verdict.observed["unfair"] == pytest.approx(0.2)
    assert verdict.proposal is not None
    assert verdict.proposal.summary == "Gamma 0.1 to 0.3: 1 more flows, and 20% of the rate not yet theirs."


def test_what_the_switch_hands_back_makes_it_fair_again() -> None:
    given = reports(flows([4, 4, 4, 5, 5, 5]) + flows([5] * 4, negative_bps=30e6))
    # 0.2 * 0.7^4 = 0.048, then 0.034.
    assert judge(given, gamma=0.3).observed["unfair"] == pytest.approx(0.048, abs=0.0001)
    assert judge(given, gamma=0.3).proposal is None
    more = reports(flows([4, 4, 4, 5, 5, 5]) + flows([5] * 5, negative_bps=30e6))
    assert gamma_of(judge(more, gamma=0.3)) == 0.1


@pytest.mark.parametrize(
    ("numbers", "why"),
    [
        ([5, 5, 5, 5, 4, 4, 4, 4], "who goes leaves the others' shares as they were"),
        ([5, 5, 5, 5.4, 5.3, 5.4, 5.4], "no whole flow"),
        ([5, 5, 5, 9, 5, 5, 5, 5], "one interval only"),
        ([20, 20, 20, 21, 21, 21], "one of twenty-one is not worth it"),
        ([5, 5], "too little to know"),
    ],
)
def test_what_does_not_raise_gamma(numbers: list[float], why: str) -> None:
    assert judge(reports(flows(numbers))).proposal is None, why


def test_gamma_comes_down_after_a_while_whatever_the_estimate_says() -> None:
    given = reports(flows([4, 4, 4, 5, 5, 5]) + flows([5] * 90, negative_bps=0.0))
    assert judge(given[:50], gamma=0.3, longest_s=5).proposal is None
    late = judge(given, gamma=0.3, longest_s=5)
    assert late.observed["unfair"] == pytest.approx(0.2)
    assert gamma_of(late) == 0.1


def test_the_memory_survives_as_json_and_each_report_counts_once() -> None:
    given = reports(flows([4, 4, 4, 5, 5, 5, 5, 5]))
    whole = judge(given, gamma=0.3)
    memory: Any = NOTHING
    for end in range(1, len(given) + 1):
        memory = json.loads(json.dumps(judge(given[:end], gamma=0.3, memory=memory).memory))
    assert memory["unfair"] == pytest.approx(whole.memory["unfair"])
    assert memory["seen_us"] == START_US + 800_000


def test_reports_that_came_at_once_count_each() -> None:
    given = reports(flows([4, 4, 4, 5, 5, 5]))
    at_once = [each._replace(time_us=given[-1].time_us) for each in given]
    assert judge(at_once).memory["unfair"] == judge(given).memory["unfair"] == pytest.approx(0.2)


def test_a_port_without_xcp_traffic_has_no_flows() -> None:
    verdict = judge(reports(flows([0, 0, 0, 0])))
    assert verdict.observed == {"state": "collecting evidence"}
