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
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard, TypeVar

from clarion_base.errors import UserError
from clarion_contract.lldp import ClarionPort
from clarion_contract.neighbours import Judgement, Verdict, Wire
from clarion_contract.target import Change, Judged, Listener, Present, Reset, SetEntry, TargetError
from clarion_nic.driver import lldp, state
from clarion_nic.driver.card import Card, Unit
from clarion_nic.driver.entries import UNIT_OF, entries
from clarion_nic.driver.errors import CardError, CardGone
from clarion_nic.driver.limits import Values
from clarion_nic.driver.note import Note, token_of
from clarion_nic.driver.place import Place
from clarion_nic.driver.transaction import Transaction

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

INTERVALS = "interval_report_t"
POLL_S = 0.01  # for ended control intervals, while interval reports are subscribed
JUDGE_S = 0.25  # between two looks at what the neighbours say of the wires
KEEP_S = 1.0  # between two checks for a card that is gone or was reset
CELLS = 4096  # per port, in the arrays of buckets
CELLS_AT_ONCE = 256  # per hold of the card's lock

Ended = tuple[tuple[int, ...], int]  # members of a digest, and how many before it were missed


class NicTarget:
    """One card, whose ports have the numbers that they have on the card."""

    measures_capacity = False

    def __init__(self, place: Place, sockets: Mapping[int, socket.socket] | None = None) -> None:
        """CardError or UserError if the card cannot be served. `sockets`: to its neighbours; None: of its
        network devices.
        """
        self.name = place.card
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
        self._declared = self._note.declared(self._token)
        if sockets is None:
            found = {port: lldp.open_socket(place.card, port) for port in self.ports}
            sockets = {port: each for port, each in found.items() if each is not None}
        self._lldp = lldp.CardLldp(lldp.chassis_id(place.card), sockets)
        self.chassis_id: str | None = self._lldp.chassis if sockets else None
        self._said_of_itself: dict[int, ClarionPort] = {}
        self._speaker: asyncio.Task[None] | None = None
        self._judge: asyncio.Task[None] | None = None
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

    def is_atomic(self, changes: Sequence[Change]) -> bool:
        """Whether the changes are for one unit only."""
        return len({(UNIT_OF[each.table], each.key) for each in changes if _is_of_unit(each)}) <= 1

    def down(self) -> frozenset[int]:
        """None: a card replicates no frames, so that nobody needs to know."""
        return frozenset()

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
        """The wires of which LLDP says something."""
        return {
            port: Judged(verdict.judgement is Judgement.PROVEN, verdict.until_us)
            for port, verdict in self._lldp.verdicts().items()
            if verdict.until_us is not None
        }

    # Life cycle.

    def keep(self) -> None:
        """From now on notices when the card goes, comes back, or is reset."""
        self._keeper = asyncio.create_task(self._keep(), name=f"keep {self.name}")
        if self.chassis_id is not None:
            speak = self._lldp.run(
                lambda port: self._said_of_itself.get(port, ClarionPort(False, False)), self._on_frame
            )
            self._judge = asyncio.create_task(self._judge_wires(), name=f"wires of {self.name}")
            self._speaker = asyncio.create_task(speak, name=f"LLDP of {self.name}")

    async def close(self) -> None:
        """Closes the card. Its configuration stays, but for what LLDP said of the wires."""
        for task in (self._keeper, self._reporter, self._speaker, self._judge):
            await _end(task)
        if self.chassis_id is not None:
            with contextlib.suppress(TargetError):
                await self._do(lambda card: self._enter_wires(card, {}))
        self._lldp.close()
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
        verdicts = self._lldp.verdicts()
        declared = dict(self._declared)
        entered = [_effective(change, declared, verdicts) for change in changes]
        transaction = Transaction(card, entered)
        note = self._note.text(self._token) if transaction.note is None else transaction.note

        def keep_note() -> None:
            if transaction.note is not None or declared != self._declared:
                self._note.write(self._token, note, declared)

        transaction.carry_out(keep_note)
        self._declared = declared

    def _present(self, card: Card) -> Present:
        found: dict[tuple[str, int], Mapping[str, int]] = {}
        for unit in card.units.values():
            for table, arguments in entries(unit.kind, self._as_written(card, unit)):
                found[table, unit.port] = arguments
        return Present(found, None, self._note.text(self._token))

    def _as_written(self, card: Card, unit: Unit) -> Values:
        """The configuration of a unit with the declaration of its wire, not with what counts."""
        values = card.configuration(unit)
        if unit.kind == "ingress" and unit.port in self._declared:
            return {**values, "wire": int(self._declared[unit.port])}
        return values

    # LLDP.

    def _on_frame(self, port: int, frame: bytes, time_us: int) -> None:
        if self._listener is not None:
            self._listener.on_packet(frame, port, time_us)

    async def _judge_wires(self) -> None:
        while True:
            with contextlib.suppress(TargetError):
                await self._do(lambda card: self._enter_wires(card, self._lldp.verdicts()))
            await asyncio.sleep(JUDGE_S)

    def _enter_wires(self, card: Card, verdicts: Mapping[int, Verdict]) -> None:
        """Hands the card what counts, and notes what its ports say of themselves."""
        known = len(self._declared)
        for (kind, port), unit in card.units.items():
            if kind != "ingress":
                continue
            values = card.configuration(unit)
            egress = card.units.get(("egress", port))
            stamps = egress is not None and card.configuration(egress)["stamp"] == 1
            self._said_of_itself[port] = ClarionPort(stamps, values["check"] == 1)
            self._declared.setdefault(port, values["wire"] == 1)
            wire = _counts(self._declared[port], values["check"] == 1, verdicts.get(port))
            if len(self._declared) != known:  # before the card has another bit
                known = len(self._declared)
                self._note.write(self._token, self._note.text(self._token), self._declared)
            if values["wire"] != wire:
                card.configure(unit, {**values, "wire": wire})

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


def _is_of_unit(change: Change) -> TypeGuard[SetEntry]:
    return isinstance(change, SetEntry) and change.table in UNIT_OF


def _effective(change: Change, declared: dict[int, bool], verdicts: Mapping[int, Verdict]) -> Change:
    """A change as the card gets it; notes what it declares."""
    match change:
        case Reset():
            declared.clear()
        case SetEntry(table="tag_port", key=port, arguments=None):
            declared.pop(port, None)
        case SetEntry(table="tag_port", key=port, arguments=arguments) if arguments is not None:
            declared[port] = arguments.get("wire") == 1
            if arguments.get("wire") in (0, 1):
                wire = _counts(declared[port], arguments.get("check") == 1, verdicts.get(port))
                return SetEntry("tag_port", port, {**arguments, "wire": wire})
    return change


def _counts(declared: bool, checks: bool, verdict: Verdict | None) -> int:
    """The card's bit: what is known of the wire. A proof is of use to a check only."""
    if verdict is None:
        return int(declared)
    return int(Wire(declared, verdict).is_effective and (declared or checks))


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
