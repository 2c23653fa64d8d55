# SPDX-License-Identifier: Apache-2.0
"""The P4Runtime sessions with all switches, in one thread with an event loop of its own.

The runner is ordinary blocking code; it hands over a plan for each switch and collects the reports.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clarion_base.errors import RunFailedError, UserError
from clarion_contract.settings import PortSettings
from clarion_contract.telemetry import Report
from clarion_p4rt.primary import PrimarySession
from clarion_p4rt.switch import Forwarding, Switch

START_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class SwitchPlan:
    """The settings and the forwarding of one switch."""

    name: str
    device_id: int
    settings: Sequence[PortSettings]  # of every port
    addresses: Mapping[str, int]  # the port by Ethernet address


class ControlPlane:
    """Starts the program on all switches and collects their reports."""

    def __init__(self) -> None:
        self._reports: deque[tuple[str, Report]] = deque()  # appended and taken from different threads
        self._failure: UserError | None = None
        self._unconfigured = 0  # switches
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    def start(self, plans: Mapping[str, SwitchPlan]) -> None:
        """Returns when every switch, by its HOST:PORT, has its plan; RunFailedError if one has not."""
        self._thread = threading.Thread(target=self._run, args=(plans,), name="p4runtime", daemon=True)
        self._thread.start()
        if not self._ready.wait(START_TIMEOUT_S):
            raise RunFailedError(f"the switches' control plane: not ready after {START_TIMEOUT_S:g} s")
        self.check()

    def check(self) -> None:
        """RunFailedError if a session broke."""
        if self._failure is not None:
            raise RunFailedError(str(self._failure)) from self._failure

    def reports(self) -> list[tuple[str, Report]]:
        """The reports since the last call, each with the name of its switch."""
        return [self._reports.popleft() for _ in range(len(self._reports))]

    def stop(self) -> None:
        """Ends all sessions."""
        if self._thread is None:
            return
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(START_TIMEOUT_S)
        self._thread = None

    def _run(self, plans: Mapping[str, SwitchPlan]) -> None:
        try:
            asyncio.run(self._serve(plans))
        except UserError as error:
            self._failure = error
        finally:
            self._ready.set()

    async def _serve(self, plans: Mapping[str, SwitchPlan]) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._unconfigured = len(plans)
        stopping = asyncio.create_task(self._stop.wait())
        holding = [asyncio.create_task(self._hold(address, plan)) for address, plan in plans.items()]
        try:
            done, _ = await asyncio.wait([stopping, *holding], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in holding:
                task.cancel()
            await asyncio.gather(*holding, return_exceptions=True)

    async def _hold(self, address: str, plan: SwitchPlan) -> None:
        """Holds the session with one switch and collects its reports."""
        async with PrimarySession(_switch(address, plan)) as session:
            await session.configure(plan.settings, Forwarding(plan.addresses, session.switch.ports))
            self._unconfigured -= 1
            if self._unconfigured == 0:
                self._ready.set()
            async for report in session.reports():
                self._reports.append((plan.name, report))


def _switch(address: str, plan: SwitchPlan) -> Switch:
    return Switch(0, plan.name, address, plan.device_id, tuple(settings.port for settings in plan.settings))
