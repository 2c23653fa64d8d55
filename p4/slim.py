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
from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]
Range = tuple[int, int]  # least and largest value; BMv2 computes in unbounded integers
Name = tuple[str, str]  # header, field

TEMPORARIES = (
    "scalars"  # the header of all variables; those with a dot in their names are the program's metadata
)
READS_INTO = {
    "assign": 0,
    "register_read": 0,
}  # primitives that store into a field, and which parameter it is
WITHOUT_EFFECT_ON_FIELDS = {
    *("_jump_if_zero", "_jump", "register_write", "count", "no_op", "recirculate", "generate_digest"),
}
STORE = 8  # operations that cost as much as a store into a field, and clearing it, do
UNKNOWN: Range = (-(1 << 512), 1 << 512)


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
        body.reuse_what_is_stored()
        body.inline(local[action["id"]])
        body.simplify()
        body.leave_masks_to_stores(slimmed)
        action["primitives"] = body.primitives
    share_fields(slimmed, ranges)
    for action in slimmed["actions"]:
        for primitive in action["primitives"]:
            primitive["parameters"] = [as_parameter(each) for each in primitive["parameters"]]
    return slimmed


def field_ranges(program: Json) -> dict[Name, Range]:
    """Return what every field of a fixed width can hold."""
    types = {kind["name"]: kind["fields"] for kind in program["header_types"]}
    ranges = {}
    for header in program["headers"]:
        for name, width, *signed in types[header["header_type"]]:
            if width != "*":
                ranges[header["name"], name] = _signed(width) if signed[0] else _unsigned(width)
        ranges[header["name"], "$valid$"] = (0, 1)
    return ranges


def _unsigned(width: int) -> Range:
    return 0, (1 << width) - 1


def _signed(width: int) -> Range:
    return -(1 << width - 1), (1 << width - 1) - 1


def _within(inner: Range, outer: Range) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


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


def constant(number: int) -> Json:
    """Return a constant."""
    return {"type": "hexstr", "value": hex(number)}


def number_of(item: Json) -> int | None:
    """Return the value of a constant."""
    return int(item["value"], 16) if item["type"] == "hexstr" else None


def operation(op: str, left: Json | None, right: Json) -> Json:
    """Return an expression of one operation."""
    return {"type": "expression", "value": {"op": op, "left": left, "right": right}}


class Expressions:
    """Leaves out operations that cannot change their operand's value, by the ranges of the values."""

    def __init__(self, ranges: dict[Name, Range], parameter_widths: list[int]) -> None:
        self._ranges = ranges
        self._parameters = [_unsigned(width) for width in parameter_widths]

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
        if mask is None or mask & (mask + 1):
            return None
        kept = self._low_bits(left, mask)
        if _within(self.range_of(kept), (0, mask)):
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
        return item

    def _two_complement(self, node: Json) -> Any:
        width = number_of(node["right"]) or 0
        return node["left"] if _within(self.range_of(node["left"]), _signed(width)) else None

    def _saturate(self, node: Json) -> Any:
        width = number_of(node["right"]) or 0
        return node["left"] if _within(self.range_of(node["left"]), _unsigned(width)) else None

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
            return held if _within(self.range_of(held), (0, 1)) else None
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
    "usat_cast": lambda _, b: _unsigned(b[0]),
    "two_comp_mod": lambda _, b: _signed(b[0]),
    "b2d": lambda _, b: (0, 1),
    "?": lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
}


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


