# SPDX-License-Identifier: Apache-2.0
"""What links ask of the controller, and what they tell it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from clarion_contract.settings import PortSettings
from clarion_contract.telemetry import IntervalReport
from clarion_control.errors import NotFoundError, StaleVersionError
from clarion_control.fleet.goal import Wanted, version
from clarion_control.fleet.live import Hub
from clarion_control.fleet.recorder import Recorder
from clarion_control.model import (
    DesiredPort,
    Drop,
    Interval,
    Origin,
    PortCounters,
    StatusChange,
    SwitchStatus,
)
from clarion_control.store import Store, ports
from clarion_control.store.clock import now_us
from clarion_control.store.ports import CONTROLLER, Desired
from clarion_p4rt.device import Reports
from clarion_p4rt.errors import SwitchError
from clarion_p4rt.switch import Switch


class LinkOwner:
    """See fleet.owner.Owner."""

    def __init__(self, store: Store, hub: Hub, recorder: Recorder) -> None:
        self._store = store
        self._hub = hub
        self._recorder = recorder

    async def desired(self, switch: Switch) -> Desired:
        """What the store says."""
        return await self._store.read(ports.desired, switch)

    async def adopt(self, switch: Switch, found: Mapping[int, PortSettings]) -> Desired:
        """Makes desired what was found, where nothing is."""
        known = {port: found.get(port, PortSettings(port)) for port in switch.ports}
        return await self._store.change(ports.adopt, switch, known)

    async def refused(
        self, switch: Switch, port: int, tried: Wanted, good: Wanted, error: SwitchError
    ) -> Desired:
        """Desires again what the switch took last, unless something newer is desired."""
        reason = f"the switch refused version {version(tried)}: {error.reason}"
        with contextlib.suppress(StaleVersionError, NotFoundError):
            if isinstance(good, DesiredPort):
                earlier = good.settings
                await self._store.change(
                    ports.change,
                    CONTROLLER,
                    switch,
                    port,
                    lambda _: earlier,
                    if_version=version(tried),
                    origin=Origin.REVERT,
                    reason=reason,
                )
            else:
                await self._store.change(
                    ports.change_forwarding,
                    CONTROLLER,
                    switch,
                    good[0],
                    if_version=version(tried),
                    origin=Origin.REVERT,
                    reason=reason,
                )
        return await self.desired(switch)

    def received(self, switch: Switch, reports: Reports) -> None:
        """Reports came in."""
        time_us = now_us()
        for report in reports:
            event: Interval | Drop
            if isinstance(report, IntervalReport):
                event = Interval(time_us, switch.name, report)
            else:
                event = Drop(time_us, switch.name, report)
            self._hub.publish(event)
            self._recorder.add(switch.uid, event)

    def counted(self, counters: PortCounters) -> None:
        """Counters were read."""
        self._hub.publish(counters)

    def changed(self, switch: Switch, status: SwitchStatus) -> None:
        """A link's state is another."""
        self._hub.publish(StatusChange(now_us(), switch.name, status))
