# SPDX-License-Identifier: Apache-2.0
"""Seeded streams of frames for the block: corner cases, frames of one kind, valid and damaged ones."""

from __future__ import annotations

from random import Random

from conformance import frames
from conformance.block.bench import BEAT_BYTES, MAX_BYTES, MIN_BYTES, Damage, Sent, Values
from conformance.block.model import UNLIMITED, XCP_NAMES
from conformance.traffic import Traffic, config


def padded(frame: bytes) -> bytes:
    """Return a frame as a MAC sends it: 60 bytes at least."""
    return frame.ljust(MIN_BYTES, b"\0")


class Streams:
    """Frames for both ways of a bump."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.traffic = Traffic(seed)
        self.number = 0
        self.next_seq = 0

    def sent(self, frame: bytes, gap: int = 0) -> Sent:
        """Return a frame to send, numbered; one in eight states no size."""
        self.number = (self.number + 1) % 65536
        size = 0 if self.random.random() < 0.12 else None
        return Sent(frame, gap, size=size, number=self.number)

    def any_kind(self, port: int, count: int) -> list[Sent]:
        """Return traffic of all kinds with some longer frames and some invalid ones."""
        random, traffic = self.random, self.traffic
        traffic.scale = random.choice((5, 15, 20, 24, 27, 31))
        stream = []
        for _ in range(count):
            frame = padded(traffic._frame(port))
            if random.random() < 0.2:
                frame += bytes(random.randrange(600))
            if random.random() < 0.003:
                frame += bytes(random.randrange(1, MAX_BYTES + 1 - len(frame)))
            gap = random.choice((0, 0, 0, 1, 2, random.randrange(40)))
            sent = self.sent(frame, gap)
            stream += self.damaged(sent) if random.random() < 0.04 else [sent]
        return stream

    def damaged(self, sent: Sent) -> list[Sent]:
        """Return a frame made invalid in one of many ways."""
        random, length = self.random, len(sent.frame)
        choice = random.randrange(9)
        if choice == 0:
            return [sent._replace(frame=sent.frame[: MIN_BYTES - 1], size=None)]
        if choice == 1:
            return [sent._replace(frame=sent.frame.ljust(MAX_BYTES + random.choice((1, 64, 500)), b"x"))]
        if choice == 2:  # no TLAST: three of the longest, ended by the next frame
            return [self.sent(bytes(MAX_BYTES))._replace(damage=Damage.NO_END) for _ in range(3)] + [sent]
        if choice == 3:
            return [sent._replace(damage=Damage.NO_END, size=length), self.sent(padded(b"next"))]
        if choice == 4:
            return [sent._replace(size=length + random.choice((-1, 1, 64)))]
        if choice == 5 and length > BEAT_BYTES:
            return [sent._replace(damage=Damage.SHORT_BEAT)]
        return [sent._replace(damage=Damage(random.choice((1, 2, 3))))]

    def one_beat(self, count: int, buckets: int, every_clock: bool) -> list[Sent]:
        """Return TAG frames of one beat in few buckets, so that the same slot is used clock after clock.

        Without any gap, or at 100 Gbit/s, which leaves clocks for commands.
        """
        stream = []
        for _ in range(count):
            self.next_seq = (self.next_seq + self.random.choice((1, 1, 1, 2, 0))) % 65536
            header = frames.tag(bucket=self.random.randrange(buckets), link_seq=self.next_seq)
            gap = 0 if every_clock else self.random.choice((0, 0, 1, 1, 2))
            stream.append(self.sent(padded(frames.ipv4(header)), gap))
        return stream

    def shortest_data(self, count: int) -> list[Sent]:
        """Return DATA frames of two beats, back to back."""
        random = self.random
        stream = []
        for number in range(count):
            x, rtt = 1 + random.getrandbits(20), 1 + random.getrandbits(24)
            delta = random.getrandbits(random.choice((10, 20, 31)))
            header = frames.data(rtt, x, delta, bucket=number % 3, link_seq=number)
            stream.append(self.sent(frames.ipv4(header)))
        return stream

    def longest(self, count: int) -> list[Sent]:
        """Return jumbo frames."""
        header = frames.ipv6(frames.data(1 << 20, 1 << 10, 1 << 30, bucket=5), vlan=7)
        return [self.sent(header.ljust(MAX_BYTES - 64 * k, b"j")) for k in range(count)]

    # --- Commands -------------------------------------------------------------------------------------

    def ingress_config(self) -> Values:
        """Return a configuration of an ingress unit."""
        random = self.random
        check = random.random() < 0.85
        flags = {"check": check, "edge": random.random() < 0.2, "wire": random.random() < 0.8}
        return {**flags, "epoch": random.randrange(check, 4)}

    def egress_config(self) -> Values:
        """Return a configuration of an egress unit, from ordinary to extreme."""
        random = self.random
        base = config(random).limited()
        values = {name: int(getattr(base, name)) for name in ("xcp", "stamp", *XCP_NAMES)}
        if random.random() < 0.5:  # so that intervals end
            values["min_interval"] = random.choice((1000, 100_000, 1_000_000))
            values["max_interval"] = values["min_interval"] * random.choice((1, 5))
        limit = random.choice((UNLIMITED, UNLIMITED, random.randrange(20_000), random.randrange(3000), 0))
        return {**values, "epoch": random.randrange(values["xcp"], 4), "queue_limit": limit}
