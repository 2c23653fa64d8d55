# SPDX-License-Identifier: Apache-2.0
"""The data plane once more, in unbounded integers, straight from docs/datapath.md and docs/wire-format.md.

Written for comparison, not for speed: ranges appear as explicit `min` calls, signed arithmetic is plain
Python, and nothing is shared with the C++ core or its table generator. `Router` is the only entry point, so
that any target that plays event vectors can be compared with it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

TICKS_PER_SECOND = 2**28
DURATION_MAX = 2**32 - 1
RATE_MAX = 2**46 - 1
POOL_MAX = 2**48 - 1
INPUT_MAX = 2**48 - 1
SUM_X_MAX = 2**48 - 1
SUM_X_RTT_MAX = 2**64 - 1
QUEUE_MAX = 2**40 - 1
COUNTER_MAX = 2**64 - 1
FEEDBACK_MAX = 2**31 - 1
CAPACITY_MAX = 2**38 - 1
COEFFICIENT_MAX = 2**18 - 1
INITIAL_RTT = 26843546

ORDINARY, DATA, ACK, TAG = range(4)
HEADER_BYTES = {DATA: 32, ACK: 12, TAG: 16}
MOST_HOPS = 7

# field: (offset, bytes) per format, for the fields that a router reads or writes
FIELDS = {
    DATA: {
        "rtt": (4, 4),
        "x": (8, 4),
        "delta_throughput": (12, 4),
        "reverse_feedback": (16, 4),
        "bucket": (20, 2),
        "link_seq": (22, 2),
        "corrupt": (24, 2),
        "congest": (26, 2),
        "rev_corrupt": (28, 2),
        "rev_congest": (30, 2),
    },
    ACK: {"reverse_feedback": (4, 4), "rev_corrupt": (8, 2), "rev_congest": (10, 2)},
    TAG: {
        "bucket": (4, 2),
        "link_seq": (6, 2),
        "corrupt": (8, 2),
        "congest": (10, 2),
        "rev_corrupt": (12, 2),
        "rev_congest": (14, 2),
    },
}


# --- Division -----------------------------------------------------------------------------------------


def reciprocal_of_mantissa(d: int) -> int:
    """Return about 2^63 / d for 2^31 <= d < 2^32: table entry, then one Newton step."""
    middle = (d >> 23 << 23) + 2**22
    guess = (2 * 2**47 + middle) // (2 * middle)  # the table's entry: 2^47 / middle, to nearest
    return guess * ((2**48 - guess * d) // 2**16) // 2**15


def quotient(numerator: int, denominator: int) -> tuple[int, int]:
    """Return (mantissa, exponent) with mantissa * 2^exponent about numerator / denominator."""
    if numerator == 0 or denominator == 0:
        return 0, 0
    n_exponent = numerator.bit_length() - 32
    d_exponent = denominator.bit_length() - 32
    n = (numerator << 32) >> (n_exponent + 32)
    d = (denominator << 32) >> (d_exponent + 32)
    return n * reciprocal_of_mantissa(d) // 2**32, n_exponent - d_exponent - 31


def floor_shift(value: int, shift: int) -> int:
    """Return floor(value * 2^shift)."""
    return value << shift if shift >= 0 else value >> -shift


def gain(numerator: int, denominator: int) -> tuple[int, int]:
    """Return (mantissa, right shift) of a quotient used as a factor per packet."""
    mantissa, exponent = quotient(numerator, denominator)
    if exponent > 0:
        return min(mantissa << exponent, 2**32 - 1), 0
    return (mantissa, -exponent) if -exponent <= 63 else (0, 0)


# --- Configuration ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Config:
    """The parameters of a port, with the names and units of docs/datapath.md."""

    xcp: bool = False
    capacity: int = 0
    alpha: int = 26214
    beta: int = 14811
    gamma: int = 6554
    min_interval: int = 268435
    max_interval: int = TICKS_PER_SECOND
    generation: int = 1
    stamp: bool = False
    check: bool = False
    edge: bool = False
    wire: bool = False

    def limited(self) -> Config:
        """Return the nearest legal configuration."""
        low = max(self.min_interval, 1)
        return replace(
            self,
            capacity=min(self.capacity, CAPACITY_MAX),
            alpha=min(self.alpha, COEFFICIENT_MAX),
            beta=min(self.beta, COEFFICIENT_MAX),
            gamma=min(self.gamma, COEFFICIENT_MAX),
            min_interval=low,
            max_interval=max(self.max_interval, low),
            generation=2 if self.generation >= 2 else 1,
        )


# --- Packets ------------------------------------------------------------------------------------------


@dataclass
class Packet:
    """One copy of a frame on its way through the switch."""

    frame: bytes
    format: int = ORDINARY
    at: int = 0
    flags: int = 0
    fields: dict[str, int] = field(default_factory=dict)
    number: int | None = None  # its queue number, if the port stamps
    xcp: int = 0  # generation of the port's XCP when the packet joined the queue; 0: off

    def copy(self) -> Packet:
        """Return an independent copy, as flooding makes them."""
        return replace(self, fields=dict(self.fields))


def ip_payload(frame: bytes) -> tuple[int, bool, int, int] | None:
    """Return (protocol, is a fragment, first byte, end) of the payload of an IP packet, or None."""
    l3 = 18 if frame[12:14] == b"\x81\x00" else 14
    ethertype, ip = frame[l3 - 2 : l3], frame[l3:]
    if ethertype == b"\x08\x00" and len(ip) >= 20 and ip[0] >> 4 == 4 and ip[0] & 15 >= 5:
        flags = int.from_bytes(ip[6:8], "big")
        stated = int.from_bytes(ip[2:4], "big")
        return ip[9], bool(flags & 0x3FFF), l3 + 4 * (ip[0] & 15), min(l3 + stated, len(frame))
    if ethertype == b"\x86\xdd" and len(ip) >= 40 and ip[0] >> 4 == 6:
        stated = 40 + int.from_bytes(ip[4:6], "big")
        return ip[6], False, l3 + 40, min(l3 + stated, len(frame))
    return None


def classify(frame: bytes, protocol: int) -> tuple[Packet, bool]:
    """Return the packet and whether it carried a malformed header."""
    ip = ip_payload(frame)
    if ip is None or ip[0] != protocol:
        return Packet(frame), False
    _, fragment, begin, end = ip
    header = frame[begin:end]
    if fragment or len(header) < 12:
        return Packet(frame), True
    version, fmt = divmod(header[2], 16)
    if version != 1 or header[1] != HEADER_BYTES.get(fmt) or len(header) < header[1]:
        return Packet(frame), True
    read = {
        name: int.from_bytes(header[offset : offset + size], "big")
        for name, (offset, size) in FIELDS[fmt].items()
    }
    if fmt == DATA:
        read["field"] = read["rtt"] % 8
        read["rtt"] -= read["field"]
        if read["delta_throughput"] >= 2**31:
            read["delta_throughput"] -= 2**32
    return Packet(frame, fmt, begin, header[3], read), False


def one_more_hop(flags: int) -> int:
    """Return the flags behind a hop that regulates: its count is in bits 1 to 3."""
    hop = flags // 2 % 8
    return flags - 2 * hop + 2 * min(hop + 1, MOST_HOPS)


def hop_number(flags: int) -> int:
    """Return which regulating hop this is for a packet with these flags."""
    return one_more_hop(flags) // 2 % 8


def rewritten(packet: Packet, changes: dict[str, int]) -> bytes:
    """Return the frame with some header fields replaced."""
    frame = bytearray(packet.frame)
    for name, value in changes.items():
        offset, size = (3, 1) if name == "flags" else FIELDS[packet.format][name]
        at = packet.at + offset
        frame[at : at + size] = (value % 256**size).to_bytes(size, "big")
    return bytes(frame)


# --- Loss causes --------------------------------------------------------------------------------------


class Check:
    """Sequence check of one wire or queue over all its buckets."""

    def __init__(self) -> None:
        self.expected: dict[int, int] = {}  # no entry: no base
        self.remembered: dict[int, int] = {}  # values still readable of forgotten buckets
        self.total: dict[int, int] = defaultdict(int)
        self.far: dict[int, int] = defaultdict(int)  # packets in a row more than 256 behind
        self.lost = self.late = self.rebased = 0

    def forget(self) -> None:
        """Discard the expected numbers; each bucket takes a new base."""
        self.remembered.update(self.expected)
        self.expected.clear()

    def packet(self, bucket: int, seq: int) -> int:
        """Check one number; return the bucket's total."""
        expected = self.expected.get(bucket)
        distance = 0 if expected is None else (seq - expected + 32768) % 65536 - 32768
        if -16384 < distance < -256:
            self.far[bucket] += 1
        else:
            self.far[bucket] = 0
        if -16384 < distance < 0 and self.far[bucket] < 64:
            self.late = min(self.late + 1, COUNTER_MAX)
            self.total[bucket] = (self.total[bucket] - 1) % 65536
            return self.total[bucket]
        if 0 <= distance < 16384:
            self.lost = min(self.lost + distance, COUNTER_MAX)
            self.total[bucket] = (self.total[bucket] + distance) % 65536
        else:
            self.rebased = min(self.rebased + 1, COUNTER_MAX)
        return self.follow(bucket, seq)

    def follow(self, bucket: int, seq: int) -> int:
        """Take one number as the new base; return the bucket's total, which stays."""
        self.far[bucket] = 0
        self.expected[bucket] = (seq + 1) % 65536
        return self.total[bucket]


