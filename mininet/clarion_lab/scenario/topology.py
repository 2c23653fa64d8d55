# SPDX-License-Identifier: Apache-2.0
"""From a scenario to a network: hosts, switches, ports and addresses as plain data, whatever engine runs
them.

A dumbbell is a parking lot with one bottleneck: switches s1 - s2 - ... in a chain, a bottleneck between two
neighbours; a graph has switches and links as it names them. Every host pair has a left host (h1, h2, ...)
where its flows enter and a right host (r1, r2, ...) where they leave.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from clarion_contract.settings_json import xcp_json
from clarion_lab.scenario.flows import Flow
from clarion_lab.scenario.hazards import Change
from clarion_lab.scenario.links import Link
from clarion_lab.scenario.loss import LossModel
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.steps import Steps
from clarion_lab.scenario.switches import Restart

CAPTURES = "captures"  # directory of a run
FIRST_PORT = 5201  # of the receivers; a flow's receiver listens on FIRST_PORT + its number
FIRST_SOURCE_PORT = 40001  # of the senders
MAX_NUMBERED_PORTS = 20_000
MOST_LEARNED_HOSTS = 100


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
    rate_steps: Steps[int] = field(default_factory=Steps)
    ecn_threshold_bytes: int = 0
    hazards: Mapping[str, Any] = field(default_factory=dict)  # as keys of the switch's configuration
    changes: tuple[Change, ...] = ()  # in the order of time
    wire: str = "declared"
    discipline: Mapping[str, Any] = field(
        default_factory=dict
    )  # as the switch's configuration; empty: drop-tail
    carries_data: bool = False  # of a flow, and not only acknowledgements


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
    """Where a flow's data comes from and goes to. Port 0: the application's client has whichever it gets."""

    sender: PlannedHost
    receiver: PlannedHost
    sport: int
    dport: int


@dataclass(frozen=True)
class Carrier:
    """Two hosts between which proxies or a tunnel carry connections: who opens them, and towards whom."""

    client: PlannedHost
    server: PlannedHost
    flows: tuple[int, ...]  # by number


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
    restarts: list[Restart]  # of switches
    forwarding: dict[str, dict[str, str]]  # ports by address, for each switch; empty: switches learn
    links: list[tuple[str, str]]  # of switches
    carriers: list[Carrier] = field(default_factory=list)  # the flows' data is in datagrams between them

    def neighbour(self, host: PlannedHost) -> PlannedHost:
        """The other host of the pair."""
        other = {"h": "r", "r": "h"}[host.name[0]] + host.name[1:]
        return next(candidate for candidate in self.hosts if candidate.name == other)


def plan(scenario: Scenario) -> Network:
    """The network of a scenario."""
    switches: dict[str, list[PlannedPort]] = {name: [] for name in scenario.switches}
    for index, link in enumerate(scenario.bottlenecks):
        left, right = link.ends
        left_name, right_name = link_ports(scenario, index)
        forward = (left_name, f"{right}:{right_name}")
        reverse = (right_name, f"{left}:{left_name}")
        switches[left].append(_bottleneck_port(scenario, link, forward, "forward"))
        switches[right].append(_bottleneck_port(scenario, link, reverse, "reverse"))
    hosts: dict[str, PlannedHost] = {}
    for flow in scenario.flows:
        for side in ("h", "r"):
            _add_host(hosts, switches, scenario, flow, side)
    endpoints = _endpoints(hosts, scenario.flows)
    data = _data_ports(scenario, endpoints)
    return Network(
        {
            name: [replace(port, carries_data=port.name in data) for port in ports]
            for name, ports in switches.items()
        },
        list(hosts.values()),
        endpoints,
        [restart for restart in scenario.restarts if restart.switch is not None],
        _forwarding(scenario, hosts),
        [link.ends for link in scenario.bottlenecks],
        _carriers(scenario, endpoints) if scenario.proxy or scenario.tunnel else [],
    )


def _carriers(scenario: Scenario, endpoints: Sequence[Endpoints]) -> list[Carrier]:
    """A pair for each two hosts and way in which connections are opened between them."""
    flows: dict[tuple[str, str], list[int]] = {}
    hosts: dict[str, PlannedHost] = {}
    for flow, ends in zip(scenario.flows, endpoints, strict=True):
        fetched = flow.application is not None and not flow.application.put
        client, server = (ends.receiver, ends.sender) if fetched else (ends.sender, ends.receiver)
        hosts |= {client.name: client, server.name: server}
        flows.setdefault((client.name, server.name), []).append(flow.number)
    return [Carrier(hosts[a], hosts[b], tuple(numbers)) for (a, b), numbers in flows.items()]


def _bottleneck_port(scenario: Scenario, link: Link, ends: tuple[str, str], direction: str) -> PlannedPort:
    name, peer = ends
    hazards = scenario.hazards_of(link, direction)
    return PlannedPort(
        name,
        peer,
        link.rate_of(direction),
        scenario.queue_bytes(link, direction),
        link.delay_of(direction),
        link.forward_loss if direction == "forward" else link.reverse_loss,
        role=f"{link.name} {direction}",
        rate_steps=link.rate_steps,
        ecn_threshold_bytes=scenario.ecn_threshold_bytes(link, direction),
        hazards=hazards.settings,
        changes=tuple(
            sorted([*_steps(scenario, link, direction), *hazards.changes], key=lambda change: change.at_us)
        ),
        wire=link.wire,
        discipline=_discipline(scenario, link, direction),
    )


def _discipline(scenario: Scenario, link: Link, direction: str = "forward") -> dict[str, Any]:
    """What the queue of a link in a direction does, as the switch's configuration."""
    if not link.discipline:
        return {}
    return link.discipline.switch_config(
        scenario.ecn, lambda limit: scenario.limit_bytes(limit, link.rate_of(direction))
    )


