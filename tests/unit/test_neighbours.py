# SPDX-License-Identifier: Apache-2.0
"""The verdict on a wire: by a model that looks at every hello ever heard, and by examples."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion_contract.lldp import ClarionPort, Hello, Identifier, our_hello
from clarion_contract.neighbours import (
    MAX_NEIGHBOURS,
    Judgement,
    Neighbours,
    Verdict,
    Wire,
    WireState,
    judge,
)

S = 1_000_000
OURS = our_hello("s2", "1", stamps=True, checks=False)
OTHER = our_hello("s3", "1", stamps=True, checks=True)
SILENT = our_hello("s2", "1", stamps=False, checks=True)
BRIDGE = Hello(Identifier(4, bytes(6)), Identifier(5, b"eth0"), 120)
GOODBYE = our_hello("s2", "1", stamps=True, checks=False, ttl_s=0)


def heard(*hellos: tuple[int, Hello]) -> Neighbours:
    """Neighbours by their hellos, each with its second."""
    neighbours = Neighbours()
    for second, hello in hellos:
        neighbours.hear(hello, second * S)
    return neighbours


def verdict(at_s: float, *hellos: tuple[int, Hello]) -> Verdict:
    return judge(heard(*hellos).alive(int(at_s * S)))


def test_one_clarion_neighbour_that_stamps_proves_the_wire() -> None:
    assert verdict(1, (0, OURS)) == Verdict(
        Judgement.PROVEN, "s2 port 1 is the only neighbour and numbers its packets", 4 * S
    )


def test_a_proof_ends_with_the_hellos() -> None:
    assert verdict(6.99, (0, OURS), (3, OURS)).judgement is Judgement.PROVEN
    assert verdict(7, (0, OURS), (3, OURS)) == Verdict(Judgement.UNPROVEN, "no LLDP neighbour is heard")


def test_a_goodbye_ends_the_proof_at_once() -> None:
    assert verdict(1, (0, OURS), (1, GOODBYE)).judgement is Judgement.UNPROVEN


@pytest.mark.parametrize(
    ("hellos", "reason", "until_s"),
    [
        ([(0, BRIDGE)], "00:00:00:00:00:00 port eth0 is not a Clarion port", 120),
        ([(0, OURS), (0, OTHER)], "2 neighbours are heard: s2 port 1 and s3 port 1", 4),
        # Behind the first to leave there is one neighbour left, and the verdict another.
        ([(0, OTHER), (2, OURS)], "2 neighbours are heard: s3 port 1 and s2 port 1", 4),
        (
            [(0, OTHER), (2, OURS), (2, BRIDGE)],
            "3 neighbours are heard: s3 port 1 and s2 port 1 and 1 more",
            122,
        ),
    ],
)
def test_strangers_disprove_the_wire(hellos: list[tuple[int, Hello]], reason: str, until_s: int) -> None:
    assert verdict(3, *hellos) == Verdict(Judgement.DISPROVED, reason, until_s * S)


def test_a_clarion_neighbour_that_does_not_stamp_denies_what_is_declared() -> None:
    reason = "s2 port 1 does not number its packets"
    assert verdict(1, (0, SILENT)) == Verdict(Judgement.UNNUMBERED, reason, 4 * S)
    assert verdict(1, (0, OURS), (1, SILENT)).judgement is Judgement.UNNUMBERED
    assert verdict(1, (0, SILENT), (1, OURS)).judgement is Judgement.PROVEN


def test_a_port_keeps_a_few_neighbours_only() -> None:
    crowd = [our_hello("s", str(number), stamps=True, checks=True) for number in range(1000)]
    neighbours = heard(*((0, each) for each in crowd))
    assert len(neighbours.alive(1)) == MAX_NEIGHBOURS
    assert judge(neighbours.alive(1)).judgement is Judgement.DISPROVED
    neighbours.hear(OURS, 5 * S)
    assert [each.hello for each in neighbours.alive(5 * S)] == [OURS]


def test_a_neighbour_is_known_since_its_first_hello() -> None:
    (only,) = heard((1, OURS), (2, OURS), (3, SILENT)).alive(4 * S)
    assert (only.since_us, only.hello) == (S, SILENT)
    (again,) = heard((1, OURS), (9, OURS)).alive(10 * S)
    assert again.since_us == 9 * S


PROVEN = Verdict(Judgement.PROVEN, "", 1)
DISPROVED = Verdict(Judgement.DISPROVED, "", 1)
UNNUMBERED = Verdict(Judgement.UNNUMBERED, "", 1)
UNPROVEN = Verdict(Judgement.UNPROVEN, "")


@pytest.mark.parametrize(
    ("declared", "found", "state", "effective", "conflict"),
    [
        (False, UNPROVEN, WireState.UNPROVEN, False, False),
        (False, PROVEN, WireState.PROVEN, True, False),
        (False, DISPROVED, WireState.DISPROVED, False, False),
        (True, UNPROVEN, WireState.DECLARED, True, False),
        (True, PROVEN, WireState.PROVEN, True, False),
        (True, DISPROVED, WireState.DISPROVED, False, True),
        (False, UNNUMBERED, WireState.UNNUMBERED, False, False),
        (True, UNNUMBERED, WireState.UNNUMBERED, False, True),
    ],
)
def test_which_side_counts(
    declared: bool, found: Verdict, state: WireState, effective: bool, conflict: bool
) -> None:
    wire = Wire(declared, found)
    assert (wire.state, wire.is_effective, wire.is_conflict) == (state, effective, conflict)


chassis = st.sampled_from(["a", "b"])
hello = st.builds(
    lambda chassis, port, ttl_s, clarion: Hello(
        Identifier.local(chassis), Identifier.local(port), ttl_s, clarion
    ),
    chassis,
    chassis,
    st.integers(0, 5),
    st.none() | st.builds(ClarionPort, st.booleans(), st.booleans()),
)


@given(st.lists(st.tuples(st.integers(0, 3), hello), max_size=12), st.integers(0, 6))
def test_the_verdict_is_that_of_the_hellos_in_force(gaps: list[tuple[int, Hello]], wait_s: int) -> None:
    neighbours, now_s = Neighbours(), 0
    last: dict[tuple[bytes, bytes], tuple[int, Hello]] = {}
    for gap_s, each in gaps:
        now_s += gap_s
        neighbours.hear(each, now_s * S)
        last[each.chassis.value, each.port.value] = now_s, each
    now_s += wait_s
    force = [each for at_s, each in last.values() if now_s < at_s + each.ttl_s]
    found = judge(neighbours.alive(now_s * S))
    if not force:
        assert found.judgement is Judgement.UNPROVEN
    elif len(force) == 1 and force[0].clarion is not None:
        stamps = force[0].clarion.stamps
        assert found.judgement is (Judgement.PROVEN if stamps else Judgement.UNNUMBERED)
    else:
        assert found.judgement is Judgement.DISPROVED
    if found.until_us is not None:
        assert found.until_us > now_s * S
        before = judge(neighbours.alive(found.until_us - 1))
        after = judge(neighbours.alive(found.until_us))
        assert before.judgement is found.judgement
        assert after.judgement is not found.judgement
