# SPDX-License-Identifier: Apache-2.0
"""The flows of a scenario, one by one: who sends what, when, and on which way."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clarion_base import units
from clarion_base.faults import Code, FaultError
from clarion_lab.scenario import graph, quantities, traffic
from clarion_lab.scenario.algorithms import DEFAULT, Algorithm, lookup
from clarion_lab.scenario.applications import Application, parse_application
from clarion_lab.scenario.documents import Document
from clarion_lab.scenario.fields import below, optional, parsed, refused
from clarion_lab.scenario.links import Link

MIN_DEVICE_BPS = 64_000
MAX_PAIRS = 60_000  # of hosts, for which there are addresses
ARRIVAL_PAIRS = 20  # that transfers share unless the scenario says otherwise
IS_REVERSE = {"forward": (False,), "reverse": (True,), "both": (False, True)}


@dataclass(frozen=True)
class DeviceLimit:
    """A sender's own device that is slower than the path, with a queue of its own."""

    rate_bps: int
    queue: units.QueueLimit


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
    application: Application | None = None  # that moves a file of `size_bytes`
    one_sided: bool = False  # only its sender's host carries the shim

    @property
    def uses_agent(self) -> bool:
        """Whether its hosts carry Clarion's shim."""
        return self.udp is None and (self.algorithm.needs_agent or self.tags)

    def direction_over(self, hop: graph.Hop) -> str:
        """In which direction of a link of its route its data goes, "forward" or "reverse"."""
        return "forward" if hop.forward != self.reverse else "reverse"

    @property
    def name(self) -> str:
        """What people call it: its number, from 1, and its algorithm."""
        if self.udp:
            return f"{self.number + 1} udp"
        words = [f"{self.number + 1}", *([self.application.name] if self.application else [])]
        return " ".join([*words, self.algorithm.name])


@dataclass(frozen=True)
class _Sender:
    """What all flows of a group have in common: who sends."""

    algorithm: Algorithm
    params: Mapping[str, str]
    tags: bool
    header: str
    udp: traffic.Udp | None


@dataclass(frozen=True)
class _Source:
    """When one flow of a group sends, and how much of it."""

    start_us: int
    size_bytes: int | None = None
    bursts: tuple[traffic.Burst, ...] = ()


def parse_flows(document: Document, links: Sequence[Link], duration_us: int) -> tuple[Flow, ...]:
    """All flows of all groups, numbered in their order. FaultError names the field."""
    default = optional(document, "algorithm", lookup, lookup(DEFAULT))
    flows: list[Flow] = []
    pairs = 0
    for index, group in enumerate(document["flows"]):
        drawn = traffic.randomness(int(document.get("seed", 1)), index)
        sender = _sender(document, group, index, default)
        with below("flows", index):
            made = _group(document, group, sender, links, duration_us, (len(flows), pairs), drawn)
            if len(flows) + len(made) > traffic.MAX_FLOWS:
                raise refused((), f"more than {traffic.MAX_FLOWS} flows in all", Code.OUT_OF_RANGE)
            pairs = 1 + max((flow.pair for flow in made), default=pairs - 1)
            if pairs > MAX_PAIRS:
                raise refused(("host-pairs",), f"{pairs} in all: at most {MAX_PAIRS}", Code.OUT_OF_RANGE)
        flows.extend(made)
    if not flows:
        raise refused(("flows",), "no transfer comes; make duration or load larger")
    return tuple(flows)


def _sender(document: Document, group: Mapping[str, Any], index: int, default: Algorithm) -> _Sender:
    with below("flows", index):
        udp = traffic.parse_udp(group)
        algorithm = optional(group, "algorithm", lookup, default)
    params = {**algorithm.params, **document.get("params", {}), **group.get("params", {})}
    texts = {key: str(value) for key, value in params.items()}
    if udp is not None:
        return _Sender(algorithm, texts, False, "none", udp)
    if params and not (algorithm.needs_agent or algorithm.only_simulated):
        place = ("flows", index, "params") if group.get("params") else ("params",)
        raise refused(place, f"{algorithm.name} is the kernel's and takes none", Code.CONFLICT)
    tags = algorithm.tags or (algorithm.is_plain_tcp and document.get("tag-plain-tcp", False))
    header = "TAG" if tags and algorithm.header == "none" else algorithm.header
    return _Sender(algorithm, texts, tags, header, None)


def _group(
    document: Document,
    group: Mapping[str, Any],
    sender: _Sender,
    links: Sequence[Link],
    duration_us: int,
    first: tuple[int, int],
    drawn: random.Random,
) -> list[Flow]:
    """The flows of a group; `first` are the numbers of its first flow and host pair."""
    way, route = _route(document, group, links)
    stop_us = optional(group, "stop", quantities.parse_time, duration_us)
    if "size" in group and "stop" in group:
        raise refused(("size",), "must be without stop", Code.CONFLICT)
    narrowest_bps = _narrowest_bps(links, route, IS_REVERSE[group.get("direction", "forward")])
    sources = _sources(group, stop_us, narrowest_bps, drawn)
    _check_times(group, sources, stop_us, duration_us)
    count = len(sources)
    wanted = int(group.get("host-pairs", ARRIVAL_PAIRS if "arrivals" in group else count))
    pairs = max(1, min(wanted, count))
    device = _device(group)
    application = parse_application(group)
    one_sided = _is_one_sided(group, sender)
    if device is not None and pairs < count:
        raise refused(("host-pairs",), "with local-bottleneck every flow needs a host of its own")
    first_number, first_pair = first
    both = [(reverse, n) for reverse in IS_REVERSE[group.get("direction", "forward")] for n in range(count)]
    return [
        Flow(
            number=first_number + number,
            algorithm=sender.algorithm,
            params=sender.params,
            start_us=sources[n].start_us,
            stop_us=stop_us,
            size_bytes=sources[n].size_bytes,
            reverse=reverse,
            pair=first_pair + n % pairs,
            switches=tuple(way),
            route=route,
            tags=sender.tags,
            header=sender.header,
            device=device,
            bursts=sources[n].bursts,
            udp=sender.udp,
            application=application,
            one_sided=one_sided,
        )
        for number, (reverse, n) in enumerate(both)
    ]


