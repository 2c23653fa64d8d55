# SPDX-License-Identifier: Apache-2.0
"""What is written of sign-ins, failures and refusals, and how little a flood of them is."""

from __future__ import annotations

from pathlib import Path

from clarion_control.errors import StoreError
from clarion_control.model import Action, Actor, Role
from clarion_control.services.access import GATHER_S, OTHERS, STRANGER, STRANGERS, Tally
from fakes.controller import open_controller

ANN = Actor("ann", Role.ADMIN)
FAIL = Action.SESSION_FAIL


def counts(tally: Tally, now_s: float, *, everything: bool = False) -> list[tuple[str, str, int]]:
    return [
        (actor.name, after["source"], after["count"])
        for actor, _, after in tally.take(now_s, everything=everything)
    ]


def test_the_first_at_once_and_the_rest_of_a_minute_together() -> None:
    tally = Tally()
    tally.add(0, STRANGER, FAIL, "a", {})
    assert counts(tally, 0.5) == [("unknown", "a", 1)]
    for second in range(1, 31):
        tally.add(second, STRANGER, FAIL, "a", {})
        assert counts(tally, second) == []
    assert counts(tally, GATHER_S) == [("unknown", "a", 30)]
    tally.add(GATHER_S + 1, STRANGER, FAIL, "a", {})  # it goes on: still one record a minute
    assert counts(tally, GATHER_S + 2) == []
    assert counts(tally, GATHER_S + 3, everything=True) == [("unknown", "a", 1)]


def test_a_source_that_is_quiet_for_a_minute_is_forgotten() -> None:
    tally = Tally()
    tally.add(0, STRANGER, FAIL, "a", {})
    assert counts(tally, 1) == [("unknown", "a", 1)]
    assert counts(tally, GATHER_S) == []
    assert tally._counts == {FAIL: {}}


def test_a_flood_from_many_sources_is_a_few_records() -> None:
    tally = Tally()
    for number in range(10_000):
        tally.add(0, STRANGER, FAIL, f"source {number}", {})
    found = counts(tally, 1)
    assert len(found) == STRANGERS + 1
    assert ("unknown", OTHERS, 10_000 - STRANGERS) in found


def test_strangers_take_no_place_from_users() -> None:
    tally = Tally()
    for number in range(1000):
        tally.add(0, STRANGER, FAIL, f"source {number}", {})
    tally.add(0, ANN, Action.SESSION_BEGIN, "192.0.2.1", {})
    assert ("ann", "192.0.2.1", 1) in counts(tally, 1)


async def test_records_wait_for_a_store_that_is_away(tmp_path: Path) -> None:
    async with open_controller(tmp_path) as controller:
        append = controller.access._store.append

        async def away(*_: object) -> None:
            raise StoreError("store: away")

        controller.access._store.append = away  # type: ignore[assignment]
        controller.access.note(Action.SESSION_BEGIN, "2001:db8:1:2::9", ANN)
        await controller.access.flush()
        assert await controller.records.audit() == []
        controller.access._store.append = append  # type: ignore[method-assign]
        await controller.access.flush()
        (record,) = await controller.records.audit()
    assert (record.actor, record.action) == ("ann", "session.begin")
    assert record.after == {"source": "2001:db8:1:2::/64", "count": 1}
