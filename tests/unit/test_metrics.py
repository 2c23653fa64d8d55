# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from clarion_lab.results import metrics


def test_jain() -> None:
    assert metrics.jain([5, 5, 5, 5]) == pytest.approx(1.0)
    # (1 + 3)^2 / (2 * (1 + 9)) = 16 / 20
    assert metrics.jain([1, 3]) == pytest.approx(0.8)
    # one of four has everything: 1 / 4
    assert metrics.jain([0, 0, 0, 7]) == pytest.approx(0.25)
    assert metrics.jain([0, 0]) is None


def test_rate_between_interpolates_inside_a_sample_interval() -> None:
    # 1000 bytes in the first second, 3000 in the second: from 0.5 s to 1.5 s it is 500 + 1500 bytes
    assert metrics.rate_between([0, 1_000_000, 2_000_000], [0, 1000, 4000], 500_000, 1_500_000) == 2000
    assert metrics.rate_between([0], [0], 0, 1_000_000) == 0
    assert metrics.rate_between([0, 1_000_000], [0, 5], 1_000_000, 1_000_000) == 0


def test_a_total_is_constant_outside_its_samples() -> None:
    assert metrics.interpolate([10, 20], [100, 200], 5) == 100
    assert metrics.interpolate([10, 20], [100, 200], 25) == 200
    assert metrics.interpolate([10, 20, 40], [100, 200, 600], 30) == 400


def test_interval_rates() -> None:
    # 100 ms intervals: 10 and 30 bytes, that is 100 and 300 bytes/s; the half interval at the end is left out
    assert metrics.interval_rates([0, 100_000, 250_000], [0, 10, 55], 0, 250_000, 100_000) == [100, 300]


def test_convergence_is_the_start_of_the_first_run_that_holds() -> None:
    # fair share 10, so 8 to 12 is near; both are near in intervals 1, 2 and again from 4 on
    first = [30, 9, 10, 13, 11, 12, 8, 10]
    second = [2, 11, 10, 10, 9, 8, 12, 10]
    assert metrics.convergence_index([first, second], 10, hold=2) == 1
    assert metrics.convergence_index([first, second], 10, hold=3) == 4
    assert metrics.convergence_index([first, second], 10, hold=5) is None
    assert metrics.convergence_index([], 10) is None


def test_p99_is_the_upper_edge_of_its_bin() -> None:
    # bins [0], [1], [2, 3], [4, 7], [8, ...]: 98 % of the time empty, 1 % at 1, 1 % at 4 to 7
    edges, weights = [0, 1, 2, 4, 8], [980, 10, 0, 10, 0]
    assert metrics.quantile_from_histogram(edges, weights, 0.99) == 1
    assert metrics.quantile_from_histogram(edges, weights, 0.995) == 7
    assert metrics.quantile_from_histogram(edges, [0, 0, 0, 0, 5], 0.99) == 8  # the open bin
    assert metrics.quantile_from_histogram(edges, [0, 0], 0.99) is None


def test_tag_quality_counts_per_flow_and_cause() -> None:
    # flow A: 10 tagged of 12 true; flow B: 5 tagged of 4 true. The surplus of B does not make up for A.
    quality = metrics.tag_quality([(10, 12), (5, 4)])
    assert quality[:3] == (15, 16, 14)
    assert quality.precision == pytest.approx(14 / 15)
    assert quality.recall == pytest.approx(14 / 16)
    assert metrics.tag_quality([(0, 0)]) == (0, 0, 0, None, None, 0)
    # late packets took back more than the gaps had counted: reported, and not correct
    assert metrics.tag_quality([(-1, 0), (3, 4)]) == (2, 4, 3, 1.0, 0.75, 1)
    assert metrics.tag_quality([(3, 0)]).precision == 0


def test_estimate_uses_students_t() -> None:
    # mean 12, deviations -2, 0, 2: sd 2; t(2 df) = 4.303, so 4.303 * 2 / sqrt(3) = 4.9687
    estimate = metrics.estimate([10, 12, 14])
    assert estimate.mean == 12
    assert estimate.sd == 2
    assert estimate.ci95 == pytest.approx(4.9687, abs=1e-4)
    assert metrics.estimate([7]) == (7, None, None, 1)


def test_t_quantiles() -> None:
    assert metrics.t95(4) == 2.776
    assert metrics.t95(4.9) == 2.776
    assert metrics.t95(1000) == 1.96


def test_ratio_and_its_interval() -> None:
    # geometric means 20 and 10, equal spread
    ratio = metrics.ratio([10, 40], [5, 20])
    assert ratio is not None
    assert ratio.value == pytest.approx(2)
    assert ratio.low is not None
    assert ratio.high is not None
    # symmetric on the logarithmic scale: low * high = value^2
    assert ratio.low * ratio.high == pytest.approx(4)
    # sd of the logarithms ln(40/10)/sqrt(2) = 0.98026 on both sides, error sqrt(2 * 0.98026^2 / 2) = 0.98026,
    # 2 degrees of freedom: e^(4.303 * 0.98026) = 67.94
    assert ratio.high / ratio.value == pytest.approx(67.94, abs=0.05)


def test_ratio_without_repeats_or_with_zeros() -> None:
    alone = metrics.ratio([6], [3])
    assert alone is not None
    assert alone.value == pytest.approx(2)
    assert (alone.low, alone.high) == (None, None)
    assert metrics.ratio([6], [0]) is None
    assert metrics.ratio([3, 3], [3, 3]) == (1, 1, 1)


def test_first_at_least() -> None:
    assert metrics.first_at_least([1.0, 4.0, 5.0], 4.0) == 1
    assert metrics.first_at_least([1.0, 4.0, 5.0], 6.0) is None
