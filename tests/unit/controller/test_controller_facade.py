# SPDX-License-Identifier: Apache-2.0
"""The controller over fake switches: settings stored, sent, confirmed, refused and reverted."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clarion_contract.errors import SettingsError
from clarion_contract.settings import PortSettings, XcpSettings
from clarion_control.controller import Controller
from clarion_control.errors import (
    ApplyPending,
    ExistsError,
    FieldError,
    NotFoundError,
    NotPrimaryError,
    PolicyHeldError,
    RefusedError,
    StaleVersionError,
    UndoneError,
    UnreachableError,
)
from clarion_control.model import (
    Actor,
    Interval,
    LinkState,
    Origin,
    PolicyChange,
    PolicyState,
    Role,
    StatusChange,
)
from clarion_control.services import switches
from clarion_control.store import desired_state
from clarion_control.store import switches as store_switches
from clarion_p4rt.device import Cells, Mastership
from clarion_p4rt.switch import Forwarding, TlsFiles
from fakes.controller import ADMIN, in_state, open_controller, open_store, until
from fakes.switch import FakeSwitch

XCP = XcpSettings(100_000_000)
PARAMETERS = {"window_s": 5.0}


async def test_a_change_reaches_the_switch_before_it_returns(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        state = await controller.ports.set(ADMIN, "s1", PortSettings(1, xcp=XCP))
        assert switch.ports[1].xcp == XCP
        assert state.applied
        assert state.effective == PortSettings(1, xcp=XCP)
        assert state.desired is not None
        assert state.desired.version == 2  # version 1 was the adopted settings
        audit = await controller.records.audit(switch="s1", limit=1)
        assert (audit[0].actor, audit[0].origin) == ("ann", Origin.MANUAL)
        assert audit[0].before is not None
        assert audit[0].before["xcp"] is None
        assert audit[0].after is not None
        assert audit[0].after["xcp"]["capacity_bps"] == 100_000_000


async def test_what_a_new_switch_has_is_adopted(tmp_path: Path) -> None:
    switch = FakeSwitch()
    switch.ports[2] = PortSettings(2, xcp=XCP, stamp=True)
    async with open_controller(tmp_path, switch) as controller:
        state = await controller.ports.get("s1", 2)
        assert state.desired is not None
        assert state.desired.settings == PortSettings(2, xcp=XCP, stamp=True)
        assert switch.writes == []
        assert {record.origin for record in await controller.records.audit(actor="controller")} == {
            Origin.ADOPTED
        }


async def test_alpha_alone_takes_beta_along(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        await controller.ports.set(ADMIN, "s1", PortSettings(1, xcp=XCP))
        await controller.ports.change(ADMIN, "s1", 1, {"xcp": {"alpha": 0.3}})
        xcp = switch.ports[1].xcp
        assert xcp is not None
        assert xcp.alpha == 0.3
        assert math.isclose(xcp.beta, 0.09 * math.sqrt(2))
        with pytest.raises(SettingsError, match=r"xcp_port\[1\]\.beta"):
            await controller.ports.change(ADMIN, "s1", 1, {"xcp": {"alpha": 0.3, "beta": 0.5}})
        assert xcp == switch.ports[1].xcp


async def test_a_stale_version_changes_nothing(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        with pytest.raises(StaleVersionError) as caught:
            await controller.ports.change(ADMIN, "s1", 1, {"stamp": True}, if_version=7)
        assert caught.value.current == 1
        assert switch.writes == []
        await controller.ports.change(ADMIN, "s1", 1, {"stamp": True}, if_version=1)
        assert switch.ports[1].stamp


async def test_the_same_again_is_no_new_version(tmp_path: Path) -> None:
    async with open_controller(tmp_path, FakeSwitch()) as controller:
        first = await controller.ports.change(ADMIN, "s1", 1, {"stamp": True})
        again = await controller.ports.change(ADMIN, "s1", 1, {"stamp": True})
        assert first.desired == again.desired


async def test_what_the_switch_refuses_is_taken_back(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        await controller.ports.set(ADMIN, "s1", PortSettings(1, stamp=True))
        switch.refuse = lambda settings: "table is full" if settings.xcp else None
        with pytest.raises(RefusedError, match="s1: xcp_port\\[1\\]: table is full"):
            await controller.ports.set(ADMIN, "s1", PortSettings(1, xcp=XCP))
        await in_state(controller, "s1", LinkState.IN_SYNC)
        state = await controller.ports.get("s1", 1)
        assert state.desired is not None
        assert state.desired.settings == PortSettings(1, stamp=True) == switch.ports[1]
        assert state.desired.version == 4
        assert (await controller.records.audit(limit=1))[0].origin is Origin.REVERT


async def test_a_refused_address_takes_the_forwarding_back_and_no_port(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        await controller.ports.set(ADMIN, "s1", PortSettings(1, stamp=True))
        known = Forwarding({"02:00:00:00:00:01": 1}, (1, 2))
        await controller.forwarding.set(ADMIN, "s1", known)
        switch.refuse_address = lambda address: "table is full" if address == 0x020000000002 else None
        with pytest.raises(RefusedError, match=r"^s1: l2_forward\[02:00:00:00:00:02\]: table is full$"):
            await controller.forwarding.set(ADMIN, "s1", Forwarding({"02:00:00:00:00:02": 2}, (1, 2)))
        await in_state(controller, "s1", LinkState.IN_SYNC)
        assert await controller.forwarding.get("s1") == known == switch.forwarding
        port = (await controller.ports.get("s1", 1)).desired
        assert port is not None
        assert port.version == 2
        reverted = (await controller.records.audit(limit=1))[0]
        assert (reverted.action, reverted.origin) == ("forwarding.change", Origin.REVERT)


async def test_a_refused_address_takes_back_no_port_that_was_written_with_it(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        known = Forwarding({"02:00:00:00:00:01": 1}, (1, 2))
        await controller.forwarding.set(ADMIN, "s1", known)
        switch.go()
        await in_state(controller, "s1", LinkState.UNREACHABLE)
        await controller.ports.change(ADMIN, "s1", 1, {"stamp": True}, wait=False)
        refused = Forwarding({"02:00:00:00:00:02": 2}, (1, 2))
        await controller.forwarding.set(ADMIN, "s1", refused, wait=False)
        switch.refuse_address = lambda address: "table is full" if address == 0x020000000002 else None
        switch.come_back()
        await until(lambda: switch.ports[1].stamp)  # both were refused together
        assert await controller.forwarding.get("s1") == known
        port = (await controller.ports.get("s1", 1)).desired
        assert port is not None
        assert (port.version, port.settings.stamp) == (2, True)


async def test_an_unreachable_switch_stores_nothing_unless_asked_to(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        switch.go()
        await in_state(controller, "s1", LinkState.UNREACHABLE)
        with pytest.raises(UnreachableError):
            await controller.ports.change(ADMIN, "s1", 1, {"stamp": True})
        state = await controller.ports.get("s1", 1)
        assert state.desired is not None
        assert not state.desired.settings.stamp
        state = await controller.ports.change(ADMIN, "s1", 1, {"stamp": True}, wait=False)
        assert not state.applied
        switch.come_back()
        await until(lambda: switch.ports[1].stamp)


async def test_a_slow_switch_gets_the_change_later(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch, apply_timeout_s=0.05) as controller:
        switch.answering.clear()
        with pytest.raises(ApplyPending):
            await controller.ports.change(ADMIN, "s1", 1, {"stamp": True})
        switch.answering.set()
        await until(lambda: switch.ports[1].stamp)


async def test_a_restarted_switch_gets_everything_again(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        await controller.ports.set(ADMIN, "s1", PortSettings(1, xcp=XCP))
        await controller.forwarding.set(ADMIN, "s1", Forwarding({"02:00:00:00:00:01": 1}, (1, 2)))
        switch.go()
        switch.come_back(empty=True)
        await until(lambda: switch.ports[1].xcp == XCP and switch.forwarding is not None)


async def test_a_restarted_controller_knows_what_it_wanted(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        await controller.ports.set(ADMIN, "s1", PortSettings(1, xcp=XCP))
    switch.come_back(empty=True)
    async with open_controller(tmp_path, switch) as controller:
        assert switch.ports[1].xcp == XCP
        state = await controller.ports.get("s1", 1)
        assert state.desired is not None
        assert state.desired.version == 2


async def test_a_backup_reads_and_does_not_write(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        switch.become(Mastership.BACKUP)
        await in_state(controller, "s1", LinkState.BACKUP)
        with pytest.raises(NotPrimaryError):
            await controller.ports.change(ADMIN, "s1", 1, {"stamp": True})
        with pytest.raises(NotPrimaryError):
            await controller.ports.change(ADMIN, "s1", 1, {"stamp": True}, wait=False)
        assert (await controller.ports.get("s1", 1)).effective == PortSettings(1)
        switch.become(Mastership.PRIMARY)
        await in_state(controller, "s1", LinkState.IN_SYNC)
        await controller.ports.change(ADMIN, "s1", 1, {"stamp": True})
        assert switch.ports[1].stamp


async def test_two_controllers_of_one_store_see_each_other(tmp_path: Path) -> None:
    switch, idle = FakeSwitch(), FakeSwitch()
    idle.become(Mastership.BACKUP)
    async with (
        open_controller(tmp_path, switch) as primary,
        open_controller(tmp_path, idle, wait=False) as backup,
    ):
        await primary.ports.change(ADMIN, "s1", 1, {"stamp": True})
        state = await backup.ports.get("s1", 1)
        for _ in range(600):
            state = await backup.ports.get("s1", 1)
            if state.desired is not None and state.desired.settings.stamp:
                break
            await asyncio.sleep(0.05)
        assert state.desired is not None
        assert state.desired.settings.stamp
        await primary.switches.add(ADMIN, name="s2", address="127.0.0.1:1", device_id=1, ports=[1])
        await until(lambda: len(backup.switches.all()) == 2)
        await primary.switches.remove(ADMIN, "s2")
        await until(lambda: len(backup.switches.all()) == 1)


async def test_reports_are_live_and_kept(tmp_path: Path) -> None:
    switch = FakeSwitch()
    switch.counters = {1: Cells({"tx": 3}, {"tx": 4500})}
    async with open_controller(tmp_path, switch, counters_every_s=0.01) as controller:
        with controller.telemetry.subscribe(switch="s1", port=1, kinds=["interval", "drop"]) as events:
            switch.report(2)
            switch.report(1, phi_bps=-5.0)
            switch.drop(1, bucket=9)
            event = await anext(events)
            assert isinstance(event, Interval)
            assert event.report.phi_bps == -5.0
            assert (await anext(events)).report.bucket == 9  # type: ignore[union-attr]
        latest = controller.telemetry.latest("s1", 1)
        assert latest == event
        span = {"from_us": 0, "to_us": 2**62, "limit": 10}
        for _ in range(600):
            kept = await controller.telemetry.intervals("s1", 1, **span)
            if kept and await controller.telemetry.drops("s1", None, **span):
                break
            await asyncio.sleep(0.05)
        assert kept == [event]
        sums = await controller.telemetry.interval_summaries("s1", 1, step_us=10_000_000, **span)
        assert [(each.reports, each.phi_bps) for each in sums] == [(1, -5.0)]
        await until(lambda: controller.telemetry.latest_counters("s1", 1) is not None)
        counters = controller.telemetry.latest_counters("s1", 1)
        assert counters is not None
        assert counters.packets == {"tx": 3}


async def test_a_slow_reader_loses_the_oldest_and_is_told(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        with controller.telemetry.subscribe(kinds=["interval"], maxsize=2) as events:
            for _ in range(5):
                switch.report(1)
            await until(lambda: events.lost == 3)
            first = await anext(events)
            assert isinstance(first, Interval)
            assert first.report.intervals == 4


async def test_a_change_of_state_is_an_event(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        with controller.telemetry.subscribe(kinds=["status"]) as events:
            switch.go()
            event = await anext(events)
            assert isinstance(event, StatusChange)
            assert event.status.state is LinkState.UNREACHABLE
            assert event.status.reason == "no switch answers"


async def test_a_manual_change_holds_the_policy_that_governs_the_field(tmp_path: Path) -> None:
    async with open_controller(tmp_path, FakeSwitch()) as controller:
        await controller.ports.set(ADMIN, "s1", PortSettings(1, xcp=XCP))
        for name in ("capacity", "stability", "noise"):
            await controller.tuning.put_policy(ADMIN, "s1", 1, name, PolicyState.ACTIVE, PARAMETERS)
        with controller.telemetry.subscribe(kinds=["policy"]) as events:
            await controller.ports.change(ADMIN, "s1", 1, {"stamp": True})
            await controller.ports.change(ADMIN, "s1", 1, {"xcp": {"capacity_bps": 50_000_000}})
            (event,) = events.take()  # policies that did not change are not published again
            assert isinstance(event, PolicyChange)
            assert (event.policy.name, event.policy.state) == ("capacity", PolicyState.HELD)
        states = {policy.name: policy.state for policy in await controller.tuning.policies("s1", 1)}
        assert states == {
            "capacity": PolicyState.HELD,
            "stability": PolicyState.ACTIVE,
            "noise": PolicyState.ACTIVE,
        }


async def test_a_decision_and_its_undoing(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        state = await controller.ports.set(ADMIN, "s1", PortSettings(1, xcp=XCP))
        assert state.desired is not None
        await controller.tuning.put_policy(ADMIN, "s1", 1, "capacity", PolicyState.ACTIVE, PARAMETERS)
        where = (Actor("tuner", Role.OPERATOR), "s1", 1, "capacity")
        decide: dict[str, Any] = {
            "changes": {"xcp": {"capacity_bps": 40_000_000}},
            "summary": "the link carries 40 Mbit/s",
            "evidence": {"departures": 12},
        }
        with pytest.raises(StaleVersionError):
            await controller.tuning.apply_decision(*where, if_version=1, **decide)
        version = state.desired.version
        decision = await controller.tuning.apply_decision(*where, if_version=version, wait=True, **decide)
        assert decision.changes == {"xcp.capacity_bps": (100_000_000, 40_000_000)}
        assert switch.ports[1].xcp == XcpSettings(40_000_000)
        assert (await controller.tuning.policies("s1", 1))[0].state is PolicyState.ACTIVE
        undone = await controller.tuning.undo_decision(ADMIN, decision.id)
        assert undone.undone_by == "ann"
        assert switch.ports[1].xcp == XCP
        assert (await controller.tuning.policies("s1", 1))[0].state is PolicyState.HELD
        with pytest.raises(UndoneError):
            await controller.tuning.undo_decision(ADMIN, decision.id)
        with pytest.raises(PolicyHeldError):
            await controller.tuning.apply_decision(*where, if_version=None, **decide)
        assert [each.id for each in await controller.tuning.decisions(switch="s1")] == [decision.id]


async def test_removing_a_switch_forgets_it(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        first = controller.switches.get("s1")
        switch.report(1)
        await until(lambda: controller.telemetry.latest("s1", 1) is not None)
        await controller.switches.remove(ADMIN, "s1")
        with pytest.raises(NotFoundError):
            controller.switches.status("s1")
        again = await controller.switches.add(
            ADMIN, name="s1", address="localhost:1", device_id=1, ports=[1, 2]
        )
        assert again.uid != first.uid
        assert controller.telemetry.latest("s1", 1) is None


async def test_a_decision_about_an_earlier_switch_of_the_name_is_not_undone(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        await controller.ports.set(ADMIN, "s1", PortSettings(1, xcp=XCP))
        await controller.tuning.put_policy(ADMIN, "s1", 1, "capacity", PolicyState.ACTIVE, PARAMETERS)
        changes = {"xcp": {"capacity_bps": 40_000_000}}
        decision = await controller.tuning.apply_decision(
            ADMIN,
            "s1",
            1,
            "capacity",
            if_version=None,
            changes=changes,
            summary="less",
            evidence={},
            wait=True,
        )
        await controller.switches.remove(ADMIN, "s1")
        await controller.switches.add(ADMIN, name="s1", address="localhost:1", device_id=1, ports=[1, 2])
        await in_state(controller, "s1", LinkState.IN_SYNC)
        with pytest.raises(UndoneError, match="earlier switch s1"):
            await controller.tuning.undo_decision(ADMIN, decision.id)
        assert switch.ports[1].xcp == XcpSettings(40_000_000)


async def test_who_waits_for_a_switch_that_is_removed_is_told(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        switch.answering.clear()
        change = asyncio.create_task(controller.ports.change(ADMIN, "s1", 1, {"stamp": True}))
        await until(lambda: _desired_version(controller) == 2)
        await controller.switches.remove(ADMIN, "s1")
        with pytest.raises(ApplyPending):
            await change


def _desired_version(controller: Controller) -> int:
    desired = controller._fleet.link("s1").port(1).desired
    return 0 if desired is None else desired.version


async def test_a_switch_that_another_controller_removed_can_be_added_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switches, "REFRESH_S", 3600.0)  # the controller does not read the other's change
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller, open_store(tmp_path) as other:
        gone = controller._fleet.link("s1")
        switch.report(1, measured_bps=40_000_000)
        await until(lambda: controller.telemetry.measured_bps("s1", 1) is not None)
        await other.change(store_switches.remove, ADMIN, "s1")
        added = await controller.switches.add(
            ADMIN, name="s1", address="localhost:1", device_id=1, ports=[1, 2]
        )
        assert controller.switches.get("s1") == added
        assert controller.telemetry.measured_bps("s1", 1) is None
        assert gone._task is not None
        assert gone._task.done()


async def test_what_this_controller_has_changed_is_not_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switches, "REFRESH_S", 0.01)
    monkeypatch.setattr(switches, "RECORDS_AT_ONCE", 1)
    async with open_controller(tmp_path, FakeSwitch()) as controller, open_store(tmp_path) as other:
        await _followed(controller)
        reread: list[set[str]] = []
        original = controller.switches._reread

        async def recorded(touched: set[str]) -> None:
            reread.append(touched)
            await original(touched)

        monkeypatch.setattr(controller.switches, "_reread", recorded)
        await controller.ports.change(ADMIN, "s1", 1, {"stamp": True})
        await _followed(controller)
        assert reread == []
        switch = controller.switches.get("s1")
        checks = PortSettings(2, check=True)
        await other.change(desired_state.change_port, ADMIN, switch, 2, lambda _: checks)
        await _followed(controller)
        assert reread == [{"s1"}]
        desired = controller._fleet.link("s1").port(2).desired
        assert desired is not None
        assert desired.settings == checks


async def _followed(controller: Controller) -> None:
    """Waits until the controller has seen all that is in the audit."""
    newest = (await controller.records.audit(limit=1))[0].id
    await until(lambda: controller.switches._seen_audit >= newest)


async def test_a_report_that_cannot_be_kept_does_not_take_others_along(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_controller(tmp_path, switch) as controller:
        switch.report(1, input_bytes=2**64)  # no database has such integers
        switch.report(1)
        await until(lambda: controller.switches.status("s1").reports == 2)
    async with open_controller(tmp_path, switch) as controller:
        assert len(await controller.telemetry.intervals("s1", 1, from_us=0, to_us=2**62, limit=10)) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "a/b"),
        ("address", "localhost"),
        ("address", "localhost:99999"),
        ("address", "unix:relative"),
        ("device_id", 0),
        ("ports", []),
        ("ports", [64]),
        ("ports", [1, 1]),
        ("port_names.2", {2: "h1"}),
        ("port_names.1", {1: ""}),
    ],
)
async def test_a_switch_that_cannot_be(tmp_path: Path, field: str, value: object) -> None:
    given = {"name": "s9", "address": "localhost:1", "device_id": 1, "ports": [1]}
    given[field.partition(".")[0]] = value
    async with open_controller(tmp_path) as controller:
        with pytest.raises(FieldError) as caught:
            await controller.switches.add(ADMIN, **given)  # type: ignore[arg-type]
        assert caught.value.field == field


@pytest.mark.parametrize("address", ["192.0.2.7:9559", "[::]:9559", "no-such-host.invalid:9559"])
async def test_a_switch_of_another_machine_needs_tls(tmp_path: Path, address: str) -> None:
    given: dict[str, Any] = {"name": "s9", "address": address, "device_id": 1, "ports": [1]}
    files = TlsFiles("/ca.pem", "/a.pem", "/a.pem")
    async with open_controller(tmp_path) as controller:
        with pytest.raises(FieldError, match=r"^tls: is missing, and .* is not this machine; give `tls`"):
            await controller.switches.add(ADMIN, **given)
        added = await controller.switches.add(ADMIN, **given, tls=files)
        with pytest.raises(FieldError, match=r"^tls: is missing"):
            await controller.switches.change(ADMIN, replace(added, tls=None))
        assert controller.switches.get("s9").tls == files
    async with open_controller(tmp_path, insecure=True) as controller:
        await controller.switches.change(ADMIN, replace(added, tls=None))
        assert controller.switches.get("s9").tls is None


async def test_a_switch_of_this_machine_needs_no_tls(tmp_path: Path) -> None:
    async with open_controller(tmp_path) as controller:
        for number, address in enumerate(("127.8.9.1:1", "[::1]:1", "localhost:1", "unix:/run/x.sock")):
            await controller.switches.add(ADMIN, name=f"s{number}", address=address, device_id=1, ports=[1])
        assert len(controller.switches.all()) == 4


async def test_a_changed_switch_keeps_what_is_desired(tmp_path: Path) -> None:
    async with open_controller(tmp_path, FakeSwitch()) as controller:
        await controller.ports.set(ADMIN, "s1", PortSettings(1, xcp=XCP))
        before = controller.switches.get("s1")
        await controller.switches.change(ADMIN, replace(before, address="localhost:9", port_names={1: "up"}))
        await in_state(controller, "s1", LinkState.IN_SYNC)
        desired = (await controller.ports.get("s1", 1)).desired
        assert desired is not None
        assert desired.settings == PortSettings(1, xcp=XCP)
    async with open_controller(tmp_path, FakeSwitch()) as controller:
        assert controller.switches.get("s1") == replace(before, address="localhost:9", port_names={1: "up"})


async def test_another_controller_of_the_store_follows_a_changed_switch(tmp_path: Path) -> None:
    async with open_controller(tmp_path, FakeSwitch()) as controller, open_store(tmp_path) as other:
        changed = replace(controller.switches.get("s1"), address="localhost:9")
        await other.change(store_switches.change, ADMIN, changed)
        await until(lambda: controller.switches.get("s1") == changed)
        with pytest.raises(NotFoundError):
            await other.change(store_switches.change, ADMIN, replace(changed, uid=99))


async def test_unknown_things_are_named(tmp_path: Path) -> None:
    async with open_controller(tmp_path, FakeSwitch()) as controller:
        with pytest.raises(NotFoundError, match="switch s7"):
            controller.switches.get("s7")
        with pytest.raises(NotFoundError, match="port 9: there is none; switch s1 has 1, 2"):
            await controller.ports.get("s1", 9)
        with pytest.raises(ExistsError):
            await controller.switches.add(ADMIN, name="s1", address="localhost:1", device_id=1, ports=[1])
