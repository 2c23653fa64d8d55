# SPDX-License-Identifier: Apache-2.0
"""The links between ports as LLDP shows them."""

from __future__ import annotations

from dataclasses import dataclass

from clarion_contract.neighbours import Wire, WireState
from clarion_control.bit_errors import ErrorRates


@dataclass(frozen=True)
class LinkEnd:
    """One end of a link: a port of a switch, or a port that is known by its hellos only."""

    switch: str | None
    port: int | None
    chassis_id: str  # as in its hellos
    port_id: str
    hears: bool | None = None  # whether it hears the other end; None: not known
    wire: Wire | None = None  # into it; None: not known
    name: str | None = None  # of the port, for people

    @property
    def place(self) -> str:
        """For people."""
        place = f"{self.switch or self.chassis_id} port {self.port_id if self.port is None else self.port}"
        return place if self.name is None else f"{place} ({self.name})"


@dataclass(frozen=True)
class LinkFigures:
    """One direction of a link; what is not known is None."""

    sent_bps: float | None = None
    capacity_bps: int | None = None  # that XCP hands out at the sending port
    errors: ErrorRates | None = None  # over the last minute, if the far end checks its wire

    @property
    def utilisation(self) -> float | None:
        """What is sent as a part of the capacity."""
        return None if self.sent_bps is None or not self.capacity_bps else self.sent_bps / self.capacity_bps


@dataclass(frozen=True)
class WireLink:
    """A link between two ports, at least one of them a switch's."""

    ends: tuple[LinkEnd, LinkEnd]
    since_us: int  # since when all ends that hear the other do so
    figures: tuple[LinkFigures, LinkFigures]  # of what leaves by either end

    @property
    def is_two_way(self) -> bool:
        """Whether either end hears the other."""
        return all(end.hears for end in self.ends)

    @property
    def judged(self) -> tuple[LinkEnd, Wire]:
        """The end whose wire says least in favour of the link, with that wire."""
        known = [(end, end.wire) for end in self.ends if end.wire is not None]
        return min(known, key=lambda each: (not each[1].is_conflict, _STANDINGS.index(each[1].state)))

    @property
    def is_conflict(self) -> bool:
        """Whether LLDP denies what a port of it declares."""
        return self.judged[1].is_conflict

    @property
    def state(self) -> WireState:
        """The state of the link as a whole: that of the judged end."""
        return self.judged[1].state

    @property
    def reason(self) -> str:
        """Why the link has this state, one line."""
        end, wire = self.judged
        return f"{end.place}: {wire.explanation}"


_STANDINGS = (
    WireState.DISPROVED,
    WireState.UNNUMBERED,
    WireState.UNPROVEN,
    WireState.DECLARED,
    WireState.PROVEN,
)
