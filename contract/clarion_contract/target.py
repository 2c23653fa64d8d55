# SPDX-License-Identifier: Apache-2.0
"""What a switch has to offer to be served over P4Runtime: the embedded one, or a NIC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from clarion_base.faults import Fault


@dataclass(frozen=True)
class SetEntry:
    """An entry of a table as it is to be; without arguments it is taken away."""

    table: str
    key: int
    arguments: Mapping[str, int] | None


@dataclass(frozen=True)
class SetFlood:
    """The ports that unknown addresses are flooded to; None: no group."""

    ports: tuple[int, ...] | None


@dataclass(frozen=True)
class Reset:
    """No entries, controllers and checks from nothing, counters zero. Comes first in a batch."""


@dataclass(frozen=True)
class Note:
    """A text that the switch keeps for us until it ends."""

    text: str


Change = SetEntry | SetFlood | Reset | Note


@dataclass(frozen=True)
class Present:
    """What a switch has: arguments by table and key, the flood group, our note."""

    entries: Mapping[tuple[str, int], Mapping[str, int]] = field(default_factory=dict)
    flood: tuple[int, ...] | None = None
    note: str = ""


class TargetError(Exception):
    """The switch did not do it. `gone`: it does not answer, so it may have done it or not."""

    def __init__(self, message: str, *, gone: bool) -> None:
        super().__init__(message)
        self.gone = gone


class TargetFaultError(TargetError):
    """The switch refused what it was given. In a batch, the path of the fault starts with "changes" and a
    position.
    """

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault), gone=False)
        self.fault = fault


class Listener(Protocol):
    """Whoever hears what a switch reports unasked. Digests come as their members in order."""

    def on_digest(self, name: str, members: tuple[int, ...]) -> None:
        """A digest of that name."""

    def on_packet(self, frame: bytes) -> None:
        """A frame for the controller."""

    def on_lost(self, count: int) -> None:
        """So many reports were lost on the way."""

    async def on_connected(self) -> None:
        """The switch answers, for the first time or again; it may have forgotten everything."""


class Target(Protocol):
    """One switch. All methods raise TargetError."""

    name: str
    ports: Mapping[int, str]  # names by number

    def listen(self, listener: Listener) -> None:
        """From now on, reports go there."""

    async def want(self, digests: Sequence[str], packets: bool) -> None:
        """Which digests are wanted, and whether frames are."""

    async def apply(self, changes: Sequence[Change]) -> None:
        """All of them between two packets, or none."""

    async def present(self) -> Present:
        """What it has now."""

    async def registers(self, name: str, first: int, count: int) -> Sequence[int]:
        """Consecutive cells; at most 4096."""

    async def counters(self) -> Mapping[str, Mapping[int, tuple[int, int]]]:
        """Packets and bytes by array and port."""

    async def inject(self, frame: bytes) -> None:
        """A frame from the controller, forwarded like one that came in by a port."""


class Source(Protocol):
    """Where an agent's switches are: a process, or a card."""

    @property
    def switches(self) -> Sequence[Target]:
        """In the order of their device ids."""

    async def open(self) -> None:
        """Learns which switches there are; UserError without an answer."""

    def keep(self) -> None:
        """From now on notices when they go and come again."""

    async def close(self) -> None:
        """Leaves them as they are."""
