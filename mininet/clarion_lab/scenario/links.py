# SPDX-License-Identifier: Apache-2.0
"""A link: its rate, delay, queue and errors, and how they change during a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clarion_base import units
from clarion_base.faults import Code
from clarion_lab.scenario import graph, orbit, quantities
from clarion_lab.scenario.disciplines import DEFAULT_LIMIT, Discipline, parse_queue
from clarion_lab.scenario.fields import below, optional, parsed, refused
from clarion_lab.scenario.loss import LossModel, parse_loss
from clarion_lab.scenario.steps import Steps, delay_of, parse_steps, rate_of

MAX_RTT_US = 16_000_000  # the header's rtt is Q4.28 s
DIRECTIONS = ("forward", "reverse")
DROP_TAIL_QUEUE = Discipline()
# What an access link has not.
BOTTLENECK_KEYS = (
    "rate-steps",
    "delay-steps",
    "loss-steps",
    "ecn-threshold",
    "hazards",
    "between",
    "name",
    "orbit",
)


@dataclass(frozen=True)
class Link:
    """A link; what it has both ways unless it says otherwise is that of "forward". rate_bps 0: not shaped."""

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
    reverse_rate_bps: int | None = None  # None: as forward
    reverse_delay_us: int | None = None

    def rate_of(self, direction: str) -> int:
        """What it carries in a direction, "forward" or "reverse", bit/s."""
        is_own = direction == "reverse" and self.reverse_rate_bps is not None
        return self.reverse_rate_bps or 0 if is_own else self.rate_bps

    def delay_of(self, direction: str) -> int:
        """One way, in us."""
        is_own = direction == "reverse" and self.reverse_delay_us is not None
        return self.reverse_delay_us or 0 if is_own else self.delay_us

    @property
    def fastest_bps(self) -> int:
        """The larger of its two rates."""
        return max(map(self.rate_of, DIRECTIONS))

    @property
    def is_asymmetric(self) -> bool:
        """Whether it has a rate or a delay for each direction."""
        return self.reverse_rate_bps is not None or self.reverse_delay_us is not None

    def rtt_us(self, time_us: int = 0) -> int:
        """There and back at an instant of the run."""
        if self.delay_steps.steps:
            return 2 * self.delay_steps.at(self.delay_us, time_us)
        return sum(map(self.delay_of, DIRECTIONS))

    @property
    def changes(self) -> bool:
        """Whether it is not the same link from the beginning to the end."""
        return any(each.steps for each in (self.rate_steps, self.delay_steps, self.loss_steps))


def parse_access(document: Mapping[str, Any]) -> Link:
    """The link of each host to its switch. FaultError names the key."""
    for key in BOTTLENECK_KEYS:
        if key in document:
            raise refused((key,), "only a bottleneck has it")
    for key in ("rate", "delay"):
        if isinstance(document.get(key), Mapping):
            raise refused((key,), "of each direction only a bottleneck has; give one for both")
    return _parse_link(document)


def parse_bottleneck(document: Mapping[str, Any], duration_us: int) -> Link:
    """A link between two switches, not yet joined to them. FaultError names the key."""
    if "orbit" in document:
        document = _in_orbit(document, duration_us)
    if "rate" not in document:
        raise refused(("rate",), "missing; a bottleneck needs a rate", Code.MISSING)
    for key, steps in (("rate", "rate-steps"), ("delay", "delay-steps")):
        if isinstance(document.get(key), Mapping) and steps in document:
            reason = f"steps are of both directions; give one {key} for both, or leave them"
            raise refused((steps,), reason, Code.CONFLICT)
    return _parse_link(document)


def _parse_link(document: Mapping[str, Any]) -> Link:
    rate_bps, reverse_rate_bps = _both_ways(document, "rate", quantities.parse_rate)
    if "rate" in document and (rate_bps == 0 or reverse_rate_bps == 0):
        direction = ("forward" if rate_bps == 0 else "reverse",)
        is_own = isinstance(document["rate"], Mapping)
        raise refused(("rate", *(direction if is_own else ())), "must be above 0")
    delay_us, reverse_delay_us = _delays_us(document)
    queue, discipline = _queue(document, rate_bps)
    losses = _losses(document.get("loss", {}))
    return Link(
        rate_bps,
        delay_us,
        queue,
        *losses,
        _steps(document, "rate-steps", rate_of),
        _steps(document, "delay-steps", delay_of),
        _steps(document, "loss-steps", _losses_after(losses)),
        document.get("wire", "declared"),
        optional(document, "ecn-threshold", units.parse_queue, None),
        document.get("hazards", {}),
        discipline,
        reverse_rate_bps=reverse_rate_bps,
        reverse_delay_us=reverse_delay_us,
    )


def _both_ways(document: Mapping[str, Any], key: str, parser: Callable[[Any], int]) -> tuple[int, int | None]:
    """A value for both directions, 0 where it is not given, and that of reverse if it has one of its own."""
    given = document.get(key)
    if not isinstance(given, Mapping):
        return optional(document, key, parser, 0), None
    with below(key):
        for direction in DIRECTIONS:
            if direction not in given:
                raise refused((direction,), f"missing; give the {key} of both directions", Code.MISSING)
        forward, reverse = (parsed(given, direction, parser) for direction in DIRECTIONS)
    return forward, reverse


def _delays_us(document: Mapping[str, Any]) -> tuple[int, int | None]:
    """One way, and the other way if that has one of its own."""
    if "rtt" in document and "delay" in document:
        raise refused(("delay",), "given together with rtt; give one of them", Code.CONFLICT)
    if "delay" not in document:
        delay_us, reverse_us = optional(document, "rtt", quantities.parse_time, 0) // 2, None
    else:
        delay_us, reverse_us = _both_ways(document, "delay", quantities.parse_time)
    if max(delay_us, reverse_us or 0) * 2 >= MAX_RTT_US:
        key, bound = ("delay", "8 s") if "delay" in document else ("rtt", "16 s")
        shown = document[key]
        given = " and ".join(shown.values()) if isinstance(shown, Mapping) else shown
        raise refused((key,), f"{given}: must be below {bound}, what the header holds")
    return delay_us, reverse_us


def _queue(document: Mapping[str, Any], rate_bps: int) -> tuple[units.QueueLimit, Discipline]:
    with below("queue"):
        queue, discipline = parse_queue(document.get("queue", DEFAULT_LIMIT))
        if queue.unit == "bdp" and rate_bps == 0 and "queue" in document:
            raise refused((), "in bdp needs a rate")
        if discipline and rate_bps == 0:
            raise refused(("discipline",), "needs a rate: without, no packet waits")
    return queue, discipline


def _losses(document: Mapping[str, Any]) -> tuple[LossModel, LossModel]:
    """Of both directions, forward first."""
    models = []
    for direction in DIRECTIONS:
        with below("loss", direction):
            models.append(parse_loss(document.get(direction)))
    forward, reverse = models
    return forward, reverse


def _steps(document: Mapping[str, Any], key: str, value_of: Callable[[Mapping[str, Any]], Any]) -> Steps[Any]:
    with below(key):
        return parse_steps(document.get(key, ()), value_of)


def _losses_after(
    first: tuple[LossModel, LossModel],
) -> Callable[[Mapping[str, Any]], tuple[LossModel, LossModel]]:
    """Reads a step of losses; a direction that it does not name keeps what it has."""
    last = list(first)

    def read(entry: Mapping[str, Any]) -> tuple[LossModel, LossModel]:
        if not any(direction in entry for direction in DIRECTIONS):
            raise refused(("forward",), "give forward or reverse")
        for index, direction in enumerate(DIRECTIONS):
            if direction in entry:
                with below(direction):
                    last[index] = parse_loss(entry[direction])
        return last[0], last[1]

    return read


def _in_orbit(document: Mapping[str, Any], duration_us: int) -> dict[str, Any]:
    """A link with the delays of its orbit in place of it, and with the outages of its handovers."""
    for key in ("rtt", "delay", "delay-steps"):
        if key in document:
            raise refused((key,), "given together with orbit; leave it out", Code.CONFLICT)
    with below("orbit"):
        followed = orbit.follow(document["orbit"], duration_us)
    (_, first_us), *later = followed.delays_us
    made = {key: value for key, value in document.items() if key != "orbit"} | {"delay": f"{first_us} us"}
    if later:
        made["delay-steps"] = [{"at": f"{at_us} us", "delay": f"{delay_us} us"} for at_us, delay_us in later]
    if followed.outage_us and followed.handovers_us:
        made["hazards"] = _with_outages(document.get("hazards", {}), followed)
    return made


def _with_outages(hazards: Mapping[str, Mapping[str, Any]], followed: orbit.Pass) -> dict[str, Any]:
    for side in hazards:
        if "outages" in hazards[side]:
            reason = "given together with orbit.handover-outage; give one of them"
            raise refused(("hazards", side, "outages"), reason, Code.CONFLICT)
    length = f"{followed.outage_us} us"
    outages = [{"at": f"{at_us} us", "for": length} for at_us in followed.handovers_us]
    return {**hazards, "both": {**hazards.get("both", {}), "outages": outages}}
