# SPDX-License-Identifier: Apache-2.0
"""The expected behaviour of a unit of the block: the reference, in the order that the unit's queue reports.

The order of packets and the bytes waiting depend on the block's clocks and are checked separately;
everything else follows from them.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from conformance.block.bench import DROPS, LEAVES, MAX_BYTES, MIN_BYTES, Damage, QueueEvent, Sent, Values
from conformance.reference import Config, Packet, Router, Xcp, rewritten

UNLIMITED = 2**40 - 1
BYTE_TICKS_LATE = 3  # clocks from the end of a clock to an answer that has its bytes
XCP_NAMES = ("capacity", "alpha", "beta", "gamma", "min_interval", "max_interval", "generation")
GAINS = ("cp", "cn", "fair", "lift", "growth")  # mantissas and right shifts


class ToldXcp(Xcp):
    """The controllers, with the inputs and results of the last interval."""

    def __init__(self) -> None:
        super().__init__()
        self.last = dict.fromkeys(
            ("input", "sum_x", "sum_x_rtt", "queue", "pos", "neg", "cp", "cp_shift", "cn", "cn_shift"), 0
        )

    def control(self, config: Config, elapsed: int) -> None:
        """End an interval."""
        sums = (self.input, self.sum_x, self.sum_x_rtt, self.persistent_queue)
        super().control(config, elapsed)
        self.last = dict(zip(self.last, (*sums, self.pos, self.neg, *self.cp, *self.cn), strict=True))


class IngressModel:
    """An ingress unit."""

    def __init__(self, buckets: int = 4096) -> None:
        self.router = Router(1, buckets)
        self.slot_epochs: dict[int, int] = {}
        self.config = {"check": 0, "edge": 0, "wire": 0, "epoch": 0}
        self.count = dict.fromkeys(("rx_packets", "rx_bytes", "errored", "overflow"), 0)

    def configure(self, values: Values) -> None:
        """Carry out a command."""
        self.config = {name: values.get(name, 0) for name in self.config}
        wire = self.router.ports[0].wire
        wire.forget()
        based = [b for b, epoch in self.slot_epochs.items() if epoch == self.config["epoch"]]
        wire.expected.update((bucket, wire.remembered[bucket]) for bucket in based)

    def reset(self) -> None:
        """Carry out a command: numbers and totals of buckets stay, epochs are cleared."""
        self.slot_epochs.clear()
        self.configure({})
        self.count = dict.fromkeys(self.count, 0)
        port = self.router.ports[0]
        port.malformed = port.wire.lost = port.wire.late = port.wire.rebased = 0

    def packet(self, frame: bytes) -> Packet:
        """Take in a complete frame."""
        self.count["rx_packets"] += 1
        self.count["rx_bytes"] += len(frame)
        port, config = self.router.ports[0], self.config
        port.config = Config(**{name: bool(config[name]) for name in ("check", "edge", "wire")})
        packet = self.router.ingress(0, frame)
        if config["check"] and "bucket" in packet.fields:
            bucket = packet.fields["bucket"] % self.router.buckets
            self.slot_epochs[bucket] = config["epoch"]
        return packet

    def read(self) -> Values:
        """Return what `read` must say."""
        port = self.router.ports[0]
        wire = {name: getattr(port.wire, name) for name in ("lost", "late", "rebased")}
        return {**self.count, "malformed": port.malformed, **wire, **self.config}

    def read_bucket(self, bucket: int) -> Values:
        """Return what `read_bucket` must say."""
        wire = self.router.ports[0].wire
        wire.remembered.update(wire.expected)
        return {
            "expected": wire.remembered.get(bucket, 0),
            "total": wire.total.get(bucket, 0),
            "epoch": self.slot_epochs.get(bucket, 0),
            "far": wire.far.get(bucket, 0),
        }


def after_ingress(packet: Packet) -> bytes:
    """Return the frame as an ingress unit passes it on."""
    totals = {name: packet.fields[name] for name in ("corrupt", "congest") if "bucket" in packet.fields}
    return rewritten(packet, totals)


class EgressModel:
    """An egress unit. Frames and events come in the block's order."""

    def __init__(self, buckets: int = 4096) -> None:
        self.router = Router(1, buckets)
        self.count = dict.fromkeys(
            ("tx_packets", "tx_bytes", "drop_packets", "drop_bytes", "overflow", "errored"), 0
        )
        self.over_both = 0  # drops beyond the limit; packet memory may have been full as well
        self.running_epoch = 0
        self.waiting: deque[Packet] = deque()
        self.queue_bytes = 0
        self.byte_ticks = 0  # since the start
        self.byte_ticks_reset = 0  # as they were then
        self.byte_ticks_told = 0  # with the answer that comes next
        self.router.ports[0].xcp = ToldXcp()
        self.power_on()

    def power_on(self) -> None:
        """Set the configuration after power-on."""
        self.epoch, self.limit = 0, UNLIMITED
        self.router.ports[0].config = Config(generation=2)

    def configure(self, values: Values) -> None:
        """Carry out a command."""
        get = values.get
        numbers: dict[str, Any] = {name: get(name, 0) for name in XCP_NAMES}
        numbers |= {name: bool(get(name, 0)) for name in ("xcp", "stamp")}
        self.router.ports[0].config = Config(**numbers)
        self.epoch, self.limit = get("epoch", 0), get("queue_limit", 0)

    def reset(self) -> None:
        """Carry out a command: packets in the queue and the numbers of buckets stay."""
        self.power_on()
        self.count = dict.fromkeys(self.count, 0)
        self.running_epoch = self.over_both = 0
        self.byte_ticks_reset = self.byte_ticks_told
        port = self.router.ports[0]
        port.xcp = ToldXcp()
        port.queue.lost = port.queue.late = port.queue.rebased = 0

    def wait(self, ticks: int) -> None:
        """Let time pass."""
        self.byte_ticks += self.queue_bytes * ticks

    def tell_byte_ticks(self) -> None:
        """The sum that the next answer has: it is some clocks late (BYTE_TICKS_LATE)."""
        self.byte_ticks_told = self.byte_ticks

    def joins(self, event: QueueEvent, packet: Packet, elsewhere: int = 0) -> None:
        """A packet arrives at the queue; checks the reported queue length and the decision to drop."""
        length = len(packet.frame)
        assert event.queue == self.queue_bytes + elsewhere, "bytes waiting at a join"
        if event.kind == DROPS:
            self.count["drop_packets"] += 1
            self.count["drop_bytes"] += length
            in_limit = self.queue_bytes + length <= self.limit
            self.count["overflow"] += in_limit
            self.over_both += not in_limit
        else:
            assert self.queue_bytes + length <= self.limit, "joined beyond the limit"
        port = self.router.ports[0]
        if port.config.xcp and self.running_epoch != self.epoch:
            port.xcp, self.running_epoch = ToldXcp(), self.epoch
        self.router.enqueue(0, event.now, event.queue, packet)
        if event.kind != DROPS:
            self.queue_bytes += length
            self.waiting.append(packet)

    def leaves(self, event: QueueEvent, elsewhere: int = 0) -> bytes:
        """The next packet leaves; return the frame on the wire."""
        assert event.kind == LEAVES
        packet = self.waiting.popleft()
        length = len(packet.frame)
        assert event.queue == self.queue_bytes - length + elsewhere, "bytes waiting at a departure"
        self.count["tx_packets"] += 1
        self.count["tx_bytes"] += length
        return self.router.dequeue(0, event.queue, packet)

    def sent(self, length: int) -> None:
        """The receiver has taken a frame's last beat."""
        self.queue_bytes -= length

    def allow_overflow(self, told: int) -> None:
        """Accept the block's count for drops that both the limit and a full packet memory explain."""
        more = told - self.count["overflow"]
        if 0 <= more <= self.over_both:
            self.count["overflow"] += more
            self.over_both -= more

    def read(self) -> Values:
        """Return what `read` must say.

        A join that ends an interval also fills the pools, however long the block then divides.
        """
        port = self.router.ports[0]
        xcp, config = port.xcp, port.config
        assert isinstance(xcp, ToldXcp)
        running = ("input", "sum_x", "sum_x_rtt", "persistent_queue", "least_queue")
        left = ("own_input", "own_sum_x", "poor_sum_x", "limited", "max_rtt", "bank", "credit")
        last = ("intervals", "rate", "phi", "avg_rtt", "elapsed", "pos", "neg", "carry")
        return {
            **self.count,
            "queue_bytes": self.queue_bytes,
            "queue_byte_ticks": (self.byte_ticks_told - self.byte_ticks_reset) % 2**64,
            **{f"queue_{name}": getattr(port.queue, name) for name in ("lost", "late", "rebased")},
            **{name: getattr(xcp, name) for name in running + left + last},
            **{f"interval_{name}": value for name, value in xcp.last.items()},
            **{name: getattr(xcp, name)[0] for name in GAINS},
            **{f"{name}_shift": getattr(xcp, name)[1] for name in GAINS},
            "interval_start": xcp.interval_start or 0,
            "window_start": xcp.window_start or 0,
            "interval_started": xcp.interval_start is not None,
            "window_started": xcp.window_start is not None,
            **{name: getattr(config, name) for name in ("xcp", "stamp", *XCP_NAMES)},
            "epoch": self.epoch,
            "queue_limit": self.limit,
            "running_epoch": self.running_epoch,
        }

    def read_bucket(self, bucket: int) -> Values:
        """Return what `read_bucket` must say."""
        port = self.router.ports[0]
        return {
            "queue_next": port.queue_numbers.next.get(bucket, 0),
            "queue_expected": port.queue.expected.get(bucket, 0),
            "queue_total": port.queue.total.get(bucket, 0),
            "queue_epoch": bucket in port.queue.expected,
            "queue_far": port.queue.far.get(bucket, 0),
            "link_next": port.link_numbers.next.get(bucket, 0),
        }


def is_frame(sent: Sent) -> bool:
    """Whether the block accepts it as a frame; one without TLAST spoils the next one too."""
    true_size = sent.size in (None, 0, len(sent.frame))
    return sent.damage is Damage.NONE and true_size and MIN_BYTES <= len(sent.frame) <= MAX_BYTES


def told(stream: list[Sent]) -> list[Sent | None]:
    """Return the frames that the block sees, one by one, and None for each that it rejects."""
    result: list[Sent | None] = []
    endless = False
    for sent in stream:
        if sent.damage is not Damage.NO_END:
            result.append(sent if is_frame(sent) and not endless else None)
        endless = sent.damage is Damage.NO_END
    return result
