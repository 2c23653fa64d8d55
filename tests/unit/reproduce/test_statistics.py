# SPDX-License-Identifier: Apache-2.0
"""The statistics of verdicts, against values worked out elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from clarion_lab.reproduce import statistics


def test_the_interval_of_a_mean_is_students() -> None:
    found = statistics.mean_interval(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    half = 2.776445 * math.sqrt(2.5 / 5)  # t of 4 degrees of freedom
    assert found == pytest.approx((3, 3 - half, 3 + half))


def test_what_is_not_known_is_no_sample() -> None:
    assert statistics.mean_interval(np.array([math.nan, 2.0])).mean == 2
    assert math.isnan(statistics.mean_interval(np.array([math.nan])).mean)


def test_pairs_take_out_what_they_share() -> None:
    shared = np.array([10.0, 20.0, 30.0, 40.0])
    left, right = shared + np.array([1.0, 1.1, 0.9, 1.0]), shared
    assert statistics.difference(left, right, paired=True).low > 0
    assert statistics.difference(left, right, paired=False).low < 0


def test_equal_samples_have_an_exact_difference() -> None:
    assert statistics.difference(np.array([3.0, 3.0]), np.array([1.0, 1.0]), paired=False) == (2, 2, 2)


def test_several_comparisons_have_to_hold_together() -> None:
    assert statistics.corrected(0.95, 10) == pytest.approx(0.995)
    assert statistics.corrected(0.95, 1) == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("means", "coefficient"),
    [
        ([1, 2, 3], 1),
        ([3, 2, 1], -1),
        ([1, 3, 2], 0),
        ([1, 1, 2], 0),
        ([1, 2, 3, 5, 4], 0.9),
        ([2, 2, 2, 2], 0),
    ],
)
def test_a_trend_is_a_rank_correlation_and_of_few_points_strict(
    means: list[float], coefficient: float
) -> None:
    assert statistics.trend(range(len(means)), means) == pytest.approx(coefficient)


def test_a_trend_looks_at_places_in_their_order() -> None:
    assert statistics.trend([3, 1, 2], [30, 10, 20]) == 1


def test_a_line_and_how_straight_it_is() -> None:
    found = statistics.line([1, 2, 3, 4], [2, 4, 6, 8.5])
    assert found.slope == pytest.approx(2.15)
    assert 0.99 < found.r_squared < 1
    assert statistics.line([1, 2], [5, 5]) == (0, 5, 1)


def test_a_constant_correlates_with_nothing() -> None:
    assert math.isnan(statistics.correlation([1, 2, 3], [1, 1, 1]))
    assert statistics.correlation([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
