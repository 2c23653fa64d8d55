# SPDX-License-Identifier: Apache-2.0
"""What a switch reports, in people's units: us, bytes, bit/s. p4/telemetry.p4 has the raw records."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass

TICKS_PER_S = 2**28
BPS_PER_Q8 = 8 / 256  # rates travel in 1/256 byte/s


@dataclass(frozen=True)
class IntervalReport:
    """A control interval of a port's controllers, which has just ended."""

    port: int
    intervals: int  # ended so far, this one included
    elapsed_us: float  # how long it lasted
    avg_rtt_us: float
    input_bytes: int
    sum_x_s: float  # sum of the times that its packets stand for
    sum_x_rtt_s2: float  # and of those times the round trip times
    queue_bytes: int  # the persistent queue
    input_bps: float
    phi_bps: float  # by how much the aggregate is to change
    positive_bps: float  # what the next interval hands out
    negative_bps: float  # and takes back
    cp_bps_per_s: float  # of it to a packet, per second that it stands for
    cn_bps_per_byte: float  # and from a packet, per byte
    lost_on_wire: int  # packets lost on the wire into this port so far, all buckets together
    dropped_by_queue: int  # packets dropped by the port's queue so far, as the sequence checks saw them
    measured_bps: int | None = None  # what the link carried while packets waited; None: too few waited

    @classmethod
    def from_digest(cls, fields: Mapping[str, int]) -> IntervalReport:
        """From the members of `interval_report_t`."""
        return cls(
            port=fields["port"],
            intervals=fields["intervals"],
            elapsed_us=fields["elapsed"] * 1e6 / TICKS_PER_S,
            avg_rtt_us=fields["avg_rtt"] * 1e6 / TICKS_PER_S,
            input_bytes=fields["input"],
            sum_x_s=fields["sum_x"] / TICKS_PER_S,
            sum_x_rtt_s2=fields["sum_x_rtt"] / 2**48,
            queue_bytes=fields["queue"],
            input_bps=fields["rate"] * BPS_PER_Q8,
            phi_bps=_signed(fields["phi"]) * BPS_PER_Q8,
            positive_bps=fields["pos"] * BPS_PER_Q8,
            negative_bps=fields["neg"] * BPS_PER_Q8,
            cp_bps_per_s=fields["cp"] / 2 ** fields["cp_shift"] * BPS_PER_Q8 * TICKS_PER_S,
            cn_bps_per_byte=fields["cn"] / 2 ** fields["cn_shift"] * BPS_PER_Q8,
            lost_on_wire=fields["corrupt_total"],
            dropped_by_queue=fields["congest_total"],
            measured_bps=fields["measured"] * 8 or None,
        )


@dataclass(frozen=True)
class QueueDrop:
    """A packet that a queue had no room for."""

    time_us: int  # by the switch's clock, which starts with it
    port: int
    frame_bytes: int
    source: str  # IPv4 or IPv6; "::" if it is neither
    destination: str
    protocol: int  # of the transport, behind any Clarion header
    source_port: int
    destination_port: int
    format: int  # of the Clarion header: 0 none, 1 DATA, 2 ACK, 3 TAG
    bucket: int
    drops: int  # of this port so far, this one included

    @classmethod
    def from_digest(cls, fields: Mapping[str, int]) -> QueueDrop:
        """From the members of `queue_drop_t`."""
        return cls(
            time_us=fields["timestamp"],
            port=fields["port"],
            frame_bytes=fields["length"],
            source=_address(fields["src_addr"]),
            destination=_address(fields["dst_addr"]),
            protocol=fields["protocol"],
            source_port=fields["src_port"],
            destination_port=fields["dst_port"],
            format=fields["format"],
            bucket=fields["bucket"],
            drops=fields["drops"],
        )


Report = IntervalReport | QueueDrop

READERS: Mapping[str, Callable[[Mapping[str, int]], Report]] = {
    "interval_report_t": IntervalReport.from_digest,
    "queue_drop_t": QueueDrop.from_digest,
}


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _address(value: int) -> str:
    address = ipaddress.IPv6Address(value)
    return str(address.ipv4_mapped or address)
