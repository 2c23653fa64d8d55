# SPDX-License-Identifier: Apache-2.0
"""The drawing of the topology: places, lines, labels, and names that neighbours choose."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from clarion_contract.neighbours import Judgement, Verdict, Wire
from clarion_control.bit_errors import error_rates
from clarion_control.dashboard.topology_drawing import THICKEST, THINNEST, drawing, label, places, words
from clarion_control.topology import LinkEnd, LinkFigures, WireLink

SVG = "{http://www.w3.org/2000/svg}"
PROVEN = Wire(False, Verdict(Judgement.PROVEN, "alone", 1))
CONFLICT = Wire(True, Verdict(Judgement.DISPROVED, "two", 1))
QUIET = LinkFigures()


def port(switch: str, number: int, wire: Wire = PROVEN) -> LinkEnd:
    return LinkEnd(switch, number, switch, str(number), True, wire)


def stranger(chassis: str) -> LinkEnd:
    return LinkEnd(None, None, chassis, "eth0")


def link(first: LinkEnd, second: LinkEnd, *figures: LinkFigures) -> WireLink:
    return WireLink((first, second), 0, (*figures, QUIET, QUIET)[:2])  # type: ignore[arg-type]


def drawn(switches: list[str], *links: WireLink) -> ElementTree.Element:
    text = drawing(switches, links).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return ElementTree.fromstring(text)


def texts(svg: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in svg.iter(f"{SVG}text")]


def lines(svg: ElementTree.Element) -> list[dict[str, str]]:
    return [dict(each.attrib) for each in svg.iter(f"{SVG}path")]


def test_switches_without_links_are_drawn() -> None:
    assert texts(drawn(["s2", "s1"])) == ["s1", "s2"]
    assert texts(drawn([])) == []


def test_no_two_nodes_are_at_one_place() -> None:
    links = [link(port("a", 1), port("c", 1)), link(port("b", 1), port("c", 2))]
    links += [link(port("a", number), stranger(f"h{number}")) for number in range(2, 9)]
    placed = places([("a", True), ("b", True), ("c", True)], links)
    assert len(placed) == 10
    for one, other in combinations(placed.values(), 2):
        assert abs(one[0] - other[0]) + abs(one[1] - other[1]) > 20


def test_a_chain_stands_in_its_order() -> None:
    links = [
        link(port("a", 1), port("c", 1)),
        link(port("c", 2), port("b", 1)),
        link(port("b", 2), port("d", 1)),
    ]
    assert [name for name, _ in places([(each, True) for each in "abcd"], links)] == ["a", "c", "b", "d"]


def test_parallel_links_are_apart_and_one_way_is_dashed() -> None:
    two = [link(port("a", number), port("b", number)) for number in (1, 2, 3)]
    one_way = link(port("b", 4), LinkEnd("a", 4, "a", "4", False, PROVEN))
    svg = drawn(["a", "b"], *two, one_way)
    assert len({each["d"] for each in lines(svg)}) == 4
    assert ["stroke-dasharray" in each for each in lines(svg)] == [False, False, False, True]


def test_utilisation_and_bit_errors_are_on_the_line() -> None:
    rates = error_rates(1, 999_999, 125_000_000)
    full = LinkFigures(96e6, 100_000_000, rates)
    half = LinkFigures(50e6, 100_000_000)
    busy = link(port("a", 1), port("b", 1), full, half)
    assert [each.replace("\N{NO-BREAK SPACE}", " ") for each in label(busy)] == [
        "96.0 % | 50.0 %",
        "BER 1.0 \N{MULTIPLICATION SIGN} 10⁻⁹",
    ]
    (line,) = lines(drawn(["a", "b"], busy))
    assert THINNEST < float(line["stroke-width"]) < THICKEST
    assert label(link(port("a", 1), port("b", 1))) == []


def test_a_conflict_is_red_and_named() -> None:
    broken = link(port("a", 1, CONFLICT), port("b", 1))
    assert words(broken) == ("conflict", "bad")
    svg = drawn(["a", "b"], broken)
    assert lines(svg)[0]["stroke"] == "var(--bad)"
    assert "conflict" in texts(svg)


def test_more_than_all_is_no_thicker_than_all() -> None:
    (line,) = lines(drawn(["a", "b"], link(port("a", 1), port("b", 1), LinkFigures(5e8, 100_000_000))))
    assert float(line["stroke-width"]) == THICKEST


@given(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=64))
def test_a_neighbours_name_is_text_whatever_it_is(name: str) -> None:
    svg = drawn(["s1"], link(port("s1", 1), stranger(name)))
    assert {each.tag for each in svg.iter()} <= {
        f"{SVG}{tag}" for tag in ("svg", "path", "title", "g", "a", "rect", "circle", "text")
    }
    assert name in {each.text for each in svg.iter(f"{SVG}title")}
