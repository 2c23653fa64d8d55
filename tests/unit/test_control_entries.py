# SPDX-License-Identifier: Apache-2.0
"""Settings as table entries: hand-computed numbers, epochs, and the writes from one setting to another."""

from __future__ import annotations

from typing import Any

import pytest
from finsy import P4MulticastGroupEntry, P4TableAction, P4TableEntry, P4TableMatch

from clarion_contract.entries import Entry, forward_entries, port_entries
from clarion_contract.epochs import Epochs, next_epoch
from clarion_contract.setting import Argument
from clarion_contract.settings import XCP, PortSettings, XcpSettings
from clarion_p4rt.table_entries import changes, decoded, flood_group, key_of

RATE = XcpSettings(capacity_bps=100_000_000)


def entry(table: str, port: int, **arguments: int) -> Entry:
    return Entry(table, port, arguments)


def argument(name: str) -> Argument:
    found = XCP[name].argument
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("coefficient", "units"),
    [
        (0.4, 26214),  # 26214.4
        (0.226, 14811),  # 14811.136
        (0.1, 6554),  # 6553.6
        (0.5 / 65536, 1),  # half way: up
        (0.25, 16384),
        (3.9999999, 262143),  # 2^18 would not fit
    ],
)
def test_coefficients_to_nearest(coefficient: float, units: int) -> None:
    assert argument("alpha").encode(coefficient) == units


@pytest.mark.parametrize(
    ("microseconds", "ticks"),
    [
        (1, 268),  # 268.435456
        (1000, 268435),
        (1_000_000, 268435456),
        (15_999_999, 4294967027),  # 4294967027.56
        (16_000_000, 4294967295),  # 2^32 would not fit
    ],
)
def test_intervals_round_down(microseconds: int, ticks: int) -> None:
    assert argument("max_interval_us").encode(microseconds) == ticks


def test_a_port_with_everything() -> None:
    port = PortSettings(3, xcp=RATE, stamp=True, check=True, queue_limit_bytes=7_125_000)
    assert list(port_entries(port, xcp_epoch=7, tag_epoch=9)) == [
        entry("tag_port", 3, check=1, edge=0, wire=0, epoch=9),
        entry(
            "xcp_port",
            3,
            capacity=12_500_000,
            alpha=26214,
            beta=14811,
            gamma=6554,
            min_interval=268435,
            max_interval=268435456,
            generation=2,
            epoch=7,
        ),
        entry("stamp_port", 3),
        entry("queue_port", 3, limit_bytes=7_125_000),
    ]


def test_what_is_off_has_no_entry() -> None:
    assert list(port_entries(PortSettings(3), 1, 1)) == []
    (only,) = port_entries(PortSettings(3, edge=True), 1, 1)
    assert only == entry("tag_port", 3, check=0, edge=1, wire=0, epoch=1)


def test_capacity_is_in_whole_bytes() -> None:
    (only,) = port_entries(PortSettings(3, xcp=XcpSettings(15)), 1, 1)
    assert only.arguments["capacity"] == 1


def test_forwarding_and_flooding() -> None:
    (only,) = forward_entries({0x020000000001: 2})
    assert only == Entry("l2_forward", 0x020000000001, {"port": 2})
    assert flood_group([1, 2]) == P4MulticastGroupEntry(1, replicas=(257, 258))


def test_entries_name_the_action_of_their_table() -> None:
    made = [
        entry("tag_port", 3, check=1, edge=0, wire=0, epoch=9),
        Entry("l2_forward", 0x020000000001, {"port": 2}),
    ]
    tag = P4TableAction("set_tag_port", check=1, edge=0, wire=0, epoch=9)
    updates = changes([], made)
    assert updates == [
        P4TableEntry("tag_port", match=P4TableMatch(port=3), action=tag),
        P4TableEntry(
            "l2_forward", match=P4TableMatch(dst_addr=0x020000000001), action=P4TableAction("forward", port=2)
        ),
    ]
    assert decoded(updates) == made


def test_changes_are_the_difference() -> None:
    gone, same, before, after, new = (
        entry("queue_port", port, limit_bytes=size)
        for port, size in ((1, 10), (2, 20), (3, 30), (3, 31), (4, 40))
    )
    made = changes([gone, same, before], [new, after, same])
    kinds = [(update._update_type.name, key_of(update), update.action.args["limit_bytes"]) for update in made]
    assert kinds == [
        ("DELETE", ("queue_port", 1), 10),
        ("MODIFY", ("queue_port", 3), 31),
        ("INSERT", ("queue_port", 4), 40),
    ]
    assert changes([same], [same]) == []


def test_epochs_wrap_and_are_never_zero() -> None:
    assert [next_epoch(epoch) for epoch in (1, 254, 255)] == [2, 255, 1]


class Steps:
    """Settings of port 1, one after the other, on a switch that accepts them all."""

    def __init__(self, epochs: Epochs) -> None:
        self.epochs = epochs
        self.present: list[Entry] = []

    def __call__(self, **settings: Any) -> dict[str, int]:
        self.present = self.epochs.entries(self.present, {1: PortSettings(1, **settings)})
        return {each.table: each.arguments["epoch"] for each in self.present}


def test_the_epoch_rises_only_from_off_to_on() -> None:
    step = Steps(Epochs(fresh=True))
    assert step(xcp=RATE, check=True) == {"xcp_port": 1, "tag_port": 1}
    assert step(xcp=XcpSettings(8000), check=True, edge=True) == {"xcp_port": 1, "tag_port": 1}
    assert step(check=True) == {"tag_port": 1}
    assert step(xcp=RATE, edge=True) == {"xcp_port": 2, "tag_port": 1}  # only edge: the check is off
    assert step(xcp=RATE, edge=True, check=True) == {"xcp_port": 2, "tag_port": 2}
    assert step() == {}
    assert step(xcp=RATE, check=True) == {"xcp_port": 3, "tag_port": 3}


def test_another_process_continues_from_the_entries() -> None:
    step = Steps(Epochs(fresh=False))
    step.present = [
        entry("xcp_port", 1, epoch=255),
        entry("tag_port", 1, check=0, edge=1, wire=0, epoch=41),
    ]
    assert step(xcp=RATE, check=True) == {"xcp_port": 255, "tag_port": 42}
    assert step(check=True) == {"tag_port": 42}
    assert step(xcp=RATE, check=True) == {"xcp_port": 1, "tag_port": 42}


def test_an_unknown_state_gets_any_epoch() -> None:
    seen = {Steps(Epochs(fresh=False))(xcp=RATE)["xcp_port"] for _ in range(200)}
    assert len(seen) > 50
    assert min(seen) >= 1
    assert max(seen) <= 255
