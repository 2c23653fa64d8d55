# SPDX-License-Identifier: Apache-2.0
"""The P4Runtime clients of all switches, in one thread with an event loop of its own.

The runner is ordinary blocking code; it hands over what the switches are to do and collects what they report.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clarion_base.errors import RunFailedError, UserError
from clarion_contract.settings import PortSettings
from clarion_contract.telemetry import IntervalReport, QueueDrop
from clarion_p4rt.client import SwitchClient

START_TIMEOUT_S = 60.0
Report = IntervalReport | QueueDrop


@dataclass(frozen=True)
class SwitchPlan:
    """What one switch is to do."""

    name: str
    device_id: int
    settings: Sequence[PortSettings]  # of every port
    addresses: Mapping[str, int]  # the port by Ethernet address


class ControlPlane:
    """Starts the program on all switches and collects their reports."""

    def __init__(self) -> None:
        self._reports: deque[tuple[str, Report]] = deque()  # appended and taken from different threads
        self._failure: UserError | None = None
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    def start(self, plans: Mapping[str, SwitchPlan]) -> None:
        """Returns when every switch, by its HOST:PORT, does what it is to do; RunFailedError if one
        does not.
        """
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
        """What came since the last call, with the name of the switch that sent it."""
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
        clients = [(self._client(address, plan), plan) for address, plan in plans.items()]
        stopping = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.gather(*(self._configure(client, plan) for client, plan in clients))
            self._ready.set()
            readers = [asyncio.create_task(self._read(client)) for client, _ in clients]
            done, _ = await asyncio.wait([stopping, *readers], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await asyncio.gather(*(client.__aexit__(None, None, None) for client, _ in clients))

    @staticmethod
    def _client(address: str, plan: SwitchPlan) -> SwitchClient:
        ports = [settings.port for settings in plan.settings]
        return SwitchClient(plan.name, address, ports=ports, device_id=plan.device_id)

    @staticmethod
    async def _configure(client: SwitchClient, plan: SwitchPlan) -> None:
        await client.__aenter__()
        await client.configure(plan.settings)
        await client.forward(plan.addresses)
        await client.flood_to([settings.port for settings in plan.settings])

    async def _read(self, client: SwitchClient) -> None:
        async for report in client.reports():
            self._reports.append((client.name, report))
