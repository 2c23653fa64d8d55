# SPDX-License-Identifier: Apache-2.0
"""How long flows take: to their fair shares, to levels of their own, and as newcomers among others."""

from __future__ import annotations

import math
from collections.abc import Sequence

from clarion_lab.recording.recording import SAMPLE_US, Recording
from clarion_lab.results import metrics
from clarion_lab.scenario.flows import Flow
from clarion_lab.scenario.model import Scenario


def convergence(scenario: Scenario, recording: Recording, limit: float | None) -> dict[str, float] | None:
    """Time from the last start until all flows stay within 20 % of limit / flows for 10 round trips, or
    None.
    """
    if limit is None or scenario.comes_and_goes or _steps(scenario):
        return None
    since_us = max(flow.start_us for flow in scenario.flows)
    interval_us = averaging_us(scenario)
    rates = [round_trip_rates(scenario, recording, flow, since_us) for flow in scenario.flows]
    hold = math.ceil(metrics.CONVERGENCE_ROUND_TRIPS * scenario.max_rtt_us / interval_us)
    return _span(scenario, metrics.convergence_index(rates, limit / len(scenario.flows), hold))


def settling(
    scenario: Scenario, recording: Recording, flows: Sequence[Flow], since_us: int
) -> dict[str, float] | None:
    """Time from `since_us` until the flows stay within 20 % of their own steady levels for 10 round trips, or
    None. A flow's level is its mean rate in the second half of the time since then.
    """
    if scenario.comes_and_goes or _steps(scenario):
        return None
    rates = [round_trip_rates(scenario, recording, flow, since_us) for flow in flows]
    levels = [sum(half) / len(half) if (half := flow[len(flow) // 2 :]) else 0.0 for flow in rates]
    hold = math.ceil(metrics.CONVERGENCE_ROUND_TRIPS * scenario.max_rtt_us / averaging_us(scenario))
    return _span(scenario, metrics.settled_index(rates, levels, hold))


def newcomer(scenario: Scenario, recording: Recording, limit: float | None) -> dict[str, float] | None:
    """Time from the start of the flows that come last until each has had a round trip with 95 % of
    limit / flows; None if one never had, or if all come together.
    """
    last_us = max(flow.start_us for flow in scenario.flows)
    newcomers = [flow for flow in scenario.flows if flow.start_us == last_us]
    if limit is None or len(newcomers) == len(scenario.flows) or _steps(scenario):
        return None
    least = metrics.NEWCOMER_SHARE * limit / len(scenario.flows)
    found = [
        metrics.first_at_least(round_trip_rates(scenario, recording, flow, last_us), least)
        for flow in newcomers
    ]
    reached = [index for index in found if index is not None]
    return _span(scenario, max(reached)) if len(reached) == len(found) else None


def _steps(scenario: Scenario) -> bool:
    """Whether a link changes: then there is no one fair share to converge to."""
    return any(link.changes for link in scenario.bottlenecks)


def averaging_us(scenario: Scenario) -> int:
    """The longest round trip, rounded up to whole samples."""
    return max(1, math.ceil(scenario.max_rtt_us / SAMPLE_US)) * SAMPLE_US


def round_trip_rates(scenario: Scenario, recording: Recording, flow: Flow, since_us: int) -> list[float]:
    """Goodput of a flow in bit/s over one round trip after the other, until the first flow stops."""
    end_us = min(recording.ended_us, scenario.first_stop_us)
    times, totals = recording.delivered_of(flow.number)
    rates = metrics.interval_rates(times, totals, since_us, end_us, averaging_us(scenario))
    return [8 * rate for rate in rates]


def _span(scenario: Scenario, index: int | None) -> dict[str, float] | None:
    if index is None or scenario.max_rtt_us == 0:  # in round trips of a path that takes none
        return None
    time_us = index * averaging_us(scenario)
    return {"time_s": time_us / 1e6, "round_trips": time_us / scenario.max_rtt_us}
