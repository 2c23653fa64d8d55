# SPDX-License-Identifier: Apache-2.0
"""A scenario as typed values: every quantity parsed, every flow listed, every limit checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from clarion_base import units
from clarion_base.faults import FaultError, Path, ScenarioError
from clarion_contract.checks import xcp_fault
from clarion_contract.settings import XCP, XcpSettings
from clarion_contract.settings_json import xcp_members
from clarion_lab.scenario.algorithms import Algorithm, frame_bytes, lookup
from clarion_lab.scenario.documents import Document
from clarion_lab.scenario.loss import LossModel, parse_loss
from clarion_lab.scenario.rate_steps import RateSteps, parse_rate_steps

DEFAULT_ALGORITHM = "xcp"
MAX_RTT_US = 16_000_000  # the header's rtt is Q4.28 s
T = TypeVar("T")


# The capacity of a port is its link's rate.
XCP_KEYS = {setting.key("-"): setting for name, setting in XCP.items() if name != "capacity_bps"}


@dataclass(frozen=True)
class Link:
    """A link, the same in both directions but for its errors. rate_bps 0: not shaped."""

    rate_bps: int  # and what XCP takes it to have
    delay_us: int
    queue: units.QueueLimit
    forward_loss: LossModel
    reverse_loss: LossModel
    rate_steps: RateSteps = field(default_factory=RateSteps)


@dataclass(frozen=True)
class Flow:
    """One TCP connection. Bottlenecks are counted from 0; `pair` is the host pair that it uses."""

    number: int
    algorithm: Algorithm
    params: Mapping[str, str]
    start_us: int
    stop_us: int
    size_bytes: int | None
    reverse: bool
    pair: int
    first: int
    last: int
    tags: bool
    header: str

    @property
    def uses_agent(self) -> bool:
        """Whether its hosts carry Clarion's shim."""
        return self.algorithm.needs_agent or self.tags

    @property
    def name(self) -> str:
        """What people call it: its number, from 1, and its algorithm."""
        return f"{self.number + 1} {self.algorithm.name}"


@dataclass(frozen=True)
class Scenario:
    """A whole experiment at one point of its sweep."""

    name: str
    description: str
    topology: str
    access: Link
    bottlenecks: tuple[Link, ...]
    xcp: XcpSettings | None  # of every shaped port, but for its capacity
    tagging: bool
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

    def xcp_of(self, rate_bps: int) -> XcpSettings | None:
        """The controllers of a port of this rate; None: without XCP."""
        return replace(self.xcp, capacity_bps=rate_bps) if self.xcp and rate_bps else None

    def path_rtt_us(self, flow: Flow) -> int:
        """A flow's round-trip time with empty queues: both access links and the bottlenecks that it
        crosses.
        """
        crossed = self.bottlenecks[flow.first : flow.last + 1]
        return 2 * (2 * self.access.delay_us + sum(link.delay_us for link in crossed))

    @property
    def max_rtt_us(self) -> int:
        """The longest path's empty round-trip time."""
        return max(self.path_rtt_us(flow) for flow in self.flows)

    def queue_bytes(self, link: Link) -> int:
        """A link's queue limit in bytes; one bdp is its rate times the longest path's empty round trip."""
        packet = max(frame_bytes(flow.header) for flow in self.flows)
        return max(link.queue.in_bytes(link.rate_bps / 8 * self.max_rtt_us / 1e6, packet), packet)

    def bdp_bytes(self, link: Link) -> float:
        """Rate times the longest path's empty round trip, in bytes."""
        return link.rate_bps / 8 * self.max_rtt_us / 1e6


