# SPDX-License-Identifier: Apache-2.0
"""Every reduction of a flow against the truth: what happened to the flow's packets in the round trip before.

right     the path was congested, marked, away or closed, or the sender's device dropped; or the reason was
          delay, and packets waited
wrong     nothing of that happened
told      a router ordered it by its feedback; nothing was guessed
missed    no reduction, although packets of the flow met congestion: it had two round trips for it
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from clarion_lab.recording.causes import CONGESTION, REASONS_TO_REDUCE
from clarion_lab.recording.recording import SAMPLE_US, ByFlow, Decision, FlowSample, Recording, Reduction
from clarion_lab.scenario.flows import Flow
from clarion_lab.scenario.model import Scenario

Span = tuple[int, int]  # us, from and to

ORDERED = "feedback"  # the reason of a reduction that a router ordered
TIMEOUT = "timeout"
DELAY = "delay"
WAITING = 1.1  # round trips of the empty path, from which on packets wait
LOCAL = "local"  # the cause
PATIENCE = (
    1.25  # a loss is known a round trip after it, and Linux waits up to a quarter more for late packets
)
MIN_TIMEOUT_US = 200_000  # of Linux's retransmission timer, on top of the round trip
RECENT_US = 1_000_000  # whose largest round trip counts
LEAST_PERIOD_US = 1_000_000  # of the figures over time
PERIODS = 20  # at most


def judged(scenario: Scenario, recording: Recording) -> list[Decision]:
    """The decisions of all flows, in the order of time; empty if reductions were not recorded."""
    if recording.reductions is None:
        return []
    found: list[Decision] = []
    reductions = ByFlow()
    for flow in scenario.flows:
        found += _of_flow(scenario, recording, flow, reductions.of(recording.reductions, flow.number))
    return sorted(found)


def _of_flow(
    scenario: Scenario, recording: Recording, flow: Flow, reductions: Sequence[Reduction]
) -> list[Decision]:
    mine = sorted(reductions)
    samples = recording.samples_of(flow.number)
    trips = RoundTrips(samples, scenario.path_rtt_us(flow))
    windows_us = _windows(mine, trips)
    end_us = recording.finished_us.get(flow.number, min(flow.stop_us, recording.ended_us))
    reasons = _spans(recording, flow, REASONS_TO_REDUCE)
    waits = _waits(scenario, flow, samples)
    verdicts = _verdicts(mine, windows_us, reasons, sorted(reasons + waits))
    answered = [
        (each.time_us - max(window_us, 2 * trips.at(each.time_us)), each.time_us + trips.at(each.time_us))
        for each, window_us in zip(mine, windows_us, strict=True)
    ]
    law = mine[0].law if mine else flow.algorithm.kernel
    missed = missed_times(_spans(recording, flow, CONGESTION), answered, trips, end_us)
    return [
        *(Decision(*each, verdict) for each, verdict in zip(mine, verdicts, strict=True)),
        *(Decision(time_us, flow.number, law, "", 0, 0, "missed") for time_us in missed),
    ]


def _spans(recording: Recording, flow: Flow, causes: Iterable[str]) -> list[Span]:
    """When something of these causes happened to the flow's data, in the order of its end. A drop by the
    sender's device is known to a sample only.
    """
    wanted = frozenset(causes)
    spans = [
        (each.time_us - (SAMPLE_US if each.cause == LOCAL else 0), each.time_us)
        for each in (*recording.losses_of(flow.number), *recording.incidents_of(flow.number))
        if each.forward and each.cause in wanted
    ]
    return sorted(spans, key=lambda span: span[1])


def _waits(scenario: Scenario, flow: Flow, samples: Iterable[FlowSample]) -> list[Span]:
    """The samples before which the flow's packets waited in a queue, be it of a switch or inside a link."""
    return [
        (sample.time_us - SAMPLE_US, sample.time_us)
        for sample in samples
        if sample.srtt_us > WAITING * scenario.path_rtt_us(flow, sample.time_us - sample.srtt_us)
        and sample.srtt_us > WAITING * scenario.path_rtt_us(flow, sample.time_us)
    ]


