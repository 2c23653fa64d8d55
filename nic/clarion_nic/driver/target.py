# SPDX-License-Identifier: Apache-2.0
"""A card as one more switch of the P4Runtime agent.

The card itself is the only record of its entries: they are read back from it, so that an agent takes over the
state that the last one, or `clarion nic set`, has left. After a reset or a flash of the card the entries are
written again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from clarion_base.errors import UserError
from clarion_contract.target import Change, Judged, Listener, Present, TargetError
from clarion_nic.driver import state
from clarion_nic.driver.card import Card
from clarion_nic.driver.entries import entries
from clarion_nic.driver.errors import CardError, CardGone
from clarion_nic.driver.note import Note, token_of
from clarion_nic.driver.place import Place
from clarion_nic.driver.transaction import Transaction

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

INTERVALS = "interval_report_t"
POLL_S = 0.01  # for ended control intervals, while interval reports are subscribed
KEEP_S = 1.0  # between two checks for a card that is gone or was reset
CELLS = 4096  # per port, in the arrays of buckets
CELLS_AT_ONCE = 256  # per hold of the card's lock

Ended = tuple[tuple[int, ...], int]  # members of a digest, and how many before it were missed


class NicTarget:
    """One card, whose ports have the numbers that they have on the card."""

    def __init__(self, place: Place) -> None:
        """CardError or UserError if the card cannot be served."""
        self.name = place.card
        self.chassis_id: str | None = None
        self._place = place
        self._card: Card | None = Card(place)
        try:
            with self._card.exclusive():
                self._note = Note(place.card, place.path)
        except BaseException:
            self._card.close()
            raise
        self.ports: Mapping[int, str] = {port: f"port{port}" for port in self._card.ports}
        self._token = token_of(self._card)
        self._listener: Listener | None = None
        self._seen: dict[int, int] = {}  # intervals that had ended at the last poll, by port
        self._reporter: asyncio.Task[None] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._said = ""

    # Calls of the agent.

    def listen(self, listener: Listener) -> None:
        """Sets the listener of reports."""
        self._listener = listener

    async def want(self, digests: Sequence[str], packets: bool) -> None:
        """Subscribes to interval reports; a card reports neither drops nor frames for a controller."""
        wanted = INTERVALS in digests
        if wanted and self._reporter is None:
            self._seen = {}
            self._reporter = asyncio.create_task(self._report(), name=f"intervals of {self.name}")
            await self._do(self._ended)
        elif not wanted:
            await _end(self._reporter)
            self._reporter = None

    async def apply(self, changes: Sequence[Change]) -> None:
        """Applies all changes or none; each unit in turn takes its part between two packets."""
        await self._do(lambda card: self._apply(card, changes))

    async def present(self) -> Present:
        """The entries and the note of the card."""
        return await self._do(self._present)

    async def registers(self, name: str, first: int, count: int) -> Sequence[int]:
        """Reads consecutive cells of an array."""
        if name in state.REGISTERS:
            return await self._do(lambda card: _port_cells(card, name, range(first, first + count)))
        if name not in state.BUCKETS:
            raise TargetError(f"{name}: a NIC has no such registers", gone=False)
        cells: list[int] = []
        for start in range(first, first + count, CELLS_AT_ONCE):
            part = range(start, min(start + CELLS_AT_ONCE, first + count))
            cells += await self._do(lambda card, part=part: _bucket_cells(card, name, part))  # type: ignore[misc]
        return cells

    async def counters(self) -> Mapping[str, Mapping[int, tuple[int, int]]]:
        """Packets and bytes by array and port."""
        return await self._do(_counters)

    async def inject(self, frame: bytes, port: int | None) -> None:
        """Refused: a card has no port for the controller."""
        raise TargetError(
            "a NIC takes no frames from a controller, only from its host and its wire", gone=False
        )

    async def judged(self) -> Mapping[int, Judged]:
        """None: wires at a card are declared."""
        return {}

    # Life cycle.

    def keep(self) -> None:
        """From now on notices when the card goes, comes back, or is reset."""
        self._keeper = asyncio.create_task(self._keep(), name=f"keep {self.name}")

    async def close(self) -> None:
        """Closes the card; its configuration stays."""
        for task in (self._keeper, self._reporter):
            await _end(task)
        if self._card is not None:
            await asyncio.to_thread(self._card.close)
        self._note.close()

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(KEEP_S)
            if await asyncio.to_thread(self._came_back) and self._listener is not None:
                try:
                    await self._listener.on_connected()
                except TargetError as error:
                    self._say(f"does not take its entries back: {error}")

    def _came_back(self) -> bool:
        """Whether the card was reset or replaced since the last check."""
        try:
            if self._card is None:
                card = Card(self._place)
                if set(card.ports) != set(self.ports):
                    card.close()
                    raise CardError(self.name, "has other ports than before; start the agent again")
                self._card, self._token = card, 0
            token = token_of(self._card)
        except UserError as error:
            self._say(str(error))
            if self._card is not None and isinstance(error, CardGone):
                self._card.close()
                self._card = None
            return False
        if token == self._token:
            return False
        self._say(f"{self.name}: is back, or was reset: it gets its entries again")
        self._token, self._seen = token, {}
        return True

    def _say(self, text: str) -> None:
        if text != self._said:
            _log.warning("%s", text)
        self._said = text

    # Registers are read and written in threads: a poll may take a while.

    async def _do(self, work: Callable[[Card], _T]) -> _T:
        return await asyncio.to_thread(self._checked, work)

    def _checked(self, work: Callable[[Card], _T]) -> _T:
        card = self._card
        if card is None:
            raise TargetError("the card does not answer", gone=True)
        try:
            with card.exclusive():
                if card.token() != self._token:
                    raise TargetError("the card was reset a moment ago", gone=True)
                return work(card)
        except CardError as error:
            raise TargetError(error.reason, gone=isinstance(error, CardGone)) from error
        except OSError as error:
            raise TargetError(f"the agent's note: {error}", gone=False) from error

    def _apply(self, card: Card, changes: Sequence[Change]) -> None:
        transaction = Transaction(card, changes)
        note = transaction.note

        def keep_note() -> None:
            if note is not None:
                self._note.write(self._token, note)

        transaction.carry_out(keep_note)

    def _present(self, card: Card) -> Present:
        found: dict[tuple[str, int], Mapping[str, int]] = {}
        for unit in card.units.values():
            for table, arguments in entries(unit.kind, card.configuration(unit)):
                found[table, unit.port] = arguments
        return Present(found, None, self._note.text(self._token))

    async def _report(self) -> None:
        while True:
            await asyncio.sleep(POLL_S)
            with contextlib.suppress(TargetError):  # `_keep` handles a card that is gone
                for members, missed in await self._do(self._ended):
                    if self._listener is None:
                        continue
                    if missed:
                        self._listener.on_lost(missed)
                    self._listener.on_digest(INTERVALS, members)

    def _ended(self, card: Card) -> list[Ended]:
        """The last interval of each port where one has ended since the last poll."""
        ended: list[Ended] = []
        for (kind, port), unit in card.units.items():
            if kind != "egress":
                continue
            now = card.read(unit, ("intervals",))["intervals"]
            before = self._seen.setdefault(port, now)
            if now == before:
                continue
            egress = card.read(unit)
            ingress = card.units.get(("ingress", port))
            lost = 0 if ingress is None else card.read(ingress, ("lost",))["lost"]
            self._seen[port] = now = egress["intervals"]
            fresh = now - before if now > before else now  # they count from 0 when the controllers start anew
            if fresh:
                ended.append((state.interval_report(port, egress, lost), fresh - 1))
        return ended


class NicConnection:
    """The card for the agent's server, like the connection to a clarion-switch."""

    def __init__(self, place: Place) -> None:
        self.switches: list[NicTarget] = []
        self._place = place

    async def open(self) -> None:
        """CardError or UserError if the card cannot be served."""
        self.switches = [await asyncio.to_thread(NicTarget, self._place)]

    def keep(self) -> None:
        """From now on notices when the card goes, comes back, or is reset."""
        for switch in self.switches:
            switch.keep()

    async def close(self) -> None:
        """Closes the card; its configuration stays."""
        for switch in self.switches:
            await switch.close()


def _port_cells(card: Card, name: str, ports: range) -> list[int]:
    kind, value = state.REGISTERS[name]
    return [0 if (unit := card.units.get((kind, port))) is None else value(card.read(unit)) for port in ports]


def _bucket_cells(card: Card, name: str, cells: range) -> list[int]:
    """The cells of buckets; those that the card does not have read as 0."""
    kind, value = state.BUCKETS[name]
    buckets = card.constant("buckets")
    found = []
    for cell in cells:
        port, bucket = divmod(cell, CELLS)
        unit = card.units.get((kind, port))
        found.append(0 if unit is None or bucket >= buckets else value(card.read_bucket(unit, bucket)))
    return found


def _counters(card: Card) -> Mapping[str, Mapping[int, tuple[int, int]]]:
    states = {key: card.read(unit) for key, unit in card.units.items()}
    return {
        name: {
            port: (values[packets], 0 if octets is None else values[octets])
            for (unit, port), values in states.items()
            if unit == kind
        }
        for name, (kind, packets, octets) in state.COUNTERS.items()
    }


async def _end(task: asyncio.Task[None] | None) -> None:
    if task is not None:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
