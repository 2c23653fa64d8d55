# SPDX-License-Identifier: Apache-2.0
"""A scenario as typed values: every quantity parsed, every flow listed, every limit checked."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from clarion_base import units
from clarion_base.faults import Fault, FaultError, Path, ScenarioError
from clarion_contract.checks import xcp_fault
from clarion_contract.settings import XCP, XcpSettings
from clarion_contract.settings_json import xcp_members
from clarion_lab.scenario import graph, orbit, traffic
from clarion_lab.scenario.algorithms import Algorithm, frame_bytes, lookup
from clarion_lab.scenario.disciplines import DEFAULT_LIMIT, Discipline, parse_queue
from clarion_lab.scenario.documents import Document
from clarion_lab.scenario.hazards import Hazards, parse_hazards
from clarion_lab.scenario.loss import LossModel, parse_loss
from clarion_lab.scenario.steps import Steps, delay_of, parse_steps, rate_of

DEFAULT_ALGORITHM = "xcp"
DEFAULT_ECN_SHARE = 0.5  # of a queue, above which it marks
MAX_RTT_US = 16_000_000  # the header's rtt is Q4.28 s
MAX_DOWN_US = 60_000_000  # of a switch that starts again
MIN_DEVICE_BPS = 64_000
MAX_PAIRS = 60_000  # of hosts, for which there are addresses
ARRIVAL_PAIRS = 20  # that transfers share unless the scenario says otherwise
LINK_KEYS = ("between", "name", "orbit")
BOTTLENECK_KEYS = ("rate-steps", "delay-steps", "loss-steps", "ecn-threshold", "hazards", *LINK_KEYS)
DROP_TAIL_QUEUE = Discipline()
T = TypeVar("T")


# The capacity of a port is its link's rate, or measured: `capacity` says which.
XCP_KEYS = {setting.key("-"): setting for name, setting in XCP.items() if name != "capacity_bps"}


@dataclass(frozen=True)
class Link:
    """A link, the same in both directions but for its errors. rate_bps 0: not shaped."""

    rate_bps: int  # and what XCP takes it to have
    delay_us: int
    queue: units.QueueLimit
    forward_loss: LossModel
    reverse_loss: LossModel
    rate_steps: Steps[int] = field(default_factory=Steps)
    delay_steps: Steps[int] = field(default_factory=Steps)
    loss_steps: Steps[tuple[LossModel, LossModel]] = field(default_factory=Steps)  # forward, reverse
    wire: str = "declared"  # or "lldp", "none"
    ecn_threshold: units.QueueLimit | None = None
    hazards: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # as written, by direction
    discipline: Discipline = DROP_TAIL_QUEUE  # of its queues
    ends: graph.Ends = ("s1", "s2")  # forward is from the first switch to the second
    name: str = "bottleneck 1"

    @property
    def changes(self) -> bool:
        """Whether it is not the same link from the beginning to the end."""
        return any(each.steps for each in (self.rate_steps, self.delay_steps, self.loss_steps))


@dataclass(frozen=True)
class DeviceLimit:
    """A sender's own device that is slower than the path, with a queue of its own."""

    rate_bps: int
    queue: units.QueueLimit


@dataclass(frozen=True)
class Restart:
    """A switch, or the controller if `switch` is None, that starts again."""

    at_us: int
    switch: str | None
    down_us: int


@dataclass(frozen=True)
class SwitchSettings:
    """What a switch is: with both false one that knows nothing of Clarion."""

    tagging: bool
    xcp: bool
    generation: int | None = None  # of its XCP; None: that of the scenario


