#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what the compiled program asks of a target, as the table of docs/p4.md.

The counts are those of the longest way through each half of the program: `usual` for packets with which no
control interval or window ends and that no queue drops.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from bmv2_json import field_written, jumps_to, nodes

Json = dict[str, Any]

PROGRAM = Path(__file__).resolve().parent / "clarion.json"
UNUSUAL = {("interval", "$valid$"), ("drop", "$valid$")}  # headers that only few packets have

Count = Callable[[Json], int]  # of one primitive


def products(primitive: Json) -> int:
    """Multiplications."""
    return sum(node["type"] == "expression" and node["value"].get("op") == "*" for node in nodes(primitive))


def reads(primitive: Json) -> int:
    """Cells read."""
    return int(primitive["op"] == "register_read")


def writes(primitive: Json) -> int:
    """Cells written."""
    return int(primitive["op"] == "register_write")


def stores(primitive: Json) -> int:
    """Values stored into fields."""
    return int(field_written(primitive) is not None)


def operations(primitive: Json) -> int:
    """Operators in expressions."""
    return sum(node["type"] == "expression" and "op" in node["value"] for node in nodes(primitive))


def longest_action(primitives: list[Json], count: Count) -> int:
    """Return the count on the longest way through an action."""
    most = [0] * (len(primitives) + 1)
    for at in range(len(primitives) - 1, -1, -1):
        ways = [] if primitives[at]["op"] == "_jump" else [at + 1]
        to = jumps_to(primitives[at])
        ways += [] if to is None else [to]
        most[at] = count(primitives[at]) + max(most[way] for way in ways)
    return most[0]


def longest_way(program: Json, half: str, count: Count | None, usual: bool) -> int:
    """Return the count on the longest way through a pipeline; without `count`, the number of tables."""
    (pipeline,) = (each for each in program["pipelines"] if each["name"] == half)
    actions = {action["id"]: action["primitives"] for action in program["actions"]}
    tables = {table["name"]: table for table in pipeline["tables"]}
    conditionals = {each["name"]: each for each in pipeline["conditionals"]}

    @cache
    def most(name: str | None) -> int:
        if name is None:
            return 0
        if name in conditionals:
            node = conditionals[name]
            read = {tuple(each["value"]) for each in nodes(node["expression"]) if each["type"] == "field"}
            ways = (
                [node["false_next"]] if usual and read & UNUSUAL else [node["true_next"], node["false_next"]]
            )
            return max(map(most, ways))
        table = tables[name]
        own = 1
        if count is not None:
            own = max(longest_action(actions[each], count) for each in table["action_ids"])
        return own + max(map(most, set(table["next_tables"].values())))

    return most(pipeline["init_table"])


def report(program: Json) -> list[str]:
    """Return the lines of the table."""
    lines = ["| | ingress, usual | ingress, most | egress |", "| --- | --: | --: | --: |"]
    rows: list[tuple[str, Count | None]] = [
        ("tables in a row", None),
        ("registers read", reads),
        ("registers written", writes),
        ("multiplications", products),
        ("values stored", stores),
        ("operations", operations),
    ]
    for title, count in rows:
        figures = [
            longest_way(program, half, count, usual)
            for half, usual in (("ingress", True), ("ingress", False), ("egress", False))
        ]
        lines.append(f"| {title} | " + " | ".join(map(str, figures)) + " |")
    types = {kind["name"]: kind["fields"] for kind in program["header_types"]}
    cleared = sum(len(types[header["header_type"]]) for header in program["headers"] if header["metadata"])
    size = sum(array["size"] * array["bitwidth"] for array in program["register_arrays"]) / 8 / 2**20
    states = len(program["parsers"][0]["parse_states"])
    return [
        *lines,
        "",
        f"{len(program['register_arrays'])} register arrays with {size:.1f} MiB, {states} parser states, "
        f"{cleared} fields of metadata.",
    ]


if __name__ == "__main__":
    print("\n".join(report(json.loads(Path(sys.argv[1] if sys.argv[1:] else PROGRAM).read_text()))))
