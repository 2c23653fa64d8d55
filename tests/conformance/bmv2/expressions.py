# SPDX-License-Identifier: Apache-2.0
"""Expressions of the JSON as Python source.

BMv2 computes with unbounded integers, as Python does, and cuts a value to a field's width when it is stored.
The compiler emits the masks that P4 requires; masks that a value's known range makes redundant are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conformance.bmv2.layout import Field, Json, Layout, UnsupportedError


@dataclass(frozen=True)
class Value:
    """Source of an expression and the known range of its value."""

    text: str
    bits: int | None = None  # not negative and below 2^bits
    signed: int | None = None  # the width of a two's complement integer
    constant: int | None = None


def constant(text: str) -> Value:
    """Return the value of a hexadecimal string, which may have a sign."""
    number = int(text, 16)
    return Value(str(number), number.bit_length() if number >= 0 else None, constant=number)


def _bits(operation: Callable[[int, int], int], a: Value, b: Value) -> int | None:
    return None if a.bits is None or b.bits is None else operation(a.bits, b.bits)


def _and(a: Value, b: Value) -> Value:
    for value, mask in ((a, b), (b, a)):
        if mask.constant is not None and value.bits is not None:
            ones = mask.constant + 1
            if ones & mask.constant == 0 and mask.constant.bit_length() >= value.bits:
                return value
    known = [value.bits for value in (a, b) if value.bits is not None]
    return Value(f"({a.text} & {b.text})", min(known, default=None))


def _shift_left(a: Value, b: Value) -> Value:
    bits = a.bits + b.constant if a.bits is not None and b.constant is not None else None
    return Value(f"({a.text} << {b.text})", bits)


def _shift_right(a: Value, b: Value) -> Value:
    bits = a.bits if b.constant is None or a.bits is None else max(a.bits - b.constant, 0)
    return Value(f"({a.text} >> {b.text})", bits)


def _two_complement(a: Value, b: Value) -> Value:
    width = _width(b)
    half, mask = 1 << (width - 1), (1 << width) - 1
    return Value(f"((({a.text} + {half}) & {mask}) - {half})", signed=width)


def _saturate_unsigned(a: Value, b: Value) -> Value:
    most = (1 << _width(b)) - 1
    return Value(f"max(0, min({a.text}, {most}))", _width(b))


def _saturate_signed(a: Value, b: Value) -> Value:
    half = 1 << (_width(b) - 1)
    return Value(f"max({-half}, min({a.text}, {half - 1}))", signed=_width(b))


def _width(value: Value) -> int:
    if value.constant is None:
        raise UnsupportedError("a cast to a width that is no constant")
    return value.constant


ARITHMETIC: dict[str, Callable[[Value, Value], Value]] = {
    "+": lambda a, b: Value(f"({a.text} + {b.text})", _bits(lambda x, y: max(x, y) + 1, a, b)),
    "-": lambda a, b: Value(f"({a.text} - {b.text})"),
    "*": lambda a, b: Value(f"({a.text} * {b.text})", _bits(int.__add__, a, b)),
    "/": lambda a, b: Value(f"({a.text} // {b.text})", a.bits),
    "%": lambda a, b: Value(f"({a.text} % {b.text})", b.bits),
    "|": lambda a, b: Value(f"({a.text} | {b.text})", _bits(max, a, b)),
    "^": lambda a, b: Value(f"({a.text} ^ {b.text})", _bits(max, a, b)),
    "&": _and,
    "<<": _shift_left,
    ">>": _shift_right,
    "two_comp_mod": _two_complement,
    "usat_cast": _saturate_unsigned,
    "sat_cast": _saturate_signed,
}
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class Expressions:
    """Translates the expressions of one program."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def field(self, item: Json) -> Field:
        """Return the field that a type-value object names."""
        if item["type"] != "field":
            raise UnsupportedError(f"{item['type']} where a field is expected")
        return self.layout.field(*item["value"])

    def value(self, item: Json) -> Value:
        """Return an integer."""
        kind, content = item["type"], item["value"]
        if kind == "hexstr":
            return constant(content)
        if kind == "field":
            field = self.layout.field(*content)
            if field.signed:
                return Value(f"v[{field.slot}]")
            return Value(f"v[{field.slot}]", field.width)
        if kind in ("runtime_data", "local"):
            return Value(f"a{content}")
        if kind == "expression":
            return self._operation(content) if "op" in content else self.value(content)
        raise UnsupportedError(f"{kind} in an expression")

    def _operation(self, node: Json) -> Value:
        op = node["op"]
        if op in ARITHMETIC:
            return ARITHMETIC[op](self.value(node["left"]), self.value(node["right"]))
        if op == "~":
            return Value(f"~{self.value(node['right']).text}")
        if op == "b2d":
            return Value(f"(1 if {self.truth(node['right'])} else 0)", 1)
        if op == "?":
            left, right = self.value(node["left"]), self.value(node["right"])
            text = f"({left.text} if {self.truth(node['cond'])} else {right.text})"
            return Value(text, _bits(max, left, right))
        raise UnsupportedError(f"operation {op}")

    def truth(self, item: Json) -> str:
        """Return the source of a condition."""
        kind, content = item["type"], item["value"]
        if kind == "bool":
            return str(content)
        if kind != "expression":
            raise UnsupportedError(f"{kind} as a condition")
        if "op" not in content:
            return self.truth(content)
        op, left, right = content["op"], content.get("left"), content["right"]
        if op in ("and", "or"):
            return f"({self.truth(left)} {op} {self.truth(right)})"
        if op == "not":
            return f"(not {self.truth(right)})"
        if op == "d2b":
            return f"({self.value(right).text} != 0)"
        if op == "valid":
            return f"(v[{self.layout.headers[right['value']].valid.slot}] != 0)"
        if op in COMPARISONS:
            return self._comparison(op, left, right)
        if op == "?":
            return f"({self.truth(left)} if {self.truth(content['cond'])} else {self.truth(right)})"
        raise UnsupportedError(f"operation {op} as a condition")

    def _comparison(self, op: str, left: Json, right: Json) -> str:
        kinds = {left["type"], right["type"]}
        if kinds & {"header", "header_stack"}:
            raise UnsupportedError("comparison of headers")
        if "bool" in kinds or self._is_condition(left) or self._is_condition(right):
            return f"({self.truth(left)} {op} {self.truth(right)})"
        return f"({self.value(left).text} {op} {self.value(right).text})"

    def _is_condition(self, item: Json) -> bool:
        if item["type"] != "expression":
            return bool(item["type"] == "bool")
        content: Json = item["value"]
        if "op" not in content:
            return self._is_condition(content)
        return content["op"] in (*COMPARISONS, "and", "or", "not", "d2b", "valid")


def stored(value: Value, field: Field) -> str:
    """Return the source of a value cut to the width of a field."""
    width = field.width
    if width is None:
        raise UnsupportedError(f"{field.name}: a variable-length field as an integer")
    mask = (1 << width) - 1
    if not field.signed:
        fits = value.bits is not None and value.bits <= width
        return value.text if fits else f"{value.text} & {mask}"
    if (value.signed is not None and value.signed <= width) or (value.bits or width) < width:
        return value.text
    return f"store_signed({value.text}, {width})"


def store_signed(value: int, width: int) -> int:
    """Return BMv2's value of a signed field: it wraps only below the signed and above the unsigned range."""
    low, mask = -1 << (width - 1), (1 << width) - 1
    if low <= value <= mask:
        return value
    value &= mask
    return value - mask - 1 if value >= -low else value
