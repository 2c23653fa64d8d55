# SPDX-License-Identifier: Apache-2.0
"""Mastership: the arbitration rules of the P4Runtime specification, one by one."""

from __future__ import annotations

import pytest
from finsy.proto import U128, p4r

from clarion_agent.arbitration import MAX_CONTROLLERS, MAX_ROLES, Arbiter, Controller
from clarion_agent.status import Refused

OK, NOT_FOUND, ALREADY_EXISTS = 0, 5, 6


class Peer:
    """A controller and its notifications."""

    def __init__(self, arbiter: Arbiter) -> None:
        self.arbiter = arbiter
        self.notified: list[tuple[int, int]] = []  # status and highest election id
        self.controller = Controller(self._note)
        self._first = True

    def ask(self, election_id: int | None, role: str = "") -> list[tuple[int, int]]:
        update = p4r.MasterArbitrationUpdate(device_id=1)
        if election_id is not None:
            update.election_id.CopyFrom(U128.encode(election_id))
        if role:
            update.role.name = role
        self.notified.clear()
        self.arbiter.arbitrate(self.controller, update, first=self._first)
        self._first = False
        return self.notified

    def may_write(self, election_id: int, role: str = "") -> bool:
        try:
            self.arbiter.authorize(role, U128.encode(election_id))
        except Refused as error:
            return error.code.name != "PERMISSION_DENIED"
        return True

    def _note(self, message: p4r.StreamMessageResponse) -> None:
        assert message.arbitration.device_id == 1
        self.notified.append((message.arbitration.status.code, U128.decode(message.arbitration.election_id)))


@pytest.fixture
def arbiter() -> Arbiter:
    return Arbiter(1)


def test_the_highest_is_primary_and_the_others_hear(arbiter: Arbiter) -> None:
    first, second = Peer(arbiter), Peer(arbiter)
    assert not first.may_write(5)
    assert first.ask(5) == [(OK, 5)]
    assert second.ask(4) == [(ALREADY_EXISTS, 5)]
    assert first.notified == [(OK, 5)]  # no further notification
    assert second.ask(2**100) == [(OK, 2**100)]
    assert first.notified[-1] == (ALREADY_EXISTS, 2**100)
    assert (first.may_write(5), second.may_write(2**100)) == (False, True)


def test_no_backup_moves_up_by_itself(arbiter: Arbiter) -> None:
    first, second = Peer(arbiter), Peer(arbiter)
    first.ask(5)
    second.ask(4)
    arbiter.leave(first.controller)
    assert second.notified[-1] == (NOT_FOUND, 5)
    assert not second.may_write(4)
    assert second.ask(4) == [(NOT_FOUND, 5)]
    assert second.ask(5) == [(OK, 5)]  # the last primary's election id is high enough


def test_a_primary_steps_down(arbiter: Arbiter) -> None:
    first, second = Peer(arbiter), Peer(arbiter)
    first.ask(5)
    second.ask(3)
    assert first.ask(2) == [(NOT_FOUND, 5)]
    assert second.notified[-1] == (NOT_FOUND, 5)
    assert first.ask(None) == [(NOT_FOUND, 5)]
    assert not first.may_write(2)


def test_without_an_election_id_a_controller_is_a_backup_and_zero_is_one(arbiter: Arbiter) -> None:
    first, second = Peer(arbiter), Peer(arbiter)
    assert first.ask(None) == [(NOT_FOUND, 0)]
    assert second.ask(0) == [(OK, 0)]


def test_an_election_id_is_used_once(arbiter: Arbiter) -> None:
    first, second = Peer(arbiter), Peer(arbiter)
    first.ask(5)
    with pytest.raises(Refused, match="election id 5 is used by another controller") as refused:
        second.ask(5)
    assert refused.value.code.name == "INVALID_ARGUMENT"
    arbiter.leave(second.controller)  # it was never accepted
    assert first.may_write(5)


def test_roles_are_apart(arbiter: Arbiter) -> None:
    default, tuner = Peer(arbiter), Peer(arbiter)
    assert default.ask(5) == [(OK, 5)]
    assert tuner.ask(1, role="tuner") == [(OK, 1)]
    assert [each for each, _ in arbiter.primaries()] == [default.controller, tuner.controller]
    assert tuner.may_write(1, "tuner")
    assert not tuner.may_write(1)
    with pytest.raises(Refused) as refused:
        tuner.ask(1, role="other")
    assert refused.value.code.name == "FAILED_PRECONDITION"


def test_there_is_an_end_to_roles_and_controllers(arbiter: Arbiter) -> None:
    for number in range(MAX_CONTROLLERS):
        Peer(arbiter).ask(number)
    with pytest.raises(Refused, match="has 64 controllers already"):
        Peer(arbiter).ask(MAX_CONTROLLERS)
    for number in range(1, MAX_ROLES):
        Peer(arbiter).ask(1, role=f"r{number}")
    with pytest.raises(Refused, match="there are 16 already") as refused:
        Peer(arbiter).ask(1, role="one more")
    assert refused.value.code.name == "RESOURCE_EXHAUSTED"
