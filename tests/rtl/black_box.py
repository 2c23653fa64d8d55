# SPDX-License-Identifier: Apache-2.0
"""Plays event vectors on the block's RTL, whose queues have no log of their decisions.

Therefore each packet is alone: it joins an empty queue and has left before the next event, and
`queue_elsewhere` is the same when it joins and when it leaves. So no result depends on the RTL's latency in
clocks.
"""

from __future__ import annotations

import os

from conformance.block.bench import BEAT_BYTES, Sent
from conformance.block.model import UNLIMITED
from conformance.block.player import PORTS, SHARES, Answer, BlockPlayer, departure_of
from conformance.block.streams import padded
from conformance.harness import SHOWN_BUCKETS, Configure, Copy, Dequeue, Enqueue, Event, Ingress, State
from conformance.reference import classify

PASS_CLOCKS = 400  # more than the latency of any path through the block
# For RTL without a bound on its clocks: a factor on the clocks that the tests wait. They only print its
# figures.
SLOW = int(os.environ.get("CLARION_RTL_SLOW", "1"))


def alone(events: list[Event]) -> list[Event]:
    """Return a vector in which each packet leaves as soon as it has joined; all state comes at its end."""
    result: list[Event] = []
    for number, event in enumerate(events):
        if isinstance(event, Ingress):
            result.append(event._replace(frame=padded(event.frame)))
        elif isinstance(event, Enqueue):
            result.append(event)
            if departure_of(events, number):
                result.append(Dequeue(*event))
        elif isinstance(event, Configure | Copy):
            result.append(event)
    return result + [State(port) for port in range(PORTS)]


class BlackBoxPlayer(BlockPlayer):
    """A driver of events that are `alone`."""

    out = b""  # the last frame that left

    def play(self, events: list[Event]) -> list[Answer]:
        """Return the known values after each event."""
        # The frames' buckets and one that stays unchanged: each costs RTL some thousand clocks.
        packets = [classify(event.frame, 253)[0] for event in events if isinstance(event, Ingress)]
        met = {packet.fields.get("bucket", 0) for packet in packets}
        self.shown = sorted(met & set(range(SHOWN_BUCKETS)) | {SHOWN_BUCKETS - 1})
        followed = zip(events, [*events[1:], None], strict=True)
        return [self._play(event, leaves=isinstance(after, Dequeue)) for event, after in followed]

    def _play(self, event: Event, leaves: bool) -> Answer:
        if isinstance(event, Configure):
            self._configure(event)
        elif isinstance(event, Ingress):
            self.slots[event.slot] = self._through(event.port, event.now, event.frame, host=False)[0]
        elif isinstance(event, Copy):
            self.slots[event.to] = self.slots[event.slot]
        elif isinstance(event, Enqueue):
            return self._pass(event, leaves)
        elif isinstance(event, Dequeue):
            return {"frame": self.out.hex(), **{name: self._read(event.port)[name] for name in SHARES}}
        elif isinstance(event, State):
            return self._state(event.port)
        return {}

    def _through(self, port: int, now: int, frame: bytes, host: bool) -> list[bytes]:
        bench = self.bench
        bench.wires(now=now)
        bench.units_on(PORTS * host + port)
        bench.send(port, Sent(frame), host=host)
        bench.run(SLOW * (PASS_CLOCKS + 2 * len(frame) // BEAT_BYTES))
        received = bench.output(port, host=not host).frames
        assert not any(each.damaged for each in received)
        return [each.frame for each in received]

    def _pass(self, event: Enqueue, leaves: bool) -> Answer:
        port, frame = event.port, self.slots[event.slot]
        if not leaves:
            self._configure_egress(port, 0)
        number = self._number(port, frame)
        self.bench.elsewhere(port, event.queue)
        out = self._through(port, event.now, frame, host=True)
        if leaves:
            (self.out,) = out
        else:
            self._configure_egress(port, UNLIMITED)
            assert not out
        answer = {name: value for name, value in self._read(port).items() if name not in SHARES}
        numbered = self._number(port, frame) != number
        return {**answer, "numbered": numbered, "number": number if numbered else 0}
