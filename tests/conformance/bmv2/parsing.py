# SPDX-License-Identifier: Apache-2.0
"""Parser and deparser as Python functions.

An error ends the parser with the headers found so far: the bytes extracted stay extracted, the rest is
payload, and the error's number is stored with the packet.
"""

from __future__ import annotations

from conformance.bmv2 import layout as notes
from conformance.bmv2.actions import Actions, Lines, indented
from conformance.bmv2.expressions import Value, stored
from conformance.bmv2.layout import Header, Json, UnsupportedError


class Parsing:
    """Translates the parser and the deparser of one program."""

    def __init__(self, program: Json, actions: Actions) -> None:
        if len(program["parsers"]) != 1 or program["checksums"] or program["parse_vsets"]:
            raise UnsupportedError("several parsers, checksums or parser value sets")
        self.parser, self.deparser = program["parsers"][0], program["deparsers"][0]
        self.actions, self.expressions = actions, actions.expressions
        self.layout = self.expressions.layout
        self.errors = dict(program["errors"])
        self.numbers = {state["name"]: state["id"] for state in self.parser["parse_states"]}

    def source(self) -> Lines:
        """Return all functions."""
        lines: Lines = []
        for state in self.parser["parse_states"]:
            lines += self._state(state)
        start = f"state_{self.numbers[self.parser['init_state']]}"
        lines += ["def parse(v, data):", "    at, state = 0, " + start, "    while state is not None:"]
        lines += ["        state, at = state(v, data, at)", "    return at"]
        return lines + self._deparser()

    def _fail(self, error: str) -> Lines:
        return [f"v[{notes.PARSER_ERROR}] = {self.errors[error]}", "return None, at"]

    def _state(self, state: Json) -> Lines:
        body: Lines = []
        for operation in state["parser_ops"]:
            body += self._operation(operation["op"], operation["parameters"])
        for transition in state["transitions"]:
            body += self._transition(state["transition_key"], transition)
        if not state["transitions"] or state["transitions"][-1]["type"] != "default":
            body.append("return None, at")
        return [f"def state_{state['id']}(v, data, at):", *indented(body)]

    def _operation(self, op: str, parameters: list[Json]) -> Lines:
        if op == "extract":
            return self._extract(self._header(parameters[0]))
        if op == "extract_VL":
            return self._extract_varying(self._header(parameters[0]), parameters[1])
        if op == "set":
            return self._set(*parameters)
        if op == "advance":
            return self._advance(parameters[0])
        if op == "verify":
            number = self.expressions.value(parameters[1]).text
            failed = [f"v[{notes.PARSER_ERROR}] = {number}", "return None, at"]
            return [f"if not {self.expressions.truth(parameters[0])}:", *indented(failed)]
        if op == "primitive":
            return self.actions.statement(parameters[0])
        raise UnsupportedError(f"parser operation {op}")

    def _header(self, item: Json) -> Header:
        if item["type"] != "regular":
            raise UnsupportedError(f"extraction to a {item['type']}")
        return self.layout.headers[item["value"]]

    def _extract(self, header: Header) -> Lines:
        lines = [f"end = at + {header.fixed_bytes}", *self._need_end()]
        lines += ["word = from_bytes(data[at:end])"]
        position = 8 * header.fixed_bytes
        for field in header.fields:
            assert field.width is not None
            position -= field.width
            text = f"(word >> {position} & {(1 << field.width) - 1})"
            value = Value(text, field.width)
            if field.signed:
                half = 1 << (field.width - 1)
                value = Value(f"({text} ^ {half}) - {half}", signed=field.width)
            lines.append(f"v[{field.slot}] = {stored(value, field)}")
        return [*lines, f"v[{header.valid.slot}] = 1", "at = end"]

    def _extract_varying(self, header: Header, length: Json) -> Lines:
        varying = header.varying
        if varying is None or len(header.fields) != 1:
            raise UnsupportedError(f"{header.name}: a variable-length field with others beside it")
        longest = self.layout.longest[self.layout.type_of[header.name]]
        lines = [f"bits = {self.expressions.value(length).text}"]
        lines += ["if bits % 8:", *indented(self._fail("ParserInvalidArgument"))]
        lines += ["end = at + bits // 8", *self._need_end()]
        lines += [f"if end - at > {longest}:", *indented(self._fail("HeaderTooShort"))]
        return [*lines, f"v[{varying.slot}] = data[at:end]", f"v[{header.valid.slot}] = 1", "at = end"]

    def _need_end(self) -> Lines:
        return ["if end > len(data):", *indented(self._fail("PacketTooShort"))]

    def _set(self, target: Json, source: Json) -> Lines:
        field = self.expressions.field(target)
        if source["type"] != "lookahead":
            return [f"v[{field.slot}] = {stored(self.expressions.value(source), field)}"]
        offset, width = source["value"]
        # BMv2 requires only the bytes of the width to be there, whatever their offset.
        lines = [f"end = at + {(width + 7) // 8}", *self._need_end()]
        value = Value(f"look_ahead(data, 8 * at + {offset}, {width})", width)
        return [*lines, f"v[{field.slot}] = {stored(value, field)}"]

    def _advance(self, bits: Json) -> Lines:
        lines = [f"bits = {self.expressions.value(bits).text}"]
        lines += ["if bits % 8:", *indented(self._fail("ParserInvalidArgument"))]
        return [*lines, "end = at + bits // 8", *self._need_end(), "at = end"]

    def _transition(self, key: list[Json], transition: Json) -> Lines:
        following = transition["next_state"]
        goes_on = f"return {'None' if following is None else f'state_{self.numbers[following]}'}, at"
        if transition["type"] == "default":
            return [goes_on]
        if transition["type"] != "hexstr":
            raise UnsupportedError(f"transition on a {transition['type']}")
        widths = [self._key_width(item) for item in key]
        values = _parts(transition["value"], widths)
        masks = _parts(transition["mask"], widths) if transition["mask"] else [None] * len(key)
        tests = []
        for item, value, mask in zip(key, values, masks, strict=True):
            text = self._key(item)
            tests.append(f"{text} == {value}" if mask is None else f"{text} & {mask} == {value & mask}")
        return [f"if {' and '.join(tests)}:", *indented([goes_on])]

    def _key_width(self, item: Json) -> int:
        if item["type"] == "lookahead":
            return int(item["value"][1])
        return self.expressions.field(item).width or 0

    def _key(self, item: Json) -> str:
        if item["type"] == "lookahead":
            offset, width = item["value"]
            return f"look_ahead(data, 8 * at + {offset}, {width})"
        return f"v[{self.expressions.field(item).slot}]"

    def _deparser(self) -> Lines:
        if self.deparser["primitives"]:
            raise UnsupportedError("primitives in a deparser")
        lines = ["def deparse(v):", "    out = []"]
        for name in self.deparser["order"]:
            header = self.layout.headers[name]
            lines += [f"    if v[{header.valid.slot}]:", f"        out.append({_bytes_of(header)})"]
        return [*lines, "    return b''.join(out)"]


def _bytes_of(header: Header) -> str:
    if header.varying:
        return f"v[{header.varying.slot}]"
    position, parts = 8 * header.fixed_bytes, []
    for field in header.fields:
        assert field.width is not None
        position -= field.width
        value = f"(v[{field.slot}] & {(1 << field.width) - 1})" if field.signed else f"v[{field.slot}]"
        parts.append(f"{value} << {position}")
    return f"({' | '.join(parts)}).to_bytes({header.fixed_bytes}, 'big')"


def _parts(text: str, widths: list[int]) -> list[int]:
    """Cut a key, in which every field has whole bytes, into its fields."""
    number, parts = int(text, 16), []
    for width in reversed(widths):
        size = 8 * ((width + 7) // 8)
        parts.append(number & ((1 << size) - 1))
        number >>= size
    return parts[::-1]


def look_ahead(data: bytes, begin: int, width: int) -> int:
    """Return `width` bits from bit `begin` on; bits beyond the frame read as 0."""
    end = begin + width
    taken = data[begin // 8 : (end + 7) // 8].ljust((end + 7) // 8 - begin // 8, b"\0")
    return int.from_bytes(taken, "big") >> (-end % 8) & ((1 << width) - 1)
