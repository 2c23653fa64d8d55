# SPDX-License-Identifier: Apache-2.0
"""Wires between two BMv2 switches, judged by the controller: proof, silence, strangers, and what they change.

Between port 1 of either switch is a bridge that passes LLDP on or not, as a test wants: a wire, no wire, or
a wire with a stranger on it, which speaks through the bridge's own device.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from clarion_contract import lldp
from clarion_contract.lldp import Hello, Identifier
from clarion_contract.neighbours import WireState
from clarion_contract.settings import PortSettings
from clarion_control.controller import Controller
from clarion_control.model import LinkState
from clarion_control.store import Store
from clarion_lab.machine import bmv2_installation
from clarion_p4rt.switch import Forwarding
from conformance import frames
from fakes.controller import ADMIN, in_state
from integration.controller_net import Bmv2, running

BMV2_FAULT = bmv2_installation.fault()
pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(BMV2_FAULT is not None, reason=f"{bmv2_installation.PROGRAM}: {BMV2_FAULT}"),
]

PREFIX = f"clw{os.getpid() % 100_000}"
BRIDGE = f"{PREFIX}br"
LLDP_ONLY = 1 << 14  # of group_fwd_mask: frames to 01:80:c2:00:00:0e
STRANGER = Hello(Identifier(4, frames.MACS[6:]), Identifier(5, b"eth0"), 120)
BUCKET = 5
CORRUPT_AT = 14 + 20 + 8  # in a frame with a TAG header
ALL_PROTOCOLS = socket.htons(3)


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, timeout=30)


def pair(near: str, far: str) -> None:
    """Two devices wired to each other, without frames of the kernel's own."""
    ip("link", "add", near, "type", "veth", "peer", "name", far)
    for name in (near, far):
        Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
        ip("link", "set", name, "up")


def passes_lldp(does: bool) -> None:
    Path(f"/sys/class/net/{BRIDGE}/bridge/group_fwd_mask").write_text(str(LLDP_ONLY if does else 0))


@pytest.fixture
def devices() -> Iterator[dict[str, str]]:
    """The devices of the switches by SWITCH:PORT, and of the host at port 2 of s2."""
    names = {each: f"{PREFIX}{number}" for number, each in enumerate(("s1:1", "s2:1", "s2:2"))}
    try:
        ip("link", "add", BRIDGE, "type", "bridge", "mcast_snooping", "0")
        Path(f"/proc/sys/net/ipv6/conf/{BRIDGE}/disable_ipv6").write_text("1")
        for each in names.values():
            pair(each, f"{each}x")
        for each in ("s1:1", "s2:1"):
            ip("link", "set", f"{names[each]}x", "master", BRIDGE)
        ip("link", "set", BRIDGE, "up")
        passes_lldp(True)
        yield {**names, "host": f"{names['s2:2']}x"}
    finally:
        for each in (BRIDGE, *names.values()):
            subprocess.run(["ip", "link", "del", each], capture_output=True, check=False, timeout=30)


@pytest.fixture
def sides(tmp_path: Path, devices: dict[str, str]) -> Iterator[dict[str, Bmv2]]:
    with contextlib.ExitStack() as stack:
        made = {}
        for switch, ports in (("s1", (1,)), ("s2", (1, 2))):
            directory = tmp_path / switch
            directory.mkdir()
            made[switch] = Bmv2(directory, {port: devices[f"{switch}:{port}"] for port in ports})
            stack.enter_context(running(made[switch]))
        yield made


@contextlib.asynccontextmanager
async def opened(
    tmp_path: Path, sides: dict[str, Bmv2], *, declared: bool = False
) -> AsyncIterator[Controller]:
    """A controller of both switches, whose ports 1 stamp and check."""
    store = await asyncio.to_thread(Store.open, str(tmp_path / "controller.db"))
    try:
        async with await Controller.open(store, counters_every_s=0.2, apply_timeout_s=30) as controller:
            for name, side in sides.items():
                if name not in {each.name for each in controller.switches.all()}:
                    await controller.switches.add(
                        ADMIN, name=name, address=side.address, device_id=1, ports=[1, 2]
                    )
                await in_state(controller, name, LinkState.IN_SYNC)
                port = PortSettings(1, stamp=True, check=True, wire=declared)
                await controller.ports.set(ADMIN, name, port)
            await controller.forwarding.set(ADMIN, "s2", Forwarding({frames.MACS[:6].hex(":"): 2}, ()))
            yield controller
    finally:
        await store.close()


async def in_wire_state(controller: Controller, state: WireState, *switches: str) -> None:
    async def all_are() -> bool:
        wires = [(await controller.ports.get(each, 1)).wire for each in switches or ("s1", "s2")]
        return all(wire is not None and wire.state is state for wire in wires)

    for _ in range(300):
        if await all_are():
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"not {state.value}: {controller.topology.links()}")


