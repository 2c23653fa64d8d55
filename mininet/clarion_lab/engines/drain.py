# SPDX-License-Identifier: Apache-2.0
"""How long a run goes on after its end."""

from __future__ import annotations

from clarion_lab.scenario.model import Scenario

MAX_ROUND_TRIPS = 12  # after the last data, so that the last losses are resent, seen and echoed
MIN_US = 500_000


def drain_us(scenario: Scenario) -> int:
    """At most so long after the scenario's duration, while packets are still under way."""
    return max(MIN_US, MAX_ROUND_TRIPS * scenario.max_rtt_us)
