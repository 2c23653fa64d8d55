# SPDX-License-Identifier: Apache-2.0
"""Capacity follows the link: on a model of a port with five flows, and verdict by verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from clarion_contract.settings import PortSettings
from clarion_control.model import Interval
from clarion_control.tuner.capacity import SPEC
from clarion_control.tuner.policy import NOTHING, DepartureSample, Verdict, View
from clarion_control.tuner.registry import checked_parameters

from .link_model import Flow, Link, port, run
from .reports import interval, reports


def stepping(time_s: float) -> float:
    """100 Mbit/s, 40 from 20 s to 50 s, 100 again."""
    return 40e6 if 20 <= time_s < 50 else 100e6


def five_flows(rtt_s: float = 0.1) -> Link:
    return Link([Flow(rtt_s) for _ in range(5)], stepping, port(), queue_limit=1.25e6 * rtt_s / 0.1)


def test_without_the_policy_the_slow_link_is_flooded() -> None:
    link = five_flows()
    run(link, 80)
    slow = link.between(25, 50)
    # The queue, one bandwidth-delay product of 100 Mbit/s and 100 ms, stays full: 250 ms at 40 Mbit/s.
    assert slow["queue_p99"] > 1_200_000
    assert slow["dropped"] > 50_000


def test_with_the_policy_the_link_is_used_and_the_queue_short() -> None:
    link = five_flows()
    decided = run(link, 80, SPEC)
    first = next((time_s, change) for time_s, change in decided if time_s > 20)
    assert first[0] < 22  # a decision takes four intervals, which get longer with the queue
    assert first[1].changes["xcp"]["capacity_bps"] < 45_000_000
    slow = link.between(25, 50)
    assert slow["utilisation"] > 0.97
    assert slow["queue_p99"] < 50_000  # 10 ms
    assert slow["dropped"] == 0
    fast = link.between(65, 80)
    assert fast["utilisation"] > 0.97
    assert fast["queue_p99"] < 125_000
    assert 95_000_000 < link.xcp.capacity_bps < 106_000_000


def test_what_the_switch_measures_is_followed_without_a_probe() -> None:
    link = five_flows()
    link.measures = True
    decided = run(link, 80, SPEC)
    assert [(round(time_s), change.changes["xcp"]["capacity_bps"]) for time_s, change in decided] == [
        (20, 40_000_000),  # 60 % down at most; 39.2 are too near to it for another decision
        (50, 98_000_000),
    ]
    assert decided[1][1].summary == (
        "Capacity 40 Mbit/s to 98 Mbit/s: the switch measured 100 Mbit/s on the link."
    )
    assert link.between(52, 80)["utilisation"] > 0.97


def test_one_measurement_or_two_that_differ_decide_nothing() -> None:
    given = reports([{"measured_bps": 40_000_000}] * 5)
    assert new_bps(judge(given)) == 40_000_000  # at most 60 % down; 39.2 are wanted
    mixed = [*given[:-2], interval(given[-2], measured_bps=60_000_000), given[-1]]
    verdict = judge(mixed)
    assert (verdict.proposal, verdict.observed["state"]) == (None, "measurements differ")
    alone = [*given[:-1], interval(given[-1], measured_bps=None)]
    assert judge(alone).observed["state"] == "no queue"  # as without measurements


def test_a_measured_capacity_that_is_right_stays() -> None:
    verdict = judge(reports([{"measured_bps": 101_000_000}] * 5))
    assert (verdict.proposal, verdict.observed["state"]) == (None, "measured")


def test_a_port_that_measures_is_left_alone() -> None:
    given = reports([{}] * 5)
    view = View(given[-1].time_us, port(0), 0, given, measured_bps=40_000_000)
    verdict = SPEC.judge(view, checked_parameters("capacity", {}), NOTHING)
    assert verdict.proposal is None
    assert verdict.observed == {"state": "the switch measures", "measured_bps": 40_000_000}


@pytest.mark.parametrize("rtt_s", [0.01, 0.03, 0.3])
def test_it_works_on_short_and_long_paths(rtt_s: float) -> None:
    link = five_flows(rtt_s)
    run(link, 80, SPEC)
    slow = link.between(35, 50)
    assert slow["utilisation"] > 0.95
    assert slow["queue_p99"] < 0.3 * link.queue_limit
    assert slow["dropped"] == 0
    assert link.xcp.capacity_bps > 60_000_000  # rising again, or restored


def test_a_link_that_is_as_it_was_told_keeps_its_capacity() -> None:
    link = Link([Flow(0.1) for _ in range(5)], lambda _: 100e6, port())
    decided = run(link, 60, SPEC)
    for _, proposal in decided:
        assert 93_000_000 < proposal.changes["xcp"]["capacity_bps"] < 106_000_000
    # After the first probes a failed one and its end every 11 s or so.
    assert len([time_s for time_s, _ in decided if time_s > 30]) <= 8
    assert link.between(10, 60)["utilisation"] > 0.97


def test_an_idle_port_is_left_alone() -> None:
    link = Link([Flow(0.1, stop_s=10)], lambda _: 100e6, port())
    run(link, 10, SPEC)
    assert not [time_s for time_s, _ in run(link, 30, SPEC) if time_s > 11]


def judge(
    given: Sequence[Interval],
    settings: PortSettings | None = None,
    changed_us: int = 0,
    memory: Any = NOTHING,
    departures: Sequence[DepartureSample] = (),
    **parameters: float,
) -> Verdict:
    now_us = given[-1].time_us + 10_000 if given else 0
    view = View(now_us, settings or port(), changed_us, given, departures)
    return SPEC.judge(view, checked_parameters("capacity", parameters), memory)


def new_bps(verdict: Verdict) -> int:
    assert verdict.proposal is not None
    bps: int = verdict.proposal.changes["xcp"]["capacity_bps"]
    return bps


def busy(queues: Sequence[int], input_bytes: int = 500_000, **more: Any) -> list[Interval]:
    """Intervals of 100 ms with a given persistent queue."""
    return reports([{"queue_bytes": queue, "input_bytes": input_bytes, **more} for queue in queues])


def test_departures_are_input_minus_growth_minus_drops() -> None:
    given = busy([100_000, 125_000, 150_000, 175_000, 200_000])
    given[-1] = interval(given[-1], dropped_by_queue=50)
    # 4 x 500,000 arrived, 100,000 remained queued, 50 x 1500 were dropped: 1,825,000 bytes in 0.4 s are
    # 36.5 Mbit/s, and 98 % of it 35.77; but one decision takes away 60 % at most.
    verdict = judge(given)
    assert verdict.observed["rate_bps"] == 36_500_000
    assert new_bps(verdict) == 40_000_000
    assert new_bps(judge(given, max_step_down=0.7)) == 35_770_000
    assert verdict.proposal is not None
    assert verdict.proposal.summary == (
        "Capacity 100 Mbit/s to 40 Mbit/s: the queue did not empty,"
        " and 36.5 Mbit/s left the link over 4 intervals."
    )
    assert verdict.proposal.evidence["queue_bytes"] == [100_000, 125_000, 150_000, 175_000, 200_000]


def test_where_packets_are_dropped_counters_of_the_busy_time_are_better() -> None:
    given = busy([200_000] * 5)
    given[-1] = interval(given[-1], dropped_by_queue=10)
    first, last = given[0].time_us, given[-1].time_us
    # 2,500,000 bytes in 0.4 s: 50 Mbit/s, and 98 % of it.
    inside = [DepartureSample(first, 100, 1_000_000), DepartureSample(last, 1_700, 3_500_000)]
    assert new_bps(judge(given, departures=inside)) == 49_000_000
    outside = [DepartureSample(first - 1, 100, 1_000_000), DepartureSample(last, 2_600, 3_500_000)]
    # Only for the mean size of a packet, 1000 bytes: 2,000,000 - 10,000 in 0.4 s are 39.8 Mbit/s.
    verdict = judge(given, departures=outside)
    assert verdict.observed["rate_bps"] == 39_800_000
    assert verdict.observed["from"] == "reports"


def test_where_the_rate_changed_meanwhile_the_second_half_counts() -> None:
    # 2 x 500,000 bytes in 0.2 s are 40 Mbit/s, and 98 % of it 39.2; not the mean of 70 with the time before.
    given = busy([20_000] * 3, input_bytes=1_250_000) + busy([20_000] * 2)
    given = reports([{"queue_bytes": 20_000, "input_bytes": each.report.input_bytes} for each in given])
    verdict = judge(given, max_step_down=0.7)
    assert new_bps(verdict) == 39_200_000
    assert verdict.observed["from"] == "reports, second half"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ([], "no report"),
        (busy([200_000] * 4), "one interval too few"),
        (busy([200_000] * 3 + [0, 200_000]), "the link was idle in between"),
        (busy([200_000] * 5, input_bytes=1_240_000), "98.0 Mbit/s measured of 100: within the hysteresis"),
        (busy([0] * 5, input_bytes=1_180_000), "no queue, used to 94 %"),
    ],
)
def test_nothing_is_proposed_without_evidence(given: list[Interval], why: str) -> None:
    assert judge(given).proposal is None, why


def test_a_missing_report_ends_the_evidence() -> None:
    given = busy([200_000] * 6)
    del given[3]
    assert judge(given).proposal is None


def test_a_switch_that_started_again_ends_the_evidence() -> None:
    given = busy([200_000] * 6)
    given[3:] = [interval(each, intervals=number) for number, each in enumerate(given[3:], start=1)]
    assert judge(given).proposal is None


def test_intervals_from_around_a_change_do_not_count() -> None:
    given = busy([200_000] * 8)
    began_us = given[0].time_us - 100_000
    assert judge(given, changed_us=began_us - 300_000).proposal is not None
    # Two intervals after the change are left out; four and the one before them are needed.
    assert judge(given, changed_us=began_us + 100_000).proposal is not None
    assert judge(given, changed_us=began_us + 100_001).proposal is None


def test_intervals_that_were_heard_of_late_are_as_old_as_they_are() -> None:
    given = busy([200_000] * 8)
    at_once = [each._replace(time_us=given[-1].time_us) for each in given]
    began_us = given[0].time_us - 100_000
    assert judge(at_once, changed_us=began_us + 100_000).proposal is not None
    assert judge(at_once, changed_us=began_us + 100_001).proposal is None


def test_short_intervals_have_to_last_long_enough_together() -> None:
    short = reports([{"queue_bytes": 50_000, "input_bytes": 5_000, "elapsed_us": 1000.0}] * 100)
    assert judge(short, evidence_ms=100).proposal is None
    assert judge(short, evidence_ms=99).proposal is not None


def test_an_unused_or_switched_off_controller_is_left_alone() -> None:
    verdict = judge(busy([200_000] * 5), settings=replace(port(), xcp=None))
    assert verdict.proposal is None
    assert verdict.observed == {"state": "XCP is off at this port"}


def test_bounds_of_the_capacity() -> None:
    assert new_bps(judge(busy([200_000] * 5), min_capacity_bps=50_000_000)) == 50_000_000
    fast = busy([200_000] * 5, input_bytes=10_000_000)
    # 800 Mbit/s measured: the limit is the reversal of one step of 60 %.
    assert new_bps(judge(fast)) == 250_000_000
    assert new_bps(judge(fast, max_capacity_bps=120_000_000)) == 120_000_000
    full = busy([0] * 5, input_bytes=1_250_000)
    assert judge(full, max_capacity_bps=100_000_000).proposal is None


def test_probes_grow_and_wait_longer_when_they_were_in_vain() -> None:
    full = busy([0] * 5, input_bytes=1_250_000)
    first = judge(full)
    assert new_bps(first) == 105_000_000
    second = judge(busy([0] * 5, input_bytes=1_312_500), settings=port(105_000_000), memory=first.memory)
    assert new_bps(second) == 115_500_000  # 10 % now
    # A queue, and 100 Mbit/s: the probe found no more capacity.
    end = judge(busy([20_000] * 5, input_bytes=1_250_000), settings=port(115_500_000), memory=second.memory)
    assert new_bps(end) == 98_000_000
    now_us = full[-1].time_us + 10_000
    assert end.memory["not_before_us"] == now_us + 2_000_000
    assert end.memory["wait_s"] == 4
    assert judge(full, settings=port(98_000_000), memory=end.memory).proposal is None
    assert end.memory["step"] == 0.05


def test_a_proposal_that_was_not_carried_out_leaves_the_memory_as_it_was() -> None:
    first = judge(busy([0] * 5, input_bytes=1_250_000))
    assert first.memory_if_not["step"] == 0.05
    assert first.memory["step"] == 0.1
