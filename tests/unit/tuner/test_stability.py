# SPDX-License-Identifier: Apache-2.0
"""Alpha and beta: on a model with late feedback, and verdict by verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from clarion_contract.checks import checked_settings
from clarion_control.model import Interval
from clarion_control.tuner.policy import NOTHING, Verdict, View
from clarion_control.tuner.registry import checked_parameters
from clarion_control.tuner.stability import SPEC

from .link_model import Flow, Link, port, run
from .reports import reports


def late_feedback(feedback_s: float) -> Link:
    """Five flows of 100 ms whose acknowledgements come later than the RTT in the header."""
    return Link(
        [Flow(0.1, feedback_s=feedback_s) for _ in range(5)], lambda _: 100e6, port(), queue_limit=5e6
    )


def test_a_loop_that_swings_is_calmed_and_then_carefully_brought_back() -> None:
    """Late feedback makes a longer loop than the header's RTT, which is unstable with alpha 0.4."""
    without = late_feedback(0.5)
    run(without, 60)
    assert without.between(30, 60)["queue_p99"] > 300_000
    link = late_feedback(0.5)
    decided = run(link, 60, SPEC)
    assert decided[0][1].changes["xcp"] == {"alpha": 0.3, "beta": 0.127279}
    assert link.between(30, 60)["queue_p99"] < 10_000
    assert link.between(30, 60)["utilisation"] > 0.99
    # Half a minute of calm, one step of 10 %.
    assert [round(time_s) for time_s, _ in decided[1:]] == [45]
    assert decided[1][1].changes["xcp"]["alpha"] == 0.33


def test_a_step_up_that_brought_the_swing_back_is_tried_half_as_often() -> None:
    decided = run(late_feedback(0.6), 260, SPEC)
    ups = [time_s for time_s, proposal in decided if "calm" in proposal.summary]
    downs = [time_s for time_s, proposal in decided if "calm" not in proposal.summary]
    after_first_relapse = [time_s for time_s in ups if time_s > downs[1]]
    assert ups[0] - downs[0] < 31
    assert 59 < after_first_relapse[0] - downs[1] < 62


@pytest.mark.parametrize("rtts_s", [[0.1] * 5, [0.02] * 3 + [0.5] * 2])
def test_a_calm_loop_is_left_alone(rtts_s: list[float]) -> None:
    link = Link([Flow(rtt_s) for rtt_s in rtts_s], lambda _: 100e6, port())
    assert [time_s for time_s, _ in run(link, 90, SPEC) if time_s > 30] == []


def test_every_proposal_lies_in_the_proven_region() -> None:
    for _, proposal in run(late_feedback(0.8), 200, SPEC):
        xcp = proposal.changes["xcp"]
        assert xcp["beta"] == pytest.approx(xcp["alpha"] ** 2 * math.sqrt(2), rel=0.001)
        settings = port(100_000_000, **xcp)
        assert checked_settings("s1", [1], [settings])


def judge(
    given: Sequence[Interval],
    alpha: float = 0.4,
    changed_us: int = 0,
    memory: Any = NOTHING,
    **parameters: float,
) -> Verdict:
    settings = port(100_000_000, alpha=alpha, beta=alpha**2 * math.sqrt(2))
    view = View(given[-1].time_us, settings, changed_us, given)
    return SPEC.judge(view, checked_parameters("stability", parameters), memory)


def swinging(amplitudes: Sequence[float], period: int = 8, **more: Any) -> list[Interval]:
    """90 Mbit/s and a sine wave of the given amplitude in Mbit/s, over intervals of 100 ms."""
    return reports(
        [
            {"input_bytes": round((90e6 + 1e6 * size * math.sin(2 * math.pi * n / period)) / 80), **more}
            for n, size in enumerate(amplitudes)
        ]
    )


def alpha_of(verdict: Verdict) -> float:
    assert verdict.proposal is not None
    alpha: float = verdict.proposal.changes["xcp"]["alpha"]
    return alpha


