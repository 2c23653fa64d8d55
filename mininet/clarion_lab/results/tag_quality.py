# SPDX-License-Identifier: Apache-2.0
"""How well tags told the cause of losses: what they counted against what really was lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clarion_lab.recording.causes import TAGS
from clarion_lab.recording.recording import Recording
from clarion_lab.results import metrics
from clarion_lab.results.decisions import periods
from clarion_lab.scenario.flows import Flow
from clarion_lab.scenario.model import Scenario


def tag_qualities(scenario: Scenario, recording: Recording) -> dict[str, Any] | None:
    """Tags against the truth, by cause and together, at the end and over time; None if no flow was tagged.

    The truth is every lost packet of data, with or without a header.
    """
    tagged = [flow for flow in scenario.flows if flow.tags and flow.number in recording.agent]
    if not tagged:
        return None
    counts = [_tag_counts(scenario, recording, flow) for flow in tagged]
    stretches = periods(scenario, recording.ended_us)
    return {
        **_qualities([[count.at_end(cause) for cause in TAGS] for count in counts]),
        "over_time": [
            {
                "from_s": begin_us / 1e6,
                "to_s": end_us / 1e6,
                **_qualities(
                    [[count.between(cause, begin_us, end_us) for cause in TAGS] for count in counts]
                ),
            }
            for begin_us, end_us in stretches
        ],
    }


def _qualities(pairs: Sequence[Sequence[tuple[int, int]]]) -> dict[str, Any]:
    """By cause and together, of (tagged, truth) by flow and cause."""
    by_cause = {cause: [flow[index] for flow in pairs] for index, cause in enumerate(TAGS)}
    everything = [pair for flow in pairs for pair in flow]
    return {
        cause: metrics.tag_quality(counts)._asdict()
        for cause, counts in {**by_cause, "all": everything}.items()
    }


@dataclass(frozen=True)
class _TagCounts:
    """What was tagged and what was lost of one flow, over time."""

    lag_us: int  # from a loss to its echo at the sender
    times_us: Sequence[int]
    totals: Mapping[str, Sequence[int]]  # by cause, at these times
    last: Mapping[str, int]  # by cause, at the end
    lost_us: Mapping[str, Sequence[int]]  # by cause: when

    def at_end(self, cause: str) -> tuple[int, int]:
        return self.last[cause], len(self.lost_us[cause])

    def between(self, cause: str, begin_us: int, end_us: int) -> tuple[int, int]:
        lost = sum(begin_us <= time_us < end_us for time_us in self.lost_us[cause])
        return self._echoed(cause, end_us) - self._echoed(cause, begin_us), lost

    def _echoed(self, cause: str, at_us: int) -> int:
        """What the sender knew of losses until then."""
        if at_us <= 0 or not self.times_us:
            return 0
        return round(metrics.interpolate(self.times_us, self.totals[cause], at_us + self.lag_us))


def _tag_counts(scenario: Scenario, recording: Recording, flow: Flow) -> _TagCounts:
    samples = recording.samples_of(flow.number)
    record = recording.agent[flow.number]
    return _TagCounts(
        scenario.path_rtt_us(flow),
        [sample.time_us for sample in samples],
        {
            "wire": [sample.tagged_corrupt for sample in samples],
            "queue": [sample.tagged_congest for sample in samples],
        },
        {"wire": record["rev_corrupt"], "queue": record["rev_congest"]},
        {
            cause: [
                loss.time_us
                for loss in recording.losses_of(flow.number)
                if loss.forward and loss.cause in truths
            ]
            for cause, truths in TAGS.items()
        },
    )
