# SPDX-License-Identifier: Apache-2.0
"""What switches reported: the latest, the past, and events as they come."""

from __future__ import annotations

from collections.abc import Collection

from clarion_control.facade.core import Core
from clarion_control.fleet.live import Subscription
from clarion_control.model import Drop, Interval, IntervalSummary, PortCounters
from clarion_control.store import telemetry


class TelemetryPart(Core):
    """Telemetry."""

    def latest(self, name: str, port: int) -> Interval | None:
        """The last report of a port since the controller started."""
        self._port_link(name, port)
        return self._hub.latest.get((name, port))

    def latest_counters(self, name: str, port: int) -> PortCounters | None:
        """The counters of a port as they were read last."""
        self._port_link(name, port)
        return self._hub.counters.get((name, port))

    async def intervals(
        self, name: str, port: int, *, from_us: int, to_us: int, limit: int
    ) -> list[Interval]:
        """The newest `limit` reports of a span of time, the oldest of them first."""
        link = self._port_link(name, port)
        return await self.store.read(telemetry.interval_list, link.switch, port, from_us, to_us, limit)

    async def interval_summaries(
        self, name: str, port: int, *, from_us: int, to_us: int, step_us: int, limit: int
    ) -> list[IntervalSummary]:
        """The reports of a span of time summed up in steps; steps without a report are left out."""
        link = self._port_link(name, port)
        return await self.store.read(
            telemetry.interval_summaries, link.switch, port, from_us, to_us, step_us, limit
        )

    async def drops(self, name: str, port: int | None, *, from_us: int, to_us: int, limit: int) -> list[Drop]:
        """The newest `limit` packets of a span of time that queues dropped, the oldest of them first."""
        link = self._fleet.link(name) if port is None else self._port_link(name, port)
        return await self.store.read(telemetry.drop_list, link.switch, port, from_us, to_us, limit)

    def subscribe(
        self,
        *,
        switch: str | None = None,
        port: int | None = None,
        kinds: Collection[str] | None = None,
        maxsize: int = 1000,
    ) -> Subscription:
        """Events from now on; `kinds` of interval, drop, counters, status. Close it, or use `with`."""
        return self._hub.subscribe(switch=switch, port=port, kinds=kinds, maxsize=maxsize)

    @property
    def reports_waiting(self) -> int:
        """Reports that are not in the store yet."""
        return self._recorder.waiting

    @property
    def reports_lost(self) -> int:
        """Reports that never will be, because the store did not take them."""
        return self._recorder.lost
