# SPDX-License-Identifier: Apache-2.0
"""The tuner over a controller and fake switches: decisions carried out, and decisions dropped."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from clarion_contract.settings import PortSettings, XcpSettings
from clarion_control.controller import Controller
from clarion_control.errors import UndoneError
from clarion_control.model import LinkState, Origin, PolicyState
from clarion_control.store.desired_state import change_port
from clarion_control.tuner.loop import Tuner
from clarion_control.tuner.policy import Memory, PolicySpec, Proposal, Verdict, View
from clarion_control.tuner.registry import POLICIES, checked_parameters
from clarion_p4rt.device import Cells, Mastership
from fakes.controller import ADMIN, in_state, open_controller, open_store, until
from fakes.switch import FakeSwitch

XCP = XcpSettings(100_000_000)


class Script:
    """A policy that makes a test's proposals and records its inputs."""

    def __init__(self, name: str) -> None:
        self.spec = POLICIES[name]
        self.proposes: list[Proposal] = []
        self.views: list[View] = []
        self.memories: list[Memory] = []
        self.fails = False

    def judge(self, view: View, parameters: Mapping[str, float], memory: Memory) -> Verdict:
        self.views.append(view)
        self.memories.append(memory)
        if self.fails:
            raise ZeroDivisionError("float division by zero")
        asked = len(self.memories)
        proposal = self.proposes.pop(0) if self.proposes else None
        return Verdict({"asked": asked}, proposal, {"decided": asked}, {"kept": asked})

    def scripted(self) -> PolicySpec:
        words = self.spec
        return PolicySpec(
            words.name, words.title, words.law, words.guard_rails, words.governs, words.parameters, self.judge
        )


def lower(bps: int = 40_000_000) -> Proposal:
    return Proposal(f"Capacity to {bps}.", {"xcp": {"capacity_bps": bps}}, {"rate_bps": bps})


class Scene:
    """A controller, a switch with XCP on port 1, and scripted policies."""

    def __init__(self, controller: Controller, switch: FakeSwitch) -> None:
        self.controller = controller
        self.switch = switch
        self.scripts = {name: Script(name) for name in POLICIES}
        self.tuner = self.restarted()

    def restarted(self) -> Tuner:
        """Another tuner on the same store, as after a restart."""
        self.tuner = Tuner(
            self.controller, policies={name: script.scripted() for name, script in self.scripts.items()}
        )
        return self.tuner

    async def switch_on(self, *names: str, state: PolicyState = PolicyState.ACTIVE, port: int = 1) -> None:
        for name in names:
            await self.controller.tuning.put_policy(
                ADMIN, "s1", port, name, state, checked_parameters(name, {})
            )
        self.tuner._refreshed_us = 0

    async def look(self, **report: float) -> None:
        """A report arrives, and the tuner evaluates it."""
        await self.tuner.look()
        with self.controller.telemetry.subscribe(kinds=["interval"]) as events:
            self.switch.report(1, **report)
            await anext(events)
        await self.tuner.look()

    async def xcp(self) -> XcpSettings:
        desired = (await self.controller.ports.get("s1", 1)).desired
        assert desired is not None
        assert desired.settings.xcp is not None
        return desired.settings.xcp

    async def applied(self) -> None:
        """Waits until the switch has confirmed the desired settings."""
        link = self.controller._fleet.link("s1")
        await until(lambda: link.port(1).applied)


@contextlib.asynccontextmanager
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    switch = FakeSwitch("s1", ports=(1, 2))
    async with open_controller(tmp_path, switch, counters_every_s=0.01) as controller:
        await controller.ports.set(ADMIN, "s1", PortSettings(1, xcp=XCP))
        made = Scene(controller, switch)
        try:
            yield made
        finally:
            await made.tuner.close()


