# SPDX-License-Identifier: Apache-2.0
"""What a run leaves in memory, whatever engine made it; the results are computed from this alone.

Times are microseconds since the start of the run (the first flow's nominal start is its `start`). Counters
are cumulative since the flow or the switch began.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

SAMPLE_US = 100_000  # between two samples of a series


class FlowSample(NamedTuple):
    """One flow at one instant, seen at its sender."""

    time_us: int
    flow: int
    delivered_bytes: int  # payload acknowledged, in order or selectively, each byte once
    bytes_acked: int  # of it, in order
    cwnd_packets: int
    srtt_us: int
    min_rtt_us: int
    unacked_packets: int
    notsent_bytes: int
    retransmits: int
    pacing_bytes_per_s: int
    rwnd_limited_us: int
    sndbuf_limited_us: int
    tagged_corrupt: int
    tagged_congest: int
    received_bytes: int  # in order, counted by the receiver


class PortSample(NamedTuple):
    """One switch port at one instant."""

    time_us: int
    port: str
    tx_bytes: int
    tx_packets: int
    queue_bytes: int
    queue_byte_us: int
    drop_packets: int
    wire_lost_packets: int
    xcp_phi_bytes_per_s: int
    xcp_avg_rtt_us: int


class LossRecord(NamedTuple):
    """One packet of the ground truth, and what happened to it; flow is -1 for packets of no flow."""

    time_us: int
    flow: int
    forward: bool  # in the direction of the flow's data
    cause: str  # see clarion_lab.recording.causes
    port: str
    bytes: int
    payload_bytes: int
    header: int  # 0 none, 1 DATA, 2 ACK, 3 TAG


class Reduction(NamedTuple):
    """One reduction of a flow's window, as its sender explained it."""

    time_us: int
    flow: int
    law: str
    reason: str
    cwnd_before_packets: int
    cwnd_after_packets: int


class Decision(NamedTuple):
    """A reduction with its verdict (`right`, `wrong`, `told`), or a missed one; `reason` is empty then."""

    time_us: int
    flow: int
    law: str
    reason: str
    cwnd_before_packets: int
    cwnd_after_packets: int
    verdict: str


@dataclass
class QueueHistogram:
    """Time that a port's queue spent at each length, since the switch began, at two instants."""

    lower_edges_bytes: list[int] = field(default_factory=list)
    at_window_start_us: list[int] = field(default_factory=list)
    latest_us: list[int] = field(default_factory=list)


class ByFlow:
    """Records of a list by their flow, grouped once for each state of the list."""

    def __init__(self) -> None:
        self._grouped: tuple[int, int, Any] = (0, 0, None)
        self._groups: dict[int, list[Any]] = {}

    def of(self, records: Sequence[Any], flow: int) -> Sequence[Any]:
        """A flow's records, in their order."""
        state = id(records), len(records), records[-1] if records else None
        if state != self._grouped:
            self._grouped, self._groups = state, defaultdict(list)
            for record in records:
                self._groups[record.flow].append(record)
        return self._groups.get(flow, ())


@dataclass
class Recording:
    """Everything measured so far; an interrupted run has a shorter one, in the same shape."""

    flow_samples: list[FlowSample] = field(default_factory=list)
    port_samples: list[PortSample] = field(default_factory=list)
    histograms: dict[str, QueueHistogram] = field(default_factory=dict)
    unasked_drops: dict[str, int] = field(
        default_factory=dict
    )  # per port: the machine's doing, not the path's
    packet_queues: dict[str, dict[str, float]] = field(
        default_factory=dict
    )  # per port: what its rate and queue became, where an engine counts in packets
    losses: list[LossRecord] = field(default_factory=list)
    incidents: list[LossRecord] = field(default_factory=list)  # packets marked or changed, but not lost
    reductions: list[Reduction] | None = None  # None: not recorded
    reductions_fault: str = ""  # why they were not
    cookies: dict[int, int] = field(default_factory=dict)  # flows by their sockets' cookies
    agent: dict[int, dict[str, Any]] = field(default_factory=dict)  # last clarion-host record per flow
    finished_us: dict[int, int] = field(
        default_factory=dict
    )  # flows with a size: when the last byte was at the receiver
    idle_rtt_us: dict[int, float] = field(default_factory=dict)  # per flow, before any traffic
    traffic: dict[int, dict[str, Any]] = field(default_factory=dict)  # iperf3's own summary per flow
    applications: dict[int, dict[str, Any]] = field(default_factory=dict)  # what came of them, by flow
    proxies: list[dict[str, Any]] = field(default_factory=list)  # what each took, and says of itself
    environment: dict[str, Any] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    sampler: dict[str, float] = field(default_factory=dict)
    switch_late_us: list[tuple[int, int]] = field(
        default_factory=list
    )  # by time: how long its process has been late in all
    ended_us: int = 0
    _samples_by_flow: ByFlow = field(default_factory=ByFlow, repr=False)
    _losses_by_flow: ByFlow = field(default_factory=ByFlow, repr=False)
    _incidents_by_flow: ByFlow = field(default_factory=ByFlow, repr=False)

    def samples_of(self, flow: int) -> Sequence[FlowSample]:
        """A flow's samples, in the order of time."""
        return self._samples_by_flow.of(self.flow_samples, flow)

    def delivered_of(self, flow: int) -> tuple[list[int], list[int]]:
        """The times of a flow's samples (us), and the bytes that had arrived by then."""
        samples = self.samples_of(flow)
        return [sample.time_us for sample in samples], [sample.delivered_bytes for sample in samples]

    def losses_of(self, flow: int) -> Sequence[LossRecord]:
        """What was lost of a flow, in both directions."""
        return self._losses_by_flow.of(self.losses, flow)

    def incidents_of(self, flow: int) -> Sequence[LossRecord]:
        """What happened to a flow's packets beside losses, in both directions."""
        return self._incidents_by_flow.of(self.incidents, flow)
