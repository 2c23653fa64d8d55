# SPDX-License-Identifier: Apache-2.0
"""A capacity that is to be measured goes only to switches that say that they measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from finsy.proto import p4r
from google.protobuf.struct_pb2 import Struct

from clarion_contract import pipeline
from clarion_contract.settings import PortSettings, XcpSettings
from clarion_control.model import Interval, handed_out_bps
from clarion_p4rt.errors import SwitchError
from clarion_p4rt.p4_device import P4Device
from clarion_p4rt.switch import Switch
from fakes.switch import REPORT

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
    report = Interval(1, "s1", REPORT)
    known = Interval(2, "s1", REPORT.__class__(**{**REPORT.__dict__, "measured_bps": 40_000_000}))
    assert handed_out_bps(TOLD, known) == 100_000_000
    assert handed_out_bps(MEASURED, known) == 40_000_000
    assert handed_out_bps(MEASURED, report) is None
    assert handed_out_bps(MEASURED, None) is None
    assert handed_out_bps(PortSettings(2), known) is None
