# SPDX-License-Identifier: Apache-2.0
"""Entries of forwarding as they are typed, and two people who edit them at once."""

from __future__ import annotations

import pytest

from clarion_control.dashboard import forwarding_edit
from clarion_control.dashboard.forwarding_edit import EntryProblem, Row
from clarion_p4rt.switch import Forwarding

A, B, C = (f"02:00:00:00:00:0{number}" for number in (1, 2, 3))
BASE = Forwarding({A: 1, B: 2}, (1, 2))


def test_what_is_shown_is_what_is_read() -> None:
    rows = forwarding_edit.rows(BASE)
    assert rows == [Row(A, "1"), Row(B, "2")]
    assert forwarding_edit.table("s1", (1, 2), [*rows, Row()], forwarding_edit.flood(BASE)) == BASE


@pytest.mark.parametrize(
    ("rows", "flooded", "where", "reason"),
    [
        ([Row(A, "1"), Row("02:00", "1")], "", (1, "address"), "not an Ethernet address"),
        ([Row("01:00:5e:00:00:01", "1")], "", (0, "address"), "group address"),
        ([Row(A, "1"), Row(A.replace(":", "-"), "2")], "", (1, "address"), "given twice"),
        ([Row(A, "1"), Row(A, "2")], "", (1, "address"), "given twice"),
        ([Row(A, "9")], "", (0, "port"), "no such port"),
        ([Row(A, "one")], "", (0, "port"), "number of a port"),
        ([Row("", "1")], "", (0, "address"), "not an Ethernet address"),
        ([], "1, x", (None, "flood_ports"), "write numbers and ranges"),
        ([], "1, 3", (None, "flood_ports"), "no such port"),
    ],
)
def test_what_is_wrong_is_said_where_it_is(
    rows: list[Row], flooded: str, where: tuple[int | None, str], reason: str
) -> None:
    with pytest.raises(EntryProblem, match=reason) as raised:
        forwarding_edit.table("s1", (1, 2), rows, flooded)
    assert (raised.value.row, raised.value.field) == where


def test_edits_are_put_onto_a_newer_table() -> None:
    mine = Forwarding({A: 2, C: 1}, (1, 2))  # A moved, B removed, C added
    theirs = Forwarding({A: 1, B: 1, "02:00:00:00:00:04": 2}, (1,))
    rebased = forwarding_edit.rebased(BASE, mine, theirs)
    assert rebased == Forwarding({A: 2, C: 1, "02:00:00:00:00:04": 2}, (1,))


def test_my_flood_ports_stay_mine() -> None:
    assert forwarding_edit.rebased(BASE, Forwarding(BASE.addresses, (2,)), BASE).flood_ports == (2,)


def test_differences_name_each_entry() -> None:
    assert forwarding_edit.differences(BASE, Forwarding({A: 2, C: 1}, ())) == [
        f"{A}: port 1 → port 2",
        f"{B}: port 2 → none",
        f"{C}: none → port 1",
        "all other addresses: ports 1, 2 → none",
    ]
    assert forwarding_edit.differences(BASE, BASE) == []
    assert forwarding_edit.differences(BASE, None) == ["the controller leaves the switch alone now"]
