# SPDX-License-Identifier: Apache-2.0
"""A port under XCP and the flows through it, as a fluid: deterministic, in steps of a few milliseconds.

Flows have windows, like real senders: a flow sends window / rtt, and its rtt includes the queueing delay.
Feedback reaches it one round trip later. Overflow of the queue is dropped and halves the windows, once per
round trip.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from clarion_contract.settings import PortSettings, XcpSettings
from clarion_contract.telemetry import IntervalReport
from clarion_control.model import Interval
from clarion_control.tuner.policy import HISTORY, NOTHING, DepartureSample, Memory, PolicySpec, Proposal, View
from clarion_control.tuner.registry import checked_parameters

STEP_S = 0.004
FRAME_BYTES = 1546
POLL_S = 2.0
LOOK_S = 0.25  # between two evaluations by the tuner
APPLY_S = 0.05  # from a decision to its effect in the switch


@dataclass
class Flow:
    """A sender of greedy traffic."""

    rtt_s: float
    feedback_s: float = 0.0  # delay of feedback beyond the RTT in the header
    start_s: float = 0.0
    stop_s: float = 1e9
    window: float = 10.0 * FRAME_BYTES
    rate: float = 0.0  # bytes/s
    rtt_now_s: float = 0.0
    coming: deque[tuple[float, float]] = field(default_factory=deque)  # (when, change of rate)
    halved_s: float = -1.0


@dataclass
class Link:
    """The port, its XCP settings and the real rate of the wire behind it, which may change with time."""

    flows: list[Flow]
    rate_bps: Callable[[float], float]
    settings: PortSettings
    queue_limit: float = 1.25e6
    measures: bool = False  # whether reports have the real rate, as of a switch that measures it
    now_s: float = 0.0
    queue: float = 0.0
    sent: float = 0.0
    dropped: float = 0.0
    changed_s: float = -100.0
    reports: deque[Interval] = field(default_factory=lambda: deque(maxlen=HISTORY))
    departures: deque[DepartureSample] = field(default_factory=lambda: deque(maxlen=64))
    history: list[tuple[float, float, float, float]] = field(
        default_factory=list
    )  # time, sent, queue, dropped

    def __post_init__(self) -> None:
        self._began_s, self._input, self._sum_x, self._sum_x_rtt = 0.0, 0.0, 0.0, 0.0
        self._avg_rtt_s, self._intervals = 0.1, 0
        self._cp = self._cn = self._pos = self._neg = 0.0
        self._window_s, self._least, self._persistent = 0.0, 0.0, 0.0
        self._poll_s = 0.0

    @property
    def xcp(self) -> XcpSettings:
        assert self.settings.xcp is not None
        return self.settings.xcp

    def step(self) -> None:
        rate = self.rate_bps(self.now_s) / 8
        arriving = 0.0
        for flow in self.flows:
            if not flow.start_s <= self.now_s < flow.stop_s:
                flow.rate = 0.0
                continue
            flow.rtt_now_s = flow.rtt_s + self.queue / rate
            while flow.coming and flow.coming[0][0] <= self.now_s:
                flow.window += flow.coming.popleft()[1] * flow.rtt_now_s
            flow.window = max(flow.window, FRAME_BYTES)
            flow.rate = flow.window / flow.rtt_now_s
            arriving += flow.rate
            self._sum_x += STEP_S
            self._sum_x_rtt += STEP_S * flow.rtt_now_s
            self._grant(flow)
        self._input += arriving * STEP_S
        self._serve(arriving, rate)
        self.now_s += STEP_S
        self._observe()

    def _grant(self, flow: Flow) -> None:
        """Positive feedback is equal for all flows, negative proportional to the rate; both take an RTT."""
        p = min(self._cp * STEP_S, self._pos)
        n = min(self._cn * flow.rate * STEP_S, self._neg)
        self._pos, self._neg = self._pos - p, self._neg - n
        flow.coming.append((self.now_s + flow.rtt_now_s + flow.feedback_s, p - n))

    def _serve(self, arriving: float, rate: float) -> None:
        waiting = self.queue + arriving * STEP_S
        out = min(waiting, rate * STEP_S)
        self.queue = waiting - out
        self.sent += out
        excess = self.queue - self.queue_limit
        if excess <= 0:
            return
        self.dropped += excess
        self.queue = self.queue_limit
        for flow in self.flows:
            if flow.rate > 0 and self.now_s - flow.halved_s > flow.rtt_now_s:
                flow.window, flow.halved_s = flow.window / 2, self.now_s

    def _observe(self) -> None:
        interval_s = min(max(self._avg_rtt_s, self.xcp.min_interval_us / 1e6), self.xcp.max_interval_us / 1e6)
        self._least = min(self._least, self.queue)
        if self.now_s - self._window_s >= interval_s / 2:
            self._persistent, self._least, self._window_s = self._least, self.queue, self.now_s
        if self.now_s - self._began_s >= interval_s and self._input > 0:
            self._control()
        self._poll_s += STEP_S
        if self._poll_s >= POLL_S:
            self._poll_s = 0.0
            packets = int(self.sent / FRAME_BYTES)
            self.departures.append(DepartureSample(round(self.now_s * 1e6), packets, int(self.sent)))
        self.history.append((self.now_s, self.sent, self.queue, self.dropped))

    def _control(self) -> None:
        xcp = self.xcp
        elapsed_s = self.now_s - self._began_s
        if self._sum_x > 0:
            self._avg_rtt_s = self._sum_x_rtt / self._sum_x
        rate = self._input / elapsed_s
        phi = xcp.alpha * (xcp.capacity_bps / 8 - rate) - xcp.beta * self._persistent / self._avg_rtt_s
        shuffle = max(0.0, xcp.gamma * rate - abs(phi))
        self._pos, self._neg = max(phi, 0) + shuffle, max(-phi, 0) + shuffle
        self._cp = self._pos / self._sum_x if self._sum_x else 0.0
        self._cn = self._neg / self._input
        self._intervals += 1
        report = IntervalReport(
            port=1,
            intervals=self._intervals,
            elapsed_us=elapsed_s * 1e6,
            avg_rtt_us=self._avg_rtt_s * 1e6,
            input_bytes=round(self._input),
            sum_x_s=self._sum_x,
            sum_x_rtt_s2=self._sum_x_rtt,
            queue_bytes=round(self._persistent),
            input_bps=rate * 8,
            phi_bps=phi * 8,
            positive_bps=self._pos * 8,
            negative_bps=self._neg * 8,
            cp_bps_per_s=self._cp * 8,
            cn_bps_per_byte=self._cn * 8,
            lost_on_wire=0,
            dropped_by_queue=int(self.dropped / FRAME_BYTES),
            measured_bps=round(self.rate_bps(self.now_s)) if self.measures else None,
        )
        self.reports.append(Interval(round(self.now_s * 1e6), "s1", report))
        self._began_s, self._input, self._sum_x, self._sum_x_rtt = self.now_s, 0.0, 0.0, 0.0

    def view(self) -> View:
        now_us, changed_us = round(self.now_s * 1e6), round(self.changed_s * 1e6)
        return View(now_us, self.settings, changed_us, list(self.reports), list(self.departures))

    def change(self, changes: dict[str, Any]) -> None:
        self.settings = replace(self.settings, xcp=replace(self.xcp, **changes["xcp"]))

    def between(self, begin_s: float, end_s: float) -> dict[str, float]:
        """Utilisation of the real rate, the queue's 99th percentile and bytes dropped."""
        rows = [row for row in self.history if begin_s <= row[0] <= end_s]
        offered = sum(self.rate_bps(row[0]) / 8 * STEP_S for row in rows)
        queues = sorted(row[2] for row in rows)
        return {
            "utilisation": (rows[-1][1] - rows[0][1]) / offered,
            "queue_p99": queues[int(0.99 * len(queues))],
            "dropped": rows[-1][3] - rows[0][3],
        }


