# SPDX-License-Identifier: Apache-2.0
"""A scenario as typed values: every quantity parsed, every flow listed, every limit checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from clarion_base import units
from clarion_base.faults import Code, FaultError, Path, ScenarioError
from clarion_contract.settings import XcpSettings
from clarion_lab.scenario import graph, quantities
from clarion_lab.scenario.applications import BULK
from clarion_lab.scenario.bottlenecks import bottleneck_path, parse_bottlenecks
from clarion_lab.scenario.documents import Document
from clarion_lab.scenario.fields import below, optional, parsed, refused
from clarion_lab.scenario.flows import Flow, parse_flows
from clarion_lab.scenario.frames import frame_bytes
from clarion_lab.scenario.hazards import Hazards, parse_hazards
from clarion_lab.scenario.links import DIRECTIONS, MAX_RTT_US, Link, parse_access
from clarion_lab.scenario.proxy import ProxySettings, parse_proxy
from clarion_lab.scenario.routers import MARKING, RouterLaw, parse_router
from clarion_lab.scenario.steps import Steps
from clarion_lab.scenario.switches import (
    Restart,
    SwitchSettings,
    parse_restarts,
    parse_switches,
    parse_xcp,
)

DEFAULT_ECN_SHARE = 0.5  # of a queue, above which it marks


@dataclass(frozen=True)
class Scenario:
    """A whole experiment at one point of its sweep."""

    name: str
    description: str
    topology: str
    access: Link
    bottlenecks: tuple[Link, ...]
    xcp: XcpSettings | None  # of every shaped port, but for its capacity
    capacity: (
        str  # that ports hand out: the link's rate of the "start", "told" with every step, or "measured"
    )
    router: RouterLaw | None  # of every shaped port, in place of XCP
    tagging: bool
    ecn: bool
    switches: Mapping[str, SwitchSettings]
    restarts: tuple[Restart, ...]
    flows: tuple[Flow, ...]
    duration_us: int
    measure_from_us: int
    seed: int
    expect: tuple[Mapping[str, Any], ...]
    document: Document
    proxy: ProxySettings | None = None  # between the applications and the path
    capture: bool = False  # of every packet on every link
    tunnel: str = ""  # under the applications: "openvpn"; empty: none
    tuned: bool = True  # whether the hosts' buffers hold no flow back; else they are as Linux has them

    def bottleneck_path(self, index: int) -> Path:
        """Where the document has a bottleneck."""
        return bottleneck_path(self.document, index)

    def xcp_of(self, switch: str, rate_bps: int) -> XcpSettings | None:
        """The controllers of a switch's port of this rate; None: without XCP."""
        settings = self.switches[switch]
        if self.xcp is None or not rate_bps or not settings.xcp:
            return None
        capacity_bps = 0 if self.capacity == "measured" else rate_bps
        generation = settings.generation or self.xcp.generation
        return replace(self.xcp, capacity_bps=capacity_bps, generation=generation)

    def router_of(self, switch: str, rate_bps: int) -> RouterLaw | None:
        """What a switch's port of this rate does for a protocol with routers of its own; None: nothing."""
        if self.router is None or not rate_bps:
            return None
        return self.router if self.switches[switch].router else self.router.of_others()

    def hazards_of(self, link: Link, direction: str) -> Hazards:
        """What a link does in a direction, "forward" or "reverse", that is not a wire."""
        document = {**link.hazards.get("both", {}), **link.hazards.get(direction, {})}
        return parse_hazards(document, self.limit_bytes, self.duration_us)

    def limit_bytes(self, limit: units.QueueLimit, rate_bps: int) -> int:
        """A queue limit in bytes at a rate; one bdp is that rate times the longest empty round trip."""
        packet = self._packet_bytes
        return max(limit.in_bytes(rate_bps / 8 * self.max_rtt_us / 1e6, packet), packet)

    @cached_property
    def _packet_bytes(self) -> int:
        """The largest frame of data."""
        return max(frame_bytes(flow.header) for flow in self.flows)

    def ecn_threshold_bytes(self, link: Link, direction: str = "forward") -> int:
        """The queue above which a link's port in a direction marks; 0: it does not."""
        if not self.ecn or not link.rate_bps or link.discipline:
            return 0
        if link.ecn_threshold is None:
            return int(DEFAULT_ECN_SHARE * self.queue_bytes(link, direction))
        return self.limit_bytes(link.ecn_threshold, link.rate_of(direction))

    def emulated_only(self) -> Path | None:
        """The first field that only the embedded switch and the simulated block carry out; None: none."""
        if self.ecn:
            return ("ecn",)
        if self.restarts:
            return ("restarts",)
        if "switches" in self.document:
            return ("switches",)
        for index in range(len(self.bottlenecks)):
            for key in ("rate-steps", "delay-steps", "loss-steps", "hazards"):
                given = self.document["links"]["bottleneck"]
                if key in (given[index] if isinstance(given, list) else given):
                    return (*self.bottleneck_path(index), key)
            if self.bottlenecks[index].is_asymmetric:
                key = "delay" if self.bottlenecks[index].reverse_rate_bps is None else "rate"
                return (*self.bottleneck_path(index), key)
            if self.bottlenecks[index].changes:  # which is the doing of its satellites
                return (*self.bottleneck_path(index), "orbit")
        return None

    def disciplines(self) -> Iterator[Path]:
        """Where a queue has a discipline other than drop-tail."""
        if self.access.discipline:
            yield ("links", "access", "queue", "discipline")
        for index, link in enumerate(self.bottlenecks):
            if link.discipline:
                yield (*self.bottleneck_path(index), "queue", "discipline")

    def links_of(self, flow: Flow) -> list[Link]:
        """The links on a flow's route."""
        return [self.bottlenecks[hop.link] for hop in flow.route]

    def path_rtt_us(self, flow: Flow, time_us: int = 0) -> int:
        """A flow's round-trip time with empty queues at an instant of the run: both access links and the
        bottlenecks that it crosses.
        """
        return 4 * self.access.delay_us + sum(link.rtt_us(time_us) for link in self.links_of(flow))

    def narrowest_bps(self, flow: Flow) -> int:
        """The rate of the slowest link on the way of a flow's data."""
        return min(self.bottlenecks[hop.link].rate_of(flow.direction_over(hop)) for hop in flow.route)

    @cached_property
    def first_stop_us(self) -> int:
        """When the first flow stops."""
        return min(flow.stop_us for flow in self.flows)

    @cached_property
    def comes_and_goes(self) -> bool:
        """Whether a flow sends otherwise than from its start to its stop: no level to settle at."""
        return any(flow.size_bytes is not None or flow.bursts or flow.udp for flow in self.flows)

    @property
    def real_hosts_only(self) -> Path | None:
        """The first field that only real hosts carry out; None: none."""
        if self.proxy is not None:
            return ("proxy",)
        if self.tunnel:
            return ("tunnel",)
        if not self.tuned:
            return ("hosts",)
        for index, group in enumerate(self.document["flows"]):
            if group.get("application", BULK) != BULK:
                return ("flows", index, "application")
            if group.get("shim") == "sender":
                return ("flows", index, "shim")
        return None

    @cached_property
    def max_rtt_us(self) -> int:
        """The longest path's empty round-trip time."""
        paths = {flow.route: flow for flow in self.flows}
        return max(self.path_rtt_us(flow) for flow in paths.values())

    def queue_bytes(self, link: Link, direction: str = "forward") -> int:
        """The limit in bytes of a link's queue in a direction, in which a full frame always fits; one bdp is
        the rate in that direction times the longest path's empty round trip.
        """
        return max(quantities.MIN_QUEUE_BYTES, self.limit_bytes(link.queue, link.rate_of(direction)))

    def bdp_bytes(self, link: Link) -> float:
        """The rate of the faster direction times the longest path's empty round trip, in bytes."""
        return link.fastest_bps / 8 * self.max_rtt_us / 1e6


