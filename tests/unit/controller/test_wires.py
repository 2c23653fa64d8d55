# SPDX-License-Identifier: Apache-2.0
"""LLDP for a switch that speaks none: hellos, leases by the switch's clock, restarts, refusals."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

import pytest

from clarion_contract import lldp
from clarion_contract.lldp import ClarionPort, Hello, Identifier
from clarion_contract.neighbours import Judgement
from clarion_contract.settings import PortSettings
from clarion_p4rt.device import Lease, OwnLldp, PacketIn
from clarion_p4rt.errors import SwitchError
from clarion_p4rt.switch import Switch
from clarion_p4rt.wires import Wires
from fakes.controller import until
from fakes.switch import FakeDevice, FakeSwitch

SOURCE = bytes.fromhex("020000000009")
BRIDGE = lldp.encode(SOURCE, Hello(Identifier(4, SOURCE), Identifier(5, b"eth0"), 120))
S = 1_000_000


def hello(chassis: str = "s2", port: str = "1", *, stamps: bool = True, ttl_s: int = 4) -> bytes:
    return lldp.encode(SOURCE, lldp.our_hello(chassis, port, stamps=stamps, checks=True, ttl_s=ttl_s))


class Bench:
    """The wires of a fake switch whose frames are handed over by the test, and a clock that it sets."""

    def __init__(self, *, hello_s: float = 1.0) -> None:
        self.switch = FakeSwitch()
        self.now_us = 1000 * S
        self.writable = True
        self.wires = Wires(
            Switch(1, "s1", "", 1, (1, 2)),
            lambda: self.switch.ports,
            is_writable=lambda: self.writable,
            hello_s=lambda: hello_s,
            clock=lambda: self.now_us,
        )

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[asyncio.Task[None]]:
        keeper = asyncio.create_task(self.wires.keep(FakeDevice(self.switch)))
        try:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            yield keeper
        finally:
            keeper.cancel()
            await asyncio.wait([keeper])

    def hear(self, frame: bytes, port: int = 1, *, switch_s: float = 7) -> None:
        self.wires.hear(PacketIn(port, int(switch_s * S), frame))

    async def leased(self, port: int = 1) -> Lease:
        await until(lambda: port in self.switch.leases)
        return self.switch.leases[port]


async def test_every_port_says_hello_with_what_it_does() -> None:
    bench = Bench()
    bench.switch.ports[2] = PortSettings(2, stamp=True)
    async with bench.session():
        await until(lambda: len(bench.switch.sent) == 2)
    hellos = {port: lldp.decode(frame) for port, frame in bench.switch.sent}
    assert [hellos[port].clarion for port in (1, 2)] == [ClarionPort(False, False), ClarionPort(True, False)]
    assert {each.chassis_name for each in hellos.values()} == {"s1"}
    assert [hellos[port].port_name for port in (1, 2)] == ["1", "2"]
    assert {each.ttl_s for each in hellos.values()} == {4}


async def test_hellos_go_on() -> None:
    bench = Bench(hello_s=0.1)
    async with bench.session():
        await until(lambda: len(bench.switch.sent) >= 8)


async def test_a_large_fleet_says_hello_less_often_and_lets_it_count_longer() -> None:
    bench = Bench(hello_s=2.5)
    async with bench.session():
        await until(lambda: len(bench.switch.sent) == 2)
    assert lldp.decode(bench.switch.sent[0][1]).ttl_s == 10


async def test_a_proof_is_leased_by_the_switchs_clock() -> None:
    bench = Bench()
    async with bench.session():
        bench.hear(hello(), switch_s=7)
        assert await bench.leased() == Lease(True, 11 * S)
    assert 2 not in bench.switch.leases


async def test_a_stranger_disproves_for_no_longer_than_the_controller_lives() -> None:
    bench = Bench()
    async with bench.session():
        bench.hear(BRIDGE, switch_s=7)  # alive for 120 s
        assert await bench.leased() == Lease(False, 11 * S)


async def test_a_lease_is_renewed_while_the_neighbour_lives_and_not_longer() -> None:
    bench = Bench(hello_s=0.1)
    async with bench.session():
        bench.hear(hello(ttl_s=60), switch_s=7)
        first = await bench.leased()
        bench.now_us += 3 * S
        await until(lambda: bench.switch.leases[1].until_us == first.until_us + 3 * S)
        bench.now_us += 57 * S
        await until(lambda: not bench.switch.leases)


async def test_a_verdict_that_changes_is_written_at_once() -> None:
    bench = Bench(hello_s=1000.0)
    async with bench.session():
        bench.hear(hello())
        assert (await bench.leased()).proven
        bench.hear(hello("s3"))
        await until(lambda: not bench.switch.leases[1].proven)
        bench.hear(hello("s3", ttl_s=0))
        await until(lambda: bench.switch.leases[1].proven)
        bench.hear(hello(stamps=False))
        await until(lambda: not bench.switch.leases[1].proven)
        bench.hear(hello(ttl_s=0))
        await until(lambda: not bench.switch.leases)


async def test_what_is_no_hello_at_a_port_of_ours_is_left_out() -> None:
    bench = Bench()
    for port, frame in ((1, b""), (1, bytes(60)), (1, hello()[:20]), (9, hello())):
        bench.hear(frame, port)
    assert bench.wires.verdict(1).judgement is Judgement.UNPROVEN


async def test_a_new_session_starts_with_a_new_clock_and_the_old_neighbours() -> None:
    bench = Bench(hello_s=0.1)
    async with bench.session():
        bench.hear(hello(), switch_s=5000)
        assert (await bench.leased()).until_us == 5004 * S
    bench.switch.come_back(empty=True)
    async with bench.session():
        before = len(bench.switch.sent)
        await until(lambda: len(bench.switch.sent) >= before + 4)
        assert not bench.switch.leases  # the switch's clock is not known yet
        assert bench.wires.verdict(1).judgement is Judgement.PROVEN
        bench.hear(hello(), switch_s=2)
        assert await bench.leased() == Lease(True, 6 * S)


async def test_a_restarted_controller_leaves_the_leases_of_ports_that_it_has_not_heard() -> None:
    bench = Bench(hello_s=0.1)
    bench.switch.leases = {1: Lease(True, 9 * S), 2: Lease(True, 9 * S)}
    async with bench.session():
        bench.hear(hello(ttl_s=0))
        await until(lambda: 1 not in bench.switch.leases)
        assert bench.switch.leases == {2: Lease(True, 9 * S)}


async def test_a_switch_that_judges_itself_is_only_listened_to() -> None:
    bench = Bench(hello_s=0.1)
    bench.switch.own_lldp = OwnLldp("rack-7", {1: "sfp0"})
    async with bench.session() as keeper:
        bench.hear(hello())
        await asyncio.wait([keeper], timeout=5)
        assert keeper.done()
    assert (bench.switch.sent, bench.switch.leases) == ([], {})
    assert bench.wires.verdict(1).judgement is Judgement.PROVEN
    assert (bench.wires.chassis_id, bench.wires.port_id(1), bench.wires.port_id(2)) == ("rack-7", "sfp0", "2")


async def test_nothing_is_written_while_it_must_not() -> None:
    bench = Bench(hello_s=0.1)
    bench.writable = False
    async with bench.session():
        bench.hear(hello())
        await asyncio.sleep(0.4)
        assert (bench.switch.sent, bench.switch.leases) == ([], {})
        bench.writable = True
        await bench.leased()


async def test_a_refusal_is_logged_once_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(hello_s=0.1)
    bench.switch.refuse_leases = "UNIMPLEMENTED"
    with caplog.at_level(logging.WARNING):
        async with bench.session():
            bench.hear(hello())
            await until(lambda: len(bench.switch.sent) >= 8)
            assert [each.getMessage() for each in caplog.records] == ["LLDP: s1: wire_judged: no"]
            bench.switch.refuse_leases = ""
            await bench.leased()


async def test_a_session_that_is_over_ends_the_task() -> None:
    bench = Bench(hello_s=0.1)
    async with bench.session() as keeper:
        bench.switch.go()
        await asyncio.wait([keeper], timeout=5)
        assert isinstance(keeper.exception(), SwitchError)