async def test_a_policy_is_told_what_the_port_measured_last(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.switch_on("stability")
        await at.look(measured_bps=40_000_000)
        await at.look()
        latest = at.scripts["stability"].views[-1]
        assert (latest.reports[-1].report.measured_bps, latest.measured_bps) == (None, 40_000_000)


async def test_a_decision_is_recorded_with_its_evidence_and_reaches_the_switch(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.switch_on("capacity")
        at.scripts["capacity"].proposes = [lower()]
        await at.look()
        assert (await at.xcp()).capacity_bps == 40_000_000
        await at.applied()
        assert at.switch.ports[1].xcp == XcpSettings(40_000_000)
        (decision,) = await at.controller.tuning.decisions(switch="s1")
        assert (decision.policy, decision.summary) == ("capacity", "Capacity to 40000000.")
        assert decision.changes == {"xcp.capacity_bps": (100_000_000, 40_000_000)}
        assert decision.evidence == {"rate_bps": 40_000_000, "memory": {"decided": 1}}
        newest = (await at.controller.records.audit(switch="s1"))[0]
        assert (newest.actor, newest.origin) == ("tuner", Origin.TUNER)
        assert at.tuner.observed("s1", 1) == {"capacity": {"asked": 1}}
        assert at.tuner.health() == {}


async def test_a_policy_that_is_off_is_not_asked(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.switch_on("capacity", state=PolicyState.OFF)
        await at.look()
        await at.switch_on("capacity")
        await at.look()
        assert len(at.scripts["capacity"].views) == 1
        await at.switch_on("capacity", state=PolicyState.OFF)
        await at.look()
        assert len(at.scripts["capacity"].views) == 1
        assert at.tuner.observed("s1", 1) == {}


async def test_manual_settings_hold_the_policy(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.switch_on("capacity")
        await at.look()
        await at.controller.ports.change(ADMIN, "s1", 1, {"xcp": {"capacity_bps": 70_000_000}})
        at.scripts["capacity"].proposes = [lower()]  # the tuner has not noticed yet
        await at.look()
        assert (await at.xcp()).capacity_bps == 70_000_000
        assert await at.controller.tuning.decisions(switch="s1") == []
        (policy,) = await at.controller.tuning.policies("s1", 1)
        assert policy.state is PolicyState.HELD
        assert at.tuner.health() == {}


async def test_what_was_judged_by_older_settings_is_not_carried_out(tmp_path: Path) -> None:
    async with scene(tmp_path) as at, open_store(tmp_path) as other:
        await at.switch_on("capacity")
        script = at.scripts["capacity"]
        judge = script.judge

        def slow(view: View, parameters: Mapping[str, float], memory: Memory) -> Verdict:
            """Another field is set during the evaluation."""
            verdict = judge(view, parameters, memory)
            link = at.controller._fleet.link("s1")
            stored = link.port(1).desired
            assert stored is not None
            other.change_now(_set_gamma, link.switch, stored.version)
            return verdict

        script.judge = slow  # type: ignore[method-assign]
        at.restarted()
        script.proposes = [lower()]
        await at.look()
        assert await at.controller.tuning.decisions(switch="s1") == []
        script.judge = judge  # type: ignore[method-assign]
        # The proposal was not carried out, and the policy continues with `memory_if_not`.
        assert script.memories == [{}]


def _set_gamma(connection: Any, switch: Any, version: int) -> None:
    settings = PortSettings(1, xcp=XcpSettings(100_000_000, gamma=0.2))
    change_port(connection, ADMIN, switch, 1, lambda _: settings, if_version=version, origin=Origin.MANUAL)


async def test_undo_sets_back_and_holds(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.switch_on("capacity", "noise")
        at.scripts["capacity"].proposes = [lower()]
        await at.look()
        (decision,) = await at.controller.tuning.decisions(switch="s1")
        await at.controller.tuning.undo_decision(ADMIN, decision.id)
        assert (await at.xcp()).capacity_bps == 100_000_000
        policies = {policy.name: policy.state for policy in await at.controller.tuning.policies("s1", 1)}
        assert policies == {"capacity": PolicyState.HELD, "noise": PolicyState.ACTIVE}
        with pytest.raises(UndoneError):
            await at.controller.tuning.undo_decision(ADMIN, decision.id)


async def test_a_flag_changes_nothing_and_lets_the_others_go_on(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.switch_on("capacity", "noise")
        at.scripts["noise"].proposes = [Proposal("Degrading.", {}, {"per": 0.01})]
        before = await at.controller.ports.get("s1", 1)
        await at.look()
        after = await at.controller.ports.get("s1", 1)
        assert before == after
        (decision,) = await at.controller.tuning.decisions(switch="s1")
        assert (decision.policy, decision.changes) == ("noise", {})


async def test_after_a_change_the_other_policies_wait_for_the_next_look(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.switch_on("capacity", "stability", "noise")
        at.scripts["capacity"].proposes = [lower()]
        await at.look()
        assert [len(script.views) for script in at.scripts.values()] == [1, 0, 0, 0]
        await at.applied()
        await at.look()
        assert [len(script.views) for script in at.scripts.values()] == [2, 1, 0, 1]
        assert at.scripts["stability"].views[0].settings.xcp == XcpSettings(40_000_000)


async def test_one_policy_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.switch_on("capacity", "noise")
        at.scripts["capacity"].fails = True
        await at.look()
        assert at.tuner.health() == {"s1/1/capacity": "ZeroDivisionError: float division by zero"}
        assert len(at.scripts["noise"].views) == 1
        at.scripts["capacity"].fails = False
        await at.look()
        assert at.tuner.health() == {}


async def test_a_proposal_that_no_switch_may_get_is_a_problem_and_no_decision(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.switch_on("stability")
        at.scripts["stability"].proposes = [Proposal("Too much.", {"xcp": {"alpha": 0.9}}, {})]
        await at.look()
        assert await at.controller.tuning.decisions(switch="s1") == []
        assert "alpha" in at.tuner.health()["s1/1/stability"]
        assert (await at.xcp()).alpha == 0.4


async def test_nothing_is_decided_where_another_controller_is_in_charge(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.switch_on("capacity")
        at.switch.become(Mastership.BACKUP)
        await in_state(at.controller, "s1", LinkState.BACKUP)
        await at.look()
        assert at.scripts["capacity"].views == []


async def test_memory_and_reports_survive_a_restart_of_the_controller(tmp_path: Path) -> None:
    switch = FakeSwitch("s1", ports=(1, 2))
    async with open_controller(tmp_path, switch) as controller:
        await controller.ports.set(ADMIN, "s1", PortSettings(1, xcp=XCP))
        at = Scene(controller, switch)
        await at.switch_on("capacity")
        await at.look()
        at.scripts["capacity"].proposes = [lower()]
        await at.look()
        assert at.scripts["capacity"].memories == [{}, {"kept": 1}]
        await at.tuner.close()
    async with open_controller(tmp_path, switch) as controller:
        at = Scene(controller, switch)
        await at.look()
        script = at.scripts["capacity"]
        assert script.memories == [{"decided": 2}]
        assert [each.report.intervals for each in script.views[0].reports] == [1, 2, 3]
        await at.tuner.close()


async def test_the_counters_of_the_other_ports_stand_in_for_what_came_in(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.switch_on("noise")
        await at.look(lost_on_wire=7)
        at.switch.counters = {
            1: Cells({"tx": 100, "wire_late": 2}, {"tx": 6_000}),
            2: Cells({"tx": 900}, {"tx": 1_350_000}),
        }
        with at.controller.telemetry.subscribe(port=1, kinds=["counters"]) as events:
            while (await anext(events)).packets != {"tx": 100, "wire_late": 2}:  # type: ignore[union-attr]
                pass
            for _ in range(3):  # by now port 2 has been read, and then port 1 again
                await anext(events)
        await at.tuner.look()
        view = at.scripts["noise"].views[-1]
        assert (view.departures[-1].sent_packets, view.departures[-1].sent_bytes) == (100, 6_000)
        wire = view.wire[-1]
        assert (wire.lost_packets, wire.received_packets, wire.received_bytes) == (5, 900, 1_350_000)
        assert not wire.exact
        at.switch.counters = {1: Cells({"tx": 100, "rx": 450}, {"tx": 6_000, "rx": 90_000})}
        with at.controller.telemetry.subscribe(port=1, kinds=["counters"]) as events:
            while "rx" not in (await anext(events)).packets:  # type: ignore[union-attr]
                pass
        await at.tuner.look()
        wire = at.scripts["noise"].views[-1].wire[-1]
        assert (wire.received_packets, wire.received_bytes, wire.exact) == (450, 90_000, True)


async def test_parameters_that_this_version_does_not_take_are_a_problem(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.controller.tuning.put_policy(ADMIN, "s1", 1, "capacity", PolicyState.ACTIVE, {"speed": 1.0})
        await at.switch_on("noise")
        await at.look()
        assert at.tuner.health()["s1/1/capacity"].startswith("parameters.speed: policy capacity has no such")
        assert len(at.scripts["noise"].views) == 1


async def test_a_removed_switch_is_forgotten(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.switch_on("capacity")
        await at.look()
        await at.controller.switches.remove(ADMIN, "s1")
        await at.tuner.look()  # before the tuner has noticed
        at.tuner._refreshed_us = 0
        await at.tuner.look()
        assert at.tuner.observed("s1", 1) == {}


async def test_when_time_is_up_the_other_ports_have_their_turn_with_the_next_look(tmp_path: Path) -> None:
    switch = FakeSwitch("s1", ports=(1, 2, 3))
    async with open_controller(tmp_path, switch) as controller:
        for port in switch.ports:
            await controller.ports.set(ADMIN, "s1", PortSettings(port, xcp=XCP))
        at = Scene(controller, switch)
        at.tuner = Tuner(controller, policies={"noise": at.scripts["noise"].scripted()}, look_every_s=0.0)
        for port in switch.ports:
            await at.switch_on("noise", port=port)
        await at.tuner.look()
        with controller.telemetry.subscribe(kinds=["interval"]) as events:
            for port in switch.ports:
                switch.report(port)
                await anext(events)
        asked = at.scripts["noise"].views
        for looks in (1, 2, 3, 4):
            await at.tuner.look()
            assert len(asked) == min(looks, 3)  # one at a time, and none twice for one report
        assert {view.settings.port for view in asked} == {1, 2, 3}
        await at.tuner.close()


async def test_it_runs_by_itself(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.switch_on("capacity")
        script = at.scripts["capacity"]
        script.proposes = [lower()]
        await at.tuner.start()
        await until(lambda: at.tuner._events is not None)
        at.switch.report(1)
        await until(lambda: at.switch.ports[1].xcp == XcpSettings(40_000_000))
        await at.tuner.close()
