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
class Judged:
    """What LLDP says of the wire at a port: that it is a bare one, or that it is not."""

    is_proven: bool
    until_us: int  # of the switch's clock, if no more is heard


@dataclass(frozen=True)
class Present:
    """What a switch has: arguments by table and key, the flood group, our note."""

    entries: Mapping[tuple[str, int], Mapping[str, int]] = field(default_factory=dict)
    flood: tuple[int, ...] | None = None
    note: str = ""


class TargetError(Exception):
    """A failed request. `gone`: the switch does not answer, and may or may not have carried it out."""

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
    """Receiver of a switch's unsolicited reports."""

    def on_digest(self, name: str, members: tuple[int, ...]) -> None:
        """A digest, by its name and its members in order."""

    def on_packet(self, frame: bytes, port: int, time_us: int) -> None:
        """A frame for the controller, with the port that it came in by, and the switch's time."""

    def on_lost(self, count: int) -> None:
        """`count` reports were lost on the way."""

    async def on_connected(self) -> None:
        """The switch answers, for the first time or again; it may have forgotten everything."""


class Target(Protocol):
    """One switch. All methods raise TargetError."""

    name: str
    ports: Mapping[int, str]  # names by number
    chassis_id: str | None  # by which it sends LLDP; None: it does not
    measures_capacity: bool  # whether a port can measure what its link carries

    def listen(self, listener: Listener) -> None:
        """Sets the receiver of reports from now on."""

    async def want(self, digests: Sequence[str], packets: bool) -> None:
        """Subscribes to these digests, and to frames for the controller if `packets`."""

    def is_atomic(self, changes: Sequence[Change]) -> bool:
        """Whether `apply` carries these changes out between two packets, all together."""

    def down(self) -> frozenset[int]:
        """The ports whose link is known to be down."""

    async def apply(self, changes: Sequence[Change]) -> None:
        """Applies all changes or none: between two packets, or one part after the other."""

    async def present(self) -> Present:
        """The present entries, flood group and note."""

    async def registers(self, name: str, first: int, count: int) -> Sequence[int]:
        """At most 4096 consecutive cells of a register array, from `first` on."""

    async def counters(self) -> Mapping[str, Mapping[int, tuple[int, int]]]:
        """Packets and bytes by array and port."""

    async def inject(self, frame: bytes, port: int | None) -> None:
        """Sends a frame from the controller through a port; without one, forwards it like a received one."""

    async def judged(self) -> Mapping[int, Judged]:
        """The wires of which LLDP says something at the moment, by port."""


class Source(Protocol):
    """Connection to the switches of an agent: those of a process, or a card."""

    @property
    def switches(self) -> Sequence[Target]:
        """The switches in the order of their device ids."""

    async def open(self) -> None:
        """Connects and lists the switches; UserError without an answer."""

    def keep(self) -> None:
        """Starts to watch the connection, and re-establishes it after a loss."""

    async def close(self) -> None:
        """Disconnects; the switches keep their configuration."""
