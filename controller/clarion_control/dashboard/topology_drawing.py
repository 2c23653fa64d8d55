# SPDX-License-Identifier: Apache-2.0
"""The topology as SVG: switches on an ellipse, what else they hear outside of it.

Places follow from the links alone, so that the drawing stands still while figures change.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from clarion_contract.neighbours import WireState
from clarion_control.dashboard import quantities
from clarion_control.dashboard.port_row import switch_address
from clarion_control.topology import LinkEnd, LinkFigures, WireLink

STATES: Mapping[WireState, tuple[str, str]] = {  # word and tone
    WireState.PROVEN: ("proven", "good"),
    WireState.DECLARED: ("declared", "plain"),
    WireState.UNPROVEN: ("unproven", "warn"),
    WireState.UNNUMBERED: ("unnumbered", "warn"),
    WireState.DISPROVED: ("disproved", "bad"),
}
COLOURS = {"good": "var(--good)", "plain": "var(--series-1)", "warn": "var(--warn)", "bad": "var(--bad)"}
THINNEST, THICKEST = 2.0, 8.0
WIDE, HIGH = 220.0, 130.0  # half the axes of the ellipse
OUTSIDE = 110.0  # from a switch to a neighbour outside
MARGIN = 70.0
BEND = 36.0  # of the second of two parallel links
NAME_LENGTH = 20
LINE_HEIGHT = 14
FAN = 0.5  # radians between two neighbours outside at the same switch

Node = tuple[str, bool]  # name, and whether it is a switch
Places = Mapping[Node, tuple[float, float]]


def words(link: WireLink) -> tuple[str, str]:
    """The state of a link as a word and a tone."""
    return ("conflict", "bad") if link.is_conflict else STATES[link.state]


def node(end: LinkEnd) -> Node:
    """The chassis of an end."""
    return (end.chassis_id, False) if end.switch is None else (end.switch, True)


def drawing(switches: Iterable[str], links: Sequence[WireLink]) -> str:
    """An svg element; switches without links are drawn, too. What neighbours call themselves is escaped."""
    placed = places([(name, True) for name in sorted(switches)], links)
    xs, ys = ([place[axis] for place in placed.values()] or [0.0] for axis in (0, 1))
    left, top = min(xs) - MARGIN, min(ys) - MARGIN
    width, height = max(xs) + MARGIN - left, max(ys) + MARGIN - top
    lines, labels = _links(links, placed)
    nodes = [_node(each, place) for each, place in placed.items()]
    return (
        f'<svg viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}" role="img" '
        f'aria-label="Switches, hosts and their links; the table below has all">'
        f"{''.join([*lines, *nodes, *labels])}</svg>"
    )


def places(switches: Sequence[Node], links: Sequence[WireLink]) -> Places:
    """Where each node is drawn. Linked switches stand beside each other as far as an ellipse allows."""
    placed: dict[Node, tuple[float, float]] = {}
    ring = _in_order_of_links(switches, links)
    angles = {each: 2 * math.pi * number / max(1, len(ring)) - math.pi for number, each in enumerate(ring)}
    wide, high = (WIDE, HIGH) if len(ring) > 1 else (0.0, 0.0)
    for each, angle in angles.items():
        placed[each] = wide * math.cos(angle), high * math.sin(angle)
    outside: dict[Node, list[Node]] = defaultdict(list)
    for link in links:
        near, far = (node(end) for end in link.ends)
        if not far[1] and far not in placed:
            placed[far] = (0.0, 0.0)
            outside[near].append(far)
    for near, strangers in outside.items():
        step = min(FAN, 2 * math.pi / len(strangers)) if len(ring) > 1 else 2 * math.pi / len(strangers)
        first = angles[near] - step * (len(strangers) - 1) / 2
        for number, far in enumerate(strangers):
            angle = first + step * number
            x, y = placed[near]
            placed[far] = x + OUTSIDE * math.cos(angle), y + OUTSIDE * math.sin(angle)
    return placed


def _in_order_of_links(switches: Sequence[Node], links: Sequence[WireLink]) -> list[Node]:
    """Depth first: a chain of switches comes out as it is."""
    beside: dict[Node, set[Node]] = defaultdict(set)
    for link in links:
        first, second = (node(end) for end in link.ends)
        beside[first].add(second)
        beside[second].add(first)
    ordered: list[Node] = []
    for start in sorted(switches, key=lambda each: (len(beside[each]), each)):
        waiting = [start]
        while waiting:
            each = waiting.pop()
            if each[1] and each not in ordered:
                ordered.append(each)
                waiting += sorted(beside[each], reverse=True)
    return ordered


def _node(each: Node, place: tuple[float, float]) -> str:
    name, is_switch = each
    x, y = place
    short = escape(name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…")
    title = f"<title>{escape(name)}</title>"
    if not is_switch:
        return (
            f'<g>{title}<circle cx="{x:.0f}" cy="{y:.0f}" r="9" class="node"/>'
            f'<text x="{x:.0f}" y="{y + 25:.0f}">{short}</text></g>'
        )
    half = max(26, 4 * min(len(name), NAME_LENGTH) + 12)
    box = f'x="{x - half:.0f}" y="{y - 16:.0f}" width="{2 * half}" height="32" rx="6"'
    return (
        f'<a href="{escape(switch_address(name))}">{title}<rect {box} class="node"/>'
        f'<text x="{x:.0f}" y="{y + 4:.0f}">{short}</text></a>'
    )


def _links(links: Sequence[WireLink], placed: Places) -> tuple[list[str], list[str]]:
    """The lines, and the labels above all else."""
    drawn: Counter[frozenset[Node]] = Counter()
    lines, labels = [], []
    for link in links:
        ends = [node(end) for end in link.ends]
        number = drawn[frozenset(ends)]
        drawn[frozenset(ends)] += 1
        (x1, y1), (x2, y2) = sorted(placed[end] for end in ends)
        length = math.hypot(x2 - x1, y2 - y1) or 1.0
        bend = BEND * ((number + 1) // 2) * (-1) ** number  # parallel links side by side
        x, y = (x1 + x2) / 2 + bend * (y1 - y2) / length, (y1 + y2) / 2 + bend * (x2 - x1) / length
        colour = COLOURS[words(link)[1]]
        dashes = "" if link.is_two_way else ' stroke-dasharray="8 5"'
        between = f"{link.ends[0].place} to {link.ends[1].place}: {link.reason}"
        # The control point of the curve lies twice as far out as its middle.
        lines.append(
            f'<path d="M{x1:.0f} {y1:.0f}Q{2 * x - (x1 + x2) / 2:.0f} {2 * y - (y1 + y2) / 2:.0f} '
            f'{x2:.0f} {y2:.0f}" stroke="{colour}" stroke-width="{thickness(link.figures)}"{dashes}>'
            f"<title>{escape(between)}</title></path>"
        )
        for row, line in enumerate(label(link)):
            labels.append(
                f'<text x="{x:.0f}" y="{y + 4 + LINE_HEIGHT * row:.0f}" class="on-line">{escape(line)}</text>'
            )
    return lines, labels


def thickness(figures: Sequence[LinkFigures]) -> float:
    """The fuller of both directions makes the line thicker."""
    fullest = max((each.utilisation or 0.0 for each in figures), default=0.0)
    return round(THINNEST + (THICKEST - THINNEST) * min(fullest, 1.0), 1)


def label(link: WireLink) -> list[str]:
    """A conflict, utilisation of both directions, the worse bit error rate, as far as they are known."""
    said = ["conflict"] if link.is_conflict else []
    if any(each.utilisation is not None for each in link.figures):
        said.append(" | ".join(quantities.percent(each.utilisation) for each in link.figures))
    rates = [
        each.errors.ber for each in link.figures if each.errors is not None and each.errors.ber is not None
    ]
    if rates:
        said.append(f"BER {quantities.error_rate(max(rates))}")
    return said