def build(name: str, document: Document) -> Scenario:
    """The scenario of a document that fits the schema; ScenarioError names the first semantic fault."""
    try:
        scenario = _build(name, document)
        _check_rtt(scenario)
        _check_queues(scenario)
        _check_hosts(scenario)
        _check_steps(scenario)
        _check_marks(scenario)
        _check_hazards(scenario)
        _check_router(scenario)
        _check_proxy(scenario)
        _check_tunnel(scenario)
    except FaultError as error:
        raise ScenarioError(name, error.fault.path, error.fault.reason, error.fault.code) from error
    return scenario


def _build(name: str, document: Document) -> Scenario:
    links, xcp = document["links"], document.get("xcp", {})
    duration_us = parsed(document, "duration", quantities.parse_time)
    if duration_us == 0:
        raise refused(("duration",), "must be above 0 s", Code.OUT_OF_RANGE)
    bottlenecks = parse_bottlenecks(document, duration_us)
    names = graph.nodes([link.ends for link in bottlenecks])
    switches = parse_switches(document, names)
    measure_from_us = optional(document, "measure-from", quantities.parse_time, 0)
    if not measure_from_us < duration_us:
        raise refused(("measure-from",), "must lie before duration", Code.OUT_OF_RANGE)
    with below("links", "access"):
        access = parse_access(links.get("access", {}))
    with below("xcp"):
        controllers = parse_xcp(xcp)
    with below("router"):
        router = parse_router(document["router"]) if "router" in document else None
    return Scenario(
        name=name,
        description=" ".join(document["description"].split()),
        topology=document["topology"],
        access=access,
        bottlenecks=bottlenecks,
        xcp=None if router else controllers,
        capacity=xcp.get("capacity", "start"),
        router=router,
        tagging=document.get("tagging", True),
        ecn=document.get("ecn", False),
        switches=switches,
        restarts=parse_restarts(document, names, duration_us),
        flows=parse_flows(document, bottlenecks, duration_us),
        duration_us=duration_us,
        measure_from_us=measure_from_us,
        seed=int(document.get("seed", 1)),
        expect=tuple(document.get("expect", ())),
        document=document,
        proxy=parse_proxy(document["proxy"]) if "proxy" in document else None,
        capture=document.get("capture", False),
        tunnel="" if (tunnel := document.get("tunnel", "none")) == "none" else tunnel,
        tuned=document.get("hosts", "tuned") == "tuned",
    )


