# SPDX-License-Identifier: Apache-2.0
"""The software for NICs against the FPGA block itself, simulated: its registers are a file.

The unit tests that need no faulty card run here again, on the block.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from clarion_base import paths
from clarion_contract.settings import PortSettings, XcpSettings
from clarion_contract.telemetry import IntervalReport
from clarion_nic.driver.card import Card
from clarion_nic.driver.place import Place
from clarion_p4rt.primary import PrimarySession
from clarion_p4rt.switch import Switch
from fakes.p4runtime_messages import XCP, insert, table_entry
from integration import hls_sim
from integration.agent_net import (
    DEADLINE_S,
    MAC,
    AgentProcess,
    Client,
    SwitchProcess,
    end,
    ethernet,
    until,
)
from unit.agent.test_nic_card import (  # noqa: F401
    opened,
    test_a_field_that_is_missing_and_a_bucket_that_is_not_there,
    test_a_second_reset_is_like_the_first,
    test_no_wrong_value_reaches_the_card,
    test_programs_and_threads_take_turns,
    test_units_are_found_wherever_they_are,
    test_what_is_set_is_read_back,
)
from unit.agent.test_nic_cli import (  # noqa: F401
    test_bad_settings_are_one_line_and_the_card_stays_as_it_is,
    test_epochs_change_when_something_is_switched_on_and_only_then,
    test_info,
    test_settings_in_peoples_units,
)

SIMULATION = paths.find_binary("clarion-hls-sim")
CONFIGURATION: dict[str, Any] = {
    "switches": [
        {
            "name": "s1",
            "ports": [
                {"name": "a", "peer": "s2:a", "rate_bps": 10_000_000},
                {"name": "b", "peer": "s3:a", "rate_bps": 8_000_000, "queue_bytes": 30_000},
            ],
        },
        {"name": "s2", "ports": [{"name": "a", "peer": "s1:a"}]},
        {"name": "s3", "ports": [{"name": "a", "peer": "s1:b"}]},
    ]
}
FRAME_BYTES = 500
RATE = XcpSettings(8_000_000, max_interval_us=1000, generation=1)

pytestmark = pytest.mark.skipif(SIMULATION is None, reason=hls_sim.missing())


@pytest.fixture
def simulation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SwitchProcess]:
    monkeypatch.setenv("CLARION_RUN_ROOT", str(tmp_path / "run"))
    process = SwitchProcess(tmp_path, CONFIGURATION, SIMULATION, ["--bar", str(tmp_path)])
    try:
        yield process
    finally:
        code, errors = end(process.process)
    assert (code, errors) == (0, "")


@pytest.fixture
def card_file(simulation: SwitchProcess, tmp_path: Path) -> Path:
    """The registers of the switch s1, as after a reset: its configuration has set limits of queues."""
    file = tmp_path / "s1.bar"
    with Card(Place("simulation", file, 0)) as card:
        for unit in card.units.values():
            card.reset(unit)
    return file


@pytest.fixture
async def agent(card_file: Path) -> AsyncIterator[AgentProcess]:
    made = await asyncio.to_thread(AgentProcess, "--nic", str(card_file))
    yield made
    code, errors = await asyncio.to_thread(end, made.process)
    assert code == 0, errors
    assert "Traceback" not in errors, errors


async def send(simulation: SwitchProcess, count: int) -> None:
    """Frames that are flooded to both ports."""
    for _ in range(count):
        frame = ethernet(MAC, FRAME_BYTES).hex()
        assert await asyncio.to_thread(simulation.ask, cmd="inject", switch="s1", frame=frame) == {"ok": True}


async def test_traffic_through_the_block_is_reported_and_counted(
    simulation: SwitchProcess, agent: AgentProcess
) -> None:
    async with PrimarySession(Switch(0, "s1", agent.address, 1, (0, 1))) as client:
        await client.configure([PortSettings(1, xcp=RATE, stamp=True, queue_limit_bytes=10_000)])

        async def first() -> IntervalReport:
            async for report in client.reports():
                assert isinstance(report, IntervalReport)
                return report
            raise AssertionError

        waiting = asyncio.create_task(first())
        sent = 0
        while not waiting.done():  # an interval ends on an arrival
            await send(simulation, 1)
            sent += 1
        report = waiting.result()
        assert report.port == 1
        assert report.input_bytes % FRAME_BYTES == 0
        assert 1 <= report.input_bytes // FRAME_BYTES <= sent
        assert report.elapsed_us >= 999
        assert report.avg_rtt_us == pytest.approx(100_000)

        async def left(port: int) -> tuple[int, int]:
            packets = (await client.counters())[port].packets
            return packets["tx"], packets["queue_drops"]

        end_s = asyncio.get_running_loop().time() + DEADLINE_S
        while sum(await left(1)) < sent or (await left(0))[0] < sent:
            assert asyncio.get_running_loop().time() < end_s
        counters = (await client.counters())[1]
        assert counters.bytes["tx"] == FRAME_BYTES * counters.packets["tx"]
        assert await left(0) == (sent, 0)
        assert sum(await left(1)) == sent


async def test_a_full_queue_drops_and_the_agent_tells_how_many(
    simulation: SwitchProcess, agent: AgentProcess
) -> None:
    async with PrimarySession(Switch(0, "s1", agent.address, 1, (0, 1))) as client:
        await client.configure([PortSettings(1, queue_limit_bytes=FRAME_BYTES - 1)])
        await send(simulation, 3)
        end_s = asyncio.get_running_loop().time() + DEADLINE_S
        while (await client.counters())[0].packets["tx"] < 3:
            assert asyncio.get_running_loop().time() < end_s
        counters = await client.counters()
        drops = [(each.packets["queue_drops"], each.bytes["queue_drops"]) for each in counters.values()]
        assert drops == [(0, 0), (3, 3 * FRAME_BYTES)]


async def test_a_simulation_that_ends_and_comes_again_gets_its_entries(
    simulation: SwitchProcess, agent: AgentProcess, card_file: Path
) -> None:
    def again() -> None:
        with Client(agent.address) as client:
            client.primary().write(insert(table_entry("xcp_port", 1, "set_xcp_port", XCP)))
            end(simulation.process)
            assert not card_file.exists()
            simulation.start()
            until(lambda: configured(card_file), "the card has its entry again")

    await asyncio.to_thread(again)


def configured(file: Path) -> bool:
    with Card(Place("simulation", file, 0)) as card:
        return card.configuration(card.unit("egress", 1))["capacity"] == XCP[0]
