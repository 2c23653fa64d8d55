# SPDX-License-Identifier: Apache-2.0
"""Expressions of BMv2's JSON without the operations that cannot change their operand's value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bmv2_json import Json, Name, choice, constant, number_of, operation

Range = tuple[int, int]  # least and largest value; BMv2 computes in unbounded integers
UNKNOWN: Range = (-(1 << 2048), 1 << 2048)


def field_ranges(program: Json) -> dict[Name, Range]:
    """Return what every field of a fixed width can hold."""
    types = {kind["name"]: kind["fields"] for kind in program["header_types"]}
    ranges = {}
    for header in program["headers"]:
        for name, width, *sign in types[header["header_type"]]:
            if width != "*":
                ranges[header["name"], name] = signed(width) if sign[0] else unsigned(width)
        ranges[header["name"], "$valid$"] = (0, 1)
    return ranges


def unsigned(width: int) -> Range:
    """Return what so many bits can hold."""
    return 0, (1 << width) - 1


def signed(width: int) -> Range:
    """Return what so many bits can hold in two's complement."""
    return -(1 << width - 1), (1 << width - 1) - 1


def within(inner: Range, outer: Range) -> bool:
    """Whether one range has all of another."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


class Expressions:
    """Leaves out operations that cannot change their operand's value, by the ranges of the values."""

    def __init__(self, ranges: dict[Name, Range], parameter_widths: list[int]) -> None:
        self._ranges = ranges
        self._parameters = [unsigned(width) for width in parameter_widths]

    def simpler(self, item: Any) -> Any:
        """Return an expression with the same value; anything else as it is."""
        if isinstance(item, dict) and item.get("type") == "runtime_data":  # its name outside expressions
            return {"type": "local", "value": item["value"]}
        if not isinstance(item, dict) or item.get("type") != "expression":
            return item
        inner = item["value"]
        if "op" not in inner:
            return self.simpler(inner)
        made = {key: self.simpler(value) for key, value in inner.items()}
        made["op"] = inner["op"]
        rule = getattr(self, RULES.get(inner["op"], ""), None)
        return (rule(made) if rule else None) or {"type": "expression", "value": made}

    def range_of(self, item: Json | None) -> Range:
        """Return the least and the largest value of an expression."""
        if item is None:
            return UNKNOWN
        kind, inner = item["type"], item["value"]
        if kind == "hexstr":
            return int(inner, 16), int(inner, 16)
        if kind == "field":
            return self._ranges.get((inner[0], inner[1]), UNKNOWN)
        if kind == "local":
            return self._parameters[inner]
        if kind != "expression":
            return UNKNOWN
        if "op" not in inner:
            return self.range_of(inner)
        known = RANGES.get(inner["op"])
        if known is None:
            return UNKNOWN
        return known(self.range_of(inner.get("left")), self.range_of(inner["right"]))

    def cut(self, item: Json, mask: int) -> Json:
        """Return an expression that is right in the bits of the mask."""
        kept = self._low_bits(item, mask)
        node = kept["value"] if kept["type"] == "expression" else {}
        return (
            self.cut(node["left"], mask)
            if node.get("op") == "&" and number_of(node["right"]) == mask
            else kept
        )

    def _mask(self, node: Json) -> Json | None:
        left, right = node["left"], node["right"]
        mask = number_of(right)
        if mask is None:
            return None
        inner = left["value"] if left["type"] == "expression" else {}
        if inner.get("op") == "&" and (also := number_of(inner["right"])) is not None:
            merged: Json = self.simpler(operation("&", inner["left"], constant(mask & also)))
            return merged
        if mask & (mask + 1):
            return None
        kept = self._low_bits(left, mask)
        if within(self.range_of(kept), (0, mask)):
            return kept
        return operation("&", kept, right)

    def _low_bits(self, item: Json, mask: int) -> Json:
        """Return an expression of which only the bits of the mask have to be right."""
        if item["type"] != "expression":
            return item
        node = item["value"]
        inner = number_of(node["right"])
        if node["op"] == "&" and inner is not None and inner & mask == mask:
            return self._low_bits(node["left"], mask)
        if node["op"] == "two_comp_mod" and (1 << (number_of(node["right"]) or 0)) > mask:
            return self._low_bits(node["left"], mask)
        if node["op"] in ("+", "-", "*", "|", "^"):
            return operation(
                node["op"], self._low_bits(node["left"], mask), self._low_bits(node["right"], mask)
            )
        if node["op"] == "<<" and number_of(node["right"]) is not None:
            return operation("<<", self._low_bits(node["left"], mask), node["right"])
        if node["op"] == "?":
            return choice(node["cond"], *(self._low_bits(node[way], mask) for way in ("left", "right")))
        return item

    def _two_complement(self, node: Json) -> Any:
        width = number_of(node["right"]) or 0
        return node["left"] if within(self.range_of(node["left"]), signed(width)) else None

    def _saturate(self, node: Json) -> Any:
        width = number_of(node["right"]) or 0
        return node["left"] if within(self.range_of(node["left"]), unsigned(width)) else None

    def _or(self, node: Json) -> Any:
        if number_of(node["left"]) == 0:
            return node["right"]
        return node["left"] if number_of(node["right"]) == 0 else None

    def _shift(self, node: Json) -> Any:
        by = number_of(node["right"])
        left = node["left"]
        if by == 0 or number_of(left) == 0:
            return left
        inner = left["value"] if left["type"] == "expression" else {}
        if by is not None and inner.get("op") == node["op"] and number_of(inner["right"]) is not None:
            return operation(node["op"], inner["left"], constant(by + int(inner["right"]["value"], 16)))
        return None

    def _to_data(self, node: Json) -> Any:
        inner = node["right"]
        if inner["type"] == "bool":
            return constant(int(inner["value"]))
        if inner["type"] == "expression" and inner["value"].get("op") == "d2b":
            held = inner["value"]["right"]
            return held if within(self.range_of(held), (0, 1)) else None
        return None

    def _to_truth(self, node: Json) -> Any:
        inner = node["right"]
        return (
            inner["value"]["right"]
            if inner["type"] == "expression" and inner["value"]["op"] == "b2d"
            else None
        )


RULES = {
    "&": "_mask",
    "|": "_or",
    "<<": "_shift",
    ">>": "_shift",
    "two_comp_mod": "_two_complement",
    "usat_cast": "_saturate",
    "b2d": "_to_data",
    "d2b": "_to_truth",
}


def _shifted(a: Range, b: Range, shift: Callable[[int, int], int]) -> Range:
    if b[0] < 0 or b[1] > 1024:
        return UNKNOWN
    ends = [shift(value, by) for value in a for by in b]
    return min(ends), max(ends)


def _product(a: Range, b: Range) -> Range:
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


def _and(a: Range, b: Range) -> Range:
    most = [each[1] for each in (a, b) if each[0] >= 0]
    return (0, min(most)) if most else UNKNOWN


def _or(a: Range, b: Range) -> Range:
    if a[0] < 0 or b[0] < 0:
        return UNKNOWN
    return 0, (1 << max(a[1].bit_length(), b[1].bit_length())) - 1


RANGES: dict[str, Callable[[Range, Range], Range]] = {
    "+": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "-": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "*": _product,
    "&": _and,
    "|": _or,
    "^": _or,
    "<<": lambda a, b: _shifted(a, b, int.__lshift__),
    ">>": lambda a, b: _shifted(a, b, int.__rshift__),
    "usat_cast": lambda _, b: unsigned(b[0]),
    "two_comp_mod": lambda _, b: signed(b[0]),
    "b2d": lambda _, b: (0, 1),
    "?": lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
}
