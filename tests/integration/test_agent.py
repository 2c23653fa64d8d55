# SPDX-License-Identifier: Apache-2.0
"""Our own client against the agent and a real clarion-switch without devices."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from clarion_contract import pipeline
from clarion_contract.settings import PortSettings, XcpSettings
from clarion_contract.telemetry import IntervalReport, QueueDrop
from clarion_p4rt.device import Mastership
from clarion_p4rt.errors import Entity, SwitchError
from clarion_p4rt.p4_device import P4Device
from clarion_p4rt.primary import PrimarySession
from clarion_p4rt.switch import Forwarding, Switch
from integration.agent_net import (
    DEADLINE_S,
    MAC,
    SWITCH,
    AgentProcess,
    SwitchProcess,
    ethernet,
    switch_and_agent,
)

pytestmark = pytest.mark.skipif(not SWITCH.exists(), reason=f"{SWITCH}: not built")

Served = tuple[SwitchProcess, AgentProcess]
RATE = XcpSettings(8_000_000, max_interval_us=1000)
ADDRESS = "02:00:00:00:00:02"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with switch_and_agent(tmp_path) as both:
        yield both


def client_of(served: Served, *ports: int) -> PrimarySession:
    return PrimarySession(Switch(0, "s1", served[1].address, 1, ports or (1, 2, 3)))


async def send(switch: SwitchProcess, count: int) -> None:
    for _ in range(count):
        await asyncio.to_thread(switch.ask, cmd="inject", switch="s1", frame=ethernet(MAC, 500).hex())


async def next_of(kind: type, reports: AsyncIterator[Any]) -> Any:
    async for report in reports:
        if isinstance(report, kind):
            return report
    raise AssertionError("no more reports")


async def test_settings_reach_the_switch_and_stay(served: Served) -> None:
    wanted = [
        PortSettings(1, check=True, edge=True, wire=True),
        PortSettings(2, xcp=RATE, stamp=True, queue_limit_bytes=5000),
    ]
    async with client_of(served) as client:
        await client.configure(wanted, Forwarding({ADDRESS: 2}, (1, 3)))
    state = served[0].entries()
    tag, xcp = dict(state["ports"][0]["tag"]), dict(state["ports"][1]["xcp"])
    assert 1 <= tag.pop("epoch") <= 255
    assert 1 <= xcp.pop("epoch") <= 255
    assert tag == {"check": True, "edge": True, "wire": True}
    assert xcp == {
        "capacity": 1_000_000, "alpha": 26214, "beta": 14811, "gamma": 6554,
        "min_interval": 268435, "max_interval": 268435, "generation": 2,
    }  # fmt: skip
    assert (state["ports"][1]["stamp"], state["ports"][1]["queue_limit"]) == (True, 5000)
    assert (state["addresses"], state["flood"]) == ([[MAC, 2]], [1, 3])
    async with client_of(served) as client:  # finds program and entries in place
        await client.configure(wanted)
        assert served[0].entries() == state
        await client.configure([])
    assert [port["xcp"] for port in served[0].entries()["ports"]] == [None, None, None]


async def test_reports_and_counters(served: Served) -> None:
    async with client_of(served) as client:
        await client.configure([PortSettings(1, xcp=RATE)], Forwarding({ADDRESS: 1}, ()))
        reports = client.reports()
        waiting = asyncio.create_task(next_of(IntervalReport, reports))
        while not waiting.done():  # an interval ends on an arrival
            await send(served[0], 1)
        report = waiting.result()
        assert (report.port, report.avg_rtt_us) == (1, pytest.approx(100_000))
        assert report.input_bytes % 500 == 0
        assert report.elapsed_us >= 999

        await client.configure([PortSettings(1, queue_limit_bytes=1)])
        await send(served[0], 1)
        drop = await asyncio.wait_for(next_of(QueueDrop, reports), DEADLINE_S)
        assert (drop.port, drop.frame_bytes, drop.drops) == (1, 500, 1)
        counters = (await client.counters())[1]
        assert counters.bytes["queue_drops"] == 500
        assert counters.bytes["tx"] == 500 * counters.packets["tx"]


async def test_what_the_switch_refuses_is_named(served: Served) -> None:
    """A client that assumes a port 4: the batch is refused whole, and the error names the right entry."""
    before = served[0].entries()
    async with client_of(served, 1, 4) as client:
        with pytest.raises(SwitchError) as error:
            await client.configure([PortSettings(1, stamp=True), PortSettings(4, stamp=True)])
    assert str(error.value) == (
        "s1: stamp_port[4]: the switch refused: stamp_port[4]: the switch has no port 4; it has 1, 2, 3"
    )
    assert (error.value.entity, error.value.code) == (Entity("stamp_port", 4), "INVALID_ARGUMENT")
    assert served[0].entries() == before


async def test_a_controller_that_takes_mastership_ends_the_reports(served: Served) -> None:
    async with client_of(served) as client:
        other = P4Device(client.switch, pipeline.load(), election_id=2)
        try:
            assert await other.open() is Mastership.PRIMARY
            with pytest.raises(SwitchError, match="another controller is primary"):
                await asyncio.wait_for(anext(client.reports()), DEADLINE_S)
        finally:
            await other.close()


async def test_a_session_does_not_begin_as_a_backup(served: Served) -> None:
    async with client_of(served):  # with program and subscriptions in place, it has nothing to write
        pass
    other = P4Device(client_of(served).switch, pipeline.load(), election_id=2)
    try:
        assert await other.open() is Mastership.PRIMARY
        with pytest.raises(SwitchError, match="another controller is primary"):
            async with client_of(served):
                pytest.fail("the other one is primary")
    finally:
        await other.close()


async def test_two_clients_do_not_both_get_it(served: Served) -> None:
    async with client_of(served):
        with pytest.raises(SwitchError, match="another controller is primary"):
            async with client_of(served):
                pass
