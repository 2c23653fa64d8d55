# SPDX-License-Identifier: Apache-2.0
"""Controllers of one store: they know each other, and one without the store gives its switches up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clarion_control.controller import Controller
from clarion_control.errors import NotPrimaryError, StoreError
from clarion_control.fleet import standing
from clarion_control.model import LinkState
from clarion_control.store import Store, controllers
from clarion_p4rt.device import Mastership
from fakes.controller import ADMIN, in_state, open_controller, until
from fakes.switch import FakeSwitch


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "BEAT_S", 0.05)
    monkeypatch.setattr(standing, "LEASE_S", 0.6)


def present(controller: Controller) -> dict[str, bool]:
    return {each.name: is_there for each, is_there in controller.standing.known()}


async def test_controllers_know_each_other(tmp_path: Path) -> None:
    s1 = FakeSwitch("s1")
    async with open_controller(tmp_path, s1, name="east", election_id=1) as east:
        assert present(east) == {"east": True}
        async with open_controller(tmp_path, s1, name="west", election_id=2, url="http://west/"):
            await until(lambda: present(east) == {"east": True, "west": True})
            assert east.standing.name_of(2) == "west"
        await until(lambda: present(east) == {"east": True})
        assert east.standing.name_of(2) == "election id 2"


async def test_a_controller_that_was_killed_is_not_there(tmp_path: Path) -> None:
    async with open_controller(tmp_path, name="east", election_id=1) as east:
        other = Store.open(str(tmp_path / "controller.db"))
        await other.append(controllers.beat, "west", 2, "")
        await until(lambda: present(east) == {"east": True, "west": True})
        await until(lambda: present(east) == {"east": True, "west": False})
        await other.close()


async def test_an_election_id_is_of_one_controller(tmp_path: Path) -> None:
    async with open_controller(tmp_path, name="east", election_id=1):
        with pytest.raises(StoreError, match="--election-id 1: controller east of this store has it"):
            async with open_controller(tmp_path, name="west", election_id=1):
                pass


async def test_the_id_of_one_that_was_killed_is_free(tmp_path: Path) -> None:
    other = Store.open(str(tmp_path / "controller.db"))
    await other.append(controllers.beat, "west", 1, "")
    await other.close()
    async with open_controller(tmp_path, name="east", election_id=1) as east:
        assert present(east) == {"east": True}


async def test_the_leader_is_named(tmp_path: Path) -> None:
    s1 = FakeSwitch("s1")
    async with (
        open_controller(tmp_path, s1, name="east", election_id=1) as east,
        open_controller(tmp_path, name="west", election_id=2),
    ):
        assert east.switches.status("s1").primary == 1
        s1.become(Mastership.BACKUP)
        await in_state(east, "s1", LinkState.BACKUP)
        await until(lambda: east.standing.name_of(east.switches.status("s1").primary) == "west")
        with pytest.raises(NotPrimaryError, match=r"another controller \(west\) is primary"):
            await east.ports.change(ADMIN, "s1", 1, {"stamp": True})


async def refuse(*_: Any, **__: Any) -> Any:
    raise StoreError("store: no answer")


async def test_without_the_store_it_leaves_its_switches_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    s1 = FakeSwitch("s1")
    async with (
        open_controller(tmp_path, s1, name="east", election_id=1) as east,
        open_controller(tmp_path, name="west", election_id=2),
    ):
        await until(lambda: len(present(east)) == 2)
        answers = east.standing._store.append
        monkeypatch.setattr(east.standing._store, "append", refuse)
        await in_state(east, "s1", LinkState.UNREACHABLE)
        assert east.switches.status("s1").reason == standing.GONE
        assert east.switches.status("s1").primary is None
        sessions = s1.sessions
        monkeypatch.setattr(east.standing._store, "append", answers)
        await in_state(east, "s1", LinkState.IN_SYNC)
        assert s1.sessions == sessions + 1


async def test_alone_it_keeps_its_switches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    s1 = FakeSwitch("s1")
    failures = 0

    async def count(*_: Any, **__: Any) -> Any:
        nonlocal failures
        failures += 1
        raise StoreError("store: no answer")

    async with open_controller(tmp_path, s1, name="east", election_id=1) as east:
        monkeypatch.setattr(east.standing._store, "append", count)
        beats = int(2 * standing.LEASE_S / standing.BEAT_S)
        await until(lambda: failures >= beats)
        assert east.switches.status("s1").state is LinkState.IN_SYNC
        assert s1.sessions == 1
        monkeypatch.undo()


async def test_backup_for_a_moment_reads_the_store_again(tmp_path: Path) -> None:
    s1 = FakeSwitch("s1")
    async with open_controller(tmp_path, s1) as controller:
        s1.answering.clear()
        pending = await controller.ports.change(ADMIN, "s1", 1, {"stamp": True}, wait=False)
        reads: list[str] = []
        store = controller.standing._store
        read = store.read

        async def noted(operation: Any, *args: Any, **more: Any) -> Any:
            reads.append(operation.__name__)
            return await read(operation, *args, **more)

        store.read = noted  # type: ignore[method-assign]
        s1.become(Mastership.BACKUP)
        s1.become(Mastership.PRIMARY)
        s1.answering.set()
        await until(lambda: "load" in reads)
        await until(lambda: s1.ports[1].stamp)
        assert pending.desired is not None