def port(capacity_bps: int = 100_000_000, **xcp: Any) -> PortSettings:
    return PortSettings(
        1, XcpSettings(capacity_bps, **xcp), stamp=True, check=True, queue_limit_bytes=1_250_000
    )


def run(
    link: Link, until_s: float, spec: PolicySpec | None = None, **parameters: float
) -> list[tuple[float, Proposal]]:
    """Runs the link, with a policy if one is given; returns its decisions with their times."""
    complete = checked_parameters(spec.name, parameters) if spec else {}
    memory: Memory = NOTHING
    decided: list[tuple[float, Proposal]] = []
    look_s = link.now_s
    pending: tuple[float, dict[str, Any]] | None = None
    for _ in itertools.count():
        if link.now_s >= until_s:
            return decided
        link.step()
        if pending and link.now_s >= pending[0]:
            link.change(pending[1])
            pending = None
        if spec is None or pending or link.now_s < look_s:
            continue
        look_s = link.now_s + LOOK_S
        verdict = spec.judge(link.view(), complete, memory)
        memory = verdict.memory if verdict.proposal else verdict.memory_if_not
        if verdict.proposal:
            decided.append((link.now_s, verdict.proposal))
            link.changed_s = link.now_s
            if verdict.proposal.changes:
                pending = (link.now_s + APPLY_S, dict(verdict.proposal.changes))
    raise AssertionError
