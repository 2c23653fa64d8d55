# SPDX-License-Identifier: Apache-2.0
"""Policy "capacity": XCP's capacity follows the rate that the link really has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
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
    mbps,
    settled,
)

FRAME_BYTES = 1500.0  # of a packet that the queue dropped, where no counter gives the mean
MIDDLE_MATTERS = 4  # reports: with fewer, half of them is too little
MEASUREMENTS = 2  # of the switch, that agree: the first may be of two rates
CHANGED = 0.15  # a difference between the halves that is no error of measurement
LAW = """\
While packets wait, a link is never idle, so what leaves it then is its real rate: over the last
`evidence_intervals` control intervals, input minus the growth of the queue and minus what the queue
dropped, divided by the time that they lasted; where the second half of that time differs from the first
by more than 15 %, the second half alone. The capacity becomes `target_utilisation` of that. An empty
queue shows no rate: if the port is then used to at least `probe_utilisation` of its capacity, the
capacity is raised by a small step, by a larger one if no queue follows, and so on; the queue that does
follow shows the real rate. After a probe that met the end of the link the next one waits, longer each
time that it was in vain. Where the switch measures what the link carries and says so in the two newest
reports, nothing of this is needed: the capacity becomes `target_utilisation` of the newest measurement, once
two differ by no more than 15 %. A port that hands out what it measures by itself is left alone."""

PARAMETERS = (
    Parameter("target_utilisation", 0.98, "", 0.5, 1.0, "share of the measured rate that XCP hands out"),
    Parameter("min_capacity_bps", 100_000, "bit/s", 8, 2_199_023_255_551, "never below", whole=True),
    Parameter("max_capacity_bps", 400_000_000_000, "bit/s", 8, 2_199_023_255_551, "never above", whole=True),
    Parameter(
        "hysteresis", 0.03, "", 0.001, 0.5, "smaller changes, as a share of the capacity, are not made"
    ),
    Parameter(
        "max_step_down",
        0.6,
        "",
        0.01,
        0.9,
        "most of the capacity that one decision takes away; what is measured may undo one such step at once",
    ),
    Parameter("max_step_up", 0.25, "", 0.01, 1.0, "most of the capacity that one probe adds"),
    Parameter(
        "first_step_up", 0.05, "", 0.01, 1.0, "a probe's first step; each further one is twice as large"
    ),
    Parameter("evidence_intervals", 4, "intervals", 2, 64, "that a decision rests on", whole=True),
    Parameter("evidence_ms", 100, "ms", 1, 10_000, "that they last at least"),
    Parameter("settle_intervals", 2, "intervals", 1, 64, "after any change of the port that do not count"),
    Parameter("busy_queue_bytes", 3000, "bytes", 1, 1e9, "persistent queue from which on the link is busy"),
    Parameter("probe_utilisation", 0.95, "", 0.5, 1.0, "use of the capacity from which on more is tried"),
    Parameter("probe_wait_s", 2, "s", 0.1, 3600, "without a probe after one in vain"),
    Parameter("probe_wait_max_s", 10, "s", 0.1, 3600, "the longest such wait; it doubles up to here"),
)


@dataclass(frozen=True)
class _Probing:
    """Where the search for more capacity is."""

    step: float  # of the next probe
    wait_s: float  # after the next one in vain
    not_before_us: int = 0
    from_bps: int = 0  # the capacity before the first of the latest probes; 0: the last decision was none


def judge(view: View, parameters: Mapping[str, float], memory: Memory) -> Verdict:
    """Follows the link down by measuring, and up by trying."""
    state = (
        _Probing(**memory) if memory else _Probing(parameters["first_step_up"], parameters["probe_wait_s"])
    )
    xcp = view.settings.xcp
    if xcp is None:
        return Verdict.wait({"state": "XCP is off at this port"}, asdict(state))
    if xcp.is_measured:
        measured_bps = capacity_bps(view)
        return Verdict.wait({"state": "the switch measures", "measured_bps": measured_bps}, asdict(state))
    span = _span(settled(view, parameters["settle_intervals"]), parameters)
    if span is None:
        return Verdict.wait({"state": "collecting evidence"}, asdict(state))
    time_s = sum(each.report.elapsed_us for each in span[1:]) / 1e6
    input_bps = sum(each.report.input_bytes for each in span[1:]) * 8 / time_s
    queues = [each.report.queue_bytes for each in span]
    seen: dict[str, Any] = {
        "from_us": span[0].time_us,
        "to_us": span[-1].time_us,
        "intervals": len(span) - 1,
        "capacity_bps": xcp.capacity_bps,
        "input_bps": round(input_bps),
        "utilisation": round(input_bps / xcp.capacity_bps, 4),
        "queue_bytes": queues,
    }
    measured = [each.report.measured_bps for each in span[-MEASUREMENTS:]]
    earlier_bps, measured_bps = measured[0], measured[-1]
    if earlier_bps is not None and measured_bps is not None:
        seen["rate_bps"], seen["from"] = measured_bps, "measured by the switch"
        if abs(measured_bps - earlier_bps) > CHANGED * max(measured_bps, earlier_bps):
            return Verdict.wait({"state": "measurements differ", **seen}, asdict(state))
        return _follow(view, parameters, state, {"state": "measured", **seen})
    if min(queues) >= parameters["busy_queue_bytes"]:
        seen |= _departures(view, span)
        return _follow(view, parameters, state, {"state": "busy", **seen})
    if max(queues) < parameters["busy_queue_bytes"]:
        return _probe(view, parameters, state, {"state": "no queue", **seen})
    return Verdict.wait({"state": "queue comes and goes", **seen}, asdict(state))


def _span(reports: Iterable[Interval], parameters: Mapping[str, float]) -> Sequence[Interval] | None:
    """Of reports from the newest on those that are enough, in the order of time, with one before them that
    says how long the queue was; None if there are too few.
    """
    taken: list[Interval] = []
    time_us = 0.0
    for each in reports:
        taken.append(each)
        if len(taken) > parameters["evidence_intervals"] and time_us >= parameters["evidence_ms"] * 1000:
            return taken[::-1]
        time_us += each.report.elapsed_us
    return None


def _departures(view: View, span: Sequence[Interval]) -> dict[str, Any]:
    """The departure rate of the busy link, or that of the span's second half if it has changed. After drops
    by the queue, counters of the port read within the span are preferred, because reports count neither
    the bytes of a drop nor untagged packets.
    """
    frame_bytes = _mean_frame_bytes(view)
    middle = len(span) // 2
    parts = [_rate_bps(part, frame_bytes) for part in (span, span[: middle + 1], span[middle:])]
    whole_bps, early_bps, late_bps = parts
    changed = len(span) > MIDDLE_MATTERS and abs(late_bps - early_bps) > CHANGED * max(early_bps, late_bps)
    dropped = max(0, span[-1].report.dropped_by_queue - span[0].report.dropped_by_queue)
    found = {
        "rate_bps": round(late_bps if changed else whole_bps),
        "dropped_packets": dropped,
        "from": "reports, second half" if changed else "reports",
    }
    inside = [each for each in view.departures if span[0].time_us <= each.time_us <= span[-1].time_us]
    if dropped and not changed and len(inside) >= 2 and inside[-1].time_us > inside[0].time_us:
        took_s = (inside[-1].time_us - inside[0].time_us) / 1e6
        found |= {
            "rate_bps": round((inside[-1].sent_bytes - inside[0].sent_bytes) * 8 / took_s),
            "from": "counters",
        }
    return found


def _rate_bps(span: Sequence[Interval], frame_bytes: float) -> float:
    """Input minus growth of the queue minus drops, over time; the first interval is only where it starts."""
    first, last = span[0].report, span[-1].report
    dropped = max(0, last.dropped_by_queue - first.dropped_by_queue)
    came = sum(each.report.input_bytes for each in span[1:])
    left = came - (last.queue_bytes - first.queue_bytes) - dropped * frame_bytes
    return max(0.0, left) * 8e6 / max(1.0, sum(each.report.elapsed_us for each in span[1:]))


def _mean_frame_bytes(view: View) -> float:
    if len(view.departures) >= 2:
        first, last = view.departures[0], view.departures[-1]
        if last.sent_packets > first.sent_packets:
            return (last.sent_bytes - first.sent_bytes) / (last.sent_packets - first.sent_packets)
    return FRAME_BYTES


def _follow(view: View, parameters: Mapping[str, float], state: _Probing, seen: Mapping[str, Any]) -> Verdict:
    assert view.settings.xcp is not None
    now_bps = view.settings.xcp.capacity_bps
    wanted = seen["rate_bps"] * parameters["target_utilisation"]
    bounded = max(wanted, now_bps * (1 - parameters["max_step_down"]))
    bounded = min(bounded, now_bps / (1 - parameters["max_step_down"]))  # measured, so no guess
    new_bps = _limited(bounded, parameters)
    if abs(new_bps / now_bps - 1) <= parameters["hysteresis"]:
        return Verdict.wait(seen, asdict(state))
    in_vain = 0 < new_bps <= state.from_bps * (1 + 2 * parameters["hysteresis"])
    after = _Probing(
        step=parameters["first_step_up"],
        wait_s=min(2 * state.wait_s, parameters["probe_wait_max_s"])
        if in_vain
        else parameters["probe_wait_s"],
        not_before_us=view.now_us + round((state.wait_s if in_vain else parameters["probe_wait_s"]) * 1e6),
    )
    if seen["state"] == "measured":
        how = f"the switch measured {mbps(seen['rate_bps'])} on the link"
    else:
        why = (
            "the queue did not empty" if new_bps < now_bps else "the queue stays although less is handed out"
        )
        how = f"{why}, and {mbps(seen['rate_bps'])} left the link over {seen['intervals']} intervals"
    summary = f"Capacity {mbps(now_bps)} to {mbps(new_bps)}: {how}."
    return _decided(summary, new_bps, seen, after, state)


def _probe(view: View, parameters: Mapping[str, float], state: _Probing, seen: Mapping[str, Any]) -> Verdict:
    assert view.settings.xcp is not None
    now_bps = view.settings.xcp.capacity_bps
    used = seen["utilisation"] >= parameters["probe_utilisation"]
    if not used or view.now_us < state.not_before_us:
        return Verdict.wait(seen, asdict(state))
    step = min(state.step, parameters["max_step_up"])
    new_bps = _limited(now_bps * (1 + step), parameters)
    if new_bps <= now_bps:
        return Verdict.wait(seen, asdict(state))
    after = replace(state, step=min(2 * step, 1.0), from_bps=state.from_bps or now_bps)
    summary = (
        f"Capacity {mbps(now_bps)} to {mbps(new_bps)}: used to {seen['utilisation']:.1%} without a queue;"
        " the link may have more."
    )
    return _decided(summary, new_bps, seen, after, state)


def _decided(
    summary: str, new_bps: int, seen: Mapping[str, Any], after: _Probing, before: _Probing
) -> Verdict:
    proposal = Proposal(summary, {"xcp": {"capacity_bps": new_bps}}, seen)
    return Verdict(seen, proposal, asdict(after), asdict(before))


def _limited(capacity_bps: float, parameters: Mapping[str, float]) -> int:
    return round(min(max(capacity_bps, parameters["min_capacity_bps"]), parameters["max_capacity_bps"]))


SPEC = PolicySpec(
    name="capacity",
    title="Capacity follows the link",
    law=" ".join(LAW.split()),
    guard_rails=(
        "Between `min_capacity_bps` and `max_capacity_bps`; one decision takes away at most"
        " `max_step_down` of the capacity, a probe adds at most `max_step_up`; nothing is changed by"
        " less than `hysteresis`.",
        "Only on `evidence_intervals` intervals in a row, with none missing, that last `evidence_ms`"
        " and began `settle_intervals` intervals after the last change of the port, by a policy or by hand.",
        "A port that is not used is left alone: an empty queue at a low load proves nothing.",
    ),
    governs=("xcp.capacity_bps",),
    parameters=PARAMETERS,
    judge=judge,
)
