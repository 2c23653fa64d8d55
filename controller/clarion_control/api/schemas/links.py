# SPDX-License-Identifier: Apache-2.0
"""Links between ports, and the wires at either end."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from clarion_contract.neighbours import Wire, WireState
from clarion_control.api.schemas.base import Model, time_field
from clarion_control.bit_errors import ErrorRates
from clarion_control.topology import LinkEnd, LinkFigures, WireLink

State = Literal["declared", "proven", "disproved", "unnumbered", "unproven"]
Side = Literal["lldp", "declaration"]


class WireView(Model):
    """The wire into a port: what the port declares, and what LLDP says."""

    state: State = Field(description="LLDP's word, or else the declaration.", examples=["proven"])
    declared: bool = Field(description="Whether the port's settings declare it a bare wire.")
    conflict: bool = Field(description="Declared, and disproved by LLDP or unnumbered.")
    counts: Side | None = Field(
        description="The side that decides whether gaps are corruption; null if neither says so.",
        examples=["lldp"],
    )
    reason: str = Field(
        description="Why, in one line.", examples=["s2 port 1 is the only neighbour and numbers its packets"]
    )

    @classmethod
    def of(cls, wire: Wire) -> WireView:
        """From the controller's record."""
        return cls(
            state=_state(wire.state),
            declared=wire.declared,
            conflict=wire.is_conflict,
            counts=_side(wire.counts),
            reason=wire.explanation,
        )


class LinkEndView(Model):
    """One end of a link: a port of a switch, or a port that is known by its LLDP frames only."""

    switch: str | None = Field(description="Name of the switch; null if it is none.", examples=["s1"])
    port: int | None = Field(description="Number of the port at its switch; null likewise.", examples=[1])
    name: str | None = Field(description="Name of the port for people; null without one.", examples=["right"])
    chassis_id: str = Field(description="Chassis ID in its LLDP frames.", examples=["s1"])
    port_id: str = Field(description="Port ID in its LLDP frames.", examples=["1"])
    hears: bool | None = Field(description="Whether it hears the other end; null if not known.")
    wire: WireView | None = Field(description="The wire into it; null if not known.")

    @classmethod
    def of(cls, end: LinkEnd) -> LinkEndView:
        """From the controller's record."""
        wire = None if end.wire is None else WireView.of(end.wire)
        return cls(
            switch=end.switch,
            port=end.port,
            name=end.name,
            chassis_id=end.chassis_id,
            port_id=end.port_id,
            hears=end.hears,
            wire=wire,
        )


class ErrorRatesView(Model):
    """Packets that a wire lost in the last minute, and the rates behind them with 95 % intervals."""

    lost_packets: int = Field(description="Packets that never came.", ge=0)
    received_packets: int = Field(description="Packets that came.", ge=0)
    per: float = Field(description="Packet error rate.", ge=0, le=1, examples=[1e-4])
    per_low: float = Field(description="Its lower bound.", ge=0, le=1, examples=[9e-5])
    per_high: float = Field(description="Its upper bound.", ge=0, le=1, examples=[2e-4])
    ber: float | None = Field(description="Bit error rate; null without bytes.", ge=0, le=1, examples=[1e-8])
    ber_low: float | None = Field(description="Its lower bound.", ge=0, le=1, examples=[9e-9])
    ber_high: float | None = Field(description="Its upper bound.", ge=0, le=1, examples=[2e-8])

    @classmethod
    def of(cls, rates: ErrorRates) -> ErrorRatesView:
        """From the controller's record."""
        return cls.model_validate(rates.as_json())


class DirectionView(Model):
    """One direction of a link; what is not known is null."""

    sent_bps: float | None = Field(description="Traffic that was sent in the last seconds.", ge=0)
    capacity_bps: int | None = Field(description="What XCP hands out at the sending port.", ge=0)
    utilisation: float | None = Field(description="The traffic as a part of the capacity.", ge=0)
    errors: ErrorRatesView | None = Field(
        description="Errors of the wire; null unless the receiving port checks it and its wire counts."
    )

    @classmethod
    def of(cls, figures: LinkFigures) -> DirectionView:
        """From the controller's record."""
        return cls(
            sent_bps=figures.sent_bps,
            capacity_bps=figures.capacity_bps,
            utilisation=figures.utilisation,
            errors=None if figures.errors is None else ErrorRatesView.of(figures.errors),
        )


class LinkView(Model):
    """A link between two ports, at least one of them a switch's."""

    ends: list[LinkEndView] = Field(description="Both ends.", min_length=2, max_length=2)
    heard: Literal["two-way", "one-way"] = Field(
        description="Whether both ends are known to hear each other.", examples=["two-way"]
    )
    since_us: int = time_field("Since when it is heard like this")
    state: State = Field(
        description="State of the link as a whole: that of the wire which says least in its favour.",
        examples=["proven"],
    )
    conflict: bool = Field(description="Whether LLDP denies what a port declares.")
    counts: Side | None = Field(description="The side that decides; null if neither does.")
    reason: str = Field(
        description="Why, in one line.",
        examples=["s1 port 1: s2 port 1 is the only neighbour and numbers its packets"],
    )
    directions: list[DirectionView] = Field(
        description="From the first end to the second, and back.", min_length=2, max_length=2
    )

    @classmethod
    def of(cls, link: WireLink) -> LinkView:
        """From the controller's record."""
        wire = link.judged[1]
        return cls(
            ends=[LinkEndView.of(end) for end in link.ends],
            heard="two-way" if link.is_two_way else "one-way",
            since_us=link.since_us,
            state=_state(link.state),
            conflict=link.is_conflict,
            counts=_side(wire.counts),
            reason=link.reason,
            directions=[DirectionView.of(figures) for figures in link.figures],
        )


class Links(Model):
    """All links that are heard, by the name and port of their first ends."""

    items: list[LinkView]


def _state(state: WireState) -> State:
    return state.value


def _side(side: str | None) -> Side | None:
    return side  # type: ignore[return-value]