class Numbering:
    """Counts packets per bucket."""

    def __init__(self) -> None:
        self.next: dict[int, int] = defaultdict(int)

    def take(self, bucket: int) -> int:
        """Return this packet's number."""
        number = self.next[bucket]
        self.next[bucket] = (number + 1) % 65536
        return number


# --- Efficiency and fairness --------------------------------------------------------------------------


class Xcp:
    """The controllers of one egress port."""

    def __init__(self) -> None:
        self.avg_rtt = INITIAL_RTT
        self.interval_start: int | None = None
        self.input = self.sum_x = self.sum_x_rtt = 0
        self.window_start: int | None = None
        self.persistent_queue = 0
        self.least_queue = QUEUE_MAX
        self.pos = self.neg = self.carry = 0
        self.cp = self.cn = (0, 0)
        # generation 2
        self.fair = self.lift = self.growth = (0, 0)
        self.bank = 0
        self.own_input = self.own_sum_x = self.poor_sum_x = self.limited = self.max_rtt = 0
        self.credit = 30
        # of the last interval, for telemetry
        self.intervals = self.elapsed = self.rate = self.phi = 0

    def interval(self, config: Config) -> int:
        """Return the length of the running interval."""
        return min(max(self.avg_rtt, config.min_interval), config.max_interval)

    def observe_queue(self, queue: int) -> None:
        """Note the bytes waiting."""
        self.least_queue = min(self.least_queue, queue)

    def arrival(self, config: Config, now: int, queue: int, length: int, packet: Packet) -> None:
        """Count a packet, and end the interval and the queue's window if they are over."""
        self.observe_queue(queue)
        if self.window_start is None:
            self.window_start = now
        elif max(now - self.window_start, 0) >= self.interval(config) // 2:
            self.persistent_queue, self.least_queue = self.least_queue, min(queue, QUEUE_MAX)
            self.window_start = now
        if self.interval_start is None:
            self.interval_start = now
        elif min(now - self.interval_start, DURATION_MAX) >= self.interval(config):
            self.control(config, min(now - self.interval_start, DURATION_MAX))
            self.interval_start = now
            self.input = self.sum_x = self.sum_x_rtt = 0
        self.input = min(self.input + length, INPUT_MAX)
        if packet.format == DATA and packet.fields["rtt"] > 0:
            x, rtt = packet.fields["x"], min(packet.fields["rtt"], config.max_interval)
            self.sum_x = min(self.sum_x + x, SUM_X_MAX)
            self.sum_x_rtt = min(self.sum_x_rtt + (x * rtt + 128) // 256, SUM_X_RTT_MAX)

    def control(self, config: Config, elapsed: int) -> None:
        """End an interval."""
        if self.sum_x > 0:
            mantissa, exponent = quotient(self.sum_x_rtt, self.sum_x)
            self.avg_rtt = max(1, min(floor_shift(mantissa, exponent + 8), DURATION_MAX))
        rate, drain = (
            min(floor_shift(mantissa, exponent + 36), RATE_MAX)
            for mantissa, exponent in (
                quotient(self.input, elapsed),
                quotient(self.persistent_queue, self.avg_rtt),
            )
        )
        spare = config.capacity * 256 - rate
        adjust = config.alpha * abs(spare) // 65536
        phi = (adjust if spare >= 0 else -adjust) - config.beta * drain // 65536
        if config.generation == 2:
            handed_out = self.phi - (self.pos + self.bank - self.neg)
            unusual = min(max(0, handed_out - config.capacity * 256 // 32), RATE_MAX)
            phi -= 256 * self.limited + config.alpha * unusual // 65536 // 2
            self.redistribute(config, elapsed, rate, phi)
        else:
            shuffle = max(0, config.gamma * rate // 65536 - abs(phi))
            self.share_out(shuffle, phi, self.sum_x, self.input)
            self.fair = self.lift = self.growth = (0, 0)
        self.bank = 0
        self.own_input = self.own_sum_x = self.poor_sum_x = self.limited = self.max_rtt = 0
        self.intervals, self.elapsed, self.rate, self.phi = self.intervals + 1, elapsed, rate, phi

    def share_out(self, shuffle: int, phi: int, sum_x: int, total: int) -> None:
        """Fill the pools."""
        self.pos = min(max(phi, 0) + shuffle, POOL_MAX)
        self.neg = min(max(-phi, 0) + shuffle, POOL_MAX)
        self.cp = gain(self.pos, sum_x)
        self.cn = gain(self.neg, total)

    def share_out_bounded(self, shuffle: int, phi: int, sum_x: int, total: int, rate: int) -> None:
        """Fill the pools for one flow at least, and take back no more than `rate`."""
        self.share_out(shuffle, max(phi, -rate), max(sum_x, self.avg_rtt) if sum_x > 0 else 0, total)

    def redistribute(self, config: Config, elapsed: int, rate: int, phi: int) -> None:
        """Generation 2 of what an interval hands out."""
        self.growth = gain(TICKS_PER_SECOND * 256, self.avg_rtt)
        poor = self.poor_sum_x > elapsed // 4 + elapsed // 16
        fast = poor and self.credit >= 2 and phi <= config.capacity * 256 // 32
        self.credit = max(self.credit - 2, 0) if poor else min(self.credit + 1, 30)
        if self.own_input < self.input // 64 and self.own_sum_x < self.sum_x // 64:
            self.share_out_bounded(0, phi, self.sum_x, self.input, rate)
            self.fair, self.lift = gain(config.capacity * 256, TICKS_PER_SECOND), (0, 0)
            return
        mantissa, exponent = quotient(self.avg_rtt, self.max_rtt)
        fastest = max(config.gamma, min(floor_shift(mantissa, exponent + 15), 22938))
        mantissa, exponent = quotient(self.own_input, elapsed)
        own = min(floor_shift(mantissa, exponent + 36), RATE_MAX)
        churn = (fastest if fast else config.gamma) * own // 65536
        shuffle = max(0, churn - abs(phi))
        self.share_out_bounded(shuffle, phi, self.own_sum_x, self.own_input, own)
        most = (config.gamma if poor and not fast else fastest) * own // 65536
        self.fair = gain(self.own_input * 256, self.own_sum_x)
        self.lift = gain(max(0, most - abs(phi) - shuffle), self.own_input * 256)

    def departure2(self, length: int, packet: Packet) -> tuple[int, int]:
        """Return the packet's grant and its `field`, by generation 2."""
        asked, x, rtt, field = (packet.fields[name] for name in ("delta_throughput", "x", "rtt", "field"))
        hop = hop_number(packet.flags)
        most = FEEDBACK_MAX * 256
        p = min(self.cp[0] * x >> self.cp[1], most)
        n = min(self.cn[0] * length >> self.cn[1], most)
        lacks = min(self.fair[0] * x >> self.fair[1], DURATION_MAX) - 256 * length
        lift = self.lift[0] * min(abs(lacks), DURATION_MAX) >> self.lift[1]
        if lacks <= 0:
            lift = -min(lift, most - n)
        elif field > hop:
            lift = 0
        else:
            lift = min(lift, most - p)
        offer = p - n + lift
        self.max_rtt = max(self.max_rtt, rtt)
        if rtt > 0 and lacks > 8 * length:
            if field > hop:
                doubled = self.growth[0] * length >> self.growth[1]
                return min(asked, offer // 256, doubled // 256), field
            if 256 * asked < offer:
                self.limited = min(max(self.limited + asked, -CAPACITY_MAX), CAPACITY_MAX)
                return asked, field
        if rtt > 0:
            self.own_input = min(self.own_input + length, INPUT_MAX)
            self.own_sum_x = min(self.own_sum_x + x, SUM_X_MAX)
            if lacks > 20 * length:
                self.poor_sum_x = min(self.poor_sum_x + x, SUM_X_MAX)

        p, n, lift = min(p, self.pos), min(n, self.neg), min(lift, self.bank)
        whole, left_over = divmod(p - n + lift + self.carry, 256)
        granted = min(asked, whole)
        if asked < whole:
            lift = max(0, 256 * asked - p)
            n = min(self.neg, p + lift - 256 * asked)
            p = 256 * asked - lift + n
        else:
            self.carry = left_over
        self.bank = min(self.bank - lift, POOL_MAX)
        self.pos = min(max(0, self.pos - p), POOL_MAX)
        self.neg = min(max(0, self.neg - n), POOL_MAX)
        if rtt == 0 or field > hop:
            return granted, field
        return granted, hop if granted < asked else 0 if field == hop else field

    def departure(self, length: int, packet: Packet) -> int:
        """Return the packet's grant."""
        asked = packet.fields["delta_throughput"]
        most = FEEDBACK_MAX * 256
        p = min(self.pos, self.cp[0] * packet.fields["x"] >> self.cp[1], most)
        n = min(self.neg, self.cn[0] * length >> self.cn[1], most)
        whole, left_over = divmod(p - n + self.carry, 256)
        if asked < whole:
            n = min(self.neg, p - 256 * asked)
            p = 256 * asked + n
        else:
            asked, self.carry = whole, left_over
        self.pos = min(max(0, self.pos - p), POOL_MAX)
        self.neg = min(max(0, self.neg - n), POOL_MAX)
        if self.pos == 0:
            self.cp = (0, 0)
        if self.neg == 0:
            self.cn = (0, 0)
        return asked


# --- The switch ---------------------------------------------------------------------------------------


class Port:
    """State of one port."""

    def __init__(self) -> None:
        self.config = Config()
        self.xcp_begins = False  # switched on, no packet since
        self.malformed = 0
        self.wire = Check()
        self.queue = Check()
        self.queue_numbers = Numbering()
        self.link_numbers = Numbering()
        self.xcp = Xcp()


class Router:
    """The data plane of one switch: `ingress`, then per egress copy `enqueue` and `dequeue`."""

    def __init__(self, ports: int, buckets: int = 4096, protocol: int = 253) -> None:
        self.ports = [Port() for _ in range(ports)]
        self.buckets = buckets
        self.protocol = protocol

    def configure(self, port: int, config: Config) -> None:
        """Set a port's parameters."""
        state = self.ports[port]
        if config.xcp and not state.config.xcp:
            state.xcp_begins = True
        if config.check and not state.config.check:
            state.wire.forget()
        state.config = config.limited()

    def ingress(self, port: int, frame: bytes) -> Packet:
        """Take a frame in."""
        state = self.ports[port]
        packet, malformed = classify(frame, self.protocol)
        if malformed:
            state.malformed = min(state.malformed + 1, COUNTER_MAX)
        if packet.format in (DATA, TAG):
            if state.config.edge:
                packet.fields["corrupt"] = packet.fields["congest"] = 0
            if state.config.check:
                count = state.wire.packet if state.config.wire else state.wire.follow
                total = count(packet.fields["bucket"] % self.buckets, packet.fields["link_seq"])
                packet.fields["corrupt"] = (packet.fields["corrupt"] + total) % 65536
        return packet

    def enqueue(self, port: int, now: int, queue: int, packet: Packet) -> None:
        """Arrive at the queue, before any decision to drop; `queue` bytes wait, without this packet."""
        state = self.ports[port]
        packet.xcp = state.config.generation if state.config.xcp else 0
        if packet.xcp:
            if state.xcp_begins:
                state.xcp, state.xcp_begins = Xcp(), False
            state.xcp.arrival(state.config, now, queue, len(packet.frame), packet)
        packet.number = None
        if packet.format in (DATA, TAG) and state.config.stamp:
            packet.number = state.queue_numbers.take(packet.fields["bucket"] % self.buckets)

    def dequeue(self, port: int, queue: int, packet: Packet) -> bytes:
        """Leave the queue; return the frame for the link."""
        state = self.ports[port]
        changes: dict[str, int] = {}
        if packet.xcp:
            state.xcp.observe_queue(queue)
            if packet.format == DATA:
                if packet.xcp == 2:
                    granted, field = state.xcp.departure2(len(packet.frame), packet)
                    changes["rtt"] = packet.fields["rtt"] + field
                else:
                    granted = state.xcp.departure(len(packet.frame), packet)
                changes["delta_throughput"] = granted
                changes["flags"] = one_more_hop(packet.flags)
        if packet.format in (DATA, TAG):
            bucket = packet.fields["bucket"] % self.buckets
            changes["corrupt"] = packet.fields["corrupt"]
            changes["congest"] = packet.fields["congest"]
            if packet.number is not None:
                changes["congest"] += state.queue.packet(bucket, packet.number)
                changes["link_seq"] = state.link_numbers.take(bucket)
        return rewritten(packet, changes)
