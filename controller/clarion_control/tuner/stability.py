# SPDX-License-Identifier: Apache-2.0
"""Policy "stability": alpha and beta, gentler where the loop swings or round trip times spread."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

from clarion_control.model import Interval
from clarion_control.tuner.policy import (
    Memory,
    Parameter,
    PolicySpec,
    Proposal,
    Verdict,
    View,
    capacity_bps,
    settled,
)

SUSTAINED = 0.7  # the second half swings at least this much of the first, or it is a disturbance dying away
SHORTEST_PERIOD = 4.0  # intervals: a loop whose only delay is one round trip cannot swing faster
LEAST_USE = 0.5  # of the capacity; below, senders and not the loop decide the rate
LONGEST_CALM = 32  # times `calm_s`
STEADY_FLOWS = 0.25  # more change than this in the number of flows is traffic, not the loop

LAW = """\
Katabi's proof needs 0 < alpha < pi/(4 sqrt 2) = 0.555 and beta = alpha^2 sqrt 2, and it holds for flows
of one round trip time d. A flow with a longer one, R, answers later: to it the loop is as fast as one
with alpha R / d. So alpha is kept below `alpha_max` / spread, where spread is the 95th percentile of the
mean round trip time over its median, the queue's own delay taken out. And where the input rate swings
around its mean by more than `swing` of the capacity, with a period of four intervals or more and without
dying away, alpha is multiplied by `gentler`. After `calm_s` without a swing it is multiplied by
`bolder`, until it is back at its bound; after a step up that brought the swing back, twice as long. beta
follows alpha."""

PARAMETERS = (
    Parameter("alpha_max", 0.4, "", 0.01, 0.55, "where alpha returns to when all is calm"),
    Parameter("alpha_min", 0.1, "", 0.005, 0.55, "never below"),
    Parameter("gentler", 0.75, "", 0.1, 0.99, "factor of alpha when the loop swings"),
    Parameter("bolder", 1.1, "", 1.01, 2.0, "factor of alpha when it has been calm"),
    Parameter("swing", 0.05, "", 0.005, 1.0, "standard deviation of the input rate over the capacity"),
    Parameter("spread_limit", 1.25, "", 1.0, 16.0, "spread of the round trip time that counts"),
    Parameter("evidence_intervals", 48, "intervals", 16, 120, "that a judgement rests on", whole=True),
    Parameter("settle_intervals", 8, "intervals", 1, 64, "after any change of the port that do not count"),
    Parameter("calm_s", 30, "s", 1, 86_400, "between two steps back up"),
)


def judge(view: View, parameters: Mapping[str, float], memory: Memory) -> Verdict:
    """Alpha down at once where there is evidence, up slowly where there is none."""
    xcp = view.settings.xcp
    if xcp is None:
        return Verdict.wait({"state": "XCP is off at this port"}, memory)
    handed_out_bps = capacity_bps(view)
    if handed_out_bps is None:
        return Verdict.wait({"state": "no capacity measured yet"}, memory)
    needed = int(parameters["evidence_intervals"])
    reports = list(islice(settled(view, parameters["settle_intervals"]), needed))[::-1]
    if len(reports) < needed:
        return Verdict.wait({"state": "collecting evidence", "intervals": len(reports)}, memory)
    wait_s = max(parameters["calm_s"], float(memory.get("wait_s", 0)))
    seen = {**_seen(reports, handed_out_bps, xcp.alpha), "wait_s": wait_s}
    if seen["utilisation"] < LEAST_USE:
        return Verdict.wait({"state": "little used", **seen}, memory)
    if seen["flows_changed"] > STEADY_FLOWS:
        return Verdict.wait({"state": "flows come and go", **seen}, memory)
    spread = seen["spread"] if seen["spread"] > parameters["spread_limit"] else 1.0
    bound = max(parameters["alpha_min"], parameters["alpha_max"] / spread)
    # A step up that was not good makes the next one come later.
    longer_s = min(2 * wait_s, LONGEST_CALM * parameters["calm_s"]) if memory.get("raised") else wait_s
    lowered = {"wait_s": longer_s, "raised": False}
    if seen["swing"] > parameters["swing"] and seen["sustained"] and seen["period"] >= SHORTEST_PERIOD:
        alpha = min(xcp.alpha, max(parameters["alpha_min"], xcp.alpha * parameters["gentler"]))
        reason = (
            f"the input rate swings by {seen['swing']:.1%} with a period of {seen['period']:.3g} intervals"
        )
        return _decided(alpha, {"state": "swings", **seen}, reason, lowered, memory)
    if xcp.alpha > bound * 1.02:
        varies = f"the mean round trip time varies by a factor of {spread:.3g}"
        reason = varies if spread > 1 else f"alpha_max is {bound:.4g}"
        alpha = max(bound, xcp.alpha * parameters["gentler"])
        return _decided(alpha, {"state": "above its bound", **seen}, reason, lowered, memory)
    calm = seen["swing"] < parameters["swing"] / 2
    calm_s = (view.now_us - view.changed_us) / 1e6
    if calm and xcp.alpha < bound and calm_s >= wait_s:
        alpha = min(bound, xcp.alpha * parameters["bolder"])
        raised = {"wait_s": wait_s, "raised": True}
        return _decided(alpha, {"state": "calm", **seen}, f"calm for {calm_s:.0f} s", raised, memory)
    return Verdict.wait({"state": "calm" if calm else "watching", **seen}, memory)


def _decided(alpha: float, seen: Mapping[str, Any], reason: str, after: Memory, before: Memory) -> Verdict:
    alpha = round(alpha, 4)
    if abs(alpha - seen["alpha"]) < 0.0005:
        return Verdict.wait(seen, before)
    beta = round(alpha**2 * math.sqrt(2), 6)
    summary = f"Alpha {seen['alpha']:.4g} to {alpha:.4g}, beta {beta:.4g}: {reason}."
    proposal = Proposal(summary, {"xcp": {"alpha": alpha, "beta": beta}}, seen)
    return Verdict(seen, proposal, after, before)


def _seen(reports: Sequence[Interval], capacity_bps: float, alpha: float) -> dict[str, Any]:
    rates = [each.report.input_bps for each in reports]
    mean = statistics.fmean(rates)
    swings = [rate - mean for rate in rates]
    half = len(swings) // 2
    first, second = _rms(swings[:half]), _rms(swings[half:])
    crossings = _crossings(swings, 0.3 * _rms(swings))
    rtts = sorted(
        max(1.0, each.report.avg_rtt_us - each.report.queue_bytes * 8e6 / capacity_bps) for each in reports
    )
    flows = [
        each.report.sum_x_s * 1e6 / each.report.elapsed_us for each in reports if each.report.elapsed_us > 0
    ]
    early, late = (statistics.median(part) if part else 0.0 for part in (flows[:half], flows[half:]))
    return {
        "from_us": reports[0].time_us,
        "to_us": reports[-1].time_us,
        "intervals": len(reports),
        "alpha": alpha,
        "utilisation": round(mean / capacity_bps, 4),
        "swing": round(_rms(swings) / capacity_bps, 4),
        "sustained": second >= SUSTAINED * first and crossings >= 4,
        "period": round(2 * len(reports) / crossings, 2) if crossings else 0.0,
        "spread": round(rtts[int(0.95 * (len(rtts) - 1))] / statistics.median(rtts), 3),
        "flows": round(late, 2),
        "flows_changed": round(abs(late - early) / max(late, early, 1.0), 3),
    }


def _rms(values: Sequence[float]) -> float:
    return math.sqrt(sum(value * value for value in values) / max(1, len(values)))


def _crossings(values: Sequence[float], dead: float) -> int:
    """How often the values change sign; what is within `dead` of zero has none."""
    signs = [value > 0 for value in values if abs(value) > dead]
    return sum(before != after for before, after in pairwise(signs))


SPEC = PolicySpec(
    name="stability",
    title="Gentler control where the loop swings",
    law=" ".join(LAW.split()),
    guard_rails=(
        "alpha stays between `alpha_min` and `alpha_max`, which lies inside the proven region; beta"
        " always is alpha^2 sqrt 2.",
        "One decision multiplies alpha by `gentler` or `bolder`, no more, and rests on"
        " `evidence_intervals` intervals in a row that began `settle_intervals` intervals after the"
        " last change of the port.",
        "No judgement while the port is used to less than half, or while flows come and go: then the"
        " traffic swings, not the loop.",
    ),
    governs=("xcp.alpha", "xcp.beta"),
    parameters=PARAMETERS,
    judge=judge,
)
