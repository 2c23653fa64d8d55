# SPDX-License-Identifier: Apache-2.0
"""The controller: all that REST, the tuner and the dashboard may ask for.

A change is stored before it is sent, and what is sent is always what the store says: a crash of either side
at any moment loses nothing, and nothing happens twice.
"""

from __future__ import annotations

import asyncio
import contextlib

from clarion_control.facade.ports import PortPart
from clarion_control.facade.records import RecordPart
from clarion_control.facade.switches import SwitchPart
from clarion_control.facade.telemetry import TelemetryPart
from clarion_control.facade.tuning import TuningPart
from clarion_control.store import Store
from clarion_p4rt.device import DeviceFactory


class Controller(SwitchPart, PortPart, TelemetryPart, TuningPart, RecordPart):
    """One controller of a fleet; `close` it, or use it as an async context manager."""

    @classmethod
    async def open(
        cls,
        store: Store,
        *,
        election_id: int = 1,
        compare_every_s: float = 10.0,
        counters_every_s: float = 2.0,
        history_s: float = 7 * 86400,
        apply_timeout_s: float = 5.0,
        connect: DeviceFactory | None = None,
    ) -> Controller:
        """Starts the links to all switches of the store. `connect` makes the session with a switch (tests).

        The store stays the caller's to close.
        """
        if connect is None:
            from clarion_p4rt.p4_device import factory

            connect = factory(election_id)
        controller = cls(
            store,
            connect,
            compare_every_s=compare_every_s,
            counters_every_s=counters_every_s,
            history_s=history_s,
            apply_timeout_s=apply_timeout_s,
        )
        await controller._open_switches()
        controller._recorder.start()
        return controller

    async def __aenter__(self) -> Controller:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends all sessions; switches keep what they have. Changes under way are stored first."""
        if self._refresher is not None:
            self._refresher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._refresher
        if self._changes:
            await asyncio.wait(self._changes)
        await self._fleet.close()
        await self._recorder.close()
        self._hub.close()
