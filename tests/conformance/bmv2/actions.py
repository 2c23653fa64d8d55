# SPDX-License-Identifier: Apache-2.0
"""Actions as Python functions: the primitives become statements, the jumps become `if` and `else`."""

from __future__ import annotations

from conformance.bmv2 import layout as notes
from conformance.bmv2.expressions import Expressions, Value, constant, stored
from conformance.bmv2.layout import Header, Json, UnsupportedError

Lines = list[str]
DROP_PORT = 511


def indented(lines: Lines) -> Lines:
    """Return a block."""
    return ["    " + line for line in lines or ["pass"]]


class Actions:
    """Translates the actions of one program; register and counter arrays become names of lists."""

    def __init__(self, program: Json, expressions: Expressions) -> None:
        self.program = program
        self.expressions = expressions
        self.registers = {array["name"]: array for array in program["register_arrays"]}
        self.counters = {array["name"]: array for array in program["counter_arrays"]}

    def source(self, action: Json) -> Lines:
        """Return the function of an action: a packet's values, then the action's parameters."""
        parameters = ["v", *(f"a{number}" for number in range(len(action["runtime_data"])))]
        primitives = action["primitives"]
        body = self._block(primitives, 0, len(primitives))
        return [f"def action_{action['id']}({', '.join(parameters)}):", *indented(body)]

    def _block(self, primitives: list[Json], begin: int, end: int) -> Lines:
        lines: Lines = []
        at = begin
        while at < end:
            primitive = primitives[at]
            if primitive["op"] == "_jump_if_zero":
                at = self._branch(primitives, at, end, lines)
            elif primitive["op"] == "_jump" and self._target(primitive) == at + 1:
                at += 1  # the end of a branch whose other one is empty
            else:
                lines += self.statement(primitive)
                at += 1
        return lines

    def _branch(self, primitives: list[Json], at: int, end: int, lines: Lines) -> int:
        """Append one `if`; return the position behind it."""
        condition, _ = primitives[at]["parameters"]
        other = behind = self._target(primitives[at])
        then_end = other
        last = primitives[other - 1] if other > at + 1 else {"op": ""}
        if last["op"] == "_jump":
            then_end, behind = other - 1, self._target(last)
        if not at < other <= behind <= end:
            raise UnsupportedError("a jump that is no if and else")
        lines.append(f"if {self._condition(condition)}:")
        lines += indented(self._block(primitives, at + 1, then_end))
        if behind > other:
            lines += ["else:", *indented(self._block(primitives, other, behind))]
        return behind

    def _target(self, primitive: Json) -> int:
        target = constant(primitive["parameters"][-1]["value"]).constant
        assert target is not None
        return target

    def _condition(self, item: Json) -> str:
        inner = item["value"]
        while isinstance(inner, dict) and inner.get("type") == "expression":
            inner = inner["value"]
        if isinstance(inner, dict) and inner.get("op") == "b2d":
            return self.expressions.truth(inner["right"])
        return f"{self.expressions.value(item).text} != 0"

    def statement(self, primitive: Json) -> Lines:
        """Return the statements of one primitive that does not jump."""
        name = f"_do_{primitive['op']}"
        if not hasattr(self, name):
            raise UnsupportedError(f"primitive {primitive['op']}")
        lines: Lines = getattr(self, name)(*primitive["parameters"])
        return lines

    def _store(self, target: Json, value: Value) -> Lines:
        field = self.expressions.field(target)
        return [f"v[{field.slot}] = {stored(value, field)}"]

    def _header(self, item: Json) -> Header:
        return self.expressions.layout.headers[item["value"]]

    def _do_assign(self, target: Json, source: Json) -> Lines:
        return self._store(target, self.expressions.value(source))

    def _do_assign_VL(self, target: Json, source: Json) -> Lines:  # noqa: N802 - the primitive's name
        to, start = self.expressions.field(target), self.expressions.field(source)
        return [f"v[{to.slot}] = v[{start.slot}]"]

    def _do_assign_header(self, target: Json, source: Json) -> Lines:
        to, start = self._header(target), self._header(source)
        pairs = zip(to.fields, start.fields, strict=True)
        copies = [f"v[{a.slot}] = v[{b.slot}]" for a, b in pairs]
        if start.metadata:
            return copies
        valid = f"v[{to.valid.slot}] = v[{start.valid.slot}]"
        return [valid, f"if v[{start.valid.slot}]:", *indented(copies)]

    def _do_add_header(self, target: Json) -> Lines:
        header = self._header(target)
        zeros = [f"v[{field.slot}] = {'0' if field.width else repr(b'')}" for field in header.fields]
        grown = f"v[{notes.LENGTH}] += {header.fixed_bytes}"
        body = [*zeros, f"v[{header.valid.slot}] = 1", grown]
        return [f"if not v[{header.valid.slot}]:", *indented(body)]

    def _do_remove_header(self, target: Json) -> Lines:
        header = self._header(target)
        varying = f" + len(v[{header.varying.slot}])" if header.varying else ""
        body = [f"v[{header.valid.slot}] = 0", f"v[{notes.LENGTH}] -= {header.fixed_bytes}{varying}"]
        return [f"if v[{header.valid.slot}]:", *indented(body)]

    def _do_register_read(self, target: Json, array: Json, index: Json) -> Lines:
        register = self.registers[array["value"]]
        cell = f"register_{register['id']}[{self.expressions.value(index).text}]"
        return self._store(target, Value(cell, register["bitwidth"]))

    def _do_register_write(self, array: Json, index: Json, source: Json) -> Lines:
        register, value = self.registers[array["value"]], self.expressions.value(source)
        width = register["bitwidth"]
        fits = value.bits is not None and value.bits <= width
        text = value.text if fits else f"{value.text} & {(1 << width) - 1}"
        return [f"register_{register['id']}[{self.expressions.value(index).text}] = {text}"]

    def _do_count(self, array: Json, index: Json) -> Lines:
        number = self.counters[array["value"]]["id"]
        return [
            f"cell = counter_{number}[{self.expressions.value(index).text}]",
            "cell[0] += 1",
            f"cell[1] += v[{notes.INGRESS_LENGTH}]",
        ]

    def _do_generate_digest(self, _receiver: Json, learn_list: Json) -> Lines:
        return [f"v[{notes.DIGEST}] = {self.expressions.value(learn_list).text}"]

    def _do_recirculate(self, field_list: Json) -> Lines:
        return [f"v[{notes.RECIRCULATE}] = {self.expressions.value(field_list).text}"]

    def _do_mark_to_drop(self, _standard: Json) -> Lines:
        standard = self.expressions.layout.standard
        return [f"v[{standard('egress_spec')}] = {DROP_PORT}", f"v[{standard('mcast_grp')}] = 0"]

    def _do_exit(self) -> Lines:
        return [f"v[{notes.EXIT}] = 1"]

    def _do_no_op(self) -> Lines:
        return []

    def _do_log_msg(self, _text: Json, _values: Json) -> Lines:
        return []

    def _do_assert(self, condition: Json) -> Lines:
        return [f"assert {self.expressions.value(condition).text} != 0"]

    _do_assume = _do_assert
