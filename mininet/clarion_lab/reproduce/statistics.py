# SPDX-License-Identifier: Apache-2.0
"""What the verdicts ask of statistics, from scipy: intervals of differences and ratios, trends, lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

CONFIDENCE = 0.95
FEW_POINTS = 3  # so many or fewer have to be strictly monotone: no coefficient of rank says anything
TREND = 0.8  # Spearman's coefficient, at least

Samples = NDArray[np.float64]


class Interval(NamedTuple):
    """A mean and its interval; NaN bounds where there is one sample."""

    mean: float
    low: float
    high: float


def mean_interval(values: Samples, confidence: float = CONFIDENCE) -> Interval:
    """Mean with its interval by Student's t. All samples equal: an interval without width."""
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return Interval(math.nan, math.nan, math.nan)
    mean = float(np.mean(known))
    if len(known) < 2:
        return Interval(mean, math.nan, math.nan)
    error = float(stats.sem(known))
    if error == 0:
        return Interval(mean, mean, mean)
    low, high = stats.t.interval(confidence, len(known) - 1, loc=mean, scale=error)
    return Interval(mean, float(low), float(high))


def difference(left: Samples, right: Samples, paired: bool, confidence: float = CONFIDENCE) -> Interval:
    """left - right: paired by place (the same seed), or Welch's interval."""
    if paired and len(left) == len(right):
        return mean_interval(left - right, confidence)
    if min(len(left), len(right)) < 2:
        return Interval(float(np.mean(left) - np.mean(right)), math.nan, math.nan)
    if np.ptp(left) == 0 and np.ptp(right) == 0:
        exact = float(left[0] - right[0])
        return Interval(exact, exact, exact)
    found = stats.ttest_ind(left, right, equal_var=False)
    bounds = found.confidence_interval(confidence)
    return Interval(float(np.mean(left) - np.mean(right)), float(bounds.low), float(bounds.high))


def corrected(confidence: float, comparisons: int) -> float:
    """The confidence of each of so many comparisons for all to hold together (Bonferroni)."""
    return 1 - (1 - confidence) / max(comparisons, 1)


def trend(places: Sequence[float], means: Sequence[float]) -> float:
    """Spearman's coefficient of means over places; of three or fewer points 1 or -1 if they are strictly
    monotone, else 0. NaN with fewer than two.
    """
    if len(means) < 2 or not np.all(np.isfinite(means)):
        return math.nan
    ordered = [mean for _, mean in sorted(zip(places, means, strict=True))]
    steps = np.diff(ordered)
    if len(ordered) <= FEW_POINTS:
        return 1.0 if np.all(steps > 0) else -1.0 if np.all(steps < 0) else 0.0
    if np.ptp(ordered) == 0:
        return 0.0
    return float(stats.spearmanr(places, means).statistic)


class Line(NamedTuple):
    """A straight line through points."""

    slope: float
    intercept: float
    r_squared: float


def line(places: Sequence[float], values: Sequence[float]) -> Line:
    """Least squares; R² is that of the mean of a constant series, 1, too."""
    if len(values) < 2:
        return Line(math.nan, math.nan, math.nan)
    if np.ptp(values) == 0:
        return Line(0.0, float(values[0]), 1.0)
    found = stats.linregress(places, values)
    return Line(float(found.slope), float(found.intercept), float(found.rvalue) ** 2)


def correlation(left: Sequence[float], right: Sequence[float]) -> float:
    """Pearson's coefficient; NaN if one of them is constant."""
    if len(left) < 2 or np.ptp(left) == 0 or np.ptp(right) == 0:
        return math.nan
    return float(stats.pearsonr(left, right).statistic)
