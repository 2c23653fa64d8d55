# SPDX-License-Identifier: Apache-2.0
"""What p4/slim.py takes out of a compiled program, and what it leaves alone, on programs written by hand."""

from __future__ import annotations

from typing import Any

import pytest
from bmv2_json import choice, constant, operation
from slim import slim

Json = dict[str, Any]
WIDTHS = {"a": 8, "b": 8, "wide": 32, "flag": 1, "c": 8, "d": 8, "sent": 8}  # of the variables


def field(header: str, name: str) -> Json:
    return {"type": "field", "value": [header, name]}


def var(name: str) -> Json:
    return field("scalars", name)


X, Y, OUT = field("h", "x"), field("h", "y"), field("h", "out")
LENGTH = field("standard_metadata", "packet_length")
CELLS = {"type": "register_array", "value": "cells"}
PARAMETER = {"type": "runtime_data", "value": 0}
IS_SET = operation("b2d", None, operation("==", X, constant(1)))


def assign(target: Json, value: Json) -> Json:
    return {"op": "assign", "parameters": [target, parameter(value)]}


def parameter(value: Json) -> Json:
    return {"type": "expression", "value": value} if value["type"] == "expression" else value


def read(target: Json, index: Json) -> Json:
    return {"op": "register_read", "parameters": [target, CELLS, parameter(index)]}


def write(index: Json, value: Json) -> Json:
    return {"op": "register_write", "parameters": [CELLS, parameter(index), parameter(value)]}


def unless(condition: Json, to: int) -> Json:
    return {"op": "_jump_if_zero", "parameters": [parameter(condition), constant(to)]}


def jump(to: int) -> Json:
    return {"op": "_jump", "parameters": [constant(to)]}


def masked(value: Json, bits: int) -> Json:
    return operation("&", value, constant((1 << bits) - 1))


def program(*actions: list[Json], metadata: tuple[str, ...] = ()) -> Json:
    """A program with header `h`, variables, some metadata, and these actions, in tables of their own."""
    names = [f"act{number}" for number in range(len(actions))]
    tables = [
        {"name": f"t{number}", "action_ids": [number], "next_tables": {name: None}, "key": []}
        for number, name in enumerate(names)
    ]
    standard = [["packet_length", 32, False], ["priority", 3, False], ["_padding", 5, False]]
    variables: list[list[Any]] = [[name, width, False] for name, width in WIDTHS.items()]
    variables += [[f"metadata_t.{name}", 16, False] for name in metadata]
    kinds = {
        "scalars_0": [*variables, ["_padding_0", 7, False]],
        "standard_metadata": standard,
        "h": [["x", 8, False], ["y", 8, False], ["out", 8, False], ["big", 32, False]],
    }
    return {
        "header_types": [
            {"name": name, "id": number, "fields": fields}
            for number, (name, fields) in enumerate(kinds.items())
        ],
        "headers": [
            {"name": "scalars", "id": 0, "header_type": "scalars_0", "metadata": True},
            {"name": "standard_metadata", "id": 1, "header_type": "standard_metadata", "metadata": True},
            {"name": "h", "id": 2, "header_type": "h", "metadata": False},
        ],
        "field_aliases": [["intrinsic_metadata.priority", ["standard_metadata", "priority"]]],
        "learn_lists": [{"id": 1, "elements": [var("sent"), Y]}],
        "field_lists": [],
        "parsers": [],
        "register_arrays": [{"name": "cells", "id": 0, "size": 4, "bitwidth": 8}],
        "pipelines": [{"name": "ingress", "init_table": "t0", "tables": tables, "conditionals": []}],
        "actions": [
            {
                "name": name,
                "id": number,
                "runtime_data": [{"name": "p", "bitwidth": 8}],
                "primitives": list(actions[number]),
            }
            for number, name in enumerate(names)
        ],
    }


def slimmed(*primitives: Json) -> list[Json]:
    """The primitives of one action, slim; shared fields by the name of the header that they are in."""
    return list(slim(program(list(primitives)))["actions"][0]["primitives"])


def text(item: Json) -> str:
    """An expression in short."""
    kind, value = item["type"], item["value"]
    if kind == "expression":
        if "op" not in value:
            return text(value)
        if value["op"] == "?":
            return f"({text(value['cond'])} ? {text(value['left'])} : {text(value['right'])})"
        left = text(value["left"]) + " " if value["left"] else ""
        return f"({left}{value['op']} {text(value['right'])})"
    if kind == "field":
        return ".".join(value)
    return str(int(value, 16)) if kind == "hexstr" else str(value)