@dataclass(frozen=True)
class Flow:
    """One TCP connection, or datagrams at a constant rate. `pair` is the host pair that it uses; its route
    leads from the left host to the right one, whatever the direction of its data.
    """

    number: int
    algorithm: Algorithm
    params: Mapping[str, str]
    start_us: int
    stop_us: int
    size_bytes: int | None
    reverse: bool
    pair: int
    switches: tuple[str, ...]  # on its route
    route: graph.Route
    tags: bool
    header: str
    device: DeviceLimit | None = None
    bursts: tuple[traffic.Burst, ...] = ()  # when its application writes; empty: from start to stop
    udp: traffic.Udp | None = None

    @property
    def uses_agent(self) -> bool:
        """Whether its hosts carry Clarion's shim."""
        return self.algorithm.needs_agent or self.tags

    @property
    def name(self) -> str:
        """What people call it: its number, from 1, and its algorithm."""
        return f"{self.number + 1} {'udp' if self.udp else self.algorithm.name}"


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

    def bottleneck_path(self, index: int) -> Path:
        """Where the document has a bottleneck."""
        is_list = isinstance(self.document["links"]["bottleneck"], list)
        return ("links", "bottleneck", index) if is_list else ("links", "bottleneck")

    def xcp_of(self, switch: str, rate_bps: int) -> XcpSettings | None:
        """The controllers of a switch's port of this rate; None: without XCP."""
        settings = self.switches[switch]
        if self.xcp is None or not rate_bps or not settings.xcp:
            return None
        capacity_bps = 0 if self.capacity == "measured" else rate_bps
        generation = settings.generation or self.xcp.generation
        return replace(self.xcp, capacity_bps=capacity_bps, generation=generation)

    def generations(self) -> Iterator[tuple[Path, int]]:
        """Of the XCP of all switches, each with where it is set."""
        if self.xcp is None:
            return
        if any(each.xcp and each.generation is None for each in self.switches.values()):
            yield ("xcp", "generation"), self.xcp.generation
        for name, each in self.switches.items():
            if each.xcp and each.generation is not None:
                yield ("switches", name, "generation"), each.generation

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

    def ecn_threshold_bytes(self, link: Link) -> int:
        """The queue above which a link's ports mark; 0: they do not."""
        if not self.ecn or not link.rate_bps or link.discipline:
            return 0
        if link.ecn_threshold is None:
            return int(DEFAULT_ECN_SHARE * self.queue_bytes(link))
        return self.limit_bytes(link.ecn_threshold, link.rate_bps)

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
        one_way_us = sum(link.delay_steps.at(link.delay_us, time_us) for link in self.links_of(flow))
        return 2 * (2 * self.access.delay_us + one_way_us)

    @cached_property
    def first_stop_us(self) -> int:
        """When the first flow stops."""
        return min(flow.stop_us for flow in self.flows)

    @cached_property
    def comes_and_goes(self) -> bool:
        """Whether a flow sends otherwise than from its start to its stop: no level to settle at."""
        return any(flow.size_bytes is not None or flow.bursts or flow.udp for flow in self.flows)

    @cached_property
    def max_rtt_us(self) -> int:
        """The longest path's empty round-trip time."""
        paths = {flow.route: flow for flow in self.flows}
        return max(self.path_rtt_us(flow) for flow in paths.values())

    def queue_bytes(self, link: Link) -> int:
        """A link's queue limit in bytes; one bdp is its rate times the longest path's empty round trip."""
        return self.limit_bytes(link.queue, link.rate_bps)

    def bdp_bytes(self, link: Link) -> float:
        """Rate times the longest path's empty round trip, in bytes."""
        return link.rate_bps / 8 * self.max_rtt_us / 1e6