class Body:
    """The primitives of one action. Jumps go forward only."""

    def __init__(self, primitives: list[Json], expressions: Expressions, ranges: dict[Name, Range]) -> None:
        self.primitives = primitives
        self._expressions = expressions
        self._ranges = ranges

    def simplify(self) -> None:
        """Leave out what cannot change a value."""
        for primitive in self.primitives:
            primitive["parameters"] = [self._expressions.simpler(each) for each in primitive["parameters"]]

    def _behind(self, at: int, names: set[Name]) -> Iterator[int]:
        """Yield the primitives that find these fields as `at` left them, and the first that changes one."""
        for number in range(at + 1, len(self.primitives)):
            if any(jumps_to(primitive) == number for primitive in self.primitives[:at]):
                return
            yield number
            if touches(self.primitives[number], names):
                return

    def _fits(self, at: int) -> bool:
        """Whether an assignment stores its value uncut."""
        name = field_written(self.primitives[at])
        (value,) = operands(self.primitives[at])
        return name in self._ranges and _within(self._expressions.range_of(value), self._ranges[name])

    def reuse_what_is_stored(self) -> None:
        """Read a value from the field that holds it; the compiler writes its expression again."""
        for at, primitive in enumerate(self.primitives):
            if primitive["op"] != "assign" or not self._fits(at):
                continue
            target, value = primitive["parameters"]
            names = {*fields_read(value), *fields_read(target)}
            if value["type"] != "expression" or fields_read(target) <= fields_read(value):
                continue
            for number in self._behind(at, names):
                self._replace(number, value, target)

    def _replace(self, number: int, wanted: Json, by: Json) -> None:
        primitive = self.primitives[number]
        stored = READS_INTO.get(primitive["op"])
        primitive["parameters"] = [
            each if place == stored else replaced(each, wanted, by)
            for place, each in enumerate(primitive["parameters"])
        ]

    def inline(self, local: set[Name]) -> None:
        """Put the value of a variable where it is read, if that is one place, and drop what nothing reads."""
        at = 0
        while at < len(self.primitives):
            primitive = self.primitives[at]
            name = field_written(primitive)
            if primitive["op"] == "assign" and name in local and self._spare(at, name):
                self._remove(at)
                at = 0
            else:
                at += 1

    def _spare(self, at: int, name: Name) -> bool:
        """Whether nothing needs an assignment any more, after putting its value where it was read."""
        target, value = self.primitives[at]["parameters"]
        readers = [
            number
            for number, primitive in enumerate(self.primitives)
            for node in nodes(operands(primitive))
            if node == target
        ]
        if not readers:
            return True
        writers = [number for number, each in enumerate(self.primitives) if field_written(each) == name]
        plain = value["type"] != "expression"
        again = (len(readers) - 1) * sum(node["type"] == "expression" for node in nodes(value))
        if writers != [at] or not self._fits(at) or again > STORE:
            return False
        if not set(readers) <= set(self._behind(at, fields_read(value))):
            return False
        if not plain and not all(self._takes_expression(reader, target) for reader in readers):
            return False
        for reader in readers:
            self._replace(reader, target, value)
        return True

    def _takes_expression(self, number: int, target: Json) -> bool:
        """Whether it has no other expression: BMv2's value of one can move while it evaluates the next."""
        parameters = operands(self.primitives[number])
        if self.primitives[number]["op"] == "generate_digest":
            return False
        return not any(
            each["type"] == "expression" and target not in list(nodes(each)) for each in parameters
        )

    def _remove(self, at: int) -> None:
        del self.primitives[at]
        for primitive in self.primitives:
            to = jumps_to(primitive)
            if to is not None and to > at:
                primitive["parameters"][-1] = constant(to - 1)

    def leave_masks_to_stores(self, program: Json) -> None:
        """A field and a register cut what is stored to their width themselves."""
        widths = {array["name"]: array["bitwidth"] for array in program["register_arrays"]}
        for primitive in self.primitives:
            name = field_written(primitive)
            if primitive["op"] == "assign" and name is not None:
                low, high = self._ranges.get(name, UNKNOWN)
                if low != 0 or not _keeps_its_width(name):
                    continue
                primitive["parameters"][1] = self._expressions.cut(primitive["parameters"][1], high)
            elif primitive["op"] == "register_write":
                high = (1 << widths[primitive["parameters"][0]["value"]]) - 1
                primitive["parameters"][2] = self._expressions.cut(primitive["parameters"][2], high)


def _keeps_its_width(name: Name) -> bool:
    """Whether a field stays what it is: variables may come to share a wider one."""
    return name[0] != TEMPORARIES or "." in name[1]


def _variables(item: Any) -> set[Name]:
    return {name for name in fields_read(item) if name[0] == TEMPORARIES and "." not in name[1]}


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
    if len(item) == 2 and item[0] == TEMPORARIES and isinstance(item[1], str):
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
                node["value"] = [TEMPORARIES, renamed[tuple(node["value"])]]
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
    if not _within(expressions.range_of(value), ranges[name]):
        primitive["parameters"][1] = operation("&", value, constant(ranges[name][1]))


def _lay_out(program: Json, shared: dict[str, int]) -> None:
    """Rewrite the fields of the variables' header."""
    (header,) = (each for each in program["headers"] if each["name"] == TEMPORARIES)
    (kind,) = (each for each in program["header_types"] if each["name"] == header["header_type"])
    named = _names_in({key: value for key, value in program.items() if key != "header_types"})
    fields = [
        field
        for field in kind["fields"]
        if "." in field[0] or ((TEMPORARIES, field[0]) in named and field[0] not in shared)
    ]
    fields += [[name, width, name.startswith("signed")] for name, width in sorted(shared.items())]
    if odd := -sum(field[1] for field in fields) % 8:
        fields[-1] = [fields[-1][0], fields[-1][1] + odd, *fields[-1][2:]]  # BMv2 wants whole bytes
    kind["fields"] = fields