def lines(primitives: list[Json]) -> list[str]:
    """Primitives in short: `target = value`, or their name and parameters."""
    found = []
    for each in primitives:
        texts = [text(item) for item in each["parameters"]]
        found.append(" = ".join(texts) if each["op"] == "assign" else " ".join([each["op"], *texts]))
    return found


def value_of(expression: Json) -> str:
    """What becomes of an expression that is stored into 32 bits."""
    (line,) = lines(slimmed(assign(field("h", "big"), expression)))
    return line.removeprefix("h.big = ")


# --- Expressions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "left"),
    [
        (masked(X, 8), "h.x"),
        (masked(X, 7), "(h.x & 127)"),
        (masked(operation("+", X, Y), 8), "((h.x + h.y) & 255)"),
        (masked(operation("+", X, Y), 9), "(h.x + h.y)"),
        (masked(masked(operation("+", X, Y), 16), 8), "((h.x + h.y) & 255)"),
        (operation("&", operation("&", X, constant(0x0F)), constant(0x3A)), "(h.x & 10)"),
        (operation("|", constant(0), X), "h.x"),
        (operation("|", X, constant(0)), "h.x"),
        (operation("|", X, constant(1)), "(h.x | 1)"),
        (operation("<<", X, constant(0)), "h.x"),
        (operation("<<", operation("<<", X, constant(3)), constant(2)), "(h.x << 5)"),
        (operation(">>", operation("<<", X, constant(3)), constant(2)), "((h.x << 3) >> 2)"),
        (operation("usat_cast", operation("+", X, Y), constant(9)), "(h.x + h.y)"),
        (operation("usat_cast", operation("+", X, Y), constant(8)), "((h.x + h.y) usat_cast 8)"),
        (operation("usat_cast", operation("-", X, Y), constant(9)), "((h.x - h.y) usat_cast 9)"),
        (operation("two_comp_mod", X, constant(9)), "h.x"),
        (operation("two_comp_mod", X, constant(8)), "(h.x two_comp_mod 8)"),
        (operation("b2d", None, operation("d2b", None, field("h", "$valid$"))), "h.$valid$"),
        (operation("b2d", None, operation("d2b", None, X)), "(b2d (d2b h.x))"),
        (masked(PARAMETER, 8), "0"),  # the action's first parameter, of 8 bits
        (choice(operation("==", X, Y), masked(X, 8), Y), "((h.x == h.y) ? h.x : h.y)"),
    ],
)
def test_operations_that_cannot_change_a_value_go(expression: Json, left: str) -> None:
    assert value_of(expression) == left


def test_a_mask_goes_where_the_store_cuts_as_much() -> None:
    total = operation("+", X, Y)
    assert lines(slimmed(assign(OUT, masked(total, 8)))) == ["h.out = (h.x + h.y)"]
    assert lines(slimmed(assign(OUT, masked(total, 4)))) == ["h.out = ((h.x + h.y) & 15)"]
    assert lines(slimmed(write(X, masked(total, 8)))) == ["register_write cells h.x (h.x + h.y)"]
    either = choice(operation("==", X, Y), masked(total, 8), Y)
    assert lines(slimmed(assign(OUT, either))) == ["h.out = ((h.x == h.y) ? (h.x + h.y) : h.y)"]
    shifted = operation(">>", masked(total, 8), constant(1))
    assert lines(slimmed(assign(OUT, shifted))) == ["h.out = (((h.x + h.y) & 255) >> 1)"]


# --- Variables ----------------------------------------------------------------------------------------


def test_a_variable_that_is_read_once_goes() -> None:
    sums = masked(operation("+", X, Y), 8)
    found = slimmed(assign(var("a"), sums), assign(OUT, operation(">>", var("a"), constant(1))))
    assert lines(found) == ["h.out = (((h.x + h.y) & 255) >> 1)"]


def test_a_variable_that_nothing_reads_goes() -> None:
    assert lines(slimmed(assign(var("a"), X), assign(OUT, Y))) == ["h.out = h.y"]


def test_a_value_that_is_no_longer_there_when_it_is_read_stays() -> None:
    found = slimmed(assign(var("a"), X), assign(X, Y), assign(OUT, var("a")))
    assert lines(found) == ["kept.unsigned_0 = h.x", "h.x = h.y", "h.out = kept.unsigned_0"]


def test_a_value_that_its_variable_cuts_stays() -> None:
    found = slimmed(assign(var("a"), operation("+", X, Y)), assign(field("h", "big"), var("a")))
    assert lines(found) == ["kept.unsigned_0 = (h.x + h.y)", "h.big = kept.unsigned_0"]


