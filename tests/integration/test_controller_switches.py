# SPDX-License-Identifier: Apache-2.0
"""The controller with real switches of both kinds: mastership, program, settings, restarts of either side."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from clarion_contract.neighbours import WireState
from clarion_contract.settings import PortSettings, XcpSettings
from clarion_control.controller import Controller
from clarion_control.errors import NotPrimaryError
from clarion_control.model import LinkState, Origin
from clarion_control.store import Store
from clarion_lab.machine import bmv2_installation
from clarion_p4rt.switch import Forwarding
from fakes.controller import ADMIN, in_state, until
from integration.controller_net import Bmv2, Embedded, FarSide, running, settings_on

BMV2_FAULT = bmv2_installation.fault()
XCP = XcpSettings(100_000_000, alpha=0.3, beta=0.1273)
FULL = PortSettings(2, xcp=XCP, stamp=True, check=True, edge=True, wire=True, queue_limit_bytes=250_000)

KINDS = [
    pytest.param(Embedded, id="embedded", marks=pytest.mark.root),
    pytest.param(
        Bmv2,
        id="bmv2",
        marks=pytest.mark.skipif(BMV2_FAULT is not None, reason=f"{bmv2_installation.PROGRAM}: {BMV2_FAULT}"),
    ),
]


@pytest.fixture(params=KINDS)
def side(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FarSide]:
    switch: FarSide = request.param(tmp_path)
    with running(switch):
        yield switch


@contextlib.asynccontextmanager
async def opened(tmp_path: Path, side: FarSide, *, election_id: int = 1) -> AsyncIterator[Controller]:
    store = await asyncio.to_thread(Store.open, str(tmp_path / "controller.db"))
    try:
        async with await Controller.open(
            store, election_id=election_id, counters_every_s=0.1, apply_timeout_s=30, compare_every_s=0.5
        ) as controller:
            if not controller.switches.all():
                await controller.switches.add(
                    ADMIN, name="s1", address=side.address, device_id=1, ports=[1, 2]
                )
            yield controller
    finally:
        await store.close()


async def seen(side: FarSide) -> dict[int, PortSettings]:
    return await asyncio.to_thread(settings_on, side.address, 1, [1, 2])


async def test_settings_reach_the_switch_and_come_back_from_it(tmp_path: Path, side: FarSide) -> None:
    async with opened(tmp_path, side) as controller:
        await in_state(controller, "s1", LinkState.IN_SYNC)
        state = await controller.ports.set(ADMIN, "s1", FULL)
        assert state.effective == FULL
        assert (await seen(side))[2] == FULL
        await controller.forwarding.set(ADMIN, "s1", Forwarding({"02:00:00:00:00:01": 1}, (1, 2)))
        await controller.forwarding.set(ADMIN, "s1", Forwarding({"02:00:00:00:00:02": 2}, (1,)))
        await controller.ports.set(ADMIN, "s1", PortSettings(2))
        assert (await seen(side))[2] == PortSettings(2)
        await until(lambda: controller.telemetry.latest_counters("s1", 1) is not None)
        counters = controller.telemetry.latest_counters("s1", 1)
        assert counters is not None
        assert counters.packets["rx"] == 0  # "tx" counts the controller's own LLDP hellos on BMv2


async def test_a_restarted_controller_changes_nothing(tmp_path: Path, side: FarSide) -> None:
    async with opened(tmp_path, side) as controller:
        await in_state(controller, "s1", LinkState.IN_SYNC)
        await controller.ports.set(ADMIN, "s1", FULL)
    assert (await seen(side))[2] == FULL
    async with opened(tmp_path, side) as controller:
        await in_state(controller, "s1", LinkState.IN_SYNC)
        state = await controller.ports.get("s1", 2)
        assert state.effective == FULL
        assert state.desired is not None
        assert state.desired.version == 2
    assert (await seen(side))[2] == FULL


async def test_a_new_controller_adopts_what_an_earlier_one_left(tmp_path: Path, side: FarSide) -> None:
    async with opened(tmp_path, side) as controller:
        await in_state(controller, "s1", LinkState.IN_SYNC)
        await controller.ports.set(ADMIN, "s1", FULL)
    other = tmp_path / "other"
    other.mkdir()
    async with opened(other, side) as controller:
        await in_state(controller, "s1", LinkState.IN_SYNC)
        state = await controller.ports.get("s1", 2)
        assert state.desired is not None
        assert state.desired.settings == FULL
        assert {record.origin for record in await controller.records.audit(actor="controller")} == {
            Origin.ADOPTED
        }


@pytest.mark.root
async def test_what_a_configuration_has_switched_on_is_adopted(tmp_path: Path) -> None:
    side = Embedded(tmp_path, xcp=True)
    with running(side):
        async with opened(tmp_path, side) as controller:
            await in_state(controller, "s1", LinkState.IN_SYNC)
            state = await controller.ports.get("s1", 1)
            assert state.desired is not None
            assert state.desired.settings == PortSettings(1, xcp=XcpSettings(100_000_000))
            assert (await seen(side))[1] == state.desired.settings


async def test_a_killed_switch_gets_everything_again(tmp_path: Path, side: FarSide) -> None:
    async with opened(tmp_path, side) as controller:
        await in_state(controller, "s1", LinkState.IN_SYNC)
        await controller.ports.set(ADMIN, "s1", FULL)
        side.kill()
        await in_state(controller, "s1", LinkState.UNREACHABLE)
        await asyncio.to_thread(side.start)
        await in_state(controller, "s1", LinkState.IN_SYNC)
        assert (await seen(side))[2] == FULL


async def test_a_backup_takes_over_and_keeps_mastership(tmp_path: Path, side: FarSide) -> None:
    async with contextlib.AsyncExitStack() as first_stack, opened(tmp_path, side, election_id=7) as second:
        await in_state(second, "s1", LinkState.IN_SYNC)
        first = await first_stack.enter_async_context(opened(tmp_path, side, election_id=9))
        await in_state(first, "s1", LinkState.IN_SYNC)  # the higher election id becomes primary
        await in_state(second, "s1", LinkState.BACKUP)
        await first.ports.set(ADMIN, "s1", FULL)
        with pytest.raises(NotPrimaryError):
            await second.ports.set(ADMIN, "s1", PortSettings(2))
        await first_stack.aclose()
        await in_state(second, "s1", LinkState.IN_SYNC)
        state = await second.ports.get("s1", 2)
        assert state.desired is not None
        assert state.desired.settings == FULL  # read from the store again
        await second.ports.set(ADMIN, "s1", PortSettings(2, stamp=True))
        assert (await seen(side))[2] == PortSettings(2, stamp=True)
        async with opened(tmp_path, side, election_id=9) as third:
            await in_state(third, "s1", LinkState.BACKUP)  # although it was preferred at first
            assert second.switches.status("s1").state is LinkState.IN_SYNC


@pytest.mark.root
async def test_an_embedded_switch_judges_its_wires_and_the_controller_sees_its_links(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    side = Embedded(tmp_path)
    with running(side):
        async with opened(tmp_path, side) as controller:
            await in_state(controller, "s1", LinkState.IN_SYNC)
            await controller.ports.set(ADMIN, "s1", PortSettings(2, stamp=True))

            def found() -> bool:
                states = [(link.is_two_way, link.state) for link in controller.topology.links()]
                return states == [(True, WireState.UNNUMBERED)]

            await until(found)
            (link,) = controller.topology.links()
            assert [(end.switch, end.port, end.port_id) for end in link.ends] == [
                ("s1", 1, "a"),
                ("s1", 2, "b"),
            ]
            wires = [end.wire for end in link.ends]
            # Port 1 hears port 2, which numbers its packets; port 1 does not.
            assert [None if wire is None else wire.state for wire in wires] == [
                WireState.PROVEN,
                WireState.UNNUMBERED,
            ]
    assert [each.getMessage() for each in caplog.records if each.name == "clarion_p4rt.wires"] == []