def _narrowest_bps(links: Sequence[Link], route: graph.Route, ways: Sequence[bool]) -> int:
    """The slowest rate on a route; of both ways if data goes both."""
    return min(
        links[hop.link].rate_of("forward" if hop.forward != is_reverse else "reverse")
        for hop in route
        for is_reverse in ways
    )


def _check_times(
    group: Mapping[str, Any], sources: Sequence[_Source], stop_us: int, duration_us: int
) -> None:
    last_us = max((each.start_us for each in sources), default=-1)
    if last_us < stop_us <= duration_us:
        return
    if "stop" in group:
        reason = "must lie after the start of every flow and not after duration"
        raise refused(("stop",), reason, Code.OUT_OF_RANGE)
    key = "start" if sources[0].start_us >= duration_us else "stagger"
    raise refused((key,), "every flow must start before duration", Code.OUT_OF_RANGE)


def _sources(
    group: Mapping[str, Any], stop_us: int, narrowest_bps: int, drawn: random.Random
) -> list[_Source]:
    """Of the flows in one direction; the other direction has the same."""
    start_us = optional(group, "start", quantities.parse_time, 0)
    if "arrivals" in group:
        transfers = traffic.arrivals(group, start_us, stop_us, narrowest_bps, drawn)
        return [_Source(at_us, size) for at_us, size in transfers]
    stagger_us = optional(group, "stagger", quantities.parse_time, 0)
    sizes = traffic.parse_distribution(group, "size", "size") if "size" in group else None
    sources = []
    for n in range(int(group.get("count", 1))):  # the schema lets 2.0 pass for 2
        begin_us = start_us + n * stagger_us
        size = None if sizes is None else sizes.draw(drawn)
        sources.append(_Source(begin_us, size, traffic.bursts(group, begin_us, stop_us, drawn)))
    return sources


def _route(
    document: Document, group: Mapping[str, Any], links: Sequence[Link]
) -> tuple[list[str], graph.Route]:
    """The switches and links that a group of flows passes, from its left hosts to its right ones."""
    ends = [link.ends for link in links]
    way = _way_through_graph(group, links) if document["topology"] == "graph" else _way_along_row(group, ends)
    try:
        return way, graph.route_along(ends, way)
    except FaultError as error:  # neighbours of `via`, which names all
        raise refused(("via",), error.fault.reason, error.fault.code) from error


def _way_along_row(group: Mapping[str, Any], ends: Sequence[graph.Ends]) -> list[str]:
    for key in ("from", "to", "via"):
        if key in group:
            raise refused((key,), "only with topology: graph")
    first, last = map(int, group.get("crosses", [1, len(ends)]))
    if not 1 <= first <= last <= len(ends):
        raise refused(("crosses",), f"[{first}, {last}]: use first <= last, from 1 to {len(ends)}")
    return graph.nodes(ends)[first - 1 : last + 1]


def _way_through_graph(group: Mapping[str, Any], links: Sequence[Link]) -> list[str]:
    if "crosses" in group:
        raise refused(("crosses",), "not with topology: graph; give from, to and via")
    for key in ("from", "to"):
        if key not in group:
            raise refused((key,), "missing; name a switch", Code.MISSING)
    ends, via = [link.ends for link in links], group.get("via", ())
    known = graph.nodes(ends)
    for key, name in (("from", group["from"]), ("to", group["to"]), *(("via", name) for name in via)):
        if name not in known:
            raise refused((key,), f'"{name}": unknown switch; use {", ".join(known)}', Code.UNKNOWN)
    try:
        return graph.find_way(
            ends, [link.rtt_us() // 2 for link in links], [group["from"], *via, group["to"]]
        )
    except FaultError as error:
        raise refused(("via" if via else "to",), error.fault.reason, error.fault.code) from error


def _is_one_sided(group: Mapping[str, Any], sender: _Sender) -> bool:
    """Whether the receiver's host stays as it is."""
    if "shim" not in group:
        return False
    if sender.udp is not None or not (sender.algorithm.needs_agent or sender.tags):
        reason = f"{sender.algorithm.name} needs none at either end; leave it out"
        raise refused(("shim",), reason, Code.CONFLICT)
    return bool(group["shim"] == "sender")


def _device(group: Mapping[str, Any]) -> DeviceLimit | None:
    if "local-bottleneck" not in group:
        return None
    with below("local-bottleneck"):
        document = group["local-bottleneck"]
        rate_bps = parsed(document, "rate", quantities.parse_rate)
        if rate_bps < MIN_DEVICE_BPS:
            raise refused(("rate",), "must be at least 64 kbit/s", Code.OUT_OF_RANGE)
        return DeviceLimit(
            rate_bps, optional(document, "queue", quantities.parse_queue, units.QueueLimit(1, "bdp"))
        )