class _Reader:
    """Parses fields and turns every ValueError into a ScenarioError that names the field."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.duration_us = 0

    def fail(self, path: Path, reason: str) -> ScenarioError:
        return ScenarioError(self.name, path, reason)

    def parse(self, parser: Callable[[Any], T], value: object, path: Path) -> T:
        try:
            return parser(value)
        except ValueError as error:
            raise self.fail(path, str(error)) from error

    def optional(
        self, parser: Callable[[Any], T], document: Mapping[str, Any], key: str, where: Path, default: T
    ) -> T:
        return self.parse(parser, document[key], (*where, key)) if key in document else default

    def bottlenecks(self, document: Document) -> tuple[Link, ...]:
        """The links between switches."""
        topology, given = document["topology"], document["links"]["bottleneck"]
        if (topology != "dumbbell") != isinstance(given, list):
            wanted = "one link" if topology == "dumbbell" else "a list of links"
            raise self.fail(("links", "bottleneck"), f"topology {topology} takes {wanted}")
        if not isinstance(given, list):
            given = [given]
        path: Path = ("links", "bottleneck")
        places: list[Path] = (
            [path] if topology == "dumbbell" else [(*path, index) for index in range(len(given))]
        )
        links = [self.link(each, place, True) for each, place in zip(given, places, strict=True)]
        if topology == "graph":
            return self._joined(given, places, links)
        for each, place in zip(given, places, strict=True):
            for key in ("between", "name"):
                if key in each:
                    raise self.fail((*place, key), "only with topology: graph")
        return tuple(
            replace(link, ends=ends, name=f"bottleneck {number}")
            for number, (link, ends) in enumerate(zip(links, graph.chain(len(links)), strict=True), start=1)
        )

    def _joined(
        self, given: Sequence[Mapping[str, Any]], places: Sequence[Path], links: Sequence[Link]
    ) -> tuple[Link, ...]:
        """The links of a graph with the switches that they join."""
        known: dict[frozenset[str], graph.Ends] = {}
        for each, place in zip(given, places, strict=True):
            if "between" not in each:
                raise self.fail((*place, "between"), "missing; name the two switches that the link joins")
            a, b = each["between"]
            for index, name in enumerate((a, b)):
                try:
                    graph.check_name(name)
                except ValueError as error:
                    raise self.fail((*place, "between", index), str(error)) from error
            if a == b:
                raise self.fail((*place, "between"), f"joins {a} with itself")
            if frozenset((a, b)) in known:
                reason = f"there is a link between {a} and {b} already; put a switch into one of them"
                raise self.fail((*place, "between"), reason)
            known[frozenset((a, b))] = (a, b)
        names: set[str] = set()
        for each, place in zip(given, places, strict=True):
            if each.get("name") in names:
                raise self.fail((*place, "name"), f'"{each["name"]}" given twice')
            names |= {each["name"]} if "name" in each else set()
        joined = zip(links, given, known.values(), strict=True)
        return tuple(
            replace(link, ends=ends, name=each.get("name", f"link {ends[0]} {ends[1]}"))
            for link, each, ends in joined
        )

    def link(self, document: Mapping[str, Any], path: Path, bottleneck: bool) -> Link:
        if "orbit" in document and bottleneck:
            document = self._in_orbit(document, path)
        if bottleneck and "rate" not in document:
            raise self.fail((*path, "rate"), "missing; a bottleneck needs a rate")
        if "rtt" in document and "delay" in document:
            raise self.fail((*path, "delay"), "given together with rtt; give one of them")
        rate_bps = self.optional(units.parse_rate, document, "rate", path, 0)
        if rate_bps == 0 and "rate" in document:
            raise self.fail((*path, "rate"), "must be above 0")
        rtt_us = self.optional(units.parse_time, document, "rtt", path, 0)
        delay_us = self.optional(units.parse_time, document, "delay", path, rtt_us // 2)
        if 2 * delay_us >= MAX_RTT_US:
            key = "delay" if "delay" in document else "rtt"
            bound = "8 s" if key == "delay" else "16 s"
            raise self.fail((*path, key), f"{document[key]}: must be below {bound}, what the header holds")
        queue, discipline = self._queue(document, path)
        if queue.unit == "bdp" and rate_bps == 0 and "queue" in document:
            raise self.fail((*path, "queue"), "in bdp needs a rate")
        if discipline and rate_bps == 0:
            raise self.fail((*path, "queue", "discipline"), "needs a rate: without, no packet waits")
        for key in () if bottleneck else BOTTLENECK_KEYS:
            if key in document:
                raise self.fail((*path, key), "only a bottleneck has it")
        losses = {
            direction: self._loss(document.get("loss", {}).get(direction), (*path, "loss", direction))
            for direction in ("forward", "reverse")
        }
        first = (losses["forward"], losses["reverse"])
        return Link(
            rate_bps,
            delay_us,
            queue,
            *first,
            self._steps(document, "rate-steps", path, rate_of),
            self._steps(document, "delay-steps", path, delay_of),
            self._steps(document, "loss-steps", path, _losses_after(first)),
            document.get("wire", "declared"),
            self.optional(units.parse_queue, document, "ecn-threshold", path, None),
            document.get("hazards", {}),
            discipline,
        )

    def _in_orbit(self, document: Mapping[str, Any], path: Path) -> dict[str, Any]:
        """A link with the delays of its orbit in place of it, and with the outages of its handovers."""
        for key in ("rtt", "delay", "delay-steps"):
            if key in document:
                raise self.fail((*path, key), "given together with orbit; leave it out")
        try:
            followed = orbit.follow(document["orbit"], self.duration_us)
        except FaultError as error:
            raise self.fail((*path, "orbit", *error.fault.path), error.fault.reason) from error
        (_, first_us), *later = followed.delays_us
        made = {key: value for key, value in document.items() if key != "orbit"} | {"delay": f"{first_us} us"}
        if later:
            steps = [{"at": f"{at_us} us", "delay": f"{delay_us} us"} for at_us, delay_us in later]
            made["delay-steps"] = steps
        if followed.outage_us and followed.handovers_us:
            hazards = document.get("hazards", {})
            for side in hazards:
                if "outages" in hazards[side]:
                    reason = "given together with orbit.handover-outage; give one of them"
                    raise self.fail((*path, "hazards", side, "outages"), reason)
            length = f"{followed.outage_us} us"
            outages = [{"at": f"{at_us} us", "for": length} for at_us in followed.handovers_us]
            made["hazards"] = {**hazards, "both": {**hazards.get("both", {}), "outages": outages}}
        return made

    def _queue(self, document: Mapping[str, Any], path: Path) -> tuple[units.QueueLimit, Discipline]:
        try:
            return parse_queue(document.get("queue", DEFAULT_LIMIT))
        except FaultError as error:
            raise self.fail((*path, "queue", *error.fault.path), error.fault.reason) from error

    def _steps(
        self, document: Mapping[str, Any], key: str, path: Path, value_of: Callable[[Mapping[str, Any]], T]
    ) -> Steps[T]:
        try:
            return parse_steps(document.get(key, ()), value_of)
        except FaultError as error:
            raise self.fail((*path, key, *error.fault.path), error.fault.reason) from error

    def restarts(self, document: Document, switches: Mapping[str, SwitchSettings]) -> tuple[Restart, ...]:
        found = []
        duration_us = units.parse_time(document["duration"])
        for index, entry in enumerate(document.get("restarts", ())):
            path: Path = ("restarts", index)
            if ("switch" in entry) == ("controller" in entry):
                raise self.fail((*path, "switch"), "give one of switch and controller")
            if entry.get("controller") is False:
                raise self.fail((*path, "controller"), "must be true")
            if "controller" in entry and "for" in entry:
                raise self.fail((*path, "for"), "a controller is back as soon as it has started")
            if "switch" in entry and entry["switch"] not in switches:
                raise self.fail((*path, "switch"), f'"{entry["switch"]}": use {", ".join(switches)}')
            at_us = self.parse(units.parse_time, entry["at"], (*path, "at"))
            if not 0 < at_us < duration_us:
                raise self.fail((*path, "at"), "must lie above 0 s and before duration")
            down_us = self.optional(units.parse_time, entry, "for", path, 0)
            if down_us > MAX_DOWN_US:
                raise self.fail((*path, "for"), "must be at most 60 s")
            found.append(Restart(at_us, entry.get("switch"), down_us))
        return tuple(found)

    def switches(self, document: Document, links: Sequence[Link]) -> dict[str, SwitchSettings]:
        names = graph.nodes([link.ends for link in links])
        given = document.get("switches", {})
        for name in given:
            if name not in names:
                raise self.fail(("switches", name), f"unknown switch; use {', '.join(names)}")
        default = {"tagging": document.get("tagging", True), "xcp": True}
        return {name: SwitchSettings(**{**default, **given.get(name, {})}) for name in names}

    def _loss(self, document: Mapping[str, Any] | None, path: Path) -> LossModel:
        try:
            return parse_loss(document)
        except FaultError as error:
            raise self.fail((*path, *error.fault.path), error.fault.reason) from error

    def xcp(self, document: Mapping[str, Any]) -> XcpSettings | None:
        given: dict[str, Any] = {"capacity_bps": XCP["capacity_bps"].most}
        for key, setting in XCP_KEYS.items():
            if key in document and setting.unit == "us":
                given[setting.name] = self.parse(units.parse_time, document[key], ("xcp", key))
            elif key in document:
                given[setting.name] = document[key]
        xcp = XcpSettings(**xcp_members(given))
        fault = xcp_fault(xcp, lambda setting: setting.key("-"))
        if fault is not None:
            raise self.fail(fault.below("xcp").path, fault.reason)
        return xcp if document.get("enabled", True) else None

    def flows(self, document: Document, links: Sequence[Link], duration_us: int) -> tuple[Flow, ...]:
        flows: list[Flow] = []
        pairs = 0
        for index, group in enumerate(document["flows"]):
            path: Path = ("flows", index)
            source = traffic.randomness(int(document.get("seed", 1)), index)
            try:
                made = self._group(document, group, path, links, duration_us, len(flows), pairs, source)
            except ScenarioError:
                raise
            except FaultError as error:
                raise self.fail((*path, *error.fault.path), error.fault.reason) from error
            if len(flows) + len(made) > traffic.MAX_FLOWS:
                raise self.fail(path, f"more than {traffic.MAX_FLOWS} flows in all")
            pairs = 1 + max((flow.pair for flow in made), default=pairs - 1)
            if pairs > MAX_PAIRS:
                raise self.fail((*path, "host-pairs"), f"{pairs} in all: at most {MAX_PAIRS}")
            flows.extend(made)
        if not flows:
            raise self.fail(("flows",), "no transfer comes; make duration or load larger")
        return tuple(flows)

    def _group(
        self,
        document: Document,
        group: Mapping[str, Any],
        path: Path,
        links: Sequence[Link],
        duration_us: int,
        first_number: int,
        first_pair: int,
        source: random.Random,
    ) -> list[Flow]:
        udp = traffic.parse_udp(group)
        named = group.get("algorithm", document.get("algorithm", DEFAULT_ALGORITHM))
        where = (*path, "algorithm") if "algorithm" in group else ("algorithm",)
        algorithm = self.parse(lookup, named, where)
        params = {**algorithm.params, **document.get("params", {}), **group.get("params", {})}
        if params and not algorithm.needs_agent and udp is None:
            raise self.fail((*path, "params"), f"{algorithm.name} is the kernel's and takes none")
        tags = udp is None and (
            algorithm.tags or (not algorithm.needs_agent and document.get("tag-plain-tcp", False))
        )
        header = (
            "none" if udp is not None else "TAG" if tags and algorithm.header == "none" else algorithm.header
        )
        count = int(group.get("count", 1))  # the schema lets 2.0 pass for 2
        start_us = self.optional(units.parse_time, group, "start", path, 0)
        stagger_us = self.optional(units.parse_time, group, "stagger", path, 0)
        stop_us = self.optional(units.parse_time, group, "stop", path, duration_us)
        way, route = self._route(document, group, path, links)
        if "size" in group and "stop" in group:
            raise self.fail((*path, "size"), "must be without stop")
        if "arrivals" in group:
            narrowest_bps = min(links[hop.link].rate_bps for hop in route)
            sources: list[tuple[int, int | None, tuple[traffic.Burst, ...]]] = [
                (at_us, size, ())
                for at_us, size in traffic.arrivals(group, start_us, duration_us, narrowest_bps, source)
            ]
            count = len(sources)
        else:
            sizes = traffic.parse_distribution(group, "size", "size") if "size" in group else None
            sources = [
                (
                    start_us + n * stagger_us,
                    None if sizes is None else sizes.draw(source),
                    traffic.bursts(group, start_us + n * stagger_us, stop_us, source),
                )
                for n in range(count)
            ]
        pairs = max(
            1, min(int(group.get("host-pairs", ARRIVAL_PAIRS if "arrivals" in group else count)), count)
        )
        if not start_us + (count - 1) * stagger_us < stop_us <= duration_us:
            raise self.fail((*path, "stop"), "must lie after the start of every flow and not after duration")
        device = self._device(group["local-bottleneck"], path) if "local-bottleneck" in group else None
        if device is not None and pairs < count:
            raise self.fail((*path, "host-pairs"), "with local-bottleneck every flow needs a host of its own")
        directions = {"forward": (False,), "reverse": (True,), "both": (False, True)}[
            group.get("direction", "forward")
        ]
        texts = {key: str(value) for key, value in params.items()}
        return [
            Flow(
                number=first_number + number,
                algorithm=algorithm,
                params=texts,
                start_us=begin_us,
                stop_us=stop_us,
                size_bytes=size,
                reverse=reverse,
                pair=first_pair + n % pairs,
                switches=tuple(way),
                route=route,
                tags=tags,
                header=header,
                device=device,
                bursts=turns,
                udp=udp,
            )
            for number, (reverse, n, (begin_us, size, turns)) in enumerate(
                (reverse, n, each) for reverse in directions for n, each in enumerate(sources)
            )
        ]

    def _route(
        self, document: Document, group: Mapping[str, Any], path: Path, links: Sequence[Link]
    ) -> tuple[list[str], graph.Route]:
        """The switches and links that a group of flows passes, from its left hosts to its right ones."""
        ends = [link.ends for link in links]
        if document["topology"] != "graph":
            for key in ("from", "to", "via"):
                if key in group:
                    raise self.fail((*path, key), "only with topology: graph")
            first, last = map(int, group.get("crosses", [1, len(links)]))
            if not 1 <= first <= last <= len(links):
                raise self.fail(
                    (*path, "crosses"), f"[{first}, {last}]: use first <= last, from 1 to {len(links)}"
                )
            way = graph.nodes(ends)[first - 1 : last + 1]
            return way, graph.route_along(ends, way)
        if "crosses" in group:
            raise self.fail((*path, "crosses"), "not with topology: graph; give from, to and via")
        for key in ("from", "to"):
            if key not in group:
                raise self.fail((*path, key), "missing; name a switch")
        via = group.get("via", ())
        known = graph.nodes(ends)
        for key, name in (("from", group["from"]), ("to", group["to"]), *(("via", name) for name in via)):
            if name not in known:
                raise self.fail((*path, key), f'"{name}": unknown switch; use {", ".join(known)}')
        try:
            delays_us = [link.delay_us for link in links]
            way = graph.find_way(ends, delays_us, [group["from"], *via, group["to"]])
            return way, graph.route_along(ends, way)
        except FaultError as error:
            raise self.fail((*path, "via" if "via" in group else "to"), error.fault.reason) from error

    def _device(self, document: Mapping[str, Any], group: Path) -> DeviceLimit:
        path = (*group, "local-bottleneck")
        rate_bps = self.parse(units.parse_rate, document["rate"], (*path, "rate"))
        if rate_bps < MIN_DEVICE_BPS:
            raise self.fail((*path, "rate"), "must be at least 64 kbit/s")
        queue = self.optional(units.parse_queue, document, "queue", path, units.QueueLimit(1, "bdp"))
        return DeviceLimit(rate_bps, queue)


def _losses_after(
    first: tuple[LossModel, LossModel],
) -> Callable[[Mapping[str, Any]], tuple[LossModel, LossModel]]:
    """Reads a step of losses; a direction that it does not name keeps what it has."""
    last = list(first)

    def read(entry: Mapping[str, Any]) -> tuple[LossModel, LossModel]:
        if "forward" not in entry and "reverse" not in entry:
            raise FaultError(Fault(("forward",), "give forward or reverse"))
        for index, direction in enumerate(("forward", "reverse")):
            if direction not in entry:
                continue
            try:
                last[index] = parse_loss(entry[direction])
            except FaultError as error:
                raise FaultError(error.fault.below(direction)) from error
        return last[0], last[1]

    return read


def build(name: str, document: Document) -> Scenario:
    """The scenario of a document that fits the schema; ScenarioError names the first semantic fault."""
    reader = _Reader(name)
    links = document["links"]
    duration_us = reader.parse(units.parse_time, document["duration"], ("duration",))
    reader.duration_us = duration_us
    bottlenecks = reader.bottlenecks(document)
    switches = reader.switches(document, bottlenecks)
    measure_from_us = reader.optional(units.parse_time, document, "measure-from", (), 0)
    if not measure_from_us < duration_us:
        raise reader.fail(("measure-from",), "must lie before duration")
    scenario = Scenario(
        name=name,
        description=" ".join(document["description"].split()),
        topology=document["topology"],
        access=reader.link(links.get("access", {}), ("links", "access"), False),
        bottlenecks=bottlenecks,
        xcp=reader.xcp(document.get("xcp", {})),
        capacity=document.get("xcp", {}).get("capacity", "start"),
        tagging=document.get("tagging", True),
        ecn=document.get("ecn", False),
        switches=switches,
        restarts=reader.restarts(document, switches),
        flows=reader.flows(document, bottlenecks, duration_us),
        duration_us=duration_us,
        measure_from_us=measure_from_us,
        seed=int(document.get("seed", 1)),
        expect=tuple(document.get("expect", ())),
        document=document,
    )
    if scenario.max_rtt_us >= MAX_RTT_US:
        rtt_s = scenario.max_rtt_us / 1e6
        raise reader.fail(
            ("links",), f"a path has an RTT of {rtt_s:g} s: must be below 16 s, what the header holds"
        )
    _check_hosts(reader, scenario)
    _check_steps(reader, scenario)
    _check_marks(reader, scenario)
    _check_hazards(reader, scenario)
    return scenario


def _check_hosts(reader: _Reader, scenario: Scenario) -> None:
    """A host has one default sender and one set of parameters, so the flows of a pair must agree."""
    kinds: dict[int, tuple[str, bool, tuple[tuple[str, str], ...]]] = {}
    for flow in scenario.flows:
        if flow.udp is not None:
            continue
        kind = (flow.algorithm.name, flow.tags, tuple(sorted(flow.params.items())))
        if kinds.setdefault(flow.pair, kind) != kind:
            raise reader.fail(("flows",), "the flows of one host pair must share algorithm and params")


def _check_steps(reader: _Reader, scenario: Scenario) -> None:
    for index, link in enumerate(scenario.bottlenecks):
        all_steps: dict[str, Steps[Any]] = {
            "rate-steps": link.rate_steps,
            "delay-steps": link.delay_steps,
            "loss-steps": link.loss_steps,
        }
        for key, steps in all_steps.items():
            late = [n for n, (at_us, _) in enumerate(steps.steps) if at_us >= scenario.duration_us]
            if late:
                place = scenario.bottleneck_path(index)
                raise reader.fail((*place, key, late[0], "at"), "must lie before duration")


def _check_marks(reader: _Reader, scenario: Scenario) -> None:
    for index, link in enumerate(scenario.bottlenecks):
        place = (*scenario.bottleneck_path(index), "ecn-threshold")
        if link.ecn_threshold is not None and not scenario.ecn:
            raise reader.fail(place, "only with ecn: true")
        if link.ecn_threshold is not None and link.discipline:
            raise reader.fail(place, f"{link.discipline.name} decides when it marks; leave it out")
        if scenario.ecn_threshold_bytes(link) >= scenario.queue_bytes(link) and scenario.ecn:
            raise reader.fail(place, "must be below the queue's limit, or it never marks")


def _check_hazards(reader: _Reader, scenario: Scenario) -> None:
    for index, link in enumerate(scenario.bottlenecks):
        for direction in ("forward", "reverse"):
            try:
                scenario.hazards_of(link, direction)
            except FaultError as error:
                key = str(error.fault.path[0])
                written = direction if key in link.hazards.get(direction, {}) else "both"
                place = (*scenario.bottleneck_path(index), "hazards", written, *error.fault.path)
                raise reader.fail(place, error.fault.reason) from error