def _check_rtt(scenario: Scenario) -> None:
    if scenario.max_rtt_us >= MAX_RTT_US:
        rtt_s = scenario.max_rtt_us / 1e6
        reason = f"a path has an RTT of {rtt_s:g} s: must be below 16 s, what the header holds"
        raise refused(("links",), reason, Code.OUT_OF_RANGE)


def _check_queues(scenario: Scenario) -> None:
    bottlenecks = ((scenario.bottleneck_path(n), link) for n, link in enumerate(scenario.bottlenecks))
    for path, link in ((("links", "access"), scenario.access), *bottlenecks):
        if not link.rate_bps:
            continue
        with below(*path, "queue"):
            for direction in DIRECTIONS:
                size = scenario.queue_bytes(link, direction)
                if size > quantities.MAX_QUEUE_BYTES:
                    raise refused((), f"{size} bytes: must be at most 2 GiB", Code.OUT_OF_RANGE)
                limit_of = partial(scenario.limit_bytes, rate_bps=link.rate_of(direction))
                link.discipline.check_thresholds(limit_of, size)


def _check_hosts(scenario: Scenario) -> None:
    """A host has one default sender and one set of parameters, so the flows of a pair must agree."""
    kinds: dict[int, tuple[str, bool, tuple[tuple[str, str], ...]]] = {}
    for flow in scenario.flows:
        if flow.udp is not None:
            continue
        kind = (flow.algorithm.name, flow.tags, tuple(sorted(flow.params.items())))
        if kinds.setdefault(flow.pair, kind) != kind:
            raise refused(("flows",), "the flows of one host pair must share algorithm and params")


