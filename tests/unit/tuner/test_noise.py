# SPDX-License-Identifier: Apache-2.0
"""Corruption per link: the estimate, its interval, and the flag when it grows."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from clarion_control.bit_errors import WireSample, error_rates, wilson
from clarion_control.tuner.noise import SPEC
from clarion_control.tuner.policy import NOTHING, Proposal, View
from clarion_control.tuner.registry import checked_parameters

from .link_model import port

PERIOD_US = 2_000_000
PACKETS = 16_000  # in two seconds, of 1500 bytes: 96 Mbit/s


def test_wilsons_interval_by_known_values() -> None:
    # Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=0.0001)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=0.0001)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=0.0001)
    assert wilson(1, 29) == pytest.approx((0.0061, 0.1718), abs=0.0001)


def test_bursts_make_the_interval_wider() -> None:
    low, high = wilson(100, 10_000)
    wide_low, wide_high = wilson(100, 10_000, dispersion=4.0)
    assert wide_high - wide_low == pytest.approx(2 * (high - low), rel=0.05)


def test_packet_and_bit_error_rate() -> None:
    rates = error_rates(120, 99_880, 99_880 * 1500)
    assert rates is not None
    assert rates.per == 0.0012
    # 1 - 0.9988 = 1 - (1 - BER)^12000: BER = 1.0006e-7.
    assert rates.ber == pytest.approx(1.0006e-7, rel=1e-4)
    assert rates.per_low < 0.0012 < rates.per_high
    assert rates.ber_low is not None
    assert rates.ber_high is not None
    assert rates.ber_low < 1.0006e-7 < rates.ber_high


def test_no_traffic_no_rate() -> None:
    assert error_rates(0, 0, 0) is None
    without_bytes = error_rates(5, 0, 0)
    assert without_bytes is not None
    assert (without_bytes.per, without_bytes.ber) == (1.0, None)


class Watch:
    """The policy over a wire whose counters are read every two seconds."""

    def __init__(self, **parameters: float) -> None:
        self._parameters = checked_parameters("noise", parameters)
        self._samples: list[WireSample] = []
        self._memory: Any = NOTHING
        self._lost = self._late = self._received = 0
        self.now_us = 1_000_000
        self.observed: dict[str, Any] = {}

    def add(self, lost: Iterable[int], packets: int = PACKETS) -> list[Proposal]:
        """One period for each number of lost packets; returns the proposals."""
        proposed = []
        for count in lost:
            self.now_us += PERIOD_US
            self._lost += count
            self._received += packets - count
            self._samples.append(
                WireSample(self.now_us, self._lost, self._late, self._received, self._received * 1500)
            )
            view = View(self.now_us, port(), 0, (), (), self._samples[-64:])
            verdict = SPEC.judge(view, self._parameters, self._memory)
            self._memory = json.loads(
                json.dumps(verdict.memory if verdict.proposal else verdict.memory_if_not)
            )
            self.observed = dict(verdict.observed)
            if verdict.proposal:
                proposed.append(verdict.proposal)
        return proposed

    def come_late(self, packets: int) -> None:
        """Packets that were counted as lost arrive in the next period."""
        self._late += packets
        self._received += packets

    def switch_restarts(self) -> None:
        self._lost = self._late = self._received = 0


def noisy(rate: float, periods: int, seed: int, packets: int = PACKETS) -> list[int]:
    """Independent losses: the binomial by its normal approximation, whole and not negative."""
    source = random.Random(seed)
    mean, sd = rate * packets, (rate * packets) ** 0.5
    return [max(0, round(source.gauss(mean, sd))) for _ in range(periods)]


def test_a_steady_link_is_reported_and_never_flagged() -> None:
    watch = Watch()
    # Two hours at one in ten thousand, 1.6 losses per period.
    assert watch.add(noisy(1e-4, 3600, seed=1)) == []
    assert watch.observed["state"] == "normal"
    assert watch.observed["per"] == pytest.approx(1e-4, rel=0.5)
    assert watch.observed["per_low"] < 1e-4 < watch.observed["per_high"]
    assert watch.observed["baseline_per"] == pytest.approx(1e-4, rel=0.25)
    assert watch.observed["exact"] is True


def test_a_degrading_link_is_flagged_once_and_then_recovers() -> None:
    watch = Watch()
    assert watch.add(noisy(1e-4, 300, seed=2)) == []
    flagged = watch.add(noisy(1e-3, 20, seed=3))
    assert [proposal.evidence["state"] for proposal in flagged] == ["degrading"]
    assert flagged[0].changes == {}
    assert flagged[0].summary.startswith("The link into this port is degrading: ")
    assert watch.observed["state"] == "degrading"
    assert watch.add(noisy(1e-3, 300, seed=4)) == []  # one flag is enough
    healed = watch.add(noisy(1e-4, 60, seed=5))
    assert [proposal.evidence["state"] for proposal in healed] == ["recovered"]
    # The samples in between are not in the baseline.
    assert watch.observed["baseline_per"] == pytest.approx(1e-4, rel=0.3)


def test_the_flag_comes_soon() -> None:
    """Ten times the baseline: 16 losses a period where 1.6 are expected, so S grows by 14 per period."""
    watch = Watch()
    watch.add([2, 1, 2, 1, 2, 2] * 20)
    before_us = watch.now_us
    flagged = watch.add([16] * 3)
    assert len(flagged) == 1
    assert flagged[0].evidence["to_us"] - before_us <= 2 * PERIOD_US


def test_a_link_without_any_loss_has_a_baseline_too() -> None:
    watch = Watch()
    assert watch.add([0] * 300) == []
    assert watch.observed["per"] == 0.0
    # Nothing lost of the half million packets of a minute: below 8e-6 with 97.5 %.
    assert 0 < watch.observed["per_high"] < 1e-5
    # Occasional single losses are no degradation.
    assert watch.add([0, 0, 0, 1, 0, 0, 0, 0, 1, 0] * 2) == []
    assert len(watch.add([8] * 6)) == 1


def test_bursts_that_are_the_links_habit_are_not_flagged() -> None:
    """Twenty packets at once every twenty periods: the mean is 1 per period, the variance 20 times that."""
    watch = Watch()
    source = random.Random(6)
    habit = [20 if source.random() < 0.05 else 0 for _ in range(2000)]
    assert watch.add(habit) == []
    assert watch.observed["dispersion"] > 5


def test_a_restarted_switch_starts_a_new_count_and_keeps_the_baseline() -> None:
    watch = Watch()
    watch.add(noisy(1e-3, 100, seed=7))
    baseline = watch.observed["baseline_per"]
    watch.switch_restarts()
    assert watch.add(noisy(1e-3, 100, seed=8)) == []
    assert watch.observed["baseline_per"] == pytest.approx(baseline, rel=0.3)
    assert watch.observed["per"] == pytest.approx(1e-3, rel=0.3)


def test_nothing_is_said_while_it_learns() -> None:
    watch = Watch(learn_packets=1_000_000)
    assert watch.add([*([1] * 30), *([100] * 10)]) == []
    assert watch.observed["state"] == "learning"


def test_a_few_losses_are_never_enough() -> None:
    watch = Watch(least_lost=50)
    watch.add([0] * 300)
    assert watch.add([8] * 6) == []
    assert len(watch.add([8] * 2)) == 1


def judge(samples: Sequence[WireSample]) -> Any:
    view = View(samples[-1].time_us if samples else 0, port(), 0, (), (), samples)
    return SPEC.judge(view, checked_parameters("noise", {}), NOTHING).observed


def test_what_is_only_a_bound_says_so() -> None:
    assert judge([]) == {"state": "nothing received"}
    samples = [WireSample(1, 0, 0, 100, 150_000, False), WireSample(2_000_001, 5, 0, 1095, 1_642_500, False)]
    observed = judge(samples)
    assert (observed["per"], observed["exact"]) == (0.005, False)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_slow_rise_does_not_become_the_baseline(seed: int) -> None:
    """Ten times the rate within three hours: a baseline that followed would never be exceeded."""
    watch, source = Watch(), random.Random(seed + 10)
    assert watch.add(noisy(1e-4, 300, seed=seed)) == []
    periods = 5400
    for period in range(periods):
        mean = 1e-4 * 10 ** (period / periods) * PACKETS
        flagged = watch.add([max(0, round(source.gauss(mean, mean**0.5)))])
        if flagged:
            break
    assert [proposal.evidence["state"] for proposal in flagged] == ["degrading"]
    assert mean / PACKETS < 5e-4  # while it is less than five times the rate at first
    assert watch.observed["baseline_per"] < 2.5e-4


def test_late_packets_are_no_loss_and_no_restart() -> None:
    watch = Watch()
    watch.add([1] * 300)
    for _ in range(20):  # reordering: packets counted as lost, which then arrive in the next period
        assert watch.add([12]) == []
        watch.come_late(12)
        assert watch.add([0]) == []
    assert watch.observed["state"] == "normal"
    assert watch.observed["baseline_per"] == pytest.approx(1 / PACKETS, rel=0.3)
    assert watch.observed["from_us"] <= watch.now_us - 60_000_000  # no sample was taken for a restart's
    assert watch.observed["lost_packets"] == 0


def test_a_late_packet_without_any_other_is_taken_back_with_the_next_period() -> None:
    watch = Watch()
    watch.add([0] * 300)
    watch.add([9], packets=9)  # nine lost and none received, then the nine alone
    watch.come_late(9)
    assert watch.add([0], packets=0) == []
    assert watch.add([0] * 10) == []
    assert watch.observed["score"] == 0.0