class RoundTrips:
    """How long a flow's round trip was at an instant, queues included, and with the patience of Linux."""

    def __init__(self, samples: Sequence[FlowSample], path_rtt_us: int) -> None:
        self._times = [sample.time_us for sample in samples]
        self._srtts_us = [sample.srtt_us for sample in samples]
        self._path_rtt_us = path_rtt_us

    def at(self, time_us: int) -> int:
        """The largest smoothed round trip around an instant."""
        low = bisect_left(self._times, time_us - RECENT_US)
        high = bisect_right(self._times, time_us + SAMPLE_US)
        longest_us = max((self._path_rtt_us, *self._srtts_us[low:high]))
        return int(PATIENCE * longest_us) + 10_000


def _windows(reductions: Sequence[Reduction], trips: RoundTrips) -> list[int]:
    """How long before each reduction its reason may lie: a round trip, and before a timeout its timer too,
    which doubles from one to the next.
    """
    windows_us = []
    timeouts = 0  # in a row
    for reduction in reductions:
        timeouts = timeouts + 1 if reduction.reason == TIMEOUT else 0
        trip_us = trips.at(reduction.time_us)
        timer_us = max(trip_us, MIN_TIMEOUT_US) << min(timeouts, 6) if timeouts else 0
        windows_us.append(trip_us + timer_us)
    return windows_us


def _verdicts(
    reductions: Sequence[Reduction], windows_us: Sequence[int], reasons: Sequence[Span], waits: Sequence[Span]
) -> list[str]:
    verdicts = []
    edges, edges_of_delay = _edges(reasons), _edges(waits)
    for reduction, window_us in zip(reductions, windows_us, strict=True):
        begins, ends = edges_of_delay if reduction.reason == DELAY else edges
        right = _meets(begins, ends, (reduction.time_us - window_us, reduction.time_us))
        verdicts.append("told" if reduction.reason == ORDERED else "right" if right else "wrong")
    return verdicts


def missed_times(
    congestion: Sequence[Span], answered: Sequence[Span], trips: RoundTrips, end_us: int
) -> list[int]:
    """The starts of stretches of congestion outside of what reductions answered. These answer what happened
    two round trips before them and what was under way then. What happens less than two round trips before the
    end needs no answer.
    """
    missed: list[int] = []
    last_us: int | None = None
    begins, ends = _edges(answered)
    for span in congestion:
        time_us = span[1]
        trip_us = trips.at(time_us)
        if _meets(begins, ends, span):
            continue
        if time_us + 2 * trip_us > end_us:
            break
        if last_us is None or time_us > last_us + trip_us:
            missed.append(time_us)
        last_us = time_us
    return missed


def _edges(spans: Sequence[Span]) -> tuple[list[int], list[int]]:
    return sorted(begin_us for begin_us, _ in spans), sorted(until_us for _, until_us in spans)


def _meets(begins: Sequence[int], ends: Sequence[int], span: Span) -> bool:
    """Whether any of the spans with these edges has an instant in common with `span`: more of them have begun
    by its end than had ended before it began.
    """
    return bisect_right(begins, span[1]) > bisect_left(ends, span[0])


def quality(decisions: Iterable[Decision]) -> dict[str, Any]:
    """Counts by verdict, and the shares: of the reductions, those that were right; of those that were due,
    those that came.
    """
    counts = Counter(decision.verdict for decision in decisions)
    reduced, due = counts["right"] + counts["wrong"], counts["right"] + counts["missed"]
    return {
        **{verdict: counts[verdict] for verdict in ("right", "wrong", "missed", "told")},
        "precision": counts["right"] / reduced if reduced else None,
        "recall": counts["right"] / due if due else None,
    }


def periods(scenario: Scenario, ended_us: int) -> list[tuple[int, int]]:
    """The stretches of time of the figures over time: equal, of at least a second and ten round trips."""
    end_us = min(scenario.duration_us, ended_us)
    least_us = max(LEAST_PERIOD_US, 10 * scenario.max_rtt_us, scenario.duration_us // PERIODS)
    count = max(1, end_us // least_us)
    return list(pairwise([end_us * index // count for index in range(count + 1)]))


def over_time(decisions: Sequence[Decision], stretches: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """The quality in each stretch of time."""
    return [
        {
            "from_s": begin_us / 1e6,
            "to_s": end_us / 1e6,
            **quality(each for each in decisions if begin_us <= each.time_us < end_us),
        }
        for begin_us, end_us in stretches
    ]
