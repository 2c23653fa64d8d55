# SPDX-License-Identifier: Apache-2.0
"""The desired state of a switch when changes overtake each other, and the completion of waiting callers."""

from __future__ import annotations

import asyncio

import pytest

from clarion_contract.settings import PortSettings
from clarion_control.errors import RefusedError
from clarion_control.fleet.goal import Goal, LinkClosedError
from clarion_control.model import DesiredPort
from clarion_control.store.desired_state import DesiredState
from clarion_p4rt.errors import Entity

REFUSED = RefusedError("s1", Entity("xcp_port", 2), "no")


def desired(version: int, forwarding_version: int = 0) -> DesiredState:
    """Port 2 with a queue limit of as many bytes as its version."""
    settings = PortSettings(2, queue_limit_bytes=version)
    return DesiredState({2: DesiredPort(settings, version, changed_us=0)}, None, forwarding_version)


def test_the_newest_of_two_changes_stays_whichever_comes_first() -> None:
    goal = Goal()
    assert goal.desire(desired(2))
    assert not goal.desire(desired(1))
    assert goal.settings()[2].queue_limit_bytes == 2
    assert not goal.desire(desired(2))
    assert goal.desire(desired(3))
    assert goal.settings()[2].queue_limit_bytes == 3


def test_forwarding_and_ports_have_versions_of_their_own() -> None:
    goal = Goal()
    goal.desire(desired(5, forwarding_version=1))
    assert goal.desire(desired(4, forwarding_version=2))
    assert (goal.desired.ports[2].version, goal.desired.forwarding_version) == (5, 2)
    assert not goal.desire(desired(5, forwarding_version=1))


async def waiting(goal: Goal, *versions: int) -> list[asyncio.Task[None]]:
    """Started tasks that wait for versions of port 2."""
    tasks = [asyncio.create_task(goal.applied(2, version)) for version in versions]
    await asyncio.sleep(0)
    return tasks


async def test_a_newer_version_answers_those_who_wait_for_an_older_one() -> None:
    goal = Goal()
    older, newer, newest = await waiting(goal, 1, 2, 3)
    goal.confirm(desired(2))
    await asyncio.sleep(0)
    assert (older.done(), newer.done(), newest.done()) == (True, True, False)
    await older
    await newer
    await goal.applied(2, 1)  # from now on without waiting
    goal.confirm(desired(3))
    await newest


async def test_a_refusal_concerns_the_versions_up_to_it() -> None:
    goal = Goal()
    older, refused, newer = await waiting(goal, 1, 2, 3)
    goal.settle(2, 2, REFUSED)
    for each in (older, refused):
        with pytest.raises(RefusedError):
            await each
    assert not newer.done()
    goal.give_up()
    with pytest.raises(LinkClosedError):
        await newer


async def test_after_a_session_nothing_is_confirmed_but_the_last_good_is_known() -> None:
    goal = Goal()
    goal.desire(desired(1))
    goal.confirm(goal.desired)
    goal.doubt()
    (waiter,) = await waiting(goal, 1)
    assert not waiter.done()
    assert goal.last_good(2) == goal.desired.ports[2]
    goal.confirm(goal.desired)
    await waiter
