# SPDX-License-Identifier: Apache-2.0
"""The client of one switch that runs p4/clarion.p4: settings in, reports and counters out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType

from finsy import P4CounterEntry, P4DigestEntry, P4MulticastGroupEntry

from clarion_contract import checks, entries, pipeline
from clarion_contract.epochs import Epochs
from clarion_contract.settings import FLOOD_GROUP, PORT_TABLES, PortSettings
from clarion_contract.telemetry import READERS, IntervalReport, QueueDrop
from clarion_p4rt import table_entries
from clarion_p4rt.errors import SwitchError
from clarion_p4rt.inbox import Inbox
from clarion_p4rt.session import Session

__all__ = ["Counter", "SwitchClient", "SwitchError"]

CONNECT_TIMEOUT_S = 10.0
LEAVE_TIMEOUT_S = 1.0

# BMv2 collects so many reports, or for so long, and sends every 100 ms what has come together. It waits for
# no acknowledgements (time 0), so none are sent: it would use them to leave out reports that repeat one,
# and none of ours does.
LIST_SIZE = 256
LIST_TIMEOUT_NS = 100_000_000


@dataclass(frozen=True)
class Counter:
    """One cell of a counter array; an array that counts packets only has no bytes."""

    packets: int
    bytes: int


class SwitchClient:
    """In charge of a switch while it is entered. The switch keeps program and entries afterwards.

        async with SwitchClient("s1", "127.0.0.1:9559", ports=[1, 2]) as switch:
            await switch.configure([PortSettings(2, xcp=XcpSettings(100_000_000), stamp=True)])
            async for report in switch.reports():
                print(report)

    SettingsError comes before anything is written. SwitchError: the switch does not answer, or refuses.
    """

    def __init__(
        self,
        name: str,
        address: str,
        *,
        ports: Collection[int],
        device_id: int = 1,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
    ) -> None:
        """`address` is HOST:PORT, `ports` are those that the switch has."""
        self.name = name
        self._ports = checks.checked_ports(name, ("ports",), ports)
        self._connect_timeout_s = connect_timeout_s
        self._session = Session(name, address, device_id, pipeline.load())
        self._inbox = Inbox(name)
        self._epochs = Epochs(fresh=False)
        self._changing = asyncio.Lock()
        self._receiver: asyncio.Task[None] | None = None

    async def __aenter__(self) -> SwitchClient:
        await self._session.open(self._connect_timeout_s)
        self._receiver = asyncio.create_task(self._receive(), name=f"{self.name} reports")
        try:
            self._epochs = Epochs(fresh=await self._session.load_program())
            await self._subscribe()
        except BaseException:
            await self._leave()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._leave()

    async def configure(self, ports: Iterable[PortSettings]) -> None:
        """Gives the ports exactly these settings; a port that is not named has everything off."""
        wanted = checks.checked_settings(self.name, self._ports, ports)
        async with self._changing:
            tables = table_entries.all_of(PORT_TABLES)
            present = table_entries.decoded(await self._session.read("port tables", tables))
            made = self._epochs.entries(present, wanted)
            await self._session.write(table_entries.changes(present, made))

    async def forward(self, addresses: Mapping[str, int]) -> None:
        """Forwards frames for these Ethernet addresses to these ports, and floods those for all others."""
        wanted = checks.checked_addresses(self.name, self._ports, addresses)
        async with self._changing:
            read = await self._session.read("l2_forward", table_entries.all_of(["l2_forward"]))
            present, made = table_entries.decoded(read), entries.forward_entries(wanted)
            await self._session.write(table_entries.changes(present, made))

    async def flood_to(self, ports: Iterable[int]) -> None:
        """Floods to exactly these ports; a frame never goes back to the port that it came from."""
        listed = checks.checked_ports(self.name, ("flood_ports",), ports, self._ports)
        wanted = table_entries.flood_group(listed)
        async with self._changing:
            group = P4MulticastGroupEntry(FLOOD_GROUP)
            present = await self._session.read("multicast group", [group])
            if present != [wanted]:
                await self._session.write([~wanted if present else +wanted])

    def reports(self) -> AsyncIterator[IntervalReport | QueueDrop]:
        """What the switch reports from entering on, up to 0.3 s late; ends when the client is left.

        SwitchError when the session breaks, or when so many wait that they cannot all be kept.
        """
        return self._inbox.read()

    async def counters(self) -> Mapping[str, Sequence[Counter]]:
        """All counter arrays by name, each with one cell per port."""
        names = [counter.alias for counter in self._session.schema.counters]
        cells = await self._session.read("counters", [P4CounterEntry(name) for name in names])
        arrays: dict[str, list[Counter]] = {name: [] for name in names}
        for cell in sorted(cells, key=lambda cell: cell.index):
            arrays[cell.counter_id].append(Counter(cell.packet_count, cell.byte_count))
        return arrays

    async def _subscribe(self) -> None:
        for name in READERS:
            wanted = P4DigestEntry(
                name, max_list_size=LIST_SIZE, max_timeout_ns=LIST_TIMEOUT_NS, ack_timeout_ns=0
            )
            present = await self._session.read(f"digest {name}", [P4DigestEntry(name)])
            if present != [wanted]:
                await self._session.write([~wanted if present else +wanted])

    async def _receive(self) -> None:
        """Takes reports off the wire whether anybody reads them or not, so that the switch never waits."""
        try:
            while True:
                digests = await self._session.receive()
                if digests is not None:
                    for fields in digests:
                        self._inbox.put(READERS[digests.digest_id](fields))
        except Exception as error:  # whoever reads the reports gets it
            self._inbox.end(error)

    async def _leave(self) -> None:
        """Leaves in good order, so that the next session finds the switch free."""
        self._inbox.end()
        try:
            if self._receiver is not None:
                await self._session.hang_up()
                await asyncio.wait([self._receiver], timeout=LEAVE_TIMEOUT_S)
                self._receiver.cancel()
        finally:
            await self._session.close()
