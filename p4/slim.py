# SPDX-License-Identifier: Apache-2.0
"""Takes out of a compiled program what costs BMv2 time and changes nothing.

BMv2 interprets the JSON. Three things of p4c's output cost most: every field of metadata is cleared for every
packet, and each local variable of the source becomes a field of its own; every store into a field is some ten
times as dear as an addition; and every cast and concatenation carries masks that cannot change a value. So:

- operations that cannot change the value of their operand go (`Expressions`);
- a value that a field already holds is read from there, not computed again;
- a variable that is read once, right behind its assignment, goes;
- variables of different actions share fields: no two actions run at the same time on one packet;
- a digest is sent from the fields that its members were copied from, where nothing runs behind it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from bmv2_json import (
    SCALARS,
    Json,
    Name,
    as_parameter,
    constant,
    field_written,
    fields_read,
    jumps_to,
    nodes,
    number_of,
    operands,
    operation,
    targets,
    touches,
)
from body import Body
from expressions import Expressions, Range, field_ranges, signed, unsigned, within

KEPT = "kept"  # a header that is never valid nor sent: nothing clears its fields
# Metadata that is set for every packet for which it is read: by meet_queue, queue_number and flood.
SET_BEFORE_READ = ("now", "waiting", "accepted_mark", "queue_seq", "slot", "flood_port", "timestamp_us")
# Standard metadata that BMv2 needs not have: it looks for them, sets them and clears them for every packet.
OPTIONAL = (
    *("checksum_error", "parser_error", "priority"),
    *("enq_timestamp", "enq_qdepth", "deq_timedelta", "deq_qdepth"),  # all or none
)


def slim(program: Json) -> Json:
    """Return the program with the same effects on packets, tables and registers, for less."""
    slimmed = copy.deepcopy(program)
    ranges = field_ranges(slimmed)
    for pipeline in slimmed["pipelines"]:
        for conditional in pipeline["conditionals"]:
            conditional["expression"] = Expressions(ranges, []).simpler(conditional["expression"])
    send_from_the_source(slimmed)
    local = variables_by_action(slimmed)
    for action in slimmed["actions"]:
        expressions = Expressions(ranges, [parameter["bitwidth"] for parameter in action["runtime_data"]])
        body = Body(action["primitives"], expressions, ranges)
        body.simplify()
        local[action["id"]] = body.rename_apart(local[action["id"]])
        body.choose()
        body.reuse_what_is_stored()
        body.inline(local[action["id"]])
        while body.choose():
            body.inline(local[action["id"]])
        body.simplify()
        body.leave_masks_to_stores(slimmed)
        action["primitives"] = body.primitives
    share_fields(slimmed, ranges)
    leave_uncleared(slimmed)
    leave_out_unread(slimmed)
    for action in slimmed["actions"]:
        for primitive in action["primitives"]:
            primitive["parameters"] = [as_parameter(each) for each in primitive["parameters"]]
    return slimmed


def _variables(item: Any) -> set[Name]:
    return {name for name in fields_read(item) if name[0] == SCALARS and "." not in name[1]}


def variables_by_action(program: Json) -> dict[int, set[Name]]:
    """Return the variables that carry nothing from one action to another, by the actions' ids."""
    by_action = {action["id"]: _variables(action["primitives"]) for action in program["actions"]}
    carried = _names_in(
        {key: value for key, value in program.items() if key not in ("actions", "header_types")}
    )
    for action in program["actions"]:
        carried |= {name for name in by_action[action["id"]] if _is_read_first(action["primitives"], name)}
    return {number: names - carried for number, names in by_action.items()}


def _is_read_first(primitives: list[Json], name: Name) -> bool:
    """Whether an action may read what it has not written itself."""
    written = [True] * (len(primitives) + 1)  # on all ways that lead there
    written[0] = False
    for number, primitive in enumerate(primitives):
        if name in fields_read(operands(primitive)) and not written[number]:
            return True
        behind = written[number] or field_written(primitive) == name
        to = jumps_to(primitive)
        if to is not None:
            written[to] = written[to] and behind
        if primitive["op"] != "_jump":
            written[number + 1] = written[number + 1] and behind
    return False