def test_a_value_that_is_stored_is_not_computed_again() -> None:
    half = [constant(1)]
    for product, again in ((masked(operation("*", X, Y), 8), "h.out"), (operation("*", X, Y), "(h.x * h.y)")):
        found = slimmed(assign(OUT, product), assign(field("h", "big"), operation(">>", product, *half)))
        assert lines(found) == ["h.out = (h.x * h.y)", f"h.big = ({again} >> 1)"]  # or it does not fit uncut


def test_a_primitive_gets_no_second_expression() -> None:
    # BMv2's value of the one may move while it computes the other.
    index = masked(operation("+", X, constant(1)), 8)
    found = slimmed(assign(var("a"), masked(operation("*", X, Y), 8)), write(index, var("a")))
    assert lines(found) == [
        "kept.unsigned_0 = (h.x * h.y)",
        "register_write cells ((h.x + 1) & 255) kept.unsigned_0",
    ]


def test_the_index_of_a_cell_that_is_read_and_written_is_computed_once() -> None:
    index = masked(operation("+", X, constant(1)), 8)
    found = slimmed(
        assign(var("a"), index),
        read(var("b"), var("a")),
        assign(var("c"), masked(operation("+", var("b"), constant(1)), 8)),
        write(var("a"), var("c")),
    )
    assert lines(found) == [
        "kept.unsigned_0 = (h.x + 1)",
        "register_read kept.unsigned_1 cells kept.unsigned_0",
        "register_write cells kept.unsigned_0 (kept.unsigned_1 + 1)",
    ]


def test_what_another_action_reads_stays() -> None:
    made = slim(program([assign(var("a"), X)], [assign(OUT, var("a"))]))
    assert [lines(action["primitives"]) for action in made["actions"]] == [
        ["kept.a = h.x"],
        ["h.out = kept.a"],
    ]


def test_a_variable_that_is_read_before_it_is_written_is_carried_from_elsewhere() -> None:
    found = slimmed(unless(IS_SET, 2), assign(var("a"), Y), assign(OUT, var("a")))
    assert lines(found)[1:] == ["kept.a = h.y", "h.out = kept.a"]


def test_variables_of_different_actions_share_their_fields() -> None:
    keeps = [assign(var("a"), X), assign(X, Y), assign(OUT, var("a"))]
    other = [assign(var("wide"), LENGTH), assign(LENGTH, X), assign(field("h", "big"), var("wide"))]
    made = slim(program(keeps, other))
    assert lines(made["actions"][0]["primitives"])[0] == "kept.unsigned_0 = h.x"
    assert lines(made["actions"][1]["primitives"])[0] == "kept.unsigned_0 = standard_metadata.packet_length"
    assert kinds_of(made)["kept"] == [["sent", 8, False], ["unsigned_0", 32, False]]


def test_a_narrow_variable_in_a_wide_shared_field_is_still_cut() -> None:
    cuts = [assign(var("a"), operation("+", X, Y)), assign(field("h", "big"), var("a"))]
    other = [assign(var("wide"), LENGTH), assign(LENGTH, X), assign(field("h", "big"), var("wide"))]
    made = slim(program(cuts, other))
    assert lines(made["actions"][0]["primitives"])[0] == "kept.unsigned_0 = ((h.x + h.y) & 255)"


# --- Choices ------------------------------------------------------------------------------------------


def either(target: Json, left: Json, right: Json, at: int = 0) -> list[Json]:
    """An `if` and `else` that begins at this primitive and has four."""
    return [unless(IS_SET, at + 3), assign(target, left), jump(at + 4), assign(target, right)]


def test_an_if_that_only_chooses_a_value_becomes_a_choice() -> None:
    assert lines(slimmed(*either(OUT, Y, PARAMETER))) == ["h.out = ((h.x == 1) ? h.y : 0)"]
    flag = unless(field("h", "y"), 3)
    found = slimmed(flag, *either(OUT, Y, X)[1:])
    assert lines(found) == ["h.out = ((d2b h.y) ? h.y : h.x)"]


def test_choices_in_choices() -> None:
    found = slimmed(
        unless(operation("b2d", None, operation(">", Y, X)), 3),
        assign(var("b"), constant(7)),
        jump(8),
        *either(var("a"), X, Y, at=3),
        assign(var("b"), var("a")),
        assign(OUT, var("b")),
    )
    assert lines(found) == ["h.out = ((h.y > h.x) ? 7 : ((h.x == 1) ? h.x : h.y))"]


@pytest.mark.parametrize(
    "primitives",
    [
        [unless(IS_SET, 3), assign(OUT, X), jump(4), assign(Y, X)],  # other fields
        [unless(IS_SET, 3), write(X, Y), jump(4), assign(OUT, X)],  # an effect
        [unless(IS_SET, 2), assign(OUT, X)],  # no else
        [unless(IS_SET, 4), assign(OUT, X), assign(Y, X), jump(5), assign(OUT, Y)],  # more than one
    ],
)
def test_an_if_that_does_more_stays(primitives: list[Json]) -> None:
    assert [each["op"] for each in slimmed(*primitives)] == [each["op"] for each in primitives]