def test_a_sustained_swing_makes_alpha_gentler_down_to_its_least() -> None:
    # A sine of 15 has a standard deviation of 10.6 Mbit/s, 10.6 % of the capacity.
    verdict = judge(swinging([15.0] * 48))
    assert alpha_of(verdict) == 0.3
    assert verdict.observed["swing"] == pytest.approx(0.106, abs=0.001)
    assert verdict.observed["period"] == pytest.approx(8.0, abs=1.0)
    assert alpha_of(judge(swinging([15.0] * 48), alpha=0.12)) == 0.1
    assert judge(swinging([15.0] * 48), alpha=0.1).proposal is None


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (swinging([6.0] * 48), "4.2 % is not worth it"),
        (swinging([30.0 * 0.93**n for n in range(48)]), "it dies away"),
        (swinging([15.0] * 48, period=2), "faster than a loop with one round trip of delay can be"),
        (swinging([15.0] * 48, period=96), "no swing but a slow rise"),
        (swinging([15.0] * 47), "too short a time"),
    ],
)
def test_other_movements_are_not_the_loop(given: list[Interval], why: str) -> None:
    assert judge(given).proposal is None, why


def test_traffic_that_changes_is_not_the_loop() -> None:
    given = [*swinging([15.0] * 24), *swinging([15.0] * 24, sum_x_s=1.0)]
    given = reports(
        [{"input_bytes": each.report.input_bytes, "sum_x_s": each.report.sum_x_s} for each in given]
    )
    verdict = judge(given)
    assert verdict.observed["state"] == "flows come and go"
    assert verdict.proposal is None


def test_a_little_used_port_says_nothing() -> None:
    given = reports([{"input_bytes": 300_000 + 250_000 * (n // 4 % 2)} for n in range(48)])
    assert judge(given).observed["state"] == "little used"


def test_where_the_switch_measures_that_is_the_capacity() -> None:
    def judged(measured_bps: int | None) -> Verdict:
        view = View(given[-1].time_us, port(0), 0, given, measured_bps=measured_bps)
        return SPEC.judge(view, checked_parameters("stability", {}), NOTHING)

    given = swinging([20e6] * 48)
    assert judged(None).observed["state"] == "no capacity measured yet"
    assert judged(100_000_000).observed["utilisation"] == judge(given).observed["utilisation"]


def test_a_mean_round_trip_time_that_varies_bounds_alpha() -> None:
    # A sixth of the intervals has 200 ms, the others 100 ms: the 95th percentile is twice the median.
    given = reports(
        [{"avg_rtt_us": 200_000.0 if n % 6 == 0 else 100_000.0, "input_bytes": 1_125_000} for n in range(48)]
    )
    verdict = judge(given)
    assert verdict.observed["spread"] == 2.0
    assert alpha_of(verdict) == 0.3  # moving towards 0.4 / 2
    assert alpha_of(judge(given, alpha=0.25)) == 0.2
    assert judge(given, alpha=0.2).proposal is None
    assert alpha_of(judge(given, spread_limit=1.5)) == 0.3
    assert judge(given, spread_limit=2.0).proposal is None


def test_alpha_above_its_bound_is_brought_down() -> None:
    verdict = judge(swinging([0.0] * 48), alpha=0.5, alpha_max=0.45)
    assert alpha_of(verdict) == 0.45
    assert verdict.proposal is not None
    assert verdict.proposal.summary == "Alpha 0.5 to 0.45, beta 0.2864: alpha_max is 0.45."


def test_calm_brings_alpha_back_slowly() -> None:
    given = swinging([0.0] * 48)
    last_us = given[-1].time_us
    # The switch's reports reach back only 4.8 s, so the last change can be as recent.
    assert judge(given, alpha=0.3, changed_us=last_us - 29_999_999).proposal is None
    verdict = judge(given, alpha=0.3, changed_us=last_us - 30_000_000)
    assert alpha_of(verdict) == 0.33
    assert alpha_of(judge(given, alpha=0.39, changed_us=last_us - 30_000_000)) == 0.4
