# SPDX-License-Identifier: Apache-2.0
"""A switch whose queues drain at given rates, on a virtual clock: for runs with real queueing."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from conformance.bmv2.layout import LENGTH
from conformance.bmv2.switch import Copy, Frame, Recirculated, Switch


@dataclass
class Queue:
    """One port: a FIFO in front of a link; without a rate it is always empty."""

    bytes_per_s: float | None = None
    depth: int = 1 << 30  # packets
    waiting: deque[tuple[Copy, int]] = field(default_factory=deque)  # and the packets before it


class FifoSwitch:
    """Runs events in the order of their times, microseconds; `deliver` is called for every frame that leaves.

    A packet leaves its queue when its transmission begins, as in simple_switch.
    """

    def __init__(self, switch: Switch, deliver: Callable[[float, Frame], None]) -> None:
        self.switch = switch
        self.deliver = deliver
        self.queues: dict[int, Queue] = {}
        self.now = 0.0
        self.dropped = 0  # by a full queue, packets
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0

    def at(self, time: float, action: Callable[[], None]) -> None:
        """Schedule an action, now at the earliest."""
        self._number += 1
        heapq.heappush(self._events, (max(time, self.now), self._number, action))

    def arrive(self, time: float, port: int, frame: bytes) -> None:
        """Let a frame come in."""
        self.at(time, lambda: self._enqueue(self.switch.ingress(port, frame, int(self.now))))

    def run_until(self, end: float) -> None:
        """Run everything that happens before `end`."""
        while self._events and self._events[0][0] < end:
            self.now, _, action = heapq.heappop(self._events)
            action()
        self.now = end

    def _enqueue(self, copies: list[Copy]) -> None:
        for copy in copies:
            queue = self.queues.setdefault(copy.port, Queue())
            if len(queue.waiting) >= queue.depth:
                self.dropped += 1
            elif queue.bytes_per_s is None:
                self._leave(copy, 0, 0)
            else:
                queue.waiting.append((copy, len(queue.waiting)))
                if len(queue.waiting) == 1:
                    self._transmit(queue)

    def _transmit(self, queue: Queue) -> None:
        # The head stays in the queue while it is on the link, so that the next one waits for it.
        copy, before = queue.waiting[0]
        seconds = copy.values[LENGTH] / (queue.bytes_per_s or 1.0)
        self._leave(copy, before, len(queue.waiting) - 1)
        self.at(self.now + 1e6 * seconds, lambda: self._transmitted(queue))

    def _transmitted(self, queue: Queue) -> None:
        queue.waiting.popleft()
        if queue.waiting:
            self._transmit(queue)

    def _leave(self, copy: Copy, before: int, behind: int) -> None:
        packet = self.switch.egress(copy, int(self.now), before, behind)
        if isinstance(packet, Recirculated):
            self._enqueue(self.switch.ingress_again(packet, int(self.now)))
        elif packet is not None:
            self.deliver(self.now, packet)
