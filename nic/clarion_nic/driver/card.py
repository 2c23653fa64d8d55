# SPDX-License-Identifier: Apache-2.0
"""A card with the Clarion block: its constants, its time and its units by port."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from clarion_nic.driver import limits
from clarion_nic.driver import register_map as registers
from clarion_nic.driver.bar import ALL_ONES, Bar
from clarion_nic.driver.errors import CardError
from clarion_nic.driver.limits import Values
from clarion_nic.driver.lock import CardLock
from clarion_nic.driver.mailbox import Mailbox
from clarion_nic.driver.place import Place
from clarion_nic.driver.walk import FIRST, Block, walk

TICKS_PER_S = 1 << 28
BEAT_BYTES = 64
UNITS = ("ingress", "egress")


@dataclass(frozen=True)
class Unit:
    """One unit of the block: the ingress or the egress of a port."""

    kind: str
    port: int
    mailbox: Mailbox

    @property
    def name(self) -> str:
        """As in `egress[1].capacity`."""
        return f"{self.kind}[{self.port}]"


class Card:
    """One card, while it is open. Every call takes the card's lock; `exclusive` holds it over several."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.name = place.card
        self._bar = Bar(place.card, place.path, place.offset, registers.WINDOW_BYTES)
        try:
            self._bar.check_there()
            self.blocks: list[Block] = walk(self._bar)
            self.ports = range(self.constant("ports"))
            self.units = self._units()
            self._lock = CardLock(self.name, place.path)
        except BaseException:
            self._bar.close()
            raise

    def __enter__(self) -> Card:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leaves the card as it is."""
        with contextlib.suppress(CardError), self._lock.held():  # not while a thread waits for a reply
            self._bar.close()
        self._lock.close()

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Holds the card's lock over several calls. CardGone if the card is gone."""
        with self._lock.held():
            self._bar.check_there()
            yield

    # The whole card.

    def constant(self, name: str) -> int:
        """A register of the block `clarion`."""
        return self._bar.load(registers.REGISTERS[FIRST][name].offset)

    def now(self) -> int:
        """The card's time, ticks since its last reset."""
        while True:
            high = self.constant("now_high")
            low = self.constant("now_low")
            if self.constant("now_high") == high or high == ALL_ONES:
                return high << 32 | low

    def token(self) -> int:
        """The number of the last `set_token`; 0 if the card was reset since."""
        with self.exclusive():
            return self.constant("scratch")

    def set_token(self, token: int) -> None:
        """Stores a number that the card keeps until its next reset."""
        with self.exclusive():
            self._bar.store(registers.REGISTERS[FIRST]["scratch"].offset, token)

    # Units.

    def unit(self, kind: str, port: int) -> Unit:
        """The unit, or CardError if the card has none there."""
        found = self.units.get((kind, port))
        if found is None:
            raise CardError(self.name, f"port {port}: the card has no {kind} unit there; {self._has()}")
        return found

    def check(self, unit: Unit, values: Values) -> None:
        """RangeError unless `configure` would take this."""
        limits.check(self.name, unit.name, unit.kind, "configure", values)

    def configure(self, unit: Unit, values: Values) -> None:
        """Sets the whole configuration of a unit, between two packets."""
        self._run(unit, "configure", values, ())

    def configuration(self, unit: Unit) -> dict[str, int]:
        """The configuration of a unit."""
        return self.read(unit, [field.name for field in registers.COMMANDS[unit.kind]["configure"]])

    def read(self, unit: Unit, wanted: Collection[str] | None = None) -> dict[str, int]:
        """A consistent snapshot of the unit's state; reading only named fields is quicker."""
        return self._run(unit, "read", {}, wanted)

    def read_bucket(self, unit: Unit, bucket: int) -> dict[str, int]:
        """The state of one bucket."""
        buckets = self.constant("buckets")
        if not 0 <= bucket < buckets:
            reason = f"{bucket}: use 0 to {buckets - 1}"
            raise CardError(self.name, f"{unit.name}.bucket: {reason}")
        return self._run(unit, "read_bucket", {"bucket": bucket}, None)

    def reset(self, unit: Unit) -> None:
        """Switches all off, clears counters, controllers and checks; numbers and totals of buckets go on."""
        self._run(unit, "reset", {}, ())

    def _run(
        self, unit: Unit, operation: str, values: Values, wanted: Collection[str] | None
    ) -> dict[str, int]:
        limits.check(self.name, unit.name, unit.kind, operation, values)
        with self.exclusive():
            unit.mailbox.run(operation, _words(registers.COMMANDS[unit.kind][operation], values))
            found = {}
            for beat in registers.REPLIES[unit.kind].get(operation, ()):
                for field in beat:
                    if wanted is None or field.name in wanted:
                        found[field.name] = _value(unit.mailbox, field)
            self._bar.check_there()  # else some of it may be the ones of a card that has just gone
            return found

    def _units(self) -> Mapping[tuple[str, int], Unit]:
        units: dict[tuple[str, int], Unit] = {}
        for block in self.blocks:
            if block.kind not in UNITS:
                continue
            key = (block.kind, block.port)
            if block.port not in self.ports or key in units:
                why = "is there twice" if key in units else f"has a port beyond the card's {len(self.ports)}"
                raise CardError(self.name, f"block {block.name} {why}; flash the bitstream again")
            kind, port = key
            units[key] = Unit(kind, port, Mailbox(self._bar, block.offset, f"{kind}[{port}]"))
        return units

    def _has(self) -> str:
        return f"it has {', '.join(f'{kind} {port}' for kind, port in sorted(self.units)) or 'none'}"


def _words(fields: Collection[registers.Field], values: Values) -> list[int]:
    """Command words behind the operation; a field of 64 bits is two of them, the low one first."""
    words = []
    for field in fields:
        words.append(values[field.name] & ALL_ONES)
        if field.bits > 32:
            words.append(values[field.name] >> 32)
    return words


def _value(mailbox: Mailbox, field: registers.Field) -> int:
    value = mailbox.reply(field.word)
    if field.bits > 32:
        value |= mailbox.reply(field.word + 1) << 32
    if field.signed and value >> (field.bits - 1):
        value -= 1 << field.bits
    return value
