# SPDX-License-Identifier: Apache-2.0
"""A NIC as one more switch: `clarion switch serve --nic`, a real controller, a card in memory."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from clarion import cli
from clarion_contract.settings import PortSettings, XcpSettings
from clarion_control.controller import Controller
from clarion_control.errors import RefusedError
from clarion_control.model import LinkState
from clarion_control.store import Store
from clarion_p4rt.switch import Forwarding
from fakes.controller import ADMIN, in_state, until
from fakes.fake_card import FakeCard
from fakes.p4runtime_messages import XCP, insert, table_entry
from integration.agent_net import AgentProcess, Client, end

FULL = PortSettings(
    1,
    xcp=XcpSettings(100_000_000_000, alpha=0.3, beta=0.1273, generation=1),
    stamp=True,
    check=True,
    edge=True,
    queue_limit_bytes=250_000,
)


@pytest.fixture
def fake_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCard]:
    monkeypatch.setenv("CLARION_RUN_ROOT", str(tmp_path / "run"))
    with FakeCard(tmp_path / "bar") as card:
        yield card


@contextlib.contextmanager
def served(card: FakeCard) -> Iterator[AgentProcess]:
    """The agent as a process that must end cleanly."""
    agent = AgentProcess("--nic", str(card.path))
    try:
        yield agent
    finally:
        code, errors = end(agent.process)
    assert code == 0, errors
    assert "Traceback" not in errors, errors


@contextlib.asynccontextmanager
async def controller_of(tmp_path: Path, agent: AgentProcess) -> AsyncIterator[Controller]:
    store = await asyncio.to_thread(Store.open, str(tmp_path / "controller.db"))
    try:
        async with await Controller.open(
            store, counters_every_s=0.1, apply_timeout_s=30, compare_every_s=0.5
        ) as controller:
            await controller.switches.add(ADMIN, name="nic", address=agent.address, device_id=1, ports=[0, 1])
            await in_state(controller, "nic", LinkState.IN_SYNC)
            yield controller
    finally:
        await store.close()


def test_it_says_what_it_serves(fake_card: FakeCard) -> None:
    with served(fake_card) as agent:
        assert agent.line.endswith(f"(devices 1 {fake_card.path})\n")


async def test_a_controller_adopts_a_nic_and_sets_it(
    tmp_path: Path, fake_card: FakeCard, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["capacity=10G", "stamp=on"]
    assert cli.main(["nic", "set", "0", *given, "--bar", str(fake_card.path)]) == 0
    left = dict(fake_card.configuration["egress", 0])
    with served(fake_card) as agent:
        async with controller_of(tmp_path, agent) as controller:
            found = (await controller.ports.get("nic", 0)).effective
            assert found == PortSettings(0, xcp=XcpSettings(10_000_000_000), stamp=True)
            state = await controller.ports.set(ADMIN, "nic", FULL)
            assert state.effective == FULL
            assert fake_card.configuration["egress", 1]["capacity"] == 12_500_000_000
            assert fake_card.configuration["ingress", 1]["edge"] == 1
            assert fake_card.configuration["egress", 0] == left  # XCP kept its state

            fake_card.set("egress", 1, intervals=1, elapsed=1 << 28, tx_packets=77)
            await until(lambda: controller.switches.status("nic").reports > 0)
            await until(lambda: controller.telemetry.latest_counters("nic", 1) is not None)
            fake_card.set("egress", 1, tx_packets=78)

            def counted() -> bool:
                counters = controller.telemetry.latest_counters("nic", 1)
                return counters is not None and counters.packets["tx"] == 78

            await until(counted)


async def test_a_nic_refuses_addresses_and_stays_in_charge(tmp_path: Path, fake_card: FakeCard) -> None:
    with served(fake_card) as agent:
        async with controller_of(tmp_path, agent) as controller:
            with pytest.raises(RefusedError, match="a NIC forwards between its host and its wire only"):
                await controller.forwarding.set(ADMIN, "nic", Forwarding({"02:00:00:00:00:01": 1}, (0, 1)))
            await in_state(controller, "nic", LinkState.IN_SYNC)
            assert (await controller.ports.set(ADMIN, "nic", FULL)).effective == FULL


async def test_a_card_that_is_reset_is_set_again(tmp_path: Path, fake_card: FakeCard) -> None:
    with served(fake_card) as agent:
        async with controller_of(tmp_path, agent) as controller:
            await controller.ports.set(ADMIN, "nic", FULL)
            wanted = {key: dict(fake_card.configuration[key]) for key in (("egress", 1), ("ingress", 1))}
            fake_card.power_on()
            await until(lambda: {key: fake_card.configuration[key] for key in wanted} == wanted)


def test_a_restarted_agent_goes_on_with_what_the_card_has(fake_card: FakeCard) -> None:
    with served(fake_card) as agent, Client(agent.address) as client:
        client.primary().write(insert(table_entry("xcp_port", 1, "set_xcp_port", XCP)))
        before = client.read(table_entry("", None))
    told = len(fake_card.configured)
    with served(fake_card) as agent, Client(agent.address) as client:
        assert client.read(table_entry("", None)) == before
    assert len(fake_card.configured) == told
