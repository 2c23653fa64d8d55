# SPDX-License-Identifier: Apache-2.0
"""What a controller does with the P4 program beside settings: judges wires, and sends and receives frames."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance import frames
from conformance.bmv2.switch import Frame, Switch
from conformance.p4_player import FLOOD_BASE, FLOOD_GROUP, PROGRAM

CPU = 63
AS_RECEIVED = 511
LEASE_US = 4_000_000
LLDP = bytes.fromhex("0180c200000e 020000000002 88cc") + bytes(46)
ORDINARY = frames.MACS + b"\x08\x00" + bytes(60)


@pytest.fixture
def switch() -> Switch:
    made = Switch(PROGRAM)
    made.groups[FLOOD_GROUP] = [(FLOOD_BASE + port, port) for port in (0, 1, 2, CPU)]
    return made


def losses(switch: Switch, packets: Sequence[tuple[int, int]]) -> list[int]:
    """The totals with which packets leave, each given by its time and its number on the wire."""
    switch.table("l2_forward").add(int.from_bytes(frames.MACS[:6], "big"), "forward", 1)
    totals = []
    for time_us, number in packets:
        (left,) = switch.forward(0, frames.ipv4(frames.tag(5, number)), time_us)
        totals.append(int.from_bytes(left.data[34 + 8 : 34 + 10], "big"))
    return totals


def test_a_proof_is_a_lease(switch: Switch) -> None:
    switch.table("tag_port").add(0, "set_tag_port", 1, 0, 0, 1)
    assert losses(switch, [(0, 10), (1, 20)]) == [0, 0]
    switch.table("wire_judged").add(0, "prove", LEASE_US)
    assert losses(switch, [(2, 30), (3, 33), (LEASE_US - 1, 35)]) == [9, 11, 12]
    assert losses(switch, [(LEASE_US, 40), (LEASE_US + 1, 50)]) == [12, 12]
    switch.table("wire_judged").add(0, "prove", 3 * LEASE_US)
    assert losses(switch, [(2 * LEASE_US, 51), (2 * LEASE_US, 53)]) == [12, 13]


def test_a_disproof_beats_the_declaration_for_its_time(switch: Switch) -> None:
    switch.table("tag_port").add(0, "set_tag_port", 1, 0, 1, 1)
    assert losses(switch, [(0, 10), (1, 12)]) == [0, 1]
    switch.table("wire_judged").add(0, "disprove", LEASE_US)
    assert losses(switch, [(2, 20), (LEASE_US - 1, 30)]) == [1, 1]
    assert losses(switch, [(LEASE_US, 32)]) == [2]


def test_a_judgement_is_of_its_port_and_changes_no_check_that_is_off(switch: Switch) -> None:
    switch.table("tag_port").add(0, "set_tag_port", 0, 1, 0, 1)
    switch.table("wire_judged").add(0, "prove", LEASE_US)
    switch.table("wire_judged").add(1, "disprove", LEASE_US)
    assert losses(switch, [(0, 10), (1, 20)]) == [0, 0]
    assert switch.registers["wire_lost"][0] == 0


def told(port: int, time_us: int) -> bytes:
    """A packet_in header."""
    return (port << 55 | time_us).to_bytes(8, "big")


def sent_to(port: int) -> bytes:
    """A packet_out header."""
    return (port << 7).to_bytes(2, "big")


def test_lldp_goes_to_the_controller_alone(switch: Switch) -> None:
    switch.table("l2_forward").add(int.from_bytes(LLDP[:6], "big"), "forward", 1)
    assert switch.forward(2, LLDP, 0x123456789) == [Frame(CPU, told(2, 0x123456789) + LLDP)]
    other = LLDP[:12] + b"\x88\xf7" + LLDP[14:]
    assert switch.forward(0, other, 5) == [Frame(CPU, told(0, 5) + other)]


def test_a_frame_for_the_controller_says_where_it_came_in(switch: Switch) -> None:
    switch.table("l2_forward").add(int.from_bytes(ORDINARY[:6], "big"), "forward", CPU)
    assert switch.forward(1, ORDINARY, 77) == [Frame(CPU, told(1, 77) + ORDINARY)]


def test_the_controller_sends_through_one_port(switch: Switch) -> None:
    switch.table("l2_forward").add(int.from_bytes(ORDINARY[:6], "big"), "forward", 1)
    for frame in (LLDP, ORDINARY):
        assert switch.forward(CPU, sent_to(2) + frame, 0) == [Frame(2, frame)]
    assert switch.counters["tx"][2] == [2, 2 + len(LLDP) + 2 + len(ORDINARY)]  # BMv2 counts what came in


@pytest.mark.parametrize("port", [CPU, 64, 256, 300, 510])
def test_a_port_that_is_none_gets_nothing(switch: Switch, port: int) -> None:
    assert switch.forward(CPU, sent_to(port) + ORDINARY, 0) == []


def test_the_controller_has_a_frame_forwarded_by_its_address(switch: Switch) -> None:
    flooded = switch.forward(CPU, sent_to(AS_RECEIVED) + ORDINARY, 0)
    assert sorted(flooded, key=lambda each: each.port) == [Frame(port, ORDINARY) for port in (0, 1, 2)]
    switch.table("l2_forward").add(int.from_bytes(ORDINARY[:6], "big"), "forward", 1)
    assert switch.forward(CPU, sent_to(AS_RECEIVED) + ORDINARY, 0) == [Frame(1, ORDINARY)]
    assert switch.forward(CPU, sent_to(AS_RECEIVED) + LLDP, 0) == []


def test_a_flooded_frame_reaches_the_controller_with_its_header(switch: Switch) -> None:
    left = {frame.port: frame.data for frame in switch.forward(0, ORDINARY, 9)}
    assert left == {1: ORDINARY, 2: ORDINARY, CPU: told(0, 9) + ORDINARY}


def test_a_cut_packet_out_is_dropped_or_forwarded_without_harm(switch: Switch) -> None:
    for length in range(3 + 14):
        switch.forward(CPU, (sent_to(2) + ORDINARY)[:length], 0)
