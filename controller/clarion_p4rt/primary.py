# SPDX-License-Identifier: Apache-2.0
"""A session with one switch as its only controller: for experiments and tests that need no fleet."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping
from types import TracebackType

from clarion_contract import pipeline
from clarion_contract.checks import checked_addresses, checked_ports, checked_settings
from clarion_contract.settings import PortSettings
from clarion_contract.telemetry import Report
from clarion_p4rt import refusals
from clarion_p4rt.device import Cells, Mastership, PacketIn
from clarion_p4rt.errors import SwitchError
from clarion_p4rt.inbox import Inbox
from clarion_p4rt.p4_device import P4Device
from clarion_p4rt.switch import Forwarding, Switch
from clarion_p4rt.wires import Wires

ELECTION_ID = 1
CONNECT_TIMEOUT_S = 10.0
CONFLICT_S = 2.0  # the longest that a session that has ended keeps mastership
RETRY_S = 0.05
REPORTS_EVERY_S = 0.1
LEAVE_TIMEOUT_S = 1.0


class PrimarySession:
    """Mastership of a switch while entered. The switch keeps its pipeline and entries afterwards.

        async with PrimarySession(Switch(0, "s1", "127.0.0.1:9559", 1, (1, 2))) as switch:
            await switch.configure([PortSettings(2, xcp=XcpSettings(100_000_000), stamp=True)])
            async for report in switch.reports():
                print(report)

    Raises SettingsError before anything is written, and SwitchError if the switch does not answer or refuses,
    or if another controller is primary.
    """

    def __init__(
        self, switch: Switch, *, connect_timeout_s: float = CONNECT_TIMEOUT_S, speaks_lldp: bool = False
    ) -> None:
        """`speaks_lldp`: says hello at the ports and judges their wires, if the switch does not by itself."""
        self.switch = switch
        self._settings = {port: PortSettings(port) for port in switch.ports}
        self.wires = Wires(switch, lambda: self._settings)
        self._speaks_lldp = speaks_lldp
        self._keeper: asyncio.Task[None] | None = None
        self._ports = checked_ports(switch.name, ("ports",), switch.ports)
        self._connect_timeout_s = connect_timeout_s
        self._schema = pipeline.load()
        self._device = P4Device(switch, self._schema, ELECTION_ID)
        self._inbox = Inbox(switch.name)
        self._receiver: asyncio.Task[None] | None = None

    async def __aenter__(self) -> PrimarySession:
        await self._win_mastership()
        self._receiver = asyncio.create_task(self._receive(), name=f"{self.switch.name} reports")
        try:
            await self._device.prepare()
            await self._device.subscribe(REPORTS_EVERY_S)
            if self._speaks_lldp:
                self._keeper = asyncio.create_task(self._keep_wires(), name=f"{self.switch.name} LLDP")
        except BaseException:
            await self._leave()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._leave()

    async def configure(self, ports: Iterable[PortSettings], forwarding: Forwarding | None = None) -> None:
        """Sets exactly these settings: a port without any has everything off. None keeps the forwarding."""
        wanted = checked_settings(self.switch.name, self._ports, ports)
        if forwarding is not None:
            checked_addresses(self.switch.name, self._ports, forwarding.addresses)
            checked_ports(self.switch.name, ("flood_ports",), forwarding.flood_ports, self._ports)
        await self._device.write(wanted, forwarding)
        self._settings = {port: wanted.get(port, PortSettings(port)) for port in self.switch.ports}

    def reports(self) -> AsyncIterator[Report]:
        """The switch's reports from the start of the session to its end, up to 0.3 s late.

        SwitchError when the session breaks, or when too many are unread.
        """
        return self._inbox.read()

    async def counters(self) -> Mapping[int, Cells]:
        """The switch's counters by port."""
        return await self._device.counters()

    async def _win_mastership(self) -> None:
        """Retries while the switch starts, and for CONFLICT_S while an old session may hold mastership."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._connect_timeout_s
        conflict_end = loop.time() + min(CONFLICT_S, self._connect_timeout_s / 2)
        while True:
            try:
                if await asyncio.wait_for(self._device.open(), end - loop.time()) is Mastership.PRIMARY:
                    return
                raise refusals.not_primary(self.switch.name)
            except asyncio.TimeoutError:
                await self._device.close()
                raise refusals.no_answer(self.switch.name, self.switch.address) from None
            except SwitchError as error:
                await self._device.close()
                deadlines = {"UNAVAILABLE": end, "ALREADY_EXISTS": conflict_end}
                if loop.time() + RETRY_S >= deadlines.get(error.code, 0.0):
                    raise
            except BaseException:
                await self._device.close()
                raise
            await asyncio.sleep(RETRY_S)
            self._device = P4Device(self.switch, self._schema, ELECTION_ID)

    async def _receive(self) -> None:
        """Drains the stream whether or not the reports are read, so that the switch never blocks."""
        try:
            while True:
                message = await self._device.receive()
                if message is Mastership.BACKUP:
                    raise refusals.not_primary(self.switch.name)
                if isinstance(message, PacketIn):
                    self.wires.hear(message)
                elif not isinstance(message, Mastership):
                    for report in message:
                        self._inbox.put(report)
        except Exception as error:  # raised to the reader of the reports
            self._inbox.end(error)

    async def _keep_wires(self) -> None:
        with contextlib.suppress(SwitchError):  # the reader of the reports gets it, too
            await self.wires.keep(self._device)

    async def _leave(self) -> None:
        """Ends the stream before the channel, so that the switch frees mastership for the next session."""
        self._inbox.end()
        try:
            if self._keeper is not None:
                self._keeper.cancel()
                await asyncio.wait([self._keeper], timeout=LEAVE_TIMEOUT_S)
            if self._receiver is not None:
                await self._device.hang_up()
                await asyncio.wait([self._receiver], timeout=LEAVE_TIMEOUT_S)
                self._receiver.cancel()
        finally:
            await self._device.close()
