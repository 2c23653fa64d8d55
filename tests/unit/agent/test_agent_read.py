# SPDX-License-Identifier: Apache-2.0
"""What a Read selects: the filters of table entries, and the cells of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from finsy.proto import p4r

from clarion_agent.reader import RefusedRead
from fakes.p4runtime_messages import IDS, counter, insert, register, table_entry
from unit.agent.conftest import Primary

SELECTED: list[tuple[str, Mapping[str, Any], list[int]]] = [
    ("stamp_port", {}, [1, 2, 3]),
    ("stamp_port", {"metadata": b"mine"}, [1]),
    ("stamp_port", {"metadata": b"min"}, []),
    ("stamp_port", {"controller_metadata": 7}, [1, 2]),
    ("stamp_port", {"controller_metadata": 7, "metadata": b"other"}, [2]),
    ("stamp_port", {"priority": 1}, []),
    ("stamp_port", {"action": "stamp"}, [1, 2, 3]),
    ("stamp_port", {"action": "NoAction"}, []),
    ("stamp_port", {"action": "stamp", "metadata": b"other"}, [2]),
    ("l2_forward", {"action": "forward"}, [5]),
    ("l2_forward", {"metadata": b"mine"}, []),
    ("clock", {"is_default_action": True, "action": "set_clock"}, [0]),
    ("clock", {"is_default_action": True, "metadata": b"mine"}, []),
]


def request(table: str, filters: Mapping[str, Any]) -> p4r.Entity:
    entity = table_entry(table, None, filters.get("action", ""))
    for name, value in filters.items():
        if name != "action":
            setattr(entity.table_entry, name, value)
    return entity


async def entries(primary: Primary) -> None:
    made = [table_entry("stamp_port", port, "stamp") for port in (1, 2, 3)]
    for entity, metadata in zip(made, (b"mine", b"other"), strict=False):
        entity.table_entry.metadata = metadata
        entity.table_entry.controller_metadata = 7
    await primary.write(*map(insert, made), insert(table_entry("l2_forward", 5, "forward", (1,))))


async def refusal(primary: Primary, wanted: p4r.Entity) -> tuple[str, str]:
    with pytest.raises(RefusedRead) as refused:
        await primary.read(wanted)
    (error,) = refused.value.errors
    assert error is not None
    return error.code.name, error.message


@pytest.mark.parametrize(("table", "filters", "selected"), SELECTED)
async def test_filters_select(
    primary: Primary, table: str, filters: Mapping[str, Any], selected: list[int]
) -> None:
    await entries(primary)
    found = [each.table_entry for each in await primary.read(request(table, filters))]
    keys = [int.from_bytes(each.match[0].exact.value, "big") if each.match else 0 for each in found]
    assert keys == selected


async def test_a_filter_holds_for_a_named_entry_too(primary: Primary) -> None:
    await entries(primary)
    wanted = table_entry("stamp_port", 1)
    assert len(await primary.read(wanted)) == 1
    wanted.table_entry.metadata = b"other"
    assert await primary.read(wanted) == []


@pytest.mark.parametrize(
    "filters", [{"action": "stamp"}, {"priority": 1}, {"controller_metadata": 7}, {"metadata": b"mine"}]
)
async def test_all_tables_have_no_filters(primary: Primary, filters: Mapping[str, Any]) -> None:
    (name,) = filters
    assert await refusal(primary, request("", filters)) == (
        "INVALID_ARGUMENT",
        f"table_entry: {name} without table_id: name the table",
    )


async def test_filters_that_are_none(primary: Primary) -> None:
    other = request("stamp_port", {"action": "forward"})
    assert await refusal(primary, other) == (
        "INVALID_ARGUMENT",
        f"stamp_port: action {IDS['forward']}: not an action of this table",
    )
    other.table_entry.action.action_profile_member_id = 1
    assert await refusal(primary, other) == ("INVALID_ARGUMENT", "stamp_port: action: not a single action")
    default = table_entry("stamp_port", 1)
    default.table_entry.is_default_action = True
    assert await refusal(primary, default) == (
        "INVALID_ARGUMENT",
        "stamp_port default: has neither match nor priority",
    )


@pytest.mark.parametrize(("index", "code"), [(-1, "INVALID_ARGUMENT"), (64, "OUT_OF_RANGE")])
async def test_cells_that_are_none(primary: Primary, index: int, code: str) -> None:
    for name, wanted in (("tx", counter("tx", index)), ("shares", register("shares", index))):
        assert await refusal(primary, wanted) == (code, f"{name}[{index}]: the array has cells 0 to 63")
