# SPDX-License-Identifier: Apache-2.0
"""A device in front of a switch in memory, and its primary."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from finsy.proto import U128, p4r

from clarion_agent.arbitration import Controller
from clarion_agent.device import Device
from clarion_agent.program import Program, load
from fakes.fake_card import FakeCard
from fakes.target import FakeTarget


class Primary:
    """A primary controller, which keeps all messages sent to it."""

    def __init__(self, device: Device, election_id: int = 1) -> None:
        self.device = device
        self.sent: list[p4r.StreamMessageResponse] = []
        self.controller = Controller(self.sent.append)
        self.election_id = U128.encode(election_id)
        update = p4r.MasterArbitrationUpdate(device_id=device.id, election_id=self.election_id)
        device.arbiter.arbitrate(self.controller, update, first=True)

    async def set_pipeline(self, program: Program) -> None:
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self.device.id,
            election_id=self.election_id,
            action=p4r.SetForwardingPipelineConfigRequest.RECONCILE_AND_COMMIT,
        )
        request.config.p4info.CopyFrom(program.p4info)
        await self.device.set_pipeline(request)

    async def write(
        self, *updates: p4r.Update, atomicity: Any = p4r.WriteRequest.ROLLBACK_ON_ERROR, role: str = ""
    ) -> None:
        request = p4r.WriteRequest(
            device_id=self.device.id,
            role=role,
            election_id=self.election_id,
            updates=updates,
            atomicity=atomicity,
        )
        await self.device.write(request)

    async def read(self, *entities: p4r.Entity, role: str = "") -> list[p4r.Entity]:
        request = p4r.ReadRequest(role=role, entities=entities)
        return [found async for found in self.device.read(request)]


@pytest.fixture(scope="session")
def program() -> Program:
    return load()


@pytest.fixture
def target() -> FakeTarget:
    return FakeTarget()


@pytest.fixture
async def primary(target: FakeTarget, program: Program) -> Primary:
    device = Device(1, target, program)
    await device.start()
    made = Primary(device)
    await made.set_pipeline(program)
    target.batches.clear()
    return made


@pytest.fixture
def run_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of locks and notes."""
    monkeypatch.setenv("CLARION_RUN_ROOT", str(tmp_path / "run"))
    return tmp_path / "run"


@pytest.fixture
def fake_card(tmp_path: Path, run_root: Path) -> Iterator[FakeCard]:
    """A running card, controlled by the test."""
    with FakeCard(tmp_path / "bar") as card:
        yield card


@pytest.fixture
def card_file(fake_card: FakeCard) -> Path:
    """The registers of a card after a reset, for tests that need no faulty card."""
    return fake_card.path
