# SPDX-License-Identifier: Apache-2.0
"""The links between the switches of a scenario, as its topology joins them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clarion_base.faults import Code, Path
from clarion_lab.scenario import graph
from clarion_lab.scenario.documents import Document
from clarion_lab.scenario.fields import below, refused
from clarion_lab.scenario.links import Link, parse_bottleneck


def bottleneck_path(document: Document, index: int) -> Path:
    """Where the document has a bottleneck: one stands by itself, several are a list."""
    is_list = isinstance(document["links"]["bottleneck"], list)
    return ("links", "bottleneck", index) if is_list else ("links", "bottleneck")


def parse_bottlenecks(document: Document, duration_us: int) -> tuple[Link, ...]:
    """Those of the topology; FaultError names the field."""
    topology, given = document["topology"], document["links"]["bottleneck"]
    if (topology != "dumbbell") != isinstance(given, list):
        wanted = "one link" if topology == "dumbbell" else "a list of links"
        raise refused(("links", "bottleneck"), f"topology {topology} takes {wanted}")
    entries: Sequence[Mapping[str, Any]] = given if isinstance(given, list) else [given]
    links = []
    for index, entry in enumerate(entries):
        with below(*bottleneck_path(document, index)):
            links.append(parse_bottleneck(entry, duration_us))
    if topology == "graph":
        with below("links", "bottleneck"):
            return _joined(entries, links)
    for index, entry in enumerate(entries):
        for key in ("between", "name"):
            if key in entry:
                raise refused((*bottleneck_path(document, index), key), "only with topology: graph")
    chained = zip(links, graph.chain(len(links)), strict=True)
    return tuple(
        replace(link, ends=ends, name=f"bottleneck {number}")
        for number, (link, ends) in enumerate(chained, start=1)
    )


def _joined(entries: Sequence[Mapping[str, Any]], links: Sequence[Link]) -> tuple[Link, ...]:
    """The links of a graph with the switches that they join."""
    all_ends: list[graph.Ends] = []
    names: list[str] = []
    for index, entry in enumerate(entries):
        with below(index):
            ends = _ends(entry)
            if {*ends} in ({*others} for others in all_ends):
                a, b = ends
                reason = f"there is a link between {a} and {b} already; put a switch into one of them"
                raise refused(("between",), reason, Code.ALREADY_EXISTS)
            all_ends.append(ends)
            names.append(_name(entry, ends, names))
    return tuple(
        replace(link, ends=ends, name=name) for link, ends, name in zip(links, all_ends, names, strict=True)
    )


def _name(entry: Mapping[str, Any], ends: graph.Ends, others: Sequence[str]) -> str:
    """What a link of a graph is called."""
    name: str = entry.get("name", f"link {ends[0]} {ends[1]}")
    if not name.isprintable():
        raise refused(("name",), "must be one line of printable characters")
    if name in others:
        raise refused(("name",), f'"{name}" given twice', Code.ALREADY_EXISTS)
    return name


def _ends(entry: Mapping[str, Any]) -> graph.Ends:
    """The two switches that a link of a graph joins."""
    if "between" not in entry:
        raise refused(("between",), "missing; name the two switches that the link joins", Code.MISSING)
    a, b = entry["between"]
    for index, name in enumerate((a, b)):
        try:
            graph.check_name(name)
        except ValueError as error:
            raise refused(("between", index), str(error)) from error
    if a == b:
        raise refused(("between",), f"joins {a} with itself")
    return a, b