def _names_in(item: Any) -> set[Name]:
    """Return every variable that is named anywhere, whatever the form of the place."""
    if isinstance(item, dict):
        return set().union(*(_names_in(value) for value in item.values()))
    if not isinstance(item, list):
        return set()
    if len(item) == 2 and item[0] == SCALARS and isinstance(item[1], str):
        return {(item[0], item[1])} if "." not in item[1] else set()
    return set().union(*(_names_in(each) for each in item)) if item else set()


def send_from_the_source(program: Json) -> None:
    """Send a digest from the fields that the compiler copied, where nothing behind it changes them."""
    last = {
        action
        for pipeline in program["pipelines"]
        for table in pipeline["tables"]
        if set(table["next_tables"].values()) == {None}
        for action in table["action_ids"]
    }
    lists = {fields["id"]: fields for fields in program["learn_lists"]}
    for action in program["actions"]:
        primitives = action["primitives"]
        sends = [each for each in primitives if each["op"] == "generate_digest"]
        if action["id"] not in last or len(sends) != 1 or targets(primitives):
            continue
        at = primitives.index(sends[0])
        elements = lists[number_of(sends[0]["parameters"][1])]["elements"]
        for primitive in primitives[:at]:
            if primitive["op"] != "assign" or primitive["parameters"][1]["type"] != "field":
                continue
            target, source = primitive["parameters"]
            behind = primitives[primitives.index(primitive) + 1 :]
            if target in elements and not any(touches(each, fields_read(source)) for each in behind):
                elements[elements.index(target)] = source


def share_fields(program: Json, ranges: dict[Name, Range]) -> None:
    """Give variables of different actions the same fields, and drop fields that nothing names."""
    widths: dict[str, int] = {}
    local = variables_by_action(program)
    for action in program["actions"]:
        expressions = Expressions(ranges, [parameter["bitwidth"] for parameter in action["runtime_data"]])
        renamed: dict[Name, str] = {}
        ends: dict[str, int] = {}  # the last primitive that needs what the shared field holds
        for first, last, name in sorted(_lives(action["primitives"], local[action["id"]])):
            low, high = ranges[name]
            kind = "signed" if low < 0 else "unsigned"
            free = [field for field, end in ends.items() if end < first and field.startswith(kind)]
            shared = _closest(free, widths, high) or f"{kind}_{sum(field.startswith(kind) for field in ends)}"
            ends[shared] = last
            renamed[name] = shared
            widths[shared] = max(widths.get(shared, 0), (high - low).bit_length())
        for primitive in action["primitives"]:
            _cut_to_the_variable(primitive, renamed, ranges, expressions)
        for node in nodes(action["primitives"]):
            if node["type"] == "field" and tuple(node["value"]) in renamed:
                node["value"] = [SCALARS, renamed[tuple(node["value"])]]
    ranges |= {
        (SCALARS, name): (signed if name.startswith("signed") else unsigned)(width)
        for name, width in widths.items()
    }
    for action in program["actions"]:
        expressions = Expressions(ranges, [parameter["bitwidth"] for parameter in action["runtime_data"]])
        for primitive in action["primitives"]:
            _leave_to_the_store(primitive, widths, expressions)
    _lay_out(program, widths)


def _lives(primitives: list[Json], local: set[Name]) -> Iterator[tuple[int, int, Name]]:
    """Yield the first and the last primitive that name a variable: jumps only go forward."""
    for name in local:
        places = [at for at, each in enumerate(primitives) if name in fields_read(each["parameters"])]
        yield places[0], places[-1], name


