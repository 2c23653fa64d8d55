# SPDX-License-Identifier: Apache-2.0
"""What a switch reports, in people's units: us, bytes, bit/s. p4/telemetry.p4 has the raw records.

Reports are named tuples: a large fleet sends tens of thousands a second, and a frozen dataclass of so many
fields takes six times as long to make. A report is also its row in the store.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

TICKS_PER_S = 2**28
BPS_PER_Q8 = 8 / 256  # rates travel in 1/256 byte/s

_US_PER_TICK = 1e6 / TICKS_PER_S  # exact in binary, as the others
_S_PER_TICK = 1 / TICKS_PER_S
_S2_PER_UNIT = 2**-48
_BPS_PER_S_PER_UNIT = BPS_PER_Q8 * TICKS_PER_S


class IntervalReport(NamedTuple):
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


class QueueDrop(NamedTuple):
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


Report = IntervalReport | QueueDrop


class Digest(NamedTuple):
    """A digest of the P4 program: the members of its struct in their order, and how their values are read."""

    members: Sequence[str]
    read: Callable[[Sequence[int]], Report]


def interval_report(values: Sequence[int]) -> IntervalReport:
    """From the values of `interval_report_t`."""
    (
        port,
        intervals,
        elapsed,
        avg_rtt,
        size,
        sum_x,
        sum_x_rtt,
        queue,
        rate,
        phi,
        positive,
        negative,
        cp,
        cp_shift,
        cn,
        cn_shift,
        lost_on_wire,
        dropped_by_queue,
        measured,
    ) = values
    return IntervalReport(
        port,
        intervals,
        elapsed * _US_PER_TICK,
        avg_rtt * _US_PER_TICK,
        size,
        sum_x * _S_PER_TICK,
        sum_x_rtt * _S2_PER_UNIT,
        queue,
        rate * BPS_PER_Q8,
        (phi - (1 << 64) if phi >> 63 else phi) * BPS_PER_Q8,
        positive * BPS_PER_Q8,
        negative * BPS_PER_Q8,
        cp / (1 << cp_shift) * _BPS_PER_S_PER_UNIT,
        cn / (1 << cn_shift) * BPS_PER_Q8,
        lost_on_wire,
        dropped_by_queue,
        measured * 8 or None,
    )


def queue_drop(values: Sequence[int]) -> QueueDrop:
    """From the values of `queue_drop_t`."""
    time_us, port, length, source, destination, *others = values
    return QueueDrop(time_us, port, length, _address(source), _address(destination), *others)


def _address(value: int) -> str:
    address = ipaddress.IPv6Address(value)
    return str(address.ipv4_mapped or address)


_INTERVAL_MEMBERS = (
    "port intervals elapsed avg_rtt input sum_x sum_x_rtt queue rate phi pos neg cp cp_shift cn cn_shift"
    " corrupt_total congest_total measured"
)
_DROP_MEMBERS = "timestamp port length src_addr dst_addr protocol src_port dst_port format bucket drops"

DIGESTS: Mapping[str, Digest] = {
    "interval_report_t": Digest(_INTERVAL_MEMBERS.split(), interval_report),
    "queue_drop_t": Digest(_DROP_MEMBERS.split(), queue_drop),
}
