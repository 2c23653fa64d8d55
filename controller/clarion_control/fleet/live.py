# SPDX-License-Identifier: Apache-2.0
"""Live events: the latest of each port, and subscriptions to all."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection
from types import TracebackType

from clarion_control.fleet.figures import PortFigures
from clarion_control.model import Drop, Event, Interval, PolicyChange, PortCounters, StatusChange

KINDS: dict[str, type[Event]] = {
    "interval": Interval,
    "drop": Drop,
    "counters": PortCounters,
    "status": StatusChange,
    "policy": PolicyChange,
}


class Subscription:
    """Events for one reader, an async iterator; a reader that is too slow loses the oldest, and `lost` says
    how many so far.
    """

    def __init__(
        self,
        hub: Hub,
        switch: str | None,
        port: int | None,
        kinds: Collection[str] | None,
        maxsize: int,
    ) -> None:
        self.lost = 0
        self._hub = hub
        self._switch = switch
        self._port = port
        self._kinds = None if kinds is None else frozenset(KINDS[kind] for kind in kinds)
        self._waiting: deque[Event] = deque(maxlen=maxsize)
        self._wake = asyncio.Event()
        self._closed = False

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Event:
        while not self._waiting:
            if self._closed:
                raise StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()
        return self._waiting.popleft()

    def offer(self, event: Event) -> None:
        """Queues an event if it matches the subscription."""
        if self._kinds is not None and type(event) not in self._kinds:
            return
        if self._switch is not None and event.switch != self._switch:
            return
        if self._port is not None and _port(event) not in (None, self._port):
            return
        if len(self._waiting) == self._waiting.maxlen:
            self.lost += 1
        self._waiting.append(event)
        self._wake.set()

    def take(self) -> list[Event]:
        """All events that wait, at once: for a reader that looks now and then instead of being woken."""
        taken = list(self._waiting)
        self._waiting.clear()
        return taken

    def close(self) -> None:
        """No more events; the reader still gets those that wait."""
        self._closed = True
        self._wake.set()
        self._hub.forget(self)


class Hub:
    """Publishes events, and keeps the latest of each port.

    `measured` is what each port measured last, in bit/s: an interval in which too few packets waited has no
    measurement, and the port goes on with the one before.
    """

    def __init__(self) -> None:
        self.latest: dict[tuple[str, int], Interval] = {}
        self.measured: dict[tuple[str, int], int] = {}
        self.counters: dict[tuple[str, int], PortCounters] = {}
        self.figures: dict[tuple[str, int], PortFigures] = {}
        self._readers: set[Subscription] = set()

    def subscribe(
        self,
        *,
        switch: str | None = None,
        port: int | None = None,
        kinds: Collection[str] | None = None,
        maxsize: int = 1000,
    ) -> Subscription:
        """From now on; `kinds` are names of KINDS. Changes of a switch's status come whatever the port."""
        reader = Subscription(self, switch, port, kinds, maxsize)
        self._readers.add(reader)
        return reader

    def publish(self, event: Event) -> None:
        """Publishes an event to its subscribers."""
        if type(event) is Interval:
            self._keep(event)
        elif type(event) is PortCounters:
            place = event.switch, event.port
            self.counters[place] = event
            self.figures.setdefault(place, PortFigures()).add(event, self.latest.get(place))
        for reader in self._readers:
            reader.offer(event)

    def _keep(self, event: Interval) -> None:
        place = event.switch, event.report.port
        before = self.latest.get(place)
        if before is not None and event.report.intervals <= before.report.intervals:
            self.measured.pop(place, None)  # the port has started anew, and counts from one
        if event.report.measured_bps is not None:
            self.measured[place] = event.report.measured_bps
        self.latest[place] = event

    def forget(self, reader: Subscription) -> None:
        """Removes the subscription of a reader that has left."""
        self._readers.discard(reader)

    def forget_switch(self, switch: str) -> None:
        """Drops the latest events of a switch that was removed."""
        for values in (self.latest, self.measured, self.counters, self.figures):
            for place in [place for place in values if place[0] == switch]:
                del values[place]

    def close(self) -> None:
        """Ends all subscriptions."""
        for reader in list(self._readers):
            reader.close()


def _port(event: Event) -> int | None:
    if isinstance(event, PortCounters):
        return event.port
    if isinstance(event, PolicyChange):
        return event.policy.port
    return None if isinstance(event, StatusChange) else event.report.port
