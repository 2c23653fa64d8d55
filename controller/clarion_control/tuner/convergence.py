# SPDX-License-Identifier: Apache-2.0
"""Policy "convergence": gamma, the share of the traffic that is shuffled, large while there is work to do."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from clarion_contract.telemetry import IntervalReport
from clarion_control.tuner.policy import Memory, Parameter, PolicySpec, Proposal, Verdict, View

KNOWN = 12  # intervals whose median is the number of flows that there were
LAW = """\
Each flow's packets stand for the time between them, so the sum of x over an interval is the interval's
length times the number of flows: sum_x / elapsed counts them, whatever their rates. When that number
rises from N to N', the newcomers have next to nothing of their share, and (N' - N) / N' of the bandwidth
is with the wrong flows. From then on the estimate only falls, by what the switch really does: an
interval that takes `negative` from an input of `rate` brings every flow closer to the mean by the factor
1 - negative / rate. While the estimate is above `enter`, gamma is `gamma_unfair`; below `leave` it is
`gamma_settled`. Unfairness that does not come with a newcomer is not visible in the reports, which hold
sums only, and is left to `gamma_settled`."""

PARAMETERS = (
    Parameter("gamma_settled", 0.1, "", 0.005, 0.35, "gamma while flows have their shares"),
    Parameter("gamma_unfair", 0.3, "", 0.01, 0.35, "gamma while newcomers wait for theirs"),
    Parameter(
        "enter", 0.1, "", 0.01, 1.0, "estimated share with the wrong flows from which on gamma is raised"
    ),
    Parameter("leave", 0.04, "", 0.001, 1.0, "and below which it is lowered again"),
    Parameter("newcomers", 0.5, "flows", 0.2, 1000, "a smaller rise of the number of flows is noise"),
    Parameter("evidence_intervals", 3, "intervals", 2, 32, "whose median has to show the rise", whole=True),
    Parameter(
        "longest_s", 60, "s", 1, 3600, "with `gamma_unfair`; then it is lowered whatever the estimate says"
    ),
)


@dataclass(frozen=True)
class _Seen:
    """What the reports up to `seen_us` add up to."""

    seen_us: int = 0
    seen_intervals: int = 0  # of those that came at `seen_us`
    unfair: float = 0.0  # estimated share of the bandwidth that is with the wrong flows
    since_us: int = 0  # when it last rose
    arrivals: float = 0.0
    known: tuple[float, ...] = field(default=())  # flows of the latest intervals that the baseline rests on
    latest: tuple[float, ...] = field(default=())  # flows of those after them


def judge(view: View, parameters: Mapping[str, float], memory: Memory) -> Verdict:
    """Counts flows, keeps the estimate, and sets gamma by it."""
    state = _remembered(memory)
    xcp = view.settings.xcp
    if xcp is None:
        return Verdict.wait({"state": "XCP is off at this port"}, {})
    for each in view.reports:
        if (each.time_us, each.report.intervals) > (state.seen_us, state.seen_intervals):
            state = _after(state, each.time_us, each.report, parameters)
    after = asdict(state)
    if not state.known:
        return Verdict.wait({"state": "collecting evidence"}, after)
    late = view.now_us - state.since_us > parameters["longest_s"] * 1e6
    seen: dict[str, Any] = {
        "to_us": state.seen_us,
        "flows": round(statistics.median(state.latest or state.known), 2),
        "unfair": round(state.unfair, 4),
        "gamma": xcp.gamma,
    }
    # Only the switch's confirmation matters here, not how long it had it: a newcomer cannot wait for that.
    if state.unfair >= parameters["enter"] and not late and xcp.gamma < parameters["gamma_unfair"]:
        reason = f"{state.arrivals:.2g} more flows, and {state.unfair:.0%} of the rate not yet theirs"
        return _decided(parameters["gamma_unfair"], {"state": "newcomers", **seen}, reason, after)
    settles = state.unfair < parameters["leave"] or late
    if settles and xcp.gamma > parameters["gamma_settled"]:
        reason = f"{seen['flows']:.3g} flows, {state.unfair:.1%} of the rate still with the wrong ones"
        return _decided(parameters["gamma_settled"], {"state": "settled", **seen}, reason, after)
    if settles and xcp.gamma < parameters["gamma_settled"]:
        return _decided(parameters["gamma_settled"], {"state": "settled", **seen}, "settled", after)
    return Verdict.wait({"state": "settled" if settles else "newcomers", **seen}, after)


def _remembered(memory: Memory) -> _Seen:
    return (
        _Seen(**{**memory, "known": tuple(memory["known"]), "latest": tuple(memory["latest"])})
        if memory
        else _Seen()
    )


def _decided(gamma: float, seen: Mapping[str, Any], reason: str, memory: Memory) -> Verdict:
    summary = f"Gamma {seen['gamma']:.3g} to {gamma:.3g}: {reason}."
    return Verdict(seen, Proposal(summary, {"xcp": {"gamma": gamma}}, seen), memory, memory)


def _after(state: _Seen, time_us: int, report: IntervalReport, parameters: Mapping[str, float]) -> _Seen:
    """The estimate after one more interval."""
    state = replace(state, seen_us=time_us, seen_intervals=report.intervals)
    if report.elapsed_us <= 0 or report.sum_x_s <= 0:
        return state
    flows = report.sum_x_s * 1e6 / report.elapsed_us
    taken = min(1.0, report.negative_bps / report.input_bps) if report.input_bps > 0 else 0.0
    unfair = state.unfair * (1 - taken)
    needed = int(parameters["evidence_intervals"])
    latest = (*state.latest, flows)
    if len(latest) < needed:
        return replace(state, unfair=unfair, latest=latest)
    if not state.known:
        return replace(state, unfair=unfair, known=latest, latest=())
    before, now = statistics.median(state.known), statistics.median(latest)
    came = now - before
    if came >= parameters["newcomers"] and min(latest) >= before + came / 2:
        share = came / now
        unfair += (1 - unfair) * share
        return replace(state, unfair=unfair, since_us=time_us, arrivals=came, known=latest, latest=())
    if before - now >= parameters["newcomers"]:  # flows that go leave the others' shares as they were
        return replace(state, unfair=unfair, known=latest, latest=())
    return replace(state, unfair=unfair, known=(*state.known, latest[0])[-KNOWN:], latest=latest[1:])


SPEC = PolicySpec(
    name="convergence",
    title="Newcomers get their share sooner",
    law=" ".join(LAW.split()),
    guard_rails=(
        "gamma stays at or below 0.35: a flow's rate then approaches its share without overshoot even"
        " though each grant takes a round trip (up to 1/e). The aggregate's stability does not depend"
        " on gamma.",
        "A rise has to show in the median of `evidence_intervals` intervals, by `newcomers` flows or more.",
        "`gamma_unfair` lasts `longest_s` at most.",
    ),
    governs=("xcp.gamma",),
    parameters=PARAMETERS,
    judge=judge,
)