def _steps(scenario: Scenario, link: Link, direction: str) -> list[Change]:
    """A link's steps as changes of a port."""
    side = 0 if direction == "forward" else 1
    is_told = scenario.xcp is not None and scenario.capacity == "told"

    def rate(rate_bps: int) -> dict[str, Any]:
        return {"rate_bps": rate_bps} | ({"xcp": {"capacity_bps": rate_bps}} if is_told else {})

    return [
        *(Change(at_us, rate(rate_bps)) for at_us, rate_bps in link.rate_steps.steps),
        *(Change(at_us, {"delay_us": delay_us}) for at_us, delay_us in link.delay_steps.steps),
        *(Change(at_us, {"loss": losses[side].switch_config()}) for at_us, losses in link.loss_steps.steps),
    ]


def bottleneck_ports(index: int) -> tuple[str, str]:
    """The ports before a bottleneck, counted from 0: for what goes forward, and for what comes back."""
    return f"s{index + 1}-right", f"s{index + 2}-left"


def link_ports(scenario: Scenario, index: int) -> tuple[str, str]:
    """The ports at the ends of a link between switches, for what goes forward, and for what comes back."""
    if scenario.topology != "graph":
        return bottleneck_ports(index)
    a, b = scenario.bottlenecks[index].ends
    return f"{a}-{b}", f"{b}-{a}"


def _data_ports(scenario: Scenario, endpoints: Sequence[Endpoints]) -> set[str]:
    """The ports by which data of a flow leaves a switch."""
    found = {ends.receiver.port for ends in endpoints}
    for route, is_reverse in {(flow.route, flow.reverse) for flow in scenario.flows}:
        for hop in route:
            forward, back = link_ports(scenario, hop.link)
            found.add(forward if hop.forward != is_reverse else back)
    return found


