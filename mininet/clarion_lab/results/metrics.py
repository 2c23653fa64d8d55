# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of results, as pure functions of plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

CONVERGENCE_TOLERANCE = 0.2  # every flow within 20 % of its fair share
CONVERGENCE_ROUND_TRIPS = 10  # for that many round trips
NEWCOMER_SHARE = 0.95  # of its fair share, which a newcomer has to reach

# Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom; beyond that the normal's is used.
_T95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


class Estimate(NamedTuple):
    """A mean over repeats, its standard deviation and the half width of its 95 % interval (None for one
    run).
    """

    mean: float
    sd: float | None
    ci95: float | None
    n: int


class TagQuality(NamedTuple):
    """How well tags match the truth; a quotient without a denominator is None. `negative` totals, of flows
    whose late packets took back more than their gaps had counted, are part of `tagged`.
    """

    tagged: int
    truth: int
    true_positives: int
    precision: float | None
    recall: float | None
    negative: int


def jain(values: Sequence[float]) -> float | None:
    """Jain's fairness index (sum x)^2 / (n sum x^2); None if nothing flowed."""
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares > 0 else None


def rate_between(times_us: Sequence[int], totals: Sequence[int], from_us: int, to_us: int) -> float:
    """Mean rate in units/s of a running total between two instants, interpolated; 0 without two samples."""
    if len(times_us) < 2 or to_us <= from_us:
        return 0.0
    return (
        (interpolate(times_us, totals, to_us) - interpolate(times_us, totals, from_us))
        * 1e6
        / (to_us - from_us)
    )


def interpolate(times_us: Sequence[int], totals: Sequence[int], at_us: int) -> float:
    """A running total at an instant, linear between samples and constant outside them."""
    if at_us <= times_us[0]:
        return float(totals[0])
    low, high = 0, len(times_us) - 1
    if at_us >= times_us[high]:
        return float(totals[high])
    while high - low > 1:
        middle = (low + high) // 2
        if times_us[middle] <= at_us:
            low = middle
        else:
            high = middle
    share = (at_us - times_us[low]) / (times_us[high] - times_us[low])
    return totals[low] + share * (totals[high] - totals[low])


def interval_rates(
    times_us: Sequence[int], totals: Sequence[int], from_us: int, to_us: int, interval_us: int
) -> list[float]:
    """Rates in units/s over consecutive whole intervals."""
    count = (to_us - from_us) // interval_us
    if len(times_us) < 2 or count <= 0:
        return []
    marks = [interpolate(times_us, totals, from_us + n * interval_us) for n in range(count + 1)]
    return [(late - early) * 1e6 / interval_us for early, late in pairwise(marks)]


def convergence_index(
    rates: Sequence[Sequence[float]], fair_share: float, hold: int = CONVERGENCE_ROUND_TRIPS
) -> int | None:
    """First interval from which every flow stays within 20 % of its fair share for `hold` intervals, or None.

    rates[flow][interval], averaged over one round trip each.
    """
    intervals = min((len(flow) for flow in rates), default=0)
    run = 0
    for index in range(intervals):
        near = all(abs(flow[index] - fair_share) <= CONVERGENCE_TOLERANCE * fair_share for flow in rates)
        run = run + 1 if near else 0
        if run == hold:
            return index - hold + 1
    return None


def first_at_least(values: Sequence[float], bound: float) -> int | None:
    """Index of the first value that reaches the bound, or None."""
    return next((index for index, value in enumerate(values) if value >= bound), None)


def quantile_from_histogram(edges: Sequence[int], weights: Sequence[int], share: float) -> float | None:
    """The upper edge of the bin in which the cumulated weight reaches `share`; None for an empty histogram.

    edges are lower edges; the last bin has no upper edge and answers with its lower one.
    """
    total = sum(weights)
    if total <= 0:
        return None
    reached = 0
    for index, weight in enumerate(weights):
        reached += weight
        if weight > 0 and reached >= share * total:
            inner = index + 1 < len(edges)
            return float(edges[index + 1] - 1 if inner else edges[index])
    return float(edges[-1])


def tag_quality(pairs: Sequence[tuple[int, int]]) -> TagQuality:
    """Precision and recall over (tagged, truth) counts per flow and cause, with min(tagged, truth) correct
    each.
    """
    tagged = sum(pair[0] for pair in pairs)
    truth = sum(pair[1] for pair in pairs)
    correct = sum(max(0, min(pair)) for pair in pairs)
    return TagQuality(
        tagged,
        truth,
        correct,
        min(1.0, correct / tagged) if tagged > 0 else None,
        correct / truth if truth else None,
        sum(pair[0] < 0 for pair in pairs),
    )


def settled_index(
    rates: Sequence[Sequence[float]], levels: Sequence[float], hold: int = CONVERGENCE_ROUND_TRIPS
) -> int | None:
    """First interval from which every flow stays within 20 % of its own level for `hold` intervals."""
    shares = [
        [rate / level if level else 0.0 for rate in flow] for flow, level in zip(rates, levels, strict=True)
    ]
    return convergence_index(shares, 1.0, hold)


def t95(degrees_of_freedom: float) -> float:
    """Two-sided 95 % quantile of Student's t; fractional degrees of freedom are rounded down."""
    whole = math.floor(degrees_of_freedom + 1e-9)  # 2 may come as 1.9999999999999998
    if whole < 1:
        return math.inf
    return _T95[whole - 1] if whole <= len(_T95) else 1.96


def estimate(values: Sequence[float]) -> Estimate:
    """Mean, sample standard deviation and half width of the 95 % interval by Student's t."""
    n = len(values)
    mean = sum(values) / n
    if n < 2:
        return Estimate(mean, None, None, n)
    sd = math.sqrt(sum((value - mean) ** 2 for value in values) / (n - 1))
    return Estimate(mean, sd, t95(n - 1) * sd / math.sqrt(n), n)


class Ratio(NamedTuple):
    """A ratio of means and its 95 % interval (None where there are no repeats to tell)."""

    value: float
    low: float | None
    high: float | None


def ratio(numerator: Sequence[float], denominator: Sequence[float]) -> Ratio | None:
    """Ratio of the geometric means with Welch's interval on logarithms; None unless all values are
    positive.
    """
    if not numerator or not denominator or min(*numerator, *denominator) <= 0:
        return None
    top, bottom = (estimate([math.log(value) for value in values]) for values in (numerator, denominator))
    difference = top.mean - bottom.mean
    if top.sd is None or bottom.sd is None:
        return Ratio(math.exp(difference), None, None)
    variances = top.sd**2 / top.n, bottom.sd**2 / bottom.n
    error = math.sqrt(sum(variances))
    if error == 0:
        return Ratio(math.exp(difference), math.exp(difference), math.exp(difference))
    freedom = error**4 / (variances[0] ** 2 / (top.n - 1) + variances[1] ** 2 / (bottom.n - 1))
    half = t95(freedom) * error
    return Ratio(math.exp(difference), math.exp(difference - half), math.exp(difference + half))