def test_a_variable_of_two_lives_gets_two_names() -> None:
    # As p4c leaves an action that is called in both ways of an `if`.
    def call(argument: Json) -> list[Json]:
        return [
            assign(var("c"), argument),
            assign(var("d"), masked(operation("+", var("c"), constant(1)), 8)),
            write(constant(0), var("d")),
        ]

    found = slimmed(unless(IS_SET, 5), *call(X), jump(8), *call(Y))
    assert lines(found)[1:] == [
        "register_write cells 0 (h.x + 1)",
        "_jump 4",
        "register_write cells 0 (h.y + 1)",
    ]


def test_lives_that_meet_keep_one_name() -> None:
    found = slimmed(
        unless(IS_SET, 4),
        assign(var("a"), X),
        write(X, var("a")),
        jump(5),
        assign(var("a"), Y),
        assign(OUT, var("a")),
    )
    stored = [line.split(" = ")[0] for line in lines(found) if line.startswith("kept.")]
    assert len(stored) == 2
    assert set(stored) == {"kept.unsigned_0"}
    assert lines(found)[-1] == "h.out = kept.unsigned_0"


# --- What BMv2 clears ---------------------------------------------------------------------------------


def kinds_of(made: Json) -> dict[str, list[Any]]:
    return {kind["name"]: kind["fields"] for kind in made["header_types"]}


def test_only_metadata_that_may_be_read_unset_is_cleared() -> None:
    metadata = {name: field("scalars", f"metadata_t.{name}") for name in ("now", "judged")}
    sets = [assign(metadata["now"], X), assign(metadata["judged"], Y), assign(var("a"), X), assign(X, Y)]
    made = slim(program([*sets, assign(OUT, var("a"))], metadata=("now", "judged")))
    assert kinds_of(made)["scalars_0"] == [["metadata_t.judged", 16, False]]
    names = {name for name, _, _ in kinds_of(made)["kept"]}
    assert names == {"metadata_t.now", "unsigned_0", "sent"}
    (header,) = (each for each in made["headers"] if each["name"] == "kept")
    assert header["metadata"] is False
    assert header["id"] == 3
    assert lines(made["actions"][0]["primitives"])[:2] == [
        "kept.metadata_t.now = h.x",
        "scalars.metadata_t.judged = h.y",
    ]


def test_headers_have_whole_bytes() -> None:
    made = slim(
        program([assign(var("flag"), X), assign(X, Y), assign(OUT, var("flag"))], metadata=("judged",))
    )
    assert all(sum(field_[1] for field_ in fields) % 8 == 0 for fields in kinds_of(made).values())


def test_standard_metadata_that_nothing_reads_goes() -> None:
    made = slim(program([assign(OUT, X)]))
    assert kinds_of(made)["standard_metadata"] == [["packet_length", 32, False]]
    assert made["field_aliases"] == []


def test_standard_metadata_that_is_read_stays() -> None:
    made = slim(program([assign(OUT, field("standard_metadata", "priority"))]))
    assert kinds_of(made)["standard_metadata"] == [["packet_length", 32, False], ["priority", 8, False]]
    assert len(made["field_aliases"]) == 1


def test_the_given_program_is_left_as_it_is() -> None:
    given = program([assign(OUT, masked(X, 8))])
    slim(given)
    assert given == program([assign(OUT, masked(X, 8))])


# --- Digests ------------------------------------------------------------------------------------------


def digest() -> Json:
    return {"op": "generate_digest", "parameters": [constant(1), constant(1)]}


def test_a_digest_is_sent_from_where_its_members_were() -> None:
    made = slim(program([assign(var("sent"), X), digest()]))
    assert made["learn_lists"][0]["elements"] == [X, Y]
    assert lines(made["actions"][0]["primitives"]) == ["generate_digest 1 1"]


def test_a_digest_whose_source_changes_is_sent_from_the_copy() -> None:
    made = slim(program([assign(var("sent"), X), assign(X, Y), digest()]))
    (element, _) = made["learn_lists"][0]["elements"]
    assert text(element) == "kept.sent"


def test_a_digest_that_something_runs_behind_is_sent_from_the_copy() -> None:
    given = program([assign(var("sent"), X), digest()], [assign(X, Y)])
    given["pipelines"][0]["tables"][0]["next_tables"] = {"act0": "t1"}
    (element, _) = slim(given)["learn_lists"][0]["elements"]
    assert text(element) == "kept.sent"
