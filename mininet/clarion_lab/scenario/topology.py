# SPDX-License-Identifier: Apache-2.0
"""From a scenario to a network: hosts, switches, ports and addresses as plain data, whatever engine runs
them.

A dumbbell is a parking lot with one bottleneck: switches s1 - s2 - ... in a chain, a bottleneck between two
neighbours, and for every host pair a left host (h1, h2, ...) where its flows enter and a right host (r1,
r2, ...) where they leave.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

from clarion_lab.scenario.loss import LossModel
from clarion_lab.scenario.model import Flow, Link, Scenario
from clarion_lab.scenario.rate_steps import RateSteps

FIRST_PORT = 5201  # of the receivers; a flow's receiver listens on FIRST_PORT + its number
FIRST_SOURCE_PORT = 40001  # of the senders


@dataclass(frozen=True)
class PlannedPort:
    """A switch port: what leaves through it, and for a host's port what comes in."""

    name: str
    peer: str | None  # "s2:s2-eth1" for a link inside the switch process, None for a host's port
    rate_bps: int
    queue_bytes: int
    delay_us: int
    loss: LossModel
    ingress_delay_us: int = 0
    ingress_loss: LossModel = field(default_factory=LossModel)
    role: str = "access"  # or "bottleneck 1 forward", "bottleneck 1 reverse"
    rate_steps: RateSteps = field(default_factory=RateSteps)


@dataclass(frozen=True)
class PlannedHost:
    """An end system, on one port of one switch."""

    name: str
    switch: str
    port: str
    address: str
    mac: str

    @property
    def device(self) -> str:
        """Its network device."""
        return f"{self.name}-eth0"


@dataclass(frozen=True)
class Endpoints:
    """Where a flow's data comes from and goes to."""

    sender: PlannedHost
    receiver: PlannedHost
    sport: int
    dport: int


@dataclass(frozen=True)
class Cable:
    """A veth pair between two nodes, or without devices a link inside of the embedded switch process."""

    nodes: tuple[str, str]
    devices: tuple[str, ...] = ()  # one at each node


@dataclass(frozen=True)
class Network:
    """Everything that an engine has to build."""

    switches: dict[str, list[PlannedPort]]
    hosts: list[PlannedHost]
    endpoints: list[Endpoints]  # by flow number

    def neighbour(self, host: PlannedHost) -> PlannedHost:
        """The other host of the pair."""
        other = {"h": "r", "r": "h"}[host.name[0]] + host.name[1:]
        return next(candidate for candidate in self.hosts if candidate.name == other)


def plan(scenario: Scenario) -> Network:
    """The network of a scenario."""
    switches: dict[str, list[PlannedPort]] = {f"s{n + 1}": [] for n in range(len(scenario.bottlenecks) + 1)}
    for index, link in enumerate(scenario.bottlenecks):
        left, right = f"s{index + 1}", f"s{index + 2}"
        left_name, right_name = bottleneck_ports(index)
        queue_bytes = scenario.queue_bytes(link)
        switches[left].append(
            PlannedPort(
                left_name,
                f"{right}:{right_name}",
                link.rate_bps,
                queue_bytes,
                link.delay_us,
                link.forward_loss,
                role=f"bottleneck {index + 1} forward",
                rate_steps=link.rate_steps,
            )
        )
        switches[right].append(
            PlannedPort(
                right_name,
                f"{left}:{left_name}",
                link.rate_bps,
                queue_bytes,
                link.delay_us,
                link.reverse_loss,
                role=f"bottleneck {index + 1} reverse",
                rate_steps=link.rate_steps,
            )
        )
    hosts: dict[str, PlannedHost] = {}
    for flow in scenario.flows:
        for side in ("h", "r"):
            _add_host(hosts, switches, scenario, flow, side)
    return Network(switches, list(hosts.values()), [_endpoints(hosts, flow) for flow in scenario.flows])


def bottleneck_ports(index: int) -> tuple[str, str]:
    """The ports before a bottleneck, counted from 0: for what goes forward, and for what comes back."""
    return f"s{index + 1}-right", f"s{index + 2}-left"


def _add_host(
    hosts: dict[str, PlannedHost],
    switches: dict[str, list[PlannedPort]],
    scenario: Scenario,
    flow: Flow,
    side: str,
) -> None:
    name = f"{side}{flow.pair + 1}"
    if name in hosts:
        return
    switch = f"s{flow.first + 1}" if side == "h" else f"s{flow.last + 2}"
    port = f"{switch}-{name}"
    block, unit = divmod(flow.pair, 250)
    half = 1 if side == "h" else 2
    hosts[name] = PlannedHost(
        name, switch, port, f"10.{half}.{block}.{unit + 1}", f"02:00:00:{half:02x}:{block:02x}:{unit + 1:02x}"
    )
    switches[switch].append(_access_port(port, scenario, scenario.access, side == "h"))


def _access_port(name: str, scenario: Scenario, link: Link, left: bool) -> PlannedPort:
    toward_host, from_host = (
        (link.reverse_loss, link.forward_loss) if left else (link.forward_loss, link.reverse_loss)
    )
    queue_bytes = scenario.queue_bytes(link) if link.rate_bps else 0
    return PlannedPort(
        name, None, link.rate_bps, queue_bytes, link.delay_us, toward_host, link.delay_us, from_host
    )


def _endpoints(hosts: dict[str, PlannedHost], flow: Flow) -> Endpoints:
    left, right = hosts[f"h{flow.pair + 1}"], hosts[f"r{flow.pair + 1}"]
    sender, receiver = (right, left) if flow.reverse else (left, right)
    return Endpoints(sender, receiver, FIRST_SOURCE_PORT + flow.number, FIRST_PORT + flow.number)


def embedded_cables(network: Network) -> list[Cable]:
    """The cables around one embedded switch process: its own links, and one cable per host."""
    return [
        *(Cable((left, right)) for left, right in pairwise(network.switches)),
        *(Cable((host.name, host.switch), (host.device, host.port)) for host in network.hosts),
    ]


def switch_config(scenario: Scenario, network: Network, truth_log: str) -> dict[str, Any]:
    """The configuration of clarion-switch for the whole network."""
    return {
        "seed": scenario.seed,
        "truth_log": truth_log,
        "switches": [
            {"name": name, "ports": [_port_config(scenario, port) for port in ports]}
            for name, ports in network.switches.items()
        ],
    }


def _port_config(scenario: Scenario, port: PlannedPort) -> dict[str, Any]:
    config: dict[str, Any] = {"name": port.name}
    if port.peer:
        config["peer"] = port.peer
    else:
        config |= {
            "netdev": port.name,
            "ingress_delay_us": port.ingress_delay_us,
            "ingress_loss": port.ingress_loss.switch_config(),
        }
    config |= {"rate_bps": port.rate_bps, "delay_us": port.delay_us, "loss": port.loss.switch_config()}
    if port.rate_bps:
        config["queue_bytes"] = port.queue_bytes
    xcp = scenario.xcp_of(port.rate_bps)
    if xcp is not None:
        config["xcp"] = {"enabled": True, **asdict(xcp)}
    if scenario.tagging:
        config["tag"] = {"stamp": True, "check": True, "edge": port.peer is None}
        config["wire"] = "declared"
    return config
