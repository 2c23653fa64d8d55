# SPDX-License-Identifier: Apache-2.0
"""The topology: what the ports of all switches hear of each other, with the figures of their links."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clarion_contract.lldp import LOCAL, Hello
from clarion_contract.neighbours import Neighbour, Wire
from clarion_control.bit_errors import ErrorRates
from clarion_control.fleet.fleet import Fleet
from clarion_control.fleet.link import Link
from clarion_control.fleet.live import Hub
from clarion_control.model import handed_out_bps
from clarion_control.store.clock import now_us
from clarion_control.topology import LinkEnd, LinkFigures, WireLink
from clarion_p4rt.switch import Switch


@dataclass(frozen=True)
class _Port:
    link: Link
    number: int

    @property
    def ids(self) -> tuple[str, str]:
        """Its chassis and port in hellos."""
        return self.link.wires.chassis_id, self.link.wires.port_id(self.number)

    @property
    def order(self) -> tuple[str, int]:
        return self.link.switch.name, self.number


class Topology:
    """The links that are known at this moment. A switch whose controller is another one shows none."""

    def __init__(self, fleet: Fleet, hub: Hub) -> None:
        self._fleet = fleet
        self._hub = hub

    def links(self) -> list[WireLink]:
        """All links, by the name and the port of their first end."""
        known = self._known()
        made: list[WireLink] = []
        done: set[frozenset[_Port]] = set()
        for near in self._live():
            for neighbour in near.link.wires.neighbours(near.number):
                far = _find(known, neighbour.hello)
                if far is None:
                    made.append(self._to_stranger(near, neighbour))
                elif frozenset((near, far)) not in done:
                    done.add(frozenset((near, far)))
                    made.append(self._between(*sorted((near, far), key=lambda each: each.order)))
        return sorted(made, key=_order)

    def conflicts(self) -> list[tuple[Switch, int, Wire]]:
        """The ports that are declared wires and that LLDP denies, each once."""
        found = ((each.link.switch, each.number, each.link.wire(each.number)) for each in self._live())
        return [(switch, port, wire) for switch, port, wire in found if wire is not None and wire.is_conflict]

    def _live(self) -> Iterator[_Port]:
        for link in self._fleet.links():
            yield from (_Port(link, port) for port in link.switch.ports if link.wire(port) is not None)

    def _known(self) -> dict[tuple[str, str], list[_Port]]:
        """All ports by their ids in hellos, those of switches that do not answer as well."""
        known: dict[tuple[str, str], list[_Port]] = {}
        for link in self._fleet.links():
            for number in link.switch.ports:
                port = _Port(link, number)
                known.setdefault(port.ids, []).append(port)
        return known

    def _to_stranger(self, near: _Port, neighbour: Neighbour) -> WireLink:
        hello = neighbour.hello
        far = LinkEnd(None, None, hello.chassis_name, hello.port_name)
        figures = self._figures(near, None), LinkFigures(errors=self._errors(near))
        return WireLink((_end(near, True), far), near.link.wires.since_us(neighbour), figures)

    def _between(self, first: _Port, second: _Port) -> WireLink:
        heard = _heard(first, second), _heard(second, first)
        ends = _end(first, heard[0] is not None), _end(second, heard[1] is not None)
        since_us = max((each for each in heard if each is not None), default=now_us())
        return WireLink(ends, since_us, (self._figures(first, second), self._figures(second, first)))

    def _figures(self, sender: _Port, receiver: _Port | None) -> LinkFigures:
        figures = self._hub.figures.get(sender.order)
        settings = sender.link.port(sender.number).effective
        return LinkFigures(
            None if figures is None else figures.sent_bps(now_us()),
            handed_out_bps(settings, self._hub.measured.get(sender.order)),
            None if receiver is None else self._errors(receiver),
        )

    def _errors(self, receiver: _Port) -> ErrorRates | None:
        """None where gaps do not count: zero errors would be a claim."""
        state, figures = receiver.link.port(receiver.number), self._hub.figures.get(receiver.order)
        checks = state.effective is not None and state.effective.check
        if figures is None or not checks or state.wire is None or not state.wire.is_effective:
            return None
        return figures.wire_errors(now_us())


def _find(known: dict[tuple[str, str], list[_Port]], hello: Hello) -> _Port | None:
    """The port that sent a hello; None if it is none of ours, or if several have its name."""
    if (hello.chassis.subtype, hello.port.subtype) != (LOCAL, LOCAL):
        return None
    found = known.get((hello.chassis_name, hello.port_name), [])
    return found[0] if len(found) == 1 else None


def _heard(near: _Port, far: _Port) -> int | None:
    """Since when one port hears another, Unix time; None if it does not."""
    if near.link.wire(near.number) is None:
        return None
    for neighbour in near.link.wires.neighbours(near.number):
        if (neighbour.hello.chassis_name, neighbour.hello.port_name) == far.ids:
            return near.link.wires.since_us(neighbour)
    return None


def _end(port: _Port, hears: bool) -> LinkEnd:
    wire = port.link.wire(port.number)
    switch = port.link.switch
    heard = None if wire is None else hears
    return LinkEnd(switch.name, port.number, *port.ids, heard, wire, switch.port_names.get(port.number))


def _order(link: WireLink) -> tuple[str, int, str, str]:
    near, far = link.ends
    return near.switch or "", near.port or 0, far.chassis_id, far.port_id
