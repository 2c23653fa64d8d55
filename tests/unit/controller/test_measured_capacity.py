# SPDX-License-Identifier: Apache-2.0
"""A capacity that is measured: it is asked only of switches that measure, and the last measurement counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from finsy.proto import p4r
from google.protobuf.struct_pb2 import Struct

from clarion_contract import pipeline
from clarion_contract.settings import PortSettings, XcpSettings
from clarion_control.fleet.live import Hub
from clarion_control.model import Interval, handed_out_bps
from clarion_p4rt.errors import SwitchError
from clarion_p4rt.p4_device import P4Device
from clarion_p4rt.switch import Switch
from fakes.controller import open_controller, until
from fakes.switch import REPORT, FakeSwitch

MEASURED = PortSettings(2, xcp=XcpSettings(0))
TOLD = PortSettings(2, xcp=XcpSettings(100_000_000))


class Session:
    """Of a switch without entries, whose server says that these devices measure; None: it has no answer."""

    def __init__(self, measuring: Sequence[int] | None) -> None:
        self.written: list[Any] = []
        self.asked = 0
        self._measuring = measuring

    async def read(self, *_: Any) -> list[Any]:
        return []

    async def write(self, updates: Sequence[Any]) -> None:
        self.written.extend(updates)

    async def capabilities(self) -> p4r.CapabilitiesResponse | None:
        self.asked += 1
        if self._measuring is None:
            return None
        response, extra = p4r.CapabilitiesResponse(), Struct()
        extra["measured_capacity"] = {"devices": list(self._measuring)}
        response.experimental.Pack(extra)
        return response


def device(session: Session) -> P4Device:
    made = P4Device(Switch(1, "s1", "127.0.0.1:9559", 1, (1, 2)), pipeline.load(), 1)
    made._session = session  # type: ignore[assignment]
    return made


@pytest.mark.parametrize("measuring", [None, [], [2]])
async def test_a_switch_that_does_not_measure_is_not_asked_to(measuring: Sequence[int] | None) -> None:
    session = Session(measuring)
    with pytest.raises(SwitchError) as caught:
        await device(session).write({1: PortSettings(1), 2: MEASURED}, None)
    reason = 'capacity_bps: "measured": this switch does not measure; give it in bit/s'
    assert str(caught.value) == f"s1: xcp_port[2]: {reason}"
    assert caught.value.code == "UNIMPLEMENTED"
    assert session.written == []


async def test_a_switch_that_measures_gets_a_capacity_of_zero() -> None:
    session = Session([1])
    await device(session).write({2: MEASURED}, None)
    [update] = session.written
    assert update.action.args["capacity"] == 0


async def test_nobody_is_asked_about_a_capacity_that_is_told() -> None:
    session = Session(None)
    await device(session).write({2: TOLD}, None)
    assert (len(session.written), session.asked) == (1, 0)


def test_what_a_port_hands_out() -> None:
    assert handed_out_bps(TOLD, 40_000_000) == 100_000_000
    assert handed_out_bps(MEASURED, 40_000_000) == 40_000_000
    assert handed_out_bps(MEASURED, None) is None
    assert handed_out_bps(PortSettings(2), 40_000_000) is None


def measured(hub: Hub, intervals: int, bps: int | None) -> int | None:
    """What port 1 is known to have measured, after another report of it."""
    hub.publish(Interval(intervals, "s1", REPORT._replace(intervals=intervals, measured_bps=bps)))
    return hub.measured.get(("s1", 1))


def test_an_interval_without_a_measurement_keeps_the_one_before() -> None:
    hub = Hub()
    given = [None, 40_000_000, None, 50_000_000, None]
    assert [measured(hub, number, bps) for number, bps in enumerate(given, start=1)] == [
        None,
        40_000_000,
        40_000_000,
        50_000_000,
        50_000_000,
    ]


@pytest.mark.parametrize("before", [1, 9])
def test_a_port_that_started_anew_has_measured_nothing(before: int) -> None:
    hub = Hub()
    assert measured(hub, before, 40_000_000) == 40_000_000
    assert measured(hub, 1, None) is None
    assert measured(hub, 2, 50_000_000) == 50_000_000
    assert measured(hub, 1, 60_000_000) == 60_000_000


def test_measurements_of_a_switch_that_was_removed_are_forgotten() -> None:
    hub = Hub()
    assert measured(hub, 1, 40_000_000) == 40_000_000
    hub.forget_switch("s1")
    assert measured(hub, 2, None) is None


async def test_everyone_is_told_what_was_measured_last(tmp_path: Path) -> None:
    switch, far = FakeSwitch("s1"), FakeSwitch("s2")
    switch.ports[2] = MEASURED
    switch.wire(2, far, 2)
    async with open_controller(tmp_path, switch, far) as controller:
        await until(lambda: bool(controller.topology.links()))
        for bps in (40_000_000, None):
            with controller.telemetry.subscribe(kinds=["interval"]) as events:
                switch.report(2, measured_bps=bps)
                await anext(events)
        assert controller.telemetry.measured_bps("s1", 2) == 40_000_000
        (link,) = controller.topology.links()
        assert link.figures[0].capacity_bps == 40_000_000
