# SPDX-License-Identifier: Apache-2.0
"""The interpreter on small programs, written by hand, for features that our own program does not exercise."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.bmv2.expressions import Expressions, Value, store_signed, stored
from conformance.bmv2.layout import RECIRCULATE, Field, Json, Layout, UnsupportedError
from conformance.bmv2.parsing import look_ahead
from conformance.bmv2.switch import Frame, Recirculated, Switch

STANDARD = [
    *(["ingress_port", 9], ["egress_spec", 9], ["egress_port", 9], ["instance_type", 32]),
    *(["packet_length", 32], ["enq_timestamp", 32], ["enq_qdepth", 19], ["deq_timedelta", 32]),
    *(["deq_qdepth", 19], ["ingress_global_timestamp", 48], ["egress_global_timestamp", 48]),
    *(["mcast_grp", 16], ["egress_rid", 16], ["parser_error", 32], ["_padding", 3]),
]


def field(header: str, name: str) -> Json:
    return {"type": "field", "value": [header, name]}


def number(value: int) -> Json:
    return {"type": "hexstr", "value": hex(value)}


def expression(op: str, left: Json | None, right: Json, **more: Json) -> Json:
    return {"type": "expression", "value": {"op": op, "left": left, "right": right, **more}}


def assign(target: Json, source: Json) -> Json:
    return {"op": "assign", "parameters": [target, source]}


def program(**parts: Any) -> Json:
    """A program with a header of one byte `h.a`, one of variable length, and metadata `m.x`, `m.y`."""
    types = [
        {"name": "standard", "fields": STANDARD},
        {"name": "byte", "fields": [["a", 8]]},
        {"name": "options", "fields": [["o", "*"]], "max_length": 4},
        {"name": "meta", "fields": [["x", 16], ["y", 8, True]]},
    ]
    names = [("standard_metadata", "standard"), ("m", "meta"), ("h", "byte"), ("v", "options")]
    headers = [
        {"name": name, "header_type": kind, "metadata": kind in ("standard", "meta")} for name, kind in names
    ]
    state = {"name": "start", "id": 0, "parser_ops": [extract("h")], "transition_key": []}
    state["transitions"] = []
    whole: Json = {
        "header_types": types,
        "headers": headers,
        "field_aliases": [],
        "errors": [
            ["NoError", 0],
            ["PacketTooShort", 1],
            ["HeaderTooShort", 4],
            ["ParserInvalidArgument", 6],
        ],
        "parsers": [{"init_state": "start", "parse_states": [state]}],
        "deparsers": [{"order": ["h", "v"], "primitives": []}],
        "actions": [],
        "pipelines": [],
    }
    lists = ("checksums", "parse_vsets", "meter_arrays", "header_stacks", "header_unions", "counter_arrays")
    for name in (*lists, "register_arrays", "field_lists", "learn_lists"):
        whole[name] = []
    whole.update(parts)
    whole["pipelines"] += [
        {"name": name, "init_table": None, "tables": [], "conditionals": [], "action_profiles": []}
        for name in ("ingress", "egress")
        if name not in {pipeline["name"] for pipeline in whole["pipelines"]}
    ]
    return whole


def extract(header: str) -> Json:
    return {"op": "extract", "parameters": [{"type": "regular", "value": header}]}


def one_table(**members: Any) -> Json:
    """An ingress pipeline of one table, which is called t."""
    table = {"name": "t", "type": "simple", "key": [], "next_tables": {}, **members}
    conditionals: list[Json] = []
    return {
        "name": "ingress",
        "init_table": "t",
        "tables": [table],
        "conditionals": conditionals,
        "action_profiles": [],
    }


def running(*primitives: Json, **parts: Any) -> Switch:
    """A switch that runs these primitives on every packet, in ingress."""
    action = {"name": "act", "id": 3, "runtime_data": [], "primitives": list(primitives)}
    default = {"action_id": 3, "action_data": []}
    pipeline = one_table(action_ids=[3], next_tables={"act": None}, default_entry=default)
    return Switch(program(actions=[action], pipelines=[pipeline], **parts))


def value_of(switch: Switch, header: str, name: str, frame: bytes = b"\7") -> int:
    """A field after ingress."""
    (copy,) = switch.ingress(0, frame, 0)
    return int(copy.values[switch.layout.field(header, name).slot])


A, X, Y = field("h", "a"), field("m", "x"), field("m", "y")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (expression("+", A, number(0xFFFF)), 6),  # cut to 16 bits
        (expression("-", A, number(8)), 0xFFFF),
        (expression("<<", A, number(14)), 0xC000),
        (expression("~", None, A), 0xFFF8),
        (expression("usat_cast", expression("-", A, number(9)), number(16)), 0),
        (expression("usat_cast", expression("+", A, number(0xFFFF)), number(16)), 0xFFFF),
        (expression("sat_cast", expression("*", A, number(100)), number(8)), 127),
        (expression("two_comp_mod", expression("+", A, number(250)), number(8)), 1),
        (expression("two_comp_mod", expression("+", A, number(121)), number(8)), 0xFF80),
        (expression(">>", expression("two_comp_mod", number(0x80), number(8)), number(1)), 0xFFC0),
        (expression("?", A, number(9), cond=expression("==", A, number(7))), 7),
        (expression("b2d", None, expression("not", None, expression("d2b", None, A))), 0),
        (expression("&", A, number(0xFF)), 7),
        (expression("&", expression("-", A, number(8)), number(0xFF)), 0xFF),
    ],
)
def test_expressions(source: Json, expected: int) -> None:
    assert value_of(running(assign(X, source)), "m", "x") == expected


@pytest.mark.parametrize(
    ("value", "kept"), [(127, 127), (-128, -128), (-129, 127), (256, 0), (255 + 129, -128), (200, 200)]
)
def test_signed_fields_wrap_as_those_of_bmv2(value: int, kept: int) -> None:
    # 200 stays: BMv2 wraps below the signed range and above the unsigned one; compilers cast before.
    assert store_signed(value, 8) == kept
    assert stored(Value("z", signed=8), Field(1, "y", 8, True)) == "z"


def branch(taken_from: int, to: int, source: Json = A) -> Json:
    condition = expression("b2d", None, expression("==", source, number(taken_from)))
    return {"op": "_jump_if_zero", "parameters": [condition, number(to)]}


@pytest.mark.parametrize(("byte", "expected"), [(1, 0x11), (2, 0x12), (3, 0x10)])
def test_jumps_are_if_and_else(byte: int, expected: int) -> None:
    jump: Json = {"op": "_jump", "parameters": [number(7)]}
    switch = running(
        assign(X, number(0)),
        branch(1, 4),
        assign(X, number(1)),
        jump,
        branch(2, 6),
        assign(X, number(2)),
        assign(X, expression("+", X, number(0))),
        assign(X, expression("|", X, number(0x10))),
    )
    assert value_of(switch, "m", "x", bytes([byte])) == expected


def test_a_backward_jump_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="if and else"):
        running(assign(X, number(0)), branch(1, 0))


@pytest.mark.parametrize(
    ("frame", "error", "payload"),
    [
        (b"\x08\xaa\xbb", 0, b"\xbb"),  # 8 bits of options
        (b"\x00\xaa", 0, b"\xaa"),  # none, but a valid header
        (b"\x20\xaa", 1, b"\xaa"),  # 4 bytes wanted, 1 there
        (b"\x28" + bytes(9), 4, bytes(9)),  # 5 bytes, 4 is the most
        (b"\x09" + bytes(9), 6, bytes(9)),  # not whole bytes
        (b"", 1, b""),
    ],
)
def test_a_parser_error_keeps_what_was_found(frame: bytes, error: int, payload: bytes) -> None:
    length = {"op": "extract_VL", "parameters": [{"type": "regular", "value": "v"}, A]}
    state = {"name": "start", "id": 0, "parser_ops": [extract("h"), length], "transition_key": []}
    state["transitions"] = []
    switch = Switch(program(parsers=[{"init_state": "start", "parse_states": [state]}]))
    (copy,) = switch.ingress(0, frame, 0)
    assert copy.values[switch.slot["parser_error"]] == error
    assert copy.payload == payload
    left = switch.egress(copy, 0)
    assert isinstance(left, Frame)
    assert left.data == frame


def test_transitions_with_masks_and_look_ahead() -> None:
    key = [A, {"type": "lookahead", "value": [4, 4]}]
    cases = [("0x0107", None, "one"), ("0x8000", "0xf000", "two")]
    transitions = [
        {"type": "hexstr", "value": value, "mask": mask, "next_state": following}
        for value, mask, following in cases
    ]
    transitions.append({"type": "default", "value": None, "mask": None, "next_state": None})
    start = {"name": "start", "id": 0, "parser_ops": [extract("h")], "transition_key": key}
    start["transitions"] = transitions
    states = [start]
    for number_, name in ((1, "one"), (2, "two")):
        op = {"op": "set", "parameters": [X, number(number_)]}
        states.append({"name": name, "id": number_, "parser_ops": [op], "transition_key": []})
        states[-1]["transitions"] = []
    switch = Switch(program(parsers=[{"init_state": "start", "parse_states": states}]))
    seen = [value_of(switch, "m", "x", frame) for frame in (b"\1\x37", b"\1\x36", b"\x8f\0", b"\x7f\0")]
    assert seen == [1, 0, 2, 0]


def test_look_ahead_reads_zeros_behind_the_frame() -> None:
    assert look_ahead(b"\xab\xcd", 4, 8) == 0xBC
    assert look_ahead(b"\xab", 4, 12) == 0xB00


def matching(kind: str, entries: list[Json]) -> Switch:
    set_x = {"name": "c.set_x", "id": 1, "runtime_data": [{"name": "x", "bitwidth": 4}]}
    set_x["primitives"] = [assign(X, {"type": "runtime_data", "value": 0})]
    none = {"name": "NoAction", "id": 2, "runtime_data": [], "primitives": []}
    table = one_table(
        key=[{"match_type": kind, "target": ["h", "a"]}],
        action_ids=[1, 2],
        next_tables={"c.set_x": None, "NoAction": None},
        default_entry={"action_id": 2, "action_data": []},
        entries=entries,
    )
    return Switch(program(actions=[set_x, none], pipelines=[table]))


def entry(priority: int, data: str, **key: str) -> Json:
    return {
        "priority": priority,
        "match_key": [key],
        "action_entry": {"action_id": 1, "action_data": [data]},
    }


def test_exact_entries() -> None:
    switch = matching("exact", [entry(0, "0x5", key="0x07")])
    assert [value_of(switch, "m", "x", bytes([a])) for a in (7, 8)] == [5, 0]
    switch.table("t").add(8, "set_x", 9)
    switch.table("t").remove(7)
    assert [value_of(switch, "m", "x", bytes([a])) for a in (7, 8)] == [0, 9]
    with pytest.raises(ValueError, match="t: set_x: x: 16 does not fit"):
        switch.table("t").add(8, "set_x", 16)
    with pytest.raises(ValueError, match="t: action: drop is none of"):
        switch.table("t").add(8, "drop")


def test_ternary_entries_by_priority() -> None:
    entries = [entry(2, "0x2", key="0x00", mask="0x00"), entry(1, "0x1", key="0x80", mask="0x80")]
    switch = matching("ternary", entries)
    assert [value_of(switch, "m", "x", bytes([a])) for a in (0x81, 0x7F)] == [1, 2]


def test_multicast_and_recirculation() -> None:
    lists = [{"id": 1, "name": "kept", "elements": [X]}]
    primitives = [assign(X, number(5)), assign(Y, number(6))]
    switch = running(*primitives, assign(field("standard_metadata", "mcast_grp"), A), field_lists=lists)
    switch.groups[7] = [(3, 30), (4, 40)]
    copies = switch.ingress(1, b"\7", 100)
    assert [copy.port for copy in copies] == [3, 4]
    assert [copy.values[switch.slot["egress_rid"]] for copy in copies] == [30, 40]
    copies[0].values[RECIRCULATE] = 1  # as the primitive does: field list 1
    packet = switch.egress(copies[0], 150)
    assert isinstance(packet, Recirculated)
    kept = [packet.values[switch.layout.field("m", name).slot] for name in ("x", "y")]
    assert kept == [5, 0]
    assert packet.values[switch.slot["instance_type"]] == 4
    assert copies[0].values[switch.slot["deq_timedelta"]] == 50
    assert copies[1].values[switch.slot["instance_type"]] == 5


@pytest.mark.parametrize(
    "primitive", ["clone_ingress_pkt_to_egress", "execute_meter", "modify_field_rng_uniform"]
)
def test_what_is_not_known_is_refused(primitive: str) -> None:
    with pytest.raises(UnsupportedError, match=f"primitive {primitive}"):
        running({"op": primitive, "parameters": []})


def test_unknown_operations_are_refused() -> None:
    expressions = Expressions(Layout(program()))
    for bad in (expression("dereference_header_stack", A, A), {"type": "register", "value": ["r", A]}):
        with pytest.raises(UnsupportedError):
            expressions.value(json.loads(json.dumps(bad)))
