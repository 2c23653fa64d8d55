# SPDX-License-Identifier: Apache-2.0
"""The primitives of one action, with the same effects for less."""

from __future__ import annotations

from collections.abc import Iterator

from bmv2_json import (
    READS_INTO,
    SCALARS,
    Json,
    Name,
    as_truth,
    as_value,
    choice,
    constant,
    field_written,
    fields_read,
    jumps_to,
    nodes,
    operands,
    replaced,
    targets,
    times_read,
    touches,
)
from expressions import UNKNOWN, Expressions, Range, within

Life = tuple[Name, int]  # of a variable, from the primitive that stores it
STORE = 8  # operations that cost as much as a store into a field does, and a jump around it


def _first(together: dict[Life, Life], life: Life) -> Life:
    while life in together:
        life = together[life]
    return life


def _join(together: dict[Life, Life], one: Life, other: Life) -> None:
    one, other = _first(together, one), _first(together, other)
    if one != other:
        together[other] = one


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
        return name in self._ranges and within(self._expressions.range_of(value), self._ranges[name])

    def rename_apart(self, local: set[Name]) -> set[Name]:
        """Give a variable a name for each of its lives; return all names.

        The compiler uses the variables of an action again where that is called a second time.
        """
        together: dict[Life, Life] = {}  # lives that one place reads
        read: dict[tuple[int, Name], Life] = {}
        reaching: list[dict[Name, set[Life]]] = [{} for _ in range(len(self.primitives) + 1)]
        for number, primitive in enumerate(self.primitives):
            found = dict(reaching[number])
            for name in fields_read(operands(primitive)) & set(found):
                read[number, name], *others = sorted(found[name], key=lambda life: life[1])
                for life in others:
                    _join(together, read[number, name], life)
            stored = field_written(primitive)
            if stored is not None and stored in local:
                found[stored] = {(stored, number)}
            to = jumps_to(primitive)
            for behind in ([] if to is None else [to]) + ([] if primitive["op"] == "_jump" else [number + 1]):
                for name, lives in found.items():
                    reaching[behind][name] = reaching[behind].get(name, set()) | lives
        names: dict[Life, Name] = {}
        for number, primitive in enumerate(self.primitives):
            for node in nodes(operands(primitive)):
                if node["type"] == "field" and (own := read.get((number, tuple(node["value"])))):
                    node["value"] = list(self._name_of(_first(together, own), names))
            stored = field_written(primitive)
            if stored is not None and stored in local:
                target = primitive["parameters"][READS_INTO[primitive["op"]]]
                target["value"] = list(self._name_of(_first(together, (stored, number)), names))
        return local | set(names.values())

    def _name_of(self, life: Life, names: dict[Life, Name]) -> Name:
        (header, field), _ = life
        if life not in names:
            count = sum(other[0] == life[0] for other in names)
            names[life] = (header, f"{field}'{count}" if count else field)
            self._ranges[names[life]] = self._ranges[life[0]]
        return names[life]

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

    def choose(self) -> bool:
        """Store once what either of two ways would store; whether that changed anything."""
        changed = False
        for at in range(len(self.primitives) - 3, -1, -1):
            if self._stores_either(at):
                condition, (target, left), _, (_, right) = (
                    each["parameters"] for each in self.primitives[at : at + 4]
                )
                self.primitives[at] = {
                    "op": "assign",
                    "parameters": [target, choice(as_truth(condition[0]), as_value(left), as_value(right))],
                }
                for _ in range(3):
                    self._remove(at + 1)
                changed = True
        return changed

    def _stores_either(self, at: int) -> bool:
        """Whether an `if` with an `else` begins here that both only store a value into the same field."""
        ways = self.primitives[at : at + 4]
        if [each["op"] for each in ways] != ["_jump_if_zero", "assign", "_jump", "assign"]:
            return False
        if (jumps_to(ways[0]), jumps_to(ways[2])) != (at + 3, at + 4):
            return False
        others = [each for number, each in enumerate(self.primitives) if number != at]
        if targets(others) & {at + 1, at + 2, at + 3}:
            return False
        return field_written(ways[1]) == field_written(ways[3])

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
        evaluated = sum(times_read(operands(primitive), target) for primitive in self.primitives)
        again = (evaluated - 1) * sum(node["type"] == "expression" for node in nodes(value))
        if writers != [at] or not self._fits(at) or again > STORE:
            return False
        if not set(readers) <= set(self._behind(at, fields_read(value))):
            return False
        if not plain and not all(self._takes_expression(reader, target) for reader in readers):
            return False
        if not plain and len(readers) > 1 and any(self._is_index(reader, target) for reader in readers):
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

    def _is_index(self, number: int, target: Json) -> bool:
        """Whether it is the index of a cell: computed once, it lets what is written be an expression."""
        primitive = self.primitives[number]
        return (
            primitive["op"] in ("register_read", "register_write") and target in primitive["parameters"][1:3]
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
    return name[0] != SCALARS or "." in name[1]