def _check_steps(scenario: Scenario) -> None:
    for index, link in enumerate(scenario.bottlenecks):
        all_steps: dict[str, Steps[Any]] = {
            "rate-steps": link.rate_steps,
            "delay-steps": link.delay_steps,
            "loss-steps": link.loss_steps,
        }
        for key, steps in all_steps.items():
            late = [n for n, (at_us, _) in enumerate(steps.steps) if at_us >= scenario.duration_us]
            if late:
                place = (*scenario.bottleneck_path(index), key, late[0], "at")
                raise refused(place, "must lie before duration", Code.OUT_OF_RANGE)


def _check_marks(scenario: Scenario) -> None:
    for flow in scenario.flows:
        if flow.udp is None and flow.algorithm.counts_marks and not scenario.ecn:
            raise refused(("ecn",), f"{flow.algorithm.name} counts marks; set ecn: true", Code.CONFLICT)
    for index, link in enumerate(scenario.bottlenecks):
        place = (*scenario.bottleneck_path(index), "ecn-threshold")
        if link.ecn_threshold is not None and not scenario.ecn:
            raise refused(place, "only with ecn: true", Code.CONFLICT)
        if link.ecn_threshold is not None and link.discipline:
            raise refused(place, f"{link.discipline.name} decides when it marks; leave it out", Code.CONFLICT)
        sides = (
            (scenario.ecn_threshold_bytes(link, way), scenario.queue_bytes(link, way)) for way in DIRECTIONS
        )
        if scenario.ecn and any(threshold >= size for threshold, size in sides):
            raise refused(place, "must be below the queue's limit, or it never marks", Code.OUT_OF_RANGE)


def _check_router(scenario: Scenario) -> None:
    """A port has one explicit law, and a sender the routers that it is made for."""
    router = scenario.router
    for flow in scenario.flows:
        wanted = flow.algorithm.router
        if flow.udp is None and wanted is not None and (router is None or router.name != wanted):
            reason = f"{flow.algorithm.name}: needs routers of its own; set router: {{law: {wanted}}}"
            raise refused(("router",), reason, Code.CONFLICT)
    if router is None:
        return
    if scenario.document.get("xcp", {}).get("enabled", False):
        reason = f"a port has one explicit law, and router.law is {router.name}; leave one of them out"
        raise refused(("xcp", "enabled"), reason, Code.CONFLICT)
    if scenario.ecn and router.name in MARKING:
        reason = f"router.law {router.name} has the bits that queues would mark; leave it out"
        raise refused(("ecn",), reason, Code.CONFLICT)


def _check_proxy(scenario: Scenario) -> None:
    """Proxies stand between TCP connections and the path, and have laws of their own there."""
    if scenario.proxy is None:
        return
    for flow in scenario.flows:
        if flow.udp is not None:
            raise refused(("proxy",), "takes TCP only; leave the flows with protocol: udp out", Code.CONFLICT)
        if flow.uses_agent:
            sender = f"{flow.algorithm.name}{'' if flow.algorithm.needs_agent else ' with tags'}"
            reason = f"its law is what crosses the path, so {sender} has no effect; use cubic, reno or bbr"
            raise refused(("proxy",), reason, Code.CONFLICT)


def _check_tunnel(scenario: Scenario) -> None:
    """Applications can be told the addresses inside a tunnel, and no header is on packets in there."""
    if not scenario.tunnel:
        return
    if scenario.proxy is not None:
        raise refused(("tunnel",), "not together with proxy; give one of them", Code.CONFLICT)
    for flow in scenario.flows:
        if flow.application is None:
            raise refused(("tunnel",), "carries applications only; set application: ftp", Code.CONFLICT)
        if flow.header != "none":
            reason = f"hides what {flow.algorithm.name} would hear of switches; use a law without header"
            raise refused(("tunnel",), reason, Code.CONFLICT)


def _check_hazards(scenario: Scenario) -> None:
    for index, link in enumerate(scenario.bottlenecks):
        for direction in DIRECTIONS:
            try:
                scenario.hazards_of(link, direction)
            except FaultError as error:
                written = direction if error.fault.path[0] in link.hazards.get(direction, {}) else "both"
                fault = error.fault.below(*scenario.bottleneck_path(index), "hazards", written)
                raise FaultError(fault) from error
