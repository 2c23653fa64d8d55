# SPDX-License-Identifier: Apache-2.0
"""Whether a run has measured the machine rather than the path."""

from __future__ import annotations

from typing import Any

LONGEST_GAP_S = 1.0  # ten samples; rates over a window of some seconds are off by tens of per cents
LATE_SHARE = 0.05  # of the window; a link without a queue sends that much less. Below 0.01 on busy processors


def signs(summary: dict[str, Any]) -> list[str]:
    """What shows that the machine was too slow for the run, in words."""
    found = []
    dropped = summary["totals"]["unasked_drop_packets"]
    if dropped:
        found.append(f"it dropped {dropped} packets that the path did not lose")
    gap_s = summary["sampler"].get("longest_gap_s", 0.0)
    if gap_s > LONGEST_GAP_S:
        found.append(f"nothing was measured for {gap_s:.1f} s, so rates are not those of the path")
    late_s = summary["sampler"].get("late_s", 0.0)
    begin_s, end_s = summary["measured_s"]
    if late_s > LATE_SHARE * (end_s - begin_s):
        found.append(f"the switch was kept from its work for {late_s:.1f} s, and links stood idle meanwhile")
    return found
