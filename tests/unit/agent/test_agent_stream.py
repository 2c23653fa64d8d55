# SPDX-License-Identifier: Apache-2.0
"""A stream's queue is bounded, and what ends a stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from finsy.proto import U128, p4r

from clarion_agent import stream as module
from clarion_agent.arbitration import Arbiter
from clarion_agent.device import Device
from clarion_agent.program import Program
from clarion_agent.stream import MAX_NOTICES, MAX_WAITING, MAX_WAITING_BYTES, Stream
from fakes.target import FakeTarget


def claim(election_id: int, role: str = "") -> p4r.StreamMessageRequest:
    update = p4r.MasterArbitrationUpdate(device_id=1, election_id=U128.encode(election_id))
    if role:
        update.role.name = role
    return p4r.StreamMessageRequest(arbitration=update)


class Peer:
    """A client that does not read unless it is told to."""

    def __init__(self, device: Device) -> None:
        self.stream = Stream(lambda _: device)
        self._requests: asyncio.Queue[p4r.StreamMessageRequest] = asyncio.Queue()
        self._receiving = asyncio.create_task(self.stream.receive(self._sent()))

    async def _sent(self) -> AsyncIterator[p4r.StreamMessageRequest]:
        while True:
            yield await self._requests.get()
            self._requests.task_done()

    async def send(self, *requests: p4r.StreamMessageRequest) -> None:
        for request in requests:
            self._requests.put_nowait(request)
        await self._requests.join()

    async def end(self) -> list[p4r.StreamMessageResponse]:
        """What was waiting."""
        self._receiving.cancel()
        await asyncio.wait([self._receiving])
        self.stream.close()
        return [message async for message in self.stream.messages()]


@pytest.fixture
def device(target: FakeTarget, program: Program) -> Device:
    return Device(1, target, program)


async def test_notices_are_within_the_bound_and_the_last_one_stays(device: Device) -> None:
    peer, other = Peer(device), Peer(device)
    await peer.send(claim(1))
    for election_id in range(2, 2 + 3 * MAX_NOTICES):
        await other.send(claim(election_id))
    found = [message.arbitration for message in await peer.end()]
    assert len(found) == MAX_NOTICES
    assert U128.decode(found[-1].election_id) == 1 + 3 * MAX_NOTICES
    await other.end()


async def test_the_queue_is_bounded_in_messages_and_bytes(device: Device) -> None:
    for size, most in ((10, MAX_WAITING), (100_000, MAX_WAITING_BYTES // 100_000)):
        peer = Peer(device)
        await peer.send(claim(5))
        packet = p4r.StreamMessageResponse(packet=p4r.PacketIn(payload=bytes(size)))
        for _ in range(most + 100):
            peer.stream._put(packet)
        assert peer.stream.lost >= 100
        await peer.send(claim(6))  # a notice gets through
        waiting = await peer.end()
        assert [each.WhichOneof("update") for each in waiting[:2]] == ["arbitration", "arbitration"]
        packets = waiting[2:]
        assert most - 1 <= len(packets) <= most
        assert sum(each.ByteSize() for each in packets) <= MAX_WAITING_BYTES


async def test_there_is_room_again_once_messages_are_read(device: Device) -> None:
    peer = Peer(device)
    await peer.send(claim(1))
    messages = peer.stream.messages()
    await anext(messages)
    packet = p4r.StreamMessageResponse(packet=p4r.PacketIn(payload=bytes(MAX_WAITING_BYTES // 2)))
    for _ in range(5):
        peer.stream._put(packet)
        assert await anext(messages) == packet
    assert peer.stream.lost == 0
    await peer.end()


async def test_a_stream_without_arbitration_ends(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ARBITRATION_S", 0.0)
    peer = Peer(device)
    assert [message async for message in peer.stream.messages()] == []
    assert peer.stream.error is not None
    assert peer.stream.error.code.name == "DEADLINE_EXCEEDED"
    await peer.end()


async def test_an_election_id_is_taken_back(device: Device) -> None:
    thief, backup = Peer(device), Peer(device)
    await thief.send(claim(2**128 - 1))
    await backup.send(claim(1))
    device.arbiter.reset()
    for peer in (thief, backup):
        assert peer.stream.error is not None
        assert peer.stream.error.code.name == "UNAVAILABLE"
        await peer.end()
    again = Peer(device)
    await again.send(claim(1))
    (notice,) = await again.end()
    assert (notice.arbitration.status.code, U128.decode(notice.arbitration.election_id)) == (0, 1)


async def test_arbitration_waits_for_the_writes_that_have_begun(device: Device) -> None:
    peer = Peer(device)
    async with device._changing:
        sending = asyncio.create_task(peer.send(claim(1)))
        await asyncio.sleep(0.01)
        assert not device.arbiter.primaries()
    await sending
    assert len(await peer.end()) == 1


async def test_roles_that_nobody_had_for_long_are_forgotten(device: Device) -> None:
    arbiter: Arbiter = device.arbiter
    for number in range(100):
        peer = Peer(device)
        update = p4r.MasterArbitrationUpdate(device_id=1, role=p4r.Role(name=f"r{number}"))
        await peer.send(p4r.StreamMessageRequest(arbitration=update))
        assert arbiter.access(f"r{number}")
        await peer.end()
