# SPDX-License-Identifier: Apache-2.0
"""Reductions against the truth."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clarion_lab.hosts import decisions as stream
from clarion_lab.recording.recording import FlowSample, LossRecord, Recording, Reduction
from clarion_lab.results.decisions import judged, over_time, periods, quality
from clarion_lab.scenario.documents import points
from clarion_lab.scenario.model import Scenario, build

DOCUMENT: dict[str, Any] = {
    "description": "one flow, 100 ms",
    "topology": "dumbbell",
    "links": {"bottleneck": {"rate": "10 Mbit/s", "rtt": "100 ms"}},
    "flows": [{}],
    "duration": "10 s",
}
MS = 1000


def scenario() -> Scenario:
    return build("one", points("one", DOCUMENT)[0].document)


def recording(truth: dict[int, str], reductions: dict[int, str], srtt_ms: int = 100) -> Recording:
    """Truth and reductions by their time in ms; losses of data of the one flow."""
    made = Recording(ended_us=10_000 * MS)
    made.flow_samples = [
        FlowSample(time_ms * MS, 0, 0, 0, 10, srtt_ms * MS, 100 * MS, *[0] * 9)
        for time_ms in range(0, 10_000, 100)
    ]
    made.losses = [LossRecord(at * MS, 0, True, cause, "p", 1514, 1448, 0) for at, cause in truth.items()]
    made.reductions = [Reduction(at * MS, 0, "cubic", reason, 10, 7) for at, reason in reductions.items()]
    return made


def verdicts(truth: dict[int, str], reductions: dict[int, str], srtt_ms: int = 100) -> list[tuple[int, str]]:
    found = judged(scenario(), recording(truth, reductions, srtt_ms))
    return [(decision.time_us // MS, decision.verdict) for decision in found]


@pytest.mark.parametrize("cause", ["queue", "policer", "mark", "local", "outage", "blocked"])
def test_a_reduction_within_a_round_trip_of_a_reason_is_right(cause: str) -> None:
    assert verdicts({1000: cause}, {1099: "congestion"}) == [(1099, "right")]


def test_corruption_is_no_reason_and_neither_is_congestion_long_ago_or_later() -> None:
    assert verdicts({1000: "wire"}, {1099: "congestion"}) == [(1099, "wrong")]
    # a round trip of 100 ms with a quarter of patience and 10 ms: 135 ms
    assert verdicts({1000: "queue"}, {1136: "congestion"}) == [(1136, "wrong")]
    assert verdicts({1000: "queue"}, {999: "loss"}) == [(999, "wrong")]


def test_the_round_trip_is_that_of_the_time_with_its_queue() -> None:
    assert verdicts({1000: "queue"}, {1250: "congestion"}, srtt_ms=200) == [(1250, "right")]


def test_a_timeout_has_the_time_of_its_timer_which_doubles() -> None:
    # 135 ms, and the timer: at least 200 ms, doubled from the first one on
    assert verdicts({1000: "queue"}, {1500: "timeout"}) == [(1500, "right")]
    assert verdicts({1000: "queue"}, {1536: "timeout"}) == [(1000, "missed"), (1536, "wrong")]
    assert verdicts({1000: "outage"}, {1500: "timeout", 1900: "timeout"})[1] == (1900, "right")
    # and the row ends with a reduction for another reason
    assert verdicts({1000: "outage"}, {1500: "timeout", 1550: "loss", 1900: "timeout"})[2] == (1900, "wrong")


def test_a_drain_is_right_while_packets_wait() -> None:
    assert verdicts({}, {1000: "delay"}, srtt_ms=112) == [(1000, "right")]
    assert verdicts({}, {1000: "delay"}, srtt_ms=108) == [(1000, "wrong")]
    assert verdicts({}, {1000: "congestion"}, srtt_ms=112) == [(1000, "wrong")]


def test_a_longer_path_is_no_queue() -> None:
    longer = {"rate": "10 Mbit/s", "rtt": "100 ms", "delay-steps": [{"at": "2 s", "rtt": "200 ms"}]}
    stepped = build("one", points("one", {**DOCUMENT, "links": {"bottleneck": longer}})[0].document)
    made = recording({}, {1000: "delay", 3000: "delay"}, srtt_ms=200)
    assert [decision.verdict for decision in judged(stepped, made)] == ["right", "wrong"]


def test_what_a_router_ordered_is_not_judged() -> None:
    assert verdicts({}, {1000: "feedback"}) == [(1000, "told")]


def test_congestion_without_a_reduction_in_two_round_trips_is_missed_once_per_stretch() -> None:
    assert verdicts({1000: "queue", 1100: "queue", 1200: "mark", 3000: "policer"}, {}) == [
        (1000, "missed"),
        (3000, "missed"),
    ]
    assert verdicts({1000: "queue"}, {1270: "congestion"}) == [(1270, "wrong")]  # late, but it came
    assert verdicts({1000: "queue"}, {1271: "congestion"}) == [(1000, "missed"), (1271, "wrong")]
    assert verdicts({1000: "wire", 2000: "outage"}, {}) == []  # ask for no reduction


def test_packets_under_way_at_a_reduction_need_no_second_one() -> None:
    assert verdicts({1000: "queue", 1090: "queue", 1200: "queue"}, {1080: "congestion"}) == [(1080, "right")]
    assert verdicts({1000: "queue", 1216: "queue"}, {1080: "congestion"}) == [
        (1080, "right"),
        (1216, "missed"),
    ]


def test_the_last_two_round_trips_miss_nothing() -> None:
    assert verdicts({9731: "queue"}, {}) == []
    assert verdicts({9730: "queue"}, {}) == [(9730, "missed")]


def test_only_data_of_the_flow_counts() -> None:
    made = recording({1000: "queue"}, {1050: "loss"})
    made.losses = [made.losses[0]._replace(forward=False), made.losses[0]._replace(flow=1)]
    assert [decision.verdict for decision in judged(scenario(), made)] == ["wrong"]


def test_quality_and_its_course() -> None:
    made = recording(
        {1000: "queue", 3000: "queue", 4000: "queue", 5000: "wire"},
        {1100: "congestion", 3100: "congestion", 5100: "loss", 6000: "feedback"},
    )
    decisions = judged(scenario(), made)
    assert quality(decisions) == {
        "right": 2, "wrong": 1, "missed": 1, "told": 1,
        "precision": pytest.approx(2 / 3), "recall": pytest.approx(2 / 3),
    }  # fmt: skip
    stretches = periods(scenario(), made.ended_us)
    assert stretches[0] == (0, 1_000_000)  # ten round trips
    assert len(stretches) == 10
    course = over_time(decisions, stretches)
    assert [period["right"] for period in course[:4]] == [0, 1, 0, 1]
    assert course[4]["recall"] == 0
    assert course[0]["precision"] is None


def test_without_a_record_there_are_no_verdicts() -> None:
    made = recording({1000: "queue"}, {})
    made.reductions = None
    assert judged(scenario(), made) == []


def test_the_stream_is_read_by_cookie_up_to_a_torn_line() -> None:
    record = {
        "time_ns": 5_000_100_000, "netns_cookie": 1, "cookie": 77, "law": "clarion_xcp", "reason": "loss",
        "cwnd_before": 20, "cwnd_after": 10,
    }  # fmt: skip
    lines = [
        '{"watching":true}\n',
        json.dumps(record) + "\n",
        json.dumps({**record, "cookie": 78}) + "\n",
        '{"time_ns": 5',
    ]
    assert list(stream.read(lines, 5_000_000, {77: 3})) == [Reduction(100, 3, "clarion_xcp", "loss", 20, 10)]
