# SPDX-License-Identifier: Apache-2.0
"""A transaction of changes on a card: checked as a whole, then carried out, then undone if that fails."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Sequence

from clarion_base.faults import Code, Fault
from clarion_contract.target import (
    Change,
    Note,
    Reset,
    SetEntry,
    SetFlood,
    TargetFaultError,
)
from clarion_nic.driver.card import Card, Unit
from clarion_nic.driver.entries import OFF, UNIT_OF, with_entry
from clarion_nic.driver.errors import CardError, CardGone, RangeError
from clarion_nic.driver.limits import WORDS, Values

NOT_ZERO = ("min_interval", "max_interval", "generation")
FORWARDS = "a NIC forwards between its host and its wire only"


class Transaction:
    """The planned configurations of the units. TargetFaultError names an illegal change before any change
    reaches the card.
    """

    def __init__(self, card: Card, changes: Sequence[Change]) -> None:
        self.note: str | None = None
        self._card = card
        self._reset = False
        self._before = {unit: legal(card, unit) for unit in card.units.values()}
        self._wanted = dict(self._before)
        for position, change in enumerate(changes):
            self._add(position, change)

    def carry_out(self, afterwards: Callable[[], None]) -> None:
        """Configures the units, then calls `afterwards`; a failure puts everything back and is raised."""
        changed: list[Unit] = []
        try:
            for unit, wanted in self._wanted.items():
                if not self._reset and wanted == self._before[unit]:
                    continue
                changed.append(unit)
                if self._reset:
                    self._card.reset(unit)
                self._card.configure(unit, wanted)
            afterwards()
        except (CardError, OSError, KeyboardInterrupt) as error:
            self._undo(changed, error)
            raise

    def _undo(self, changed: Sequence[Unit], error: BaseException) -> None:
        if isinstance(error, CardGone):
            return  # it gets all its entries again when it is back
        with _uninterrupted():
            for unit in reversed(changed):
                with contextlib.suppress(CardError):
                    self._card.configure(unit, self._before[unit])

    def _add(self, at: int, change: Change) -> None:
        match change:
            case SetEntry(table="l2_forward", arguments=None) | SetFlood(ports=None):
                pass  # there is none
            case SetEntry(table="l2_forward"):
                raise _refused(at, "dst_addr", Code.UNSUPPORTED, FORWARDS)
            case SetFlood():
                raise _refused(at, "flood", Code.UNSUPPORTED, FORWARDS)
            case SetEntry(table=table, key=port, arguments=arguments):
                self._add_entry(at, table, port, arguments)
            case Reset():
                self._reset, self.note = True, ""
                self._wanted = {unit: OFF[unit.kind] for unit in self._wanted}
            case Note(text=text):
                self.note = text

    def _add_entry(self, at: int, table: str, port: int, arguments: Values | None) -> None:
        unit = self._card.units.get((UNIT_OF[table], port))
        if unit is None:
            if arguments is None:
                return
            reason = f"the card has no {UNIT_OF[table]} unit at port {port}"
            raise _refused(at, "port", Code.NOT_FOUND, reason)
        for name, word in WORDS.items():
            if arguments is not None and arguments.get(name) == 0:
                reason = f'"{word}": an FPGA NIC does not measure its links; give a number'
                raise _refused(at, name, Code.UNSUPPORTED, reason)
        wanted = with_entry(self._wanted[unit], table, arguments)
        try:
            self._card.check(unit, wanted)
        except RangeError as error:
            raise _refused(at, error.field, Code.OUT_OF_RANGE, error.why) from None
        self._wanted[unit] = wanted


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Delays a second Ctrl-C until all is put back; that time is bounded, as a dead card ends it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # no signal gets here
        return
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: came.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in came:
            signal.raise_signal(late)


def legal(card: Card, unit: Unit) -> Values:
    """A unit's configuration as one that it takes: after a reset it may have zeros that are refused."""
    values = card.configuration(unit)
    try:
        card.check(unit, values)
    except RangeError:
        values.update({name: OFF[unit.kind][name] for name in NOT_ZERO if name in values})
    return values


def _refused(at: int, field: str, code: Code, reason: str) -> TargetFaultError:
    return TargetFaultError(Fault(("changes", at, field), reason, code))
