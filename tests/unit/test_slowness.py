# SPDX-License-Identifier: Apache-2.0
"""Runs that have measured the machine rather than the path."""

from __future__ import annotations

from typing import Any

import pytest

from clarion_lab.engines.sampling import Gaps
from clarion_lab.results.slowness import signs


def summary(dropped: int, longest_gap_s: float, late_s: float) -> dict[str, Any]:
    return {
        "totals": {"unasked_drop_packets": dropped},
        "sampler": {"longest_gap_s": longest_gap_s, "late_s": late_s},
        "measured_s": [8.0, 18.0],
    }


@pytest.mark.parametrize(
    ("dropped", "longest_gap_s", "late_s", "found"),
    [
        (0, 0.2, 0.4, []),
        (7, 0.2, 0, ["it dropped 7 packets that the path did not lose"]),
        (0, 2.34, 0, ["nothing was measured for 2.3 s, so rates are not those of the path"]),
        (0, 0.2, 0.6, ["the switch was kept from its work for 0.6 s, and links stood idle meanwhile"]),
    ],
)
def test_each_sign_is_named(dropped: int, longest_gap_s: float, late_s: float, found: list[str]) -> None:
    assert signs(summary(dropped, longest_gap_s, late_s)) == found


def test_a_run_of_an_earlier_version_has_no_gaps() -> None:
    assert signs({"totals": {"unasked_drop_packets": 0}, "sampler": {}, "measured_s": [0.0, 3.0]}) == []


def test_gaps_count_where_they_reach_into_the_window() -> None:
    gaps = Gaps(1_000_000, 3_000_000)
    for now_us in (-500_000, 900_000, 1_100_000, 1_200_000, 2_900_000):
        gaps.add(now_us)
    assert gaps.longest_us == 1_700_000
    gaps.add(5_000_000)
    assert gaps.longest_us == 2_100_000
    gaps.add(9_000_000)
    assert gaps.longest_us == 2_100_000


def test_a_first_sample_that_is_late_is_a_gap() -> None:
    gaps = Gaps(1_000_000, 3_000_000)
    gaps.add(1_400_000)
    assert gaps.longest_us == 400_000
