# SPDX-License-Identifier: Apache-2.0
"""LLDP of a card: sockets of the test stand for the network devices of its ports."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable

import pytest

from clarion_contract.lldp import ClarionPort, Hello, Identifier, decode, encode, our_hello
from clarion_contract.target import Judged, SetEntry
from clarion_nic.driver import lldp
from clarion_nic.driver.place import Place
from clarion_nic.driver.target import NicTarget
from fakes.fake_card import FakeCard

SOURCE = bytes.fromhex("020000000009")
CHECKED = {"check": 1, "edge": 0, "wire": 0, "epoch": 1}
BRIDGE = Hello(Identifier(4, SOURCE), Identifier(7, b"eth1"), 120)


class Frames:
    """A listener that keeps the frames for the controller."""

    def __init__(self) -> None:
        self.frames: list[tuple[bytes, int]] = []

    def on_digest(self, name: str, members: tuple[int, ...]) -> None:
        raise AssertionError(name)

    def on_packet(self, frame: bytes, port: int, time_us: int) -> None:
        assert time_us >= 0
        self.frames.append((frame, port))

    def on_lost(self, count: int) -> None:
        raise AssertionError(count)

    async def on_connected(self) -> None:
        raise AssertionError


class Bench:
    """A card with a neighbour at its port 1."""

    def __init__(self, card: FakeCard) -> None:
        ours, self.wire = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for each in (ours, self.wire):
            each.setblocking(False)
        self.card = card
        self.nic = NicTarget(Place("card", card.path, 0), {1: ours})
        self.listener = Frames()
        self.nic.listen(self.listener)

    def say(self, hello: Hello) -> bytes:
        frame = encode(SOURCE, hello)
        self.wire.send(frame)
        return frame

    def hello(self, *, stamps: bool = True, ttl_s: int = 4, name: str = "other") -> bytes:
        return self.say(our_hello(name, "p1", stamps=stamps, checks=True, ttl_s=ttl_s))

    @property
    def bit(self) -> int:
        return self.card.configuration["ingress", 1]["wire"]

    async def declare(self, wire: int) -> None:
        await self.nic.apply([SetEntry("tag_port", 1, {**CHECKED, "wire": wire})])


async def until(condition: Callable[[], bool]) -> None:
    end = asyncio.get_running_loop().time() + 20
    while not condition():
        assert asyncio.get_running_loop().time() < end
        await asyncio.sleep(0.01)


@pytest.fixture
async def bench(fake_card: FakeCard) -> AsyncIterator[Bench]:
    made = Bench(fake_card)
    try:
        yield made
    finally:
        await made.nic.close()
        made.wire.close()


async def test_a_proof_comes_and_goes(bench: Bench) -> None:
    await bench.declare(0)
    bench.nic.keep()
    assert bench.bit == 0
    frame = bench.hello()
    await until(lambda: bench.bit == 1)
    assert bench.listener.frames == [(frame, 1)]
    judged = (await bench.nic.judged())[1]
    assert judged.is_proven
    assert judged.until_us > 0
    assert (await bench.nic.present()).entries["tag_port", 1] == CHECKED  # as written
    bench.hello(ttl_s=0)
    await until(lambda: bench.bit == 0)
    assert await bench.nic.judged() == {}


async def test_a_neighbour_that_numbers_nothing_disproves(bench: Bench) -> None:
    await bench.declare(1)
    bench.nic.keep()
    bench.hello(stamps=False)
    await until(lambda: bench.bit == 0)
    assert not (await bench.nic.judged())[1].is_proven


async def test_a_silent_neighbour_ends_its_proof(bench: Bench) -> None:
    await bench.declare(0)
    bench.nic.keep()
    bench.hello(ttl_s=1)
    await until(lambda: bench.bit == 1)
    await until(lambda: bench.bit == 0)


async def test_a_bridge_beats_the_declaration(bench: Bench) -> None:
    await bench.declare(1)
    bench.nic.keep()
    assert bench.bit == 1
    bench.say(BRIDGE)
    await until(lambda: bench.bit == 0)
    assert (await bench.nic.judged())[1] == Judged(False, (await bench.nic.judged())[1].until_us)
    assert (await bench.nic.present()).entries["tag_port", 1]["wire"] == 1
    await bench.declare(1)  # a write changes nothing of that
    assert bench.bit == 0


async def test_it_says_what_the_port_does(bench: Bench) -> None:
    await bench.declare(0)
    await bench.nic.apply([SetEntry("stamp_port", 1, {})])
    bench.nic.keep()
    said: list[Hello] = []

    def heard() -> bool:
        with contextlib.suppress(BlockingIOError):
            said.append(decode(bench.wire.recv(2048)))
        return bool(said) and said[-1].clarion == ClarionPort(stamps=True, checks=True)

    await until(heard)
    assert said[-1].chassis_name == bench.nic.chassis_id == lldp.chassis_id("card")
    assert (said[-1].port_name, said[-1].ttl_s) == ("port1", 4)


async def test_the_end_says_goodbye_and_leaves_what_was_declared(fake_card: FakeCard) -> None:
    bench = Bench(fake_card)
    await bench.declare(0)
    bench.nic.keep()
    bench.hello()
    await until(lambda: bench.bit == 1)
    await bench.nic.close()
    assert bench.bit == 0
    frames = []
    with contextlib.suppress(BlockingIOError):
        while frame := bench.wire.recv(2048):
            frames.append(decode(frame))
    assert frames[-1].ttl_s == 0
    bench.wire.close()


async def test_an_agent_that_died_leaves_its_successor_the_declaration(fake_card: FakeCard) -> None:
    bench = Bench(fake_card)
    await bench.declare(0)
    bench.nic.keep()
    bench.hello()
    await until(lambda: bench.bit == 1)
    await bench.nic.close()
    bench.wire.close()
    fake_card.configuration["ingress", 1]["wire"] = 1  # as a killed agent leaves it
    after = Bench(fake_card)
    assert (await after.nic.present()).entries["tag_port", 1]["wire"] == 0
    after.nic.keep()
    await until(lambda: after.bit == 0)
    await after.nic.close()
    after.wire.close()


async def test_what_is_no_lldp_is_passed_on_and_judged_by_nothing(bench: Bench) -> None:
    await bench.declare(0)
    bench.nic.keep()
    good = encode(SOURCE, BRIDGE)
    for frame in (good[:20], good[:14] + b"\xff" * 46, good[:14]):
        bench.wire.send(frame)
    await until(lambda: len(bench.listener.frames) == 3)
    assert await bench.nic.judged() == {}


async def test_a_card_without_network_devices_sends_none(fake_card: FakeCard) -> None:
    nic = NicTarget(Place("0000:99:00.0", fake_card.path, 0))
    assert nic.chassis_id is None
    assert await nic.judged() == {}
    await nic.apply([SetEntry("tag_port", 1, {**CHECKED, "wire": 1})])
    assert fake_card.configuration["ingress", 1]["wire"] == 1
    await nic.close()


def test_a_chassis_id_fits() -> None:
    for card in ("0000:3b:00.0", "/a/very/long/path" * 20):
        assert len(lldp.chassis_id(card).encode()) <= 64
    assert lldp.chassis_id("0000:3b:00.0").endswith("/0000:3b:00.0")
