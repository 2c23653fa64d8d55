# SPDX-License-Identifier: Apache-2.0
"""What applications do, beyond sending from a start to a stop: bursts, transfers that come at random,
datagrams at a constant rate. Everything that is drawn is drawn here, from the scenario's seed, so that all
engines get the same.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clarion_base import units
from clarion_base.faults import Code, Fault, FaultError
from clarion_lab.scenario import quantities
from clarion_lab.scenario.fields import parsed

MAX_FLOWS = 200_000
MAX_BURSTS = 100_000
MIN_UDP_BPS = 1000
UDP_AND_IP_BYTES = 28
MAX_PACKET_BYTES = 1500
DEFAULT_SHAPE = 1.2  # of Pareto: web transfers (Crovella and Bestavros, 1997)

Burst = tuple[int, int]  # from and to, us of the run's clock


@dataclass(frozen=True)
class Udp:
    """Datagrams at a constant rate; both count IP packets."""

    rate_bps: int
    packet_bytes: int

    @property
    def payload_bytes(self) -> int:
        """Of each packet."""
        return self.packet_bytes - UDP_AND_IP_BYTES

    @property
    def packets_per_s(self) -> float:
        """How many there are."""
        return self.rate_bps / 8 / self.packet_bytes


@dataclass(frozen=True)
class Distribution:
    """A quantity above 0 that is drawn: "constant", "exponential" or "pareto"."""

    mean: int
    name: str = "constant"
    shape: float = DEFAULT_SHAPE  # of Pareto, above 1
    most: int | None = None  # what is drawn above that becomes that

    def draw(self, source: random.Random) -> int:
        """By inversion, so that a seed gives the same everywhere."""
        left = 1.0 - source.random()  # above 0, at most 1
        value = float(self.mean)
        if self.name == "exponential":
            value *= -math.log(left)
        elif self.name == "pareto":
            value *= (self.shape - 1) / self.shape * left ** (-1 / self.shape)
        drawn = max(1, round(value))
        return drawn if self.most is None else min(drawn, self.most)


def randomness(seed: int, group: int) -> random.Random:
    """The draws of a group of flows; other groups do not change them."""
    return random.Random(f"clarion flows {seed} {group}")


def parse_distribution(document: Mapping[str, Any], key: str, kind: str) -> Distribution:
    """A quantity, "time" or "size", that may be written as a distribution. FaultError names the key."""
    parser = quantities.parse_time if kind == "time" else quantities.parse_size
    value = document[key]
    if not isinstance(value, Mapping):
        return Distribution(_above_0(document, key, parser))
    name = value.get("distribution", "exponential")
    try:
        if "mean" not in value:
            raise FaultError(Fault(("mean",), "missing", Code.MISSING))
        mean = _above_0(value, "mean", parser)
        shape = float(value.get("shape", DEFAULT_SHAPE))
        if "shape" in value and name != "pareto":
            raise FaultError(Fault(("shape",), "only with distribution: pareto", Code.CONFLICT))
        if shape <= 1:
            raise FaultError(Fault(("shape",), "must be above 1, or there is no mean", Code.OUT_OF_RANGE))
        most = _above_0(value, "most", parser) if "most" in value else None
    except FaultError as error:
        raise FaultError(error.fault.below(key)) from error
    return Distribution(mean, name, shape, most)


def _above_0(document: Mapping[str, Any], key: str, parser: Any) -> int:
    value: int = parsed(document, key, parser)
    if value == 0:
        raise FaultError(Fault((key,), "must be above 0", Code.OUT_OF_RANGE))
    return value


def parse_udp(group: Mapping[str, Any]) -> Udp | None:
    """The datagrams of a group of flows; None: it is TCP. FaultError names the key."""
    if group.get("protocol", "tcp") == "tcp":
        for key in ("rate", "packet"):
            if key in group:
                raise FaultError(Fault((key,), "only with protocol: udp", Code.CONFLICT))
        return None
    for key in ("algorithm", "params", "size", "arrivals", "bursts", "local-bottleneck"):
        if key in group:
            raise FaultError(Fault((key,), "not with protocol: udp", Code.CONFLICT))
    if "rate" not in group:
        raise FaultError(Fault(("rate",), "missing; datagrams need a rate", Code.MISSING))
    rate_bps = parsed(group, "rate", quantities.parse_rate)
    if rate_bps < MIN_UDP_BPS:
        raise FaultError(Fault(("rate",), "must be at least 1 kbit/s", Code.OUT_OF_RANGE))
    packet_bytes = parsed({"packet": f"{MAX_PACKET_BYTES} B", **group}, "packet", quantities.parse_size)
    if not UDP_AND_IP_BYTES < packet_bytes <= MAX_PACKET_BYTES:
        reason = f"must lie from {UDP_AND_IP_BYTES + 1} to {MAX_PACKET_BYTES} bytes of IP packet"
        raise FaultError(Fault(("packet",), reason, Code.OUT_OF_RANGE))
    return Udp(rate_bps, packet_bytes)


def bursts(group: Mapping[str, Any], begin_us: int, end_us: int, source: random.Random) -> tuple[Burst, ...]:
    """The times in which one flow of a group sends; empty: all the time. FaultError names the key."""
    if "bursts" not in group:
        return ()
    if "size" in group:
        raise FaultError(Fault(("bursts",), "not with size", Code.CONFLICT))
    try:
        length, gap = (parse_distribution(group["bursts"], key, "time") for key in ("length", "gap"))
    except FaultError as error:
        raise FaultError(error.fault.below("bursts")) from error
    found: list[Burst] = []
    at_us = begin_us
    while at_us < end_us:
        until_us = min(at_us + length.draw(source), end_us)
        found.append((at_us, until_us))
        at_us = until_us + gap.draw(source)
        if len(found) > MAX_BURSTS:
            raise FaultError(Fault(("bursts",), f"more than {MAX_BURSTS}; make length or gap longer"))
    return tuple(found)


def arrivals(
    group: Mapping[str, Any], begin_us: int, end_us: int, rate_bps: int, source: random.Random
) -> Iterator[tuple[int, int]]:
    """Start (us) and size (bytes) of each transfer of a Poisson process. `rate_bps`: of the narrowest link
    that they cross, which `load` is a part of. FaultError names the key.
    """
    document = group["arrivals"]
    for key in ("count", "stagger", "stop", "bursts"):
        if key in group:
            raise FaultError(Fault((key,), "not with arrivals", Code.CONFLICT))
    if "size" not in group:
        raise FaultError(Fault(("size",), "missing; arrivals are transfers", Code.MISSING))
    size = parse_distribution(group, "size", "size")
    if begin_us >= end_us:
        raise FaultError(Fault(("start",), "must lie before duration", Code.OUT_OF_RANGE))
    try:
        distance_us = _distance_us(document, size, rate_bps)
        until_us = parsed(document, "until", quantities.parse_time) if "until" in document else end_us
        if not begin_us < until_us <= end_us:
            reason = "must lie after start and not after duration"
            raise FaultError(Fault(("until",), reason, Code.OUT_OF_RANGE))
    except FaultError as error:
        raise FaultError(error.fault.below("arrivals")) from error
    at_us = float(begin_us)
    for _ in range(MAX_FLOWS):
        at_us += -math.log(1.0 - source.random()) * distance_us
        if at_us >= until_us:
            return
        yield int(at_us), size.draw(source)
    raise FaultError(Fault(("arrivals",), f"more than {MAX_FLOWS} transfers; make them fewer"))


def _distance_us(document: Mapping[str, Any], size: Distribution, rate_bps: int) -> float:
    """The mean time between two transfers."""
    if ("every" in document) == ("load" in document):
        raise FaultError(Fault(("every",), "give one of every and load", Code.CONFLICT))
    if "every" in document:
        return float(_above_0(document, "every", quantities.parse_time))
    load = parsed(document, "load", units.parse_fraction)
    if load == 0:
        raise FaultError(Fault(("load",), "must be above 0", Code.OUT_OF_RANGE))
    return size.mean * 8e6 / (load * rate_bps)