def _closest(free: list[str], widths: dict[str, int], high: int) -> str | None:
    """Return the free field whose width differs least."""
    return min(free, key=lambda field: (abs(widths[field] - high.bit_length()), field), default=None)


def _cut_to_the_variable(
    primitive: Json, renamed: dict[Name, str], ranges: dict[Name, Range], expressions: Expressions
) -> None:
    name = field_written(primitive)
    if primitive["op"] != "assign" or name not in renamed or ranges[name][0] < 0:
        return
    value = primitive["parameters"][1]
    if not within(expressions.range_of(value), ranges[name]):
        primitive["parameters"][1] = operation("&", value, constant(ranges[name][1]))


def _leave_to_the_store(primitive: Json, widths: dict[str, int], expressions: Expressions) -> None:
    """A shared field cuts what is stored to its own width."""
    name = field_written(primitive)
    if (
        primitive["op"] == "assign"
        and name is not None
        and name[0] == SCALARS
        and name[1].startswith("unsigned")
    ):
        mask = (1 << widths[name[1]]) - 1
        primitive["parameters"][1] = expressions.cut(primitive["parameters"][1], mask)


def _lay_out(program: Json, shared: dict[str, int]) -> None:
    """Rewrite the fields of the variables' header."""
    kind = header_type(program, SCALARS)
    named = _names_in({key: value for key, value in program.items() if key != "header_types"})
    fields = [
        field
        for field in kind["fields"]
        if "." in field[0] or ((SCALARS, field[0]) in named and field[0] not in shared)
    ]
    kind["fields"] = fields + [
        [name, width, name.startswith("signed")] for name, width in sorted(shared.items())
    ]


def header_type(program: Json, header: str) -> Json:
    """Return the type of a header."""
    (wanted,) = (each["header_type"] for each in program["headers"] if each["name"] == header)
    kind: Json
    (kind,) = (each for each in program["header_types"] if each["name"] == wanted)
    return kind


def leave_uncleared(program: Json) -> None:
    """Move into a header of their own what is always set before it is read.

    BMv2 clears all metadata for every packet, but no headers; and it lets a program
    read and write the fields of a header that is not valid.
    """
    kind = header_type(program, SCALARS)
    moved = [field for field in kind["fields"] if _is_set_before_read(field[0])]
    kind["fields"] = _whole_bytes([field for field in kind["fields"] if field not in moved])
    number = 1 + max(each["id"] for each in program["header_types"])
    program["header_types"].append({"name": KEPT, "id": number, "fields": _whole_bytes(moved)})
    number = 1 + max(each["id"] for each in program["headers"])
    header = {"name": KEPT, "id": number, "header_type": KEPT, "metadata": False, "pi_omit": True}
    program["headers"].append(header)
    names = {field[0] for field in moved}
    for node in nodes(list(program.values())):
        if node["type"] == "field" and node["value"][0] == SCALARS and node["value"][1] in names:
            node["value"] = [KEPT, node["value"][1]]


def _is_set_before_read(field: str) -> bool:
    return "." not in field or field.split(".")[1].strip("_").rstrip("0123456789") in SET_BEFORE_READ


def _whole_bytes(fields: list[Any]) -> list[Any]:
    """Return the fields, the last one so wide that BMv2 takes the header."""
    if odd := -sum(field[1] for field in fields) % 8:
        return [*fields[:-1], [fields[-1][0], fields[-1][1] + odd, *fields[-1][2:]]]
    return fields


def leave_out_unread(program: Json) -> None:
    """Leave out standard metadata that neither the program nor BMv2 needs."""
    kind = header_type(program, "standard_metadata")
    named = fields_read(list(program.values()))
    left_out = {field for field in OPTIONAL if ("standard_metadata", field) not in named}
    kind["fields"] = _whole_bytes([each for each in kind["fields"] if each[0] not in left_out | {"_padding"}])
    program["field_aliases"] = [alias for alias in program["field_aliases"] if alias[1][1] not in left_out]