class Losses:
    """What s2 adds to the totals of TAG frames between its ports 1 and 2."""

    def __init__(self, devices: dict[str, str]) -> None:
        self._devices = devices
        self._number = 0

    def of_gap(self, lost: int) -> int:
        """Sends a frame, and one behind so many lost ones; by how much their totals differ behind s2."""
        with self._socket(self._devices["host"]) as host, self._socket(f"{self._devices['s2:1']}x") as wire:
            totals = []
            for step in (1, 1 + lost):
                self._number += step
                wire.send(frames.ipv4(frames.tag(BUCKET, self._number)))
                totals.append(self._received(host))
        return totals[1] - totals[0]

    @staticmethod
    def _received(host: socket.socket) -> int:
        while True:
            frame = host.recv(2048)
            if frame[:12] == frames.MACS:
                return int.from_bytes(frame[CORRUPT_AT : CORRUPT_AT + 2], "big")

    @staticmethod
    def _socket(device: str) -> socket.socket:
        made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, ALL_PROTOCOLS)
        made.bind((device, 0))
        made.settimeout(10)
        return made


def say(hello: Hello) -> None:
    """The stranger on the wire speaks."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
        sender.bind((BRIDGE, 0))
        sender.send(lldp.encode(frames.MACS[6:], hello))


async def test_two_switches_prove_their_wire_and_only_then_gaps_count(
    tmp_path: Path, sides: dict[str, Bmv2], devices: dict[str, str]
) -> None:
    losses = Losses(devices)
    passes_lldp(False)
    async with opened(tmp_path, sides) as controller:
        await asyncio.sleep(1.5)  # hellos go out, and do not arrive
        await in_wire_state(controller, WireState.UNPROVEN)
        assert controller.topology.links() == []
        assert await asyncio.to_thread(losses.of_gap, 3) == 0

        passes_lldp(True)
        await in_wire_state(controller, WireState.PROVEN)
        (link,) = controller.topology.links()
        assert [(end.switch, end.port, end.hears) for end in link.ends] == [("s1", 1, True), ("s2", 1, True)]
        await _until_gaps_count(losses, True)
        assert await asyncio.to_thread(losses.of_gap, 5) == 5
        assert await asyncio.to_thread(losses.of_gap, 0) == 0

        passes_lldp(False)  # the hello stays away
        await in_wire_state(controller, WireState.UNPROVEN)
        await _until_gaps_count(losses, False)
        assert controller.topology.links() == []
        audit = await controller.records.audit()
        assert {record.action for record in audit} == {"switch.add", "port.change", "forwarding.change"}


async def test_a_proof_ends_with_its_controller_and_outlasts_a_restart(
    tmp_path: Path, sides: dict[str, Bmv2], devices: dict[str, str]
) -> None:
    losses = Losses(devices)
    async with opened(tmp_path, sides) as controller:
        await in_wire_state(controller, WireState.PROVEN)
        await _until_gaps_count(losses, True)
    assert await asyncio.to_thread(losses.of_gap, 2) == 2  # the lease is good for some seconds
    async with opened(tmp_path, sides) as controller:
        await in_wire_state(controller, WireState.PROVEN)
        await asyncio.sleep(lldp.TTL_S + 1)
        assert await asyncio.to_thread(losses.of_gap, 2) == 2
    await asyncio.sleep(lldp.TTL_S + 1)
    assert await asyncio.to_thread(losses.of_gap, 2) == 0


async def test_a_stranger_on_a_declared_wire_is_a_conflict(
    tmp_path: Path, sides: dict[str, Bmv2], devices: dict[str, str]
) -> None:
    losses = Losses(devices)
    async with opened(tmp_path, sides, declared=True) as controller:
        assert await asyncio.to_thread(losses.of_gap, 4) == 4
        await in_wire_state(controller, WireState.PROVEN)
        say(STRANGER)
        await in_wire_state(controller, WireState.DISPROVED)
        await _until_gaps_count(losses, False)
        conflicts = controller.topology.conflicts()
        assert [(switch.name, port) for switch, port, _ in conflicts] == [("s1", 1), ("s2", 1)]
        assert "declared a wire, but 2 neighbours are heard" in conflicts[0][2].explanation

        say(Hello(STRANGER.chassis, STRANGER.port, 0))  # it leaves
        await in_wire_state(controller, WireState.PROVEN)
        await _until_gaps_count(losses, True)
        assert controller.topology.conflicts() == []


async def test_a_switch_that_restarts_is_proven_again(
    tmp_path: Path, sides: dict[str, Bmv2], devices: dict[str, str]
) -> None:
    losses = Losses(devices)
    async with opened(tmp_path, sides) as controller:
        await in_wire_state(controller, WireState.PROVEN)
        sides["s2"].kill()
        await in_state(controller, "s2", LinkState.UNREACHABLE)
        await in_wire_state(controller, WireState.UNPROVEN, "s1")
        await asyncio.to_thread(sides["s2"].start)
        await in_wire_state(controller, WireState.PROVEN)
        await _until_gaps_count(losses, True)


async def _until_gaps_count(losses: Losses, wanted: bool) -> None:
    """Leases follow the verdict within a second or so."""
    for _ in range(100):
        if (await asyncio.to_thread(losses.of_gap, 1) == 1) is wanted:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"gaps {'do not' if wanted else 'still'} count")