def _forwarding(scenario: Scenario, hosts: Mapping[str, PlannedHost]) -> dict[str, dict[str, str]]:
    """The ways of all flows: in a graph, where a switch that learns would send frames in circles, and among
    so many hosts that each one's first frame, sent to all of them, would be a storm.
    """
    ports: dict[str, dict[str, str]] = {}
    if scenario.topology != "graph" and len(hosts) <= MOST_LEARNED_HOSTS:
        return ports
    for flow in scenario.flows:
        left, right = hosts[f"h{flow.pair + 1}"], hosts[f"r{flow.pair + 1}"]
        for (here, there), hop in zip(pairwise(flow.switches), flow.route, strict=True):
            forward, back = link_ports(scenario, hop.link)
            out, into = (forward, back) if hop.forward else (back, forward)
            ports.setdefault(here, {})[right.mac] = out
            ports.setdefault(there, {})[left.mac] = into
        ports.setdefault(left.switch, {})[left.mac] = left.port
        ports.setdefault(right.switch, {})[right.mac] = right.port
    return ports


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
    switch = flow.switches[0 if side == "h" else -1]
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
        name,
        None,
        link.rate_bps,
        queue_bytes,
        link.delay_us,
        toward_host,
        link.delay_us,
        from_host,
        ecn_threshold_bytes=scenario.ecn_threshold_bytes(link),
        wire=link.wire,
        discipline=_discipline(scenario, link),
    )


def _endpoints(hosts: dict[str, PlannedHost], flows: Sequence[Flow]) -> list[Endpoints]:
    """Ports count the flows of the scenario; where they are more than there are ports, those of each pair."""
    found = []
    of_pair: Counter[int] = Counter()
    for flow in flows:
        left, right = hosts[f"h{flow.pair + 1}"], hosts[f"r{flow.pair + 1}"]
        sender, receiver = (right, left) if flow.reverse else (left, right)
        offset = flow.number if len(flows) <= MAX_NUMBERED_PORTS else of_pair[flow.pair]
        of_pair[flow.pair] += 1
        sport, dport = FIRST_SOURCE_PORT + offset, FIRST_PORT + offset
        if flow.application is not None:  # only its server's port is settled
            sport, dport = (0, dport) if flow.application.put else (dport, 0)
        found.append(Endpoints(sender, receiver, sport, dport))
    return found


def embedded_cables(network: Network) -> list[Cable]:
    """The cables around one embedded switch process: its own links, and one cable per host."""
    return [
        *(Cable(ends) for ends in network.links),
        *(Cable((host.name, host.switch), (host.device, host.port)) for host in network.hosts),
    ]


def logs(scenario: Scenario, truth_log: str) -> dict[str, Any]:
    """What a clarion-switch process writes down; captures lie beside the truth log."""
    written: dict[str, Any] = {"truth_log": truth_log}
    if scenario.capture:
        written["capture"] = {"directory": str(Path(truth_log).with_name(CAPTURES))}
    return written


def switch_config(scenario: Scenario, network: Network, truth_log: str) -> dict[str, Any]:
    """The configuration of clarion-switch for the whole network."""
    return {
        "seed": scenario.seed,
        **logs(scenario, truth_log),
        "switches": [
            {"name": name, "ports": [_port_config(scenario, name, port) for port in ports]}
            | ({"forwarding": network.forwarding.get(name, {})} if network.forwarding else {})
            for name, ports in network.switches.items()
        ],
    }


def wire_to(neighbour: str, wire: str, scenario: Scenario) -> str:
    """The setting `wire` of a port or host whose link leads to switch `neighbour`.

    A declaration needs a neighbour that numbers packets: others forward numbers stamped further upstream.
    """
    is_numbered = scenario.switches[neighbour].tagging
    return wire if is_numbered or wire != "declared" else "lldp"


def _port_config(scenario: Scenario, switch: str, port: PlannedPort) -> dict[str, Any]:
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
    if port.discipline:
        config["discipline"] = dict(port.discipline)
    if port.ecn_threshold_bytes:
        config["ecn_threshold_bytes"] = port.ecn_threshold_bytes
    if port.hazards:
        config["hazards"] = dict(port.hazards)
    xcp = scenario.xcp_of(switch, port.rate_bps)
    if xcp is not None:
        config["xcp"] = {"enabled": True, **xcp_json(xcp)}
    router = scenario.router_of(switch, port.rate_bps)
    if router is not None:
        config["router"] = router.switch_config()
    if scenario.switches[switch].tagging:
        config["tag"] = {"stamp": True, "check": True, "edge": port.peer is None}
        config["wire"] = wire_to(port.peer.split(":")[0], port.wire, scenario) if port.peer else port.wire
    return config
