# SPDX-License-Identifier: Apache-2.0
"""The switches of a scenario as a graph, and the ways through it."""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from clarion_base.faults import Code, Fault, FaultError

Ends = tuple[str, str]  # the switches that a link joins; forward is from the first to the second

_NODE = re.compile(
    r"[A-Za-z][A-Za-z0-9]{0,6}"
)  # with what a host's port adds it is a device name of the kernel
_HOST = re.compile(r"[hr][0-9]+")


@dataclass(frozen=True)
class Hop:
    """A link on a way, and whether it is passed forward."""

    link: int
    forward: bool


Route = tuple[Hop, ...]


def chain(count: int) -> tuple[Ends, ...]:
    """The links of a dumbbell or a parking lot, from left to right: s1 - s2 - ..."""
    return tuple((f"s{number}", f"s{number + 1}") for number in range(1, count + 1))


def check_name(name: str) -> None:
    """ValueError if a switch must not have that name."""
    if not _NODE.fullmatch(name):
        raise ValueError(f'"{name}": use up to 7 letters and digits, a letter first')
    if _HOST.fullmatch(name):
        raise ValueError(f'"{name}": hosts have such names; use another')


def nodes(links: Sequence[Ends]) -> list[str]:
    """The switches, in the order in which the links name them."""
    return list(dict.fromkeys(name for ends in links for name in ends))


def route_along(links: Sequence[Ends], way: Sequence[str]) -> Route:
    """The hops between neighbours of a way; FaultError where there is no link."""
    hops = []
    for here, there in pairwise(way):
        found = [
            Hop(index, ends == (here, there)) for index, ends in enumerate(links) if {*ends} == {here, there}
        ]
        if not found:
            raise FaultError(Fault((), f"there is no link between {here} and {there}", Code.NOT_FOUND))
        hops.append(found[0])
    return tuple(hops)


def quickest(links: Sequence[Ends], delays_us: Sequence[int], start: str, goal: str) -> list[str]:
    """The way of least delay, of several the one of fewest links, of these the first by its names (Dijkstra).
    FaultError if there is none.
    """
    neighbours: dict[str, list[tuple[str, int]]] = {}
    for (a, b), delay_us in zip(links, delays_us, strict=True):
        neighbours.setdefault(a, []).append((b, delay_us))
        neighbours.setdefault(b, []).append((a, delay_us))
    queue: list[tuple[int, int, list[str]]] = [(0, 0, [start])]
    reached: set[str] = set()
    while queue:
        delay_us, hops, way = heapq.heappop(queue)
        here = way[-1]
        if here == goal:
            return way
        if here in reached:
            continue
        reached.add(here)
        for there, more_us in neighbours.get(here, ()):
            if there not in reached:
                heapq.heappush(queue, (delay_us + more_us, hops + 1, [*way, there]))
    raise FaultError(Fault((), f"no way leads from {start} to {goal}", Code.NOT_FOUND))


def find_way(links: Sequence[Ends], delays_us: Sequence[int], way: Sequence[str]) -> list[str]:
    """The switches on a way: `way` itself if it says more than its ends, else the quickest between these.
    FaultError: there is none, or it would pass a switch twice.
    """
    if way[0] == way[-1]:
        raise FaultError(Fault((), f"begins and ends at {way[0]}; give two switches", Code.CONFLICT))
    twice = next((name for name in way if way.count(name) > 1), None)
    if twice is not None:
        raise FaultError(Fault((), f"{' - '.join(way)}: passes {twice} twice", Code.CONFLICT))
    return list(way) if len(way) > 2 else quickest(links, delays_us, *way)
