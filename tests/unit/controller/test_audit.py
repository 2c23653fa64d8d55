# SPDX-License-Identifier: Apache-2.0
"""Every audited action is performed and leaves the right record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from clarion import scenario_library
from clarion_control.controller import Controller
from clarion_control.experiments.service import Experiments
from clarion_control.model import Action, Actor, ExperimentState, Origin, PolicyState, Role
from clarion_control.store.clock import now_us
from clarion_p4rt.switch import Forwarding
from fakes.clarion_command import command
from fakes.controller import open_controller
from fakes.switch import FakeSwitch

BOB = Actor("bob", Role.ADMIN)
WAY = {"02:00:00:00:00:01": 2}
Document = Mapping[str, Any] | None


@dataclass
class Scene:
    """The services on which actions are performed."""

    controller: Controller
    experiments: Experiments


@dataclass
class Act:
    """An action and the expected fields of its record; `before` and `after` may hold further members."""

    perform: Callable[[Scene], Awaitable[object]]
    switch: str | None = None
    port: int | None = None
    before: Document = None
    after: Document = None
    prepare: Callable[[Scene], Awaitable[object]] | None = None


async def revoke(at: Scene) -> None:
    tokens = {token.name: token.id for token in await at.controller.tokens.all()}
    await at.controller.tokens.revoke(BOB, tokens["vera"])


async def stop(at: Scene) -> None:
    (experiment,) = await at.experiments.experiments()
    await at.experiments.stop(BOB, experiment.id)


ANN = Actor("ann", Role.ADMIN)
ACTS = {
    Action.PORT_CHANGE: Act(
        lambda at: at.controller.ports.change(BOB, "s1", 2, {"stamp": True}),
        "s1",
        2,
        {"version": 1, "stamp": False},
        {"version": 2, "stamp": True},
    ),
    Action.FORWARDING_CHANGE: Act(
        lambda at: at.controller.forwarding.set(BOB, "s1", Forwarding(WAY, (1, 2))),
        "s1",
        before={"addresses": {}, "flood_ports": [1]},
        after={"addresses": WAY, "flood_ports": [1, 2]},
        prepare=lambda at: at.controller.forwarding.set(ANN, "s1", Forwarding({}, (1,))),
    ),
    Action.POLICY_CHANGE: Act(
        lambda at: at.controller.tuning.put_policy(BOB, "s1", 1, "noise", PolicyState.ACTIVE, {"factor": 3}),
        "s1",
        1,
        after={"name": "noise", "state": "active", "parameters": {"factor": 3}},
    ),
    Action.SWITCH_ADD: Act(
        lambda at: at.controller.switches.add(BOB, name="s2", address="localhost:1", device_id=7, ports=[3]),
        "s2",
        after={"address": "localhost:1", "device_id": 7, "ports": [3], "tls": None},
    ),
    Action.SWITCH_CHANGE: Act(
        lambda at: at.controller.switches.change(
            BOB, replace(at.controller.switches.get("s1"), address="localhost:2")
        ),
        "s1",
        before={"address": "127.0.0.1:9001", "device_id": 1, "ports": [1, 2], "tls": None},
        after={"address": "localhost:2", "device_id": 1, "ports": [1, 2], "tls": None},
    ),
    Action.SWITCH_REMOVE: Act(
        lambda at: at.controller.switches.remove(BOB, "s1"),
        "s1",
        before={"address": "127.0.0.1:9001", "device_id": 1, "ports": [1, 2], "tls": None},
    ),
    Action.TOKEN_CREATE: Act(
        lambda at: at.controller.tokens.create(BOB, "vera", Role.VIEWER),
        after={"name": "vera", "role": "viewer", "expires_us": None},
    ),
    Action.TOKEN_REVOKE: Act(
        revoke,
        before={"name": "vera (revoked 1)"},
        prepare=lambda at: at.controller.tokens.create(ANN, "vera", Role.VIEWER),
    ),
    Action.EXPERIMENT_CREATE: Act(
        lambda at: at.experiments.submit(BOB, "smoke", "emu", {}),
        after={"scenario": "smoke", "engine": "emu", "settings": [], "repeat": 1},
    ),
    Action.EXPERIMENT_STOP: Act(
        stop,
        after={"id": 1},
        prepare=lambda at: at.experiments.submit(ANN, "smoke", "emu", {"description": "goes on"}),
    ),
    Action.RUN_REGISTER: Act(
        lambda at: at.experiments.reported.register(BOB, "geo", "emu", {"duration": "5 s"}, 2, "lab:/out"),
        after={"scenario": "geo", "settings": ['duration="5 s"'], "repeat": 2, "place": "lab:/out"},
    ),
    Action.RUN_END: Act(
        lambda at: at.experiments.reported.finish(BOB, 1, ExperimentState.FAILED, "no route", None),
        after={"id": 1, "state": "failed", "error": "no route"},
        prepare=lambda at: at.experiments.reported.register(BOB, "geo", "emu", {}, 1, "lab:/out"),
    ),
}


def test_no_action_is_forgotten() -> None:
    assert set(ACTS) == set(Action)


@pytest.mark.parametrize("action", Action, ids=lambda action: action.value)
async def test_an_act_leaves_its_record(action: Action, tmp_path: Path) -> None:
    act = ACTS[action]
    async with open_controller(tmp_path, FakeSwitch()) as controller:
        experiments = await Experiments.open(
            controller, tmp_path / "experiments", scenario_library, clarion=command()
        )
        try:
            at = Scene(controller, experiments)
            if act.prepare is not None:
                await act.prepare(at)
            known = {record.id for record in await controller.records.audit()}
            began_us = now_us()
            await act.perform(at)
            new = [record for record in await controller.records.audit() if record.id not in known]
        finally:
            await experiments.close()
    (record,) = [record for record in new if record.origin is not Origin.ADOPTED]
    assert (record.actor, record.action, record.origin) == ("bob", action.value, Origin.MANUAL)
    assert (record.switch, record.port) == (act.switch, act.port)
    assert began_us <= record.time_us <= now_us()
    for found, wanted in ((record.before, act.before), (record.after, act.after)):
        assert (found is None) is (wanted is None)
        assert wanted is None or found is not None
        assert {name: (found or {})[name] for name in wanted or {}} == dict(wanted or {})
