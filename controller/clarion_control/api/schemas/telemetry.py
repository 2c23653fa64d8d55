# SPDX-License-Identifier: Apache-2.0
"""What switches report."""

from __future__ import annotations

from dataclasses import asdict

from pydantic import Field

from clarion_control.api.schemas.base import Model, time_field
from clarion_control.api.schemas.switches import Status
from clarion_control.model import Drop, Interval, IntervalSummary, PortCounters, StatusChange

SWITCH = Field(description="Name of the switch.", examples=["s1"])
PORT = Field(description="Number of the port.", examples=[1])
COMPLETE = "False if `limit` left older ones out: ask again with the first one's time as `to_us`."


class IntervalView(Model):
    """A control interval of a port's XCP controllers that has ended."""

    time_us: int = time_field("When the report came")
    switch: str = SWITCH
    port: int = PORT
    intervals: int = Field(description="Ended since XCP was switched on, this one included.")
    elapsed_us: float = Field(description="How long it lasted.")
    avg_rtt_us: float = Field(description="Mean round-trip time that the packets stated.")
    input_bytes: int = Field(description="Bytes that arrived for the port.")
    input_bps: float = Field(description="The same as a rate.")
    sum_x_s: float = Field(description="Sum of the times that its packets stand for.")
    sum_x_rtt_s2: float = Field(description="Sum of those times by the round-trip times.")
    queue_bytes: int = Field(description="The persistent queue.")
    phi_bps: float = Field(description="By how much the sum of all rates is to change.")
    positive_bps: float = Field(description="What the next interval hands out.")
    negative_bps: float = Field(description="What the next interval takes back.")
    cp_bps_per_s: float = Field(description="Handed to a packet, per second that it stands for.")
    cn_bps_per_byte: float = Field(description="Taken from a packet, per byte.")
    lost_on_wire: int = Field(description="Packets lost on the wire into this port so far.")
    dropped_by_queue: int = Field(description="Packets dropped by the port's queue so far.")
    measured_bps: int | None = Field(
        description="What the link carried while packets waited for it; null if too few waited, or if the"
        " switch does not measure."
    )

    @classmethod
    def of(cls, interval: Interval) -> IntervalView:
        """From the controller's record."""
        return cls(time_us=interval.time_us, switch=interval.switch, **interval.report._asdict())


class CountersView(Model):
    """The switch's counters at a port, by their names in P4Info."""

    time_us: int = time_field("When they were read")
    switch: str = SWITCH
    port: int = PORT
    packets: dict[str, int] = Field(description="Packets so far.", examples=[{"tx": 91822, "queue_drops": 3}])
    bytes: dict[str, int] = Field(description="Bytes so far, where they are counted.")

    @classmethod
    def of(cls, counters: PortCounters) -> CountersView:
        """From the controller's record."""
        return cls(
            time_us=counters.time_us,
            switch=counters.switch,
            port=counters.port,
            packets=dict(counters.packets),
            bytes=dict(counters.bytes),
        )


class Latest(Model):
    """The newest of a port, from memory; null before the first."""

    interval: IntervalView | None
    counters: CountersView | None


class Intervals(Model):
    """Reports of a span of time, oldest first."""

    items: list[IntervalView]
    from_us: int = time_field("Start of the span")
    to_us: int = time_field("End of the span")
    complete: bool = Field(description=COMPLETE)


class SummaryView(Model):
    """The reports of a step summed up: means, unless the name says otherwise."""

    start_us: int = time_field("Start of the step")
    reports: int = Field(description="How many there were; a step without one is left out.", examples=[10])
    input_bps: float = Field(description="Rate at which bytes arrived for the port.")
    phi_bps: float = Field(description="By how much the sum of all rates was to change.")
    avg_rtt_us: float = Field(description="Round-trip time that the packets stated.")
    queue_bytes: float = Field(description="The persistent queue.")
    queue_max_bytes: int = Field(description="Its maximum.")
    lost_on_wire: int = Field(description="Packets lost on the wire into this port so far, at the end.")
    dropped_by_queue: int = Field(description="Packets dropped by the port's queue so far, at the end.")

    @classmethod
    def of(cls, summary: IntervalSummary) -> SummaryView:
        """From the controller's record."""
        fields = asdict(summary)
        for name in ("switch", "port", "step_us"):
            del fields[name]
        return cls(**fields)


class Summaries(Model):
    """Steps of a span of time, oldest first."""

    items: list[SummaryView]
    from_us: int = time_field("Start of the span")
    to_us: int = time_field("End of the span")
    step_us: int = Field(description="Length of a step.", examples=[1000000])
    complete: bool = Field(description=COMPLETE)


class DropView(Model):
    """A packet that a queue had no room for."""

    time_us: int = time_field("When the report came")
    switch: str = SWITCH
    port: int = PORT
    switch_time_us: int = Field(description="When, by the switch's clock, which starts with it.")
    frame_bytes: int = Field(description="Its length.")
    source: str = Field(description="IPv4 or IPv6; :: for neither.", examples=["10.0.0.1"])
    destination: str = Field(description="IPv4 or IPv6; :: for neither.", examples=["10.0.0.2"])
    protocol: int = Field(description="Of its transport, behind any Clarion header.", examples=[6])
    source_port: int = Field(examples=[40112], description="Of its transport.")
    destination_port: int = Field(examples=[5201], description="Of its transport.")
    format: int = Field(description="Of its Clarion header: 0 none, 1 DATA, 2 ACK, 3 TAG.", examples=[1])
    bucket: int = Field(description="Flow tag of that header.")
    drops: int = Field(description="Of this port so far, this one included.")

    @classmethod
    def of(cls, drop: Drop) -> DropView:
        """From the controller's record."""
        fields = drop.report._asdict()
        fields["switch_time_us"] = fields.pop("time_us")
        return cls(time_us=drop.time_us, switch=drop.switch, **fields)


class Drops(Model):
    """Drops in a span of time, oldest first."""

    items: list[DropView]
    from_us: int = time_field("Start of the span")
    to_us: int = time_field("End of the span")
    complete: bool = Field(description=COMPLETE)


class StatusView(Model):
    """A switch changed its state."""

    time_us: int = time_field("When")
    switch: str = SWITCH
    status: Status

    @classmethod
    def of(cls, change: StatusChange) -> StatusView:
        """From the controller's record."""
        return cls(time_us=change.time_us, switch=change.switch, status=Status.of(change.status))


class Lost(Model):
    """A gap in a stream: the reader was too slow, or comes back after a pause."""

    reason: str = Field(description="slow-reader, or reconnected.", examples=["slow-reader"])
    events: int | None = Field(description="How many are missing; null if not known.", examples=[12])
    since_us: int | None = time_field("The last event that the reader received, if it sent Last-Event-ID")
