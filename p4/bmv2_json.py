# SPDX-License-Identifier: Apache-2.0
"""The parts of BMv2's JSON: expressions, primitives of actions, and what they read, write and jump to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
Name = tuple[str, str]  # header, field

SCALARS = "scalars"  # the header of all variables; those with a dot in their names are the program's metadata
READS_INTO = {
    "assign": 0,
    "register_read": 0,
}  # primitives that store into a field, and which parameter it is
WITHOUT_EFFECT_ON_FIELDS = {
    *("_jump_if_zero", "_jump", "register_write", "count", "no_op", "recirculate", "generate_digest"),
}


def nodes(item: Any) -> Iterator[Json]:
    """Yield every typed value in an expression or a list of parameters."""
    if isinstance(item, dict):
        if "type" in item:
            yield item
        for member in item.values():
            yield from nodes(member)
    elif isinstance(item, list):
        for member in item:
            yield from nodes(member)


def fields_read(item: Any) -> set[Name]:
    """Return the fields in an expression."""
    return {(node["value"][0], node["value"][1]) for node in nodes(item) if node["type"] == "field"}


def times_read(item: Any, target: Json) -> int:
    """Return how often an expression is evaluated in another one at most."""
    if item == target:
        return 1
    if isinstance(item, list):
        return sum(times_read(each, target) for each in item)
    if not isinstance(item, dict):
        return 0
    if item.get("op") == "?":
        ways = (times_read(item[way], target) for way in ("left", "right"))
        return times_read(item["cond"], target) + max(ways)
    return sum(times_read(each, target) for each in item.values())


def constant(number: int) -> Json:
    """Return a constant."""
    return {"type": "hexstr", "value": hex(number)}


def number_of(item: Json) -> int | None:
    """Return the value of a constant."""
    return int(item["value"], 16) if item["type"] == "hexstr" else None


def operation(op: str, left: Json | None, right: Json) -> Json:
    """Return an expression of one operation."""
    return {"type": "expression", "value": {"op": op, "left": left, "right": right}}


def choice(condition: Json, left: Json, right: Json) -> Json:
    """Return an expression that has the one value or the other; BMv2 computes the one that it needs."""
    return {"type": "expression", "value": {"op": "?", "left": left, "right": right, "cond": condition}}


def field_written(primitive: Json) -> Name | None:
    """Return the field that a primitive stores into."""
    at = READS_INTO.get(primitive["op"])
    if at is None:
        return None
    header, field = primitive["parameters"][at]["value"]
    return header, field


def operands(primitive: Json) -> list[Json]:
    """Return the parameters that a primitive reads."""
    at = READS_INTO.get(primitive["op"])
    return [each for number, each in enumerate(primitive["parameters"]) if number != at]


def jumps_to(primitive: Json) -> int | None:
    """Return the primitive that a jump goes to."""
    if not primitive["op"].startswith("_jump"):
        return None
    return number_of(primitive["parameters"][-1])


def targets(primitives: list[Json]) -> set[int]:
    """Return the primitives that jumps go to."""
    return {to for primitive in primitives if (to := jumps_to(primitive)) is not None}


def touches(primitive: Json, names: set[Name]) -> bool:
    """Whether a primitive may change one of these fields."""
    written = field_written(primitive)
    if written is not None:
        return written in names
    if primitive["op"] == "add_header":
        return any(header == primitive["parameters"][0]["value"] for header, _ in names)
    if primitive["op"] == "remove_header":  # leaves the fields
        return (primitive["parameters"][0]["value"], "$valid$") in names
    if primitive["op"] == "mark_to_drop":
        return any(header == "standard_metadata" for header, _ in names)
    return primitive["op"] not in WITHOUT_EFFECT_ON_FIELDS


def replaced(item: Any, wanted: Json, by: Json) -> Any:
    """Return an expression in which one part is replaced wherever it occurs."""
    if item == wanted:
        return by
    if isinstance(item, dict):
        return {key: replaced(value, wanted, by) for key, value in item.items()}
    return [replaced(each, wanted, by) for each in item] if isinstance(item, list) else item


def as_parameter(item: Json) -> Json:
    """Return an expression as BMv2 reads it as the parameter of a primitive."""
    if item["type"] == "local":
        return {"type": "runtime_data", "value": item["value"]}
    return {"type": "expression", "value": item} if item["type"] == "expression" else item


def as_value(item: Json) -> Json:
    """Return a parameter of a primitive as part of an expression."""
    return {"type": "local", "value": item["value"]} if item["type"] == "runtime_data" else item


def as_truth(item: Json) -> Json:
    """Return as a condition what a jump takes as a number."""
    while item["type"] == "expression" and "op" not in item["value"]:
        item = item["value"]
    if item["type"] == "expression" and item["value"]["op"] == "b2d":
        return dict(item["value"]["right"])
    return operation("d2b", None, item)
