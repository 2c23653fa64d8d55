# SPDX-License-Identifier: Apache-2.0
"""Reports and counters of switches: the latest, the history, and events as they come."""

from __future__ import annotations

from collections.abc import Collection

from clarion_control.bit_errors import ErrorRates
from clarion_control.fleet.fleet import Fleet
from clarion_control.fleet.live import Hub, Subscription
from clarion_control.fleet.recorder import Recorder
from clarion_control.model import Drop, Interval, IntervalSummary, PortCounters
from clarion_control.store import Store, telemetry
from clarion_control.store.clock import now_us


class Telemetry:
    """The telemetry of all switches."""

    def __init__(self, store: Store, fleet: Fleet, hub: Hub, recorder: Recorder) -> None:
        self._store = store
        self._fleet = fleet
        self._hub = hub
        self._recorder = recorder

    def latest(self, name: str, port: int) -> Interval | None:
        """The last report of a port since the controller started."""
        self._fleet.port_link(name, port)
        return self._hub.latest.get((name, port))

    def measured_bps(self, name: str, port: int) -> int | None:
        """What a port measured of its link last; None if nothing since the controller or the port started."""
        self._fleet.port_link(name, port)
        return self._hub.measured.get((name, port))

    def latest_counters(self, name: str, port: int) -> PortCounters | None:
        """The counters of a port at the last reading."""
        self._fleet.port_link(name, port)
        return self._hub.counters.get((name, port))

    def wire_errors(self, name: str, port: int) -> ErrorRates | None:
        """The error rates of the wire into a port over the last minute; None without received packets."""
        self._fleet.port_link(name, port)
        figures = self._hub.figures.get((name, port))
        return None if figures is None else figures.wire_errors(now_us())

    async def intervals(
        self, name: str, port: int, *, from_us: int, to_us: int, limit: int
    ) -> list[Interval]:
        """The newest `limit` reports of a span of time, the oldest of them first."""
        link = self._fleet.port_link(name, port)
        return await self._store.read(telemetry.interval_list, link.switch, port, from_us, to_us, limit)

    async def interval_summaries(
        self, name: str, port: int, *, from_us: int, to_us: int, step_us: int, limit: int
    ) -> list[IntervalSummary]:
        """The reports of a span of time summed up in steps; steps without a report are left out."""
        link = self._fleet.port_link(name, port)
        return await self._store.read(
            telemetry.interval_summaries, link.switch, port, from_us, to_us, step_us, limit
        )

    async def drops(self, name: str, port: int | None, *, from_us: int, to_us: int, limit: int) -> list[Drop]:
        """The newest `limit` packets that queues dropped in a span of time, the oldest of them first."""
        link = self._fleet.port_link(name, port)
        return await self._store.read(telemetry.drop_list, link.switch, port, from_us, to_us, limit)

    def subscribe(
        self,
        *,
        switch: str | None = None,
        port: int | None = None,
        kinds: Collection[str] | None = None,
        maxsize: int = 1000,
    ) -> Subscription:
        """Events from now on; `kinds` are keys of live.KINDS. Close it, or use `with`."""
        return self._hub.subscribe(switch=switch, port=port, kinds=kinds, maxsize=maxsize)

    @property
    def reports_waiting(self) -> int:
        """How many reports are not in the store yet."""
        return self._recorder.waiting

    @property
    def reports_lost(self) -> int:
        """How many reports the store did not take."""
        return self._recorder.lost
