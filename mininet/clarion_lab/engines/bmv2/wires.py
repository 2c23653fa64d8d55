# SPDX-License-Identifier: Apache-2.0
"""Links with delay or losses: wires through the embedded switch, between the devices of BMv2 and the hosts.

A wire is a switch of two ports in one clarion-switch process that carries all wires: unshaped, without XCP
and tags it changes no byte of a frame. A port is named after its device; what leaves by it has flown over the
wire, so the port carries the delay and the errors of the direction that ends there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from clarion_lab.scenario.loss import LossModel
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Cable, Network, PlannedPort, logs

NODE = "wires"  # the one Mininet node of all wires


@dataclass(frozen=True)
class End:
    """A device at the end of a link, and how a frame fares that is sent to it."""

    node: str
    device: str
    port: str  # of the plan, to which this direction belongs
    leaving: bool  # whether that port sends in this direction; else it receives
    delay_us: int
    loss: LossModel

    @property
    def ideal(self) -> bool:
        """Whether frames arrive at once and all."""
        return self.delay_us == 0 and self.loss.model == "none"


@dataclass(frozen=True)
class Wire:
    """A link that delays or loses; `devices` are the wire's own, one facing each end."""

    name: str
    ends: tuple[End, End]

    @property
    def devices(self) -> tuple[str, str]:
        """The wire's own devices, facing the ends."""
        return f"{self.name}-{self.ends[0].node}", f"{self.name}-{self.ends[1].node}"


@dataclass(frozen=True)
class Cabling:
    """All veth pairs of a network, and the wires between some of them."""

    cables: list[Cable]
    wires: list[Wire]

    def devices(self, hosts: Iterable[str]) -> list[str]:
        """The devices that are not in a host's namespace."""
        inside = set(hosts)
        return [
            device
            for cable in self.cables
            for node, device in zip(cable.nodes, cable.devices, strict=True)
            if node not in inside
        ]

    def ends(self) -> dict[str, End]:
        """The ends of all wires by the name of the wire's port that faces them."""
        return {
            device: end for wire in self.wires for device, end in zip(wire.devices, wire.ends, strict=True)
        }


def cabling(network: Network) -> Cabling:
    """A plain veth pair for each ideal link, a wire for each other."""
    cables: list[Cable] = []
    wires: list[Wire] = []
    for ends in _links(network):
        if all(end.ideal for end in ends):
            cables.append(Cable((ends[0].node, ends[1].node), (ends[0].device, ends[1].device)))
            continue
        wire = Wire(f"w{len(wires) + 1}", ends)
        wires.append(wire)
        for end, device in zip(ends, wire.devices, strict=True):
            cables.append(Cable((end.node, NODE), (end.device, device)))
    return Cabling(cables, wires)


def wire_config(scenario: Scenario, wires: Iterable[Wire], truth_log: str) -> dict[str, Any]:
    """The configuration of the clarion-switch process that carries the wires."""
    return {
        "seed": scenario.seed,
        **logs(scenario, truth_log),
        "switches": [
            {
                "name": wire.name,
                "ports": [
                    {
                        "name": device,
                        "netdev": device,
                        "delay_us": end.delay_us,
                        "loss": end.loss.switch_config(),
                    }
                    for device, end in zip(wire.devices, wire.ends, strict=True)
                ],
            }
            for wire in wires
        ],
    }


def _links(network: Network) -> list[tuple[End, End]]:
    places = {port.name: (switch, port) for switch, ports in network.switches.items() for port in ports}
    links = []
    done: set[str] = set()
    for switch, port in places.values():
        if port.peer is not None:
            other, peer = places[port.peer.partition(":")[2]]
            if peer.name not in done:
                links.append((_at(switch, port, peer), _at(other, peer, port)))
            done.add(port.name)
    for host in network.hosts:
        switch, port = places[host.port]
        at_host = End(host.name, host.device, port.name, True, port.delay_us, port.loss)
        at_switch = End(switch, port.name, port.name, False, port.ingress_delay_us, port.ingress_loss)
        links.append((at_host, at_switch))
    return links


def _at(switch: str, port: PlannedPort, sender: PlannedPort) -> End:
    """A switch's end of a link to another switch."""
    return End(switch, port.name, sender.name, True, sender.delay_us, sender.loss)
