# SPDX-License-Identifier: Apache-2.0
"""Seeded random event streams that visit the corners: wraps, extremes, malformed and mutated headers."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from conformance import frames
from conformance.harness import (
    BUCKETS,
    PORTS,
    SHOWN_BUCKETS,
    Configure,
    Copy,
    Dequeue,
    Enqueue,
    Event,
    Ingress,
    State,
)
from conformance.reference import Config

MS = 268435  # ticks
EXTREMES_32 = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
STEPS = (-1, 1, 2, 3, -256, -257, -1000, -5000, -16383, -16384, 16383, 16384, -32768)  # of a link's numbers
EXTREMES_16 = (0, 1, 255, 256, 16383, 16384, 32767, 32768, 65535)


def config(random: Random) -> Config:
    """Return a configuration, from ordinary to extreme."""
    capacity = random.choice((125_000, 12_500_000, 12_500_000_000, random.getrandbits(40), 0))
    low = random.choice((MS, 1, 0, random.getrandbits(32)))
    high = random.choice((2**28, low, random.getrandbits(32)))
    ordinary = random.random() < 0.7
    return Config(
        xcp=random.random() < 0.85,
        capacity=capacity,
        alpha=26214 if ordinary else random.getrandbits(20),
        beta=14811 if ordinary else random.getrandbits(20),
        gamma=6554 if ordinary else random.getrandbits(20),
        min_interval=MS if ordinary else low,
        max_interval=2**28 if ordinary else high,
        stamp=random.random() < 0.85,
        check=random.random() < 0.85,
        edge=random.random() < 0.2,
        wire=random.random() < 0.8,
        generation=random.choice((1, 2)),
    )


class Traffic:
    """Flows over a few ports whose numbers mostly continue, sometimes skip, repeat or jump.

    With `hairpin`, packets may leave by their ingress port, which no bridge does.
    """

    def __init__(self, seed: int, hairpin: bool = True) -> None:
        self.random = Random(seed)
        self.hairpin = hairpin
        self.now = self.random.getrandbits(40)
        self.next_seq = [[self.random.choice(EXTREMES_16)] * SHOWN_BUCKETS for _ in range(PORTS)]
        self.waiting: list[tuple[int, int]] = []  # (slot, egress port), in the queue
        self.slot = 0
        self.queue = [0] * PORTS
        self.scale = 20  # log2 of usual x and rtt

    def batch(self, packets: int) -> list[Event]:
        """Return the events of a number of packets, and all state at their end."""
        events: list[Event] = []
        random = self.random
        self.scale = random.choice((5, 15, 20, 24, 27, 31))
        for _ in range(packets):
            if random.random() < 0.002:
                events.append(Configure(random.randrange(PORTS), config(random)))
            events.extend(self._packet())
        events.extend(State(port) for port in range(PORTS))
        return events

    def _packet(self) -> Iterator[Event]:
        random = self.random
        self._advance()
        port = int(random.random() * PORTS)
        slot = self._free_slot()
        yield Ingress(port, slot, self.now, self._frame(port))
        yield self._enqueue(slot, self._way_out(port))
        if random.random() < 0.02:
            copy = self._free_slot()
            yield Copy(slot, copy)
            yield self._enqueue(copy, self._way_out(port))
        while len(self.waiting) > 20 or (self.waiting and random.random() < 0.5):
            waiting, egress = self.waiting.pop(0 if random.random() < 0.99 else -1)
            yield Dequeue(egress, waiting, self.now, self._queue_bytes(egress))

    def _enqueue(self, slot: int, out: int) -> Enqueue:
        if self.random.random() < 0.95:  # else the queue drops it
            self.waiting.append((slot, out))
        return Enqueue(out, slot, self.now, self._queue_bytes(out))

    def _way_out(self, port: int) -> int:
        if self.hairpin:
            return int(self.random.random() * PORTS)
        return (port + 1 + int(self.random.random() * (PORTS - 1))) % PORTS

    def _free_slot(self) -> int:
        self.slot = (self.slot + 1) % 200
        return self.slot

    def _advance(self) -> None:
        chance = self.random.random()
        if chance < 0.98:
            self.now += self.random.getrandbits(18)
        elif chance < 0.999:
            self.now += self.random.getrandbits(29)
        else:
            self.now += self.random.getrandbits(36)

    def _queue_bytes(self, port: int) -> int:
        chance = self.random.random()
        if chance < 0.9:
            self.queue[port] = max(0, self.queue[port] + int(chance * 4000) - 1800)
        elif chance < 0.99:
            self.queue[port] = 0
        else:
            self.queue[port] = self.random.getrandbits(self.random.choice((16, 30, 42)))
        return self.queue[port]

    def _number_32(self) -> int:
        chance = self.random.random()
        if chance < 0.94:
            return 1 + self.random.getrandbits(self.scale)
        return self.random.choice(EXTREMES_32) if chance < 0.97 else self.random.getrandbits(32)

    def _tags(self, port: int) -> dict[str, int]:
        random = self.random
        bucket = int(random.random() * SHOWN_BUCKETS)
        numbers = self.next_seq[port]
        seq = numbers[bucket]
        chance = random.random()
        if chance > 0.95:
            seq += random.choice((*STEPS, random.getrandbits(16)))
        if chance < 0.98:
            numbers[bucket] = seq + 1
        if random.random() < 0.1:
            bucket += BUCKETS * random.randrange(65536 // BUCKETS)  # the same bucket of the router
        totals = random.getrandbits(32)
        return {
            "bucket": bucket if chance < 0.99 else random.getrandbits(16),
            "link_seq": seq % 65536,
            "corrupt": totals >> 16,
            "congest": totals & 0xFFFF,
        }

    def _header(self, port: int) -> bytes:
        random = self.random
        chance = random.random()
        if chance < 0.75:
            delta = random.getrandbits(random.choice((1, 10, 20, 31)))
            if random.random() < 0.3:
                delta = -delta
            rtt = 0 if chance < 0.03 else self._number_32()
            echoed = {"reverse": random.getrandbits(32), "flags": self._flags()}
            return frames.data(rtt, self._number_32(), delta, **echoed, **self._tags(port))
        if chance < 0.9:
            return frames.tag(**self._tags(port), flags=self._flags())
        echoes = (random.getrandbits(32), random.getrandbits(16), random.getrandbits(16))
        return frames.ack(*echoes, flags=self._flags())

    def _flags(self) -> int:
        return self.random.choice((0, 1, 0x0C, 0x0E, 0xFF, self.random.getrandbits(8)))

    def _frame(self, port: int) -> bytes:
        random = self.random
        chance = random.random()
        payload = self._header(port) + bytes(random.choice((0, 4, 20, 1448)))
        if chance < 0.45:
            frame = frames.ipv4(payload)
        elif chance < 0.6:
            frame = frames.ipv6(payload)
        elif chance < 0.7:
            frame = frames.ipv4(payload, vlan=random.getrandbits(16))
        elif chance < 0.75:
            frame = frames.ipv6(payload, vlan=5)
        elif chance < 0.85:
            frame = frames.ipv4(payload, options=bytes(4 * random.randrange(11)))
        elif chance < 0.93:
            frame = frames.ipv4(payload, protocol=random.choice((6, 17, 254)))
        elif chance < 0.94:
            frame = frames.ipv4(payload, flags=random.choice((0x2000, 0x3FFF, 1, 0x8000, 0xC000)))
        elif chance < 0.96:
            frame = self._mutated(frames.ipv4(payload) if random.random() < 0.5 else frames.ipv6(payload))
        elif chance < 0.98:
            frame = frames.ipv4(payload)[: random.randrange(100)]
        else:
            frame = random.randbytes(random.randrange(201))
        return frame

    def _mutated(self, frame: bytes) -> bytes:
        random = self.random
        changed = bytearray(frame)
        for _ in range(random.choice((1, 1, 2, 4))):
            changed[random.randrange(min(len(changed), 90))] = random.getrandbits(8)
        return bytes(changed)