class _Reader:
    """Parses fields and turns every ValueError into a ScenarioError that names the field."""

    def __init__(self, name: str) -> None:
        self.name = name

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

    def link(self, document: Mapping[str, Any], path: Path, bottleneck: bool) -> Link:
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
        queue = self.optional(units.parse_queue, document, "queue", path, units.QueueLimit(1, "bdp"))
        if queue.unit == "bdp" and rate_bps == 0 and "queue" in document:
            raise self.fail((*path, "queue"), "in bdp needs a rate")
        steps = RateSteps()
        if "rate-steps" in document:
            if not bottleneck:
                raise self.fail((*path, "rate-steps"), "only a bottleneck may change its rate")
            steps = self._rate_steps(document["rate-steps"], (*path, "rate-steps"))
        losses = {
            direction: self._loss(document.get("loss", {}).get(direction), (*path, "loss", direction))
            for direction in ("forward", "reverse")
        }
        return Link(rate_bps, delay_us, queue, losses["forward"], losses["reverse"], steps)

    def _rate_steps(self, document: list[Mapping[str, Any]], path: Path) -> RateSteps:
        try:
            return parse_rate_steps(document)
        except FaultError as error:
            raise self.fail((*path, *error.fault.path), error.fault.reason) from error

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

    def flows(self, document: Document, bottlenecks: int, duration_us: int) -> tuple[Flow, ...]:
        flows: list[Flow] = []
        pairs = 0
        for index, group in enumerate(document["flows"]):
            made = self._group(document, group, ("flows", index), bottlenecks, duration_us, len(flows), pairs)
            pairs = 1 + max(flow.pair for flow in made)
            flows.extend(made)
        return tuple(flows)

    def _group(
        self,
        document: Document,
        group: Mapping[str, Any],
        path: Path,
        bottlenecks: int,
        duration_us: int,
        first_number: int,
        first_pair: int,
    ) -> list[Flow]:
        named = group.get("algorithm", document.get("algorithm", DEFAULT_ALGORITHM))
        where = (*path, "algorithm") if "algorithm" in group else ("algorithm",)
        algorithm = self.parse(lookup, named, where)
        params = {**algorithm.params, **document.get("params", {}), **group.get("params", {})}
        if params and not algorithm.needs_agent:
            raise self.fail((*path, "params"), f"{algorithm.name} is the kernel's and takes none")
        tags = algorithm.tags or (not algorithm.needs_agent and document.get("tag-plain-tcp", False))
        header = "TAG" if tags and algorithm.header == "none" else algorithm.header
        count = int(group.get("count", 1))  # the schema lets 2.0 pass for 2
        pairs = min(int(group.get("host-pairs", count)), count)
        start_us = self.optional(units.parse_time, group, "start", path, 0)
        stagger_us = self.optional(units.parse_time, group, "stagger", path, 0)
        stop_us = self.optional(units.parse_time, group, "stop", path, duration_us)
        size = self.parse(units.parse_size, group["size"], (*path, "size")) if "size" in group else None
        first, last = map(int, group.get("crosses", [1, bottlenecks]))
        if not 1 <= first <= last <= bottlenecks:
            raise self.fail(
                (*path, "crosses"), f"[{first}, {last}]: use first <= last, from 1 to {bottlenecks}"
            )
        if size is not None and ("stop" in group or size == 0):
            raise self.fail((*path, "size"), "must be above 0, and without stop")
        if not start_us + (count - 1) * stagger_us < stop_us <= duration_us:
            raise self.fail((*path, "stop"), "must lie after the start of every flow and not after duration")
        texts = {key: str(value) for key, value in params.items()}
        return [
            Flow(
                number=first_number + n,
                algorithm=algorithm,
                params=texts,
                start_us=start_us + n * stagger_us,
                stop_us=stop_us,
                size_bytes=size,
                reverse=group.get("direction") == "reverse",
                pair=first_pair + n % pairs,
                first=first - 1,
                last=last - 1,
                tags=tags,
                header=header,
            )
            for n in range(count)
        ]


def build(name: str, document: Document) -> Scenario:
    """The scenario of a document that fits the schema; ScenarioError names the first semantic fault."""
    reader = _Reader(name)
    links = document["links"]
    given = links["bottleneck"]
    if (document["topology"] == "parking-lot") != isinstance(given, list):
        wanted = "a list of links" if document["topology"] == "parking-lot" else "one link"
        raise reader.fail(("links", "bottleneck"), f"topology {document['topology']} takes {wanted}")
    if isinstance(given, list):
        numbered = enumerate(given)
        bottlenecks = tuple(reader.link(link, ("links", "bottleneck", i), True) for i, link in numbered)
    else:
        bottlenecks = (reader.link(given, ("links", "bottleneck"), True),)
    duration_us = reader.parse(units.parse_time, document["duration"], ("duration",))
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
        tagging=document.get("tagging", True),
        flows=reader.flows(document, len(bottlenecks), duration_us),
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
    return scenario


def _check_hosts(reader: _Reader, scenario: Scenario) -> None:
    """A host has one default sender and one set of parameters, so the flows of a pair must agree."""
    kinds: dict[int, tuple[str, bool, tuple[tuple[str, str], ...]]] = {}
    for flow in scenario.flows:
        kind = (flow.algorithm.kernel, flow.tags, tuple(sorted(flow.params.items())))
        if kinds.setdefault(flow.pair, kind) != kind:
            raise reader.fail(("flows",), "the flows of one host pair must share algorithm and params")


def _check_steps(reader: _Reader, scenario: Scenario) -> None:
    for index, link in enumerate(scenario.bottlenecks):
        late = [n for n, (at_us, _) in enumerate(link.rate_steps.steps) if at_us >= scenario.duration_us]
        if late:
            place = scenario.bottleneck_path(index)
            raise reader.fail((*place, "rate-steps", late[0], "at"), "must lie before duration")
