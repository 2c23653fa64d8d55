# SPDX-License-Identifier: Apache-2.0
"""The P4Runtime client against simple_switch_grpc: without interfaces, so without root."""

from __future__ import annotations

import asyncio
import socket
import struct
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from finsy import P4DigestEntry, P4MulticastGroupEntry, P4TableEntry

from clarion_contract import entries, pipeline
from clarion_contract.entries import Entry
from clarion_contract.errors import SettingsError
from clarion_contract.settings import PORT_TABLES, PortSettings, XcpSettings
from clarion_contract.telemetry import IntervalReport, QueueDrop
from clarion_lab.machine import bmv2_installation
from clarion_p4rt import table_entries
from clarion_p4rt.errors import Entity, SwitchError
from clarion_p4rt.primary import CONNECT_TIMEOUT_S, PrimarySession
from clarion_p4rt.switch import Forwarding, Switch
from fakes.p4runtime_messages import packet_out
from fakes.ports import free_port
from integration.controller_net import listens
from integration.waiting import wait_until

SWITCH = bmv2_installation.PROGRAM
SWITCH_FAULT = bmv2_installation.fault()
PROGRAM = pipeline.directory() / pipeline.PROGRAM
CPU_PORT = 63  # ingress port of packets that the test sends over the session
RATE = XcpSettings(capacity_bps=100_000_000)
MAC = "02:00:00:00:00:02"
L2_FORWARD_SIZE = 4096

pytestmark = [
    pytest.mark.skipif(SWITCH_FAULT is not None, reason=f"{SWITCH}: {SWITCH_FAULT}"),
    pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM}: not there"),
]


def switch_command(folder: Path, address: str) -> list[str]:
    options = ["--no-p4", "--device-id", "1", "--thrift-port", str(free_port())]
    notices = folder / "switch.ipc"  # the default path is shared by all instances
    options += ["--notifications-addr", f"ipc://{notices}"]
    return [SWITCH, *options, "--", "--grpc-server-addr", address]


def await_listener(address: str, child: subprocess.Popen[bytes], log: Path) -> None:
    """Saves time: gRPC retries a refused connection only after a second."""

    def is_up() -> bool:
        assert child.poll() is None, f"{SWITCH} has ended: {log.read_text()}"
        return listens(address)

    wait_until(is_up, f"no listener at {address}")


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a switch without a program."""
    address = f"127.0.0.1:{free_port()}"
    with (tmp_path / "switch.log").open("wb") as log:
        child = subprocess.Popen(
            [*switch_command(tmp_path, address), "--cpu-port", str(CPU_PORT)], stdout=log, stderr=log
        )
    try:
        await_listener(address, child, tmp_path / "switch.log")
        yield address
    finally:
        child.kill()
        child.wait()


def session(address: str, *, ports: Sequence[int] = (1, 2, 3), **options: Any) -> PrimarySession:
    return PrimarySession(Switch(0, "s1", address, 1, tuple(ports)), **options)


def on(address: str, *steps: Callable[[PrimarySession], Awaitable[Any]]) -> list[Any]:
    """The results of the steps, each in a session of its own."""

    async def run() -> list[Any]:
        results = []
        for step in steps:
            async with session(address) as switch:
                results.append(await step(switch))
        return results

    return asyncio.run(run())


async def tables(switch: PrimarySession) -> dict[tuple[str, int], Entry]:
    read = await switch._device._session.read("tables", table_entries.all_of(PORT_TABLES))
    return {(entry.table, entry.key): entry for entry in table_entries.decoded(read)}


def count_writes(switch: PrimarySession, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of updates in each write from now on."""
    sizes: list[int] = []
    write = switch._device._session.write

    async def counted(updates: Any) -> None:
        sizes.append(len(updates))
        await write(updates)

    monkeypatch.setattr(switch._device._session, "write", counted)
    return sizes


def test_settings_reach_the_tables(address: str) -> None:
    async def configure(switch: PrimarySession) -> Any:
        first = PortSettings(1, check=True, edge=True, wire=True)
        second = PortSettings(2, xcp=RATE, stamp=True, queue_limit_bytes=5_000_000)
        await switch.configure([first, second])
        return await tables(switch)

    present = on(address, configure)[0]
    assert {key: entry.arguments for key, entry in present.items()} == {
        ("tag_port", 1): {"check": 1, "edge": 1, "wire": 1, "epoch": 1},
        ("xcp_port", 2): {
            "capacity": 12_500_000,
            "alpha": 26214,
            "beta": 14811,
            "gamma": 6554,
            "min_interval": 268435,
            "max_interval": 268435456,
            "generation": 2,
            "epoch": 1,
        },
        ("stamp_port", 2): {},
        ("queue_port", 2): {"limit_bytes": 5_000_000},
    }


def test_the_same_again_writes_nothing(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def twice(switch: PrimarySession) -> list[int]:
        settings = [PortSettings(1, check=True), PortSettings(2, xcp=RATE, stamp=True)]
        sizes = count_writes(switch, monkeypatch)
        await switch.configure(settings)
        await switch.configure(settings)
        await switch.configure(settings, Forwarding({MAC: 2}, (1, 2)))
        await switch.configure(settings, Forwarding({MAC.replace(":", "-"): 2}, (1, 2)))
        await switch.configure(settings, Forwarding({MAC: 2}, (2, 1)))
        return sizes

    assert on(address, twice) == [[3, 2, 0, 0]]


def test_a_second_session_finds_program_and_entries(address: str) -> None:
    async def configure(switch: PrimarySession) -> bool:
        await switch.configure([PortSettings(2, xcp=RATE)])
        return await switch._device._session.load_program()

    assert on(address, configure, tables)[0] is False
    assert list(on(address, tables)[0]) == [("xcp_port", 2)]


def test_epochs_rise_when_something_is_switched_on(address: str) -> None:
    async def epochs(switch: PrimarySession) -> dict[str, int]:
        present = await tables(switch)
        return {key[0]: entry.arguments["epoch"] for key, entry in present.items()}

    async def in_one_session(switch: PrimarySession) -> list[dict[str, int]]:
        steps = [
            PortSettings(2, xcp=RATE, edge=True),
            PortSettings(2, xcp=XcpSettings(8000), edge=True, check=True),  # check goes on, XCP stays on
            PortSettings(2, check=True),  # XCP goes off
            PortSettings(2, xcp=RATE, check=True),  # and on
        ]
        seen = []
        for step in steps:
            await switch.configure([step])
            seen.append(await epochs(switch))
        return seen

    async def in_another(switch: PrimarySession) -> dict[str, int]:
        await switch.configure([PortSettings(2, xcp=XcpSettings(16000), check=True)])
        return await epochs(switch)

    first, second = on(address, in_one_session, in_another)
    assert [seen.get("xcp_port") for seen in first] == [1, 1, None, 2]
    assert [seen["tag_port"] for seen in first[1:]] == [1, 1, 1]
    assert second == {"xcp_port": 2, "tag_port": 1}


def test_bad_settings_leave_the_switch_as_it_is(address: str) -> None:
    async def refused(switch: PrimarySession) -> None:
        await switch.configure([PortSettings(1, xcp=RATE)])
        before = await tables(switch)
        bad = PortSettings(3, xcp=XcpSettings(capacity_bps=7))
        with pytest.raises(SettingsError, match=r"s1: xcp_port\[3\].capacity_bps: 7: "):
            await switch.configure([PortSettings(2, stamp=True), bad])
        assert await tables(switch) == before

    on(address, refused)


def test_what_the_switch_refuses_names_the_entry(address: str) -> None:
    async def refused(switch: PrimarySession) -> None:
        await switch.configure([], Forwarding({MAC: 2}, ()))
        twice = list(entries.forward_entries({1: 1, 0x020000000002: 2}))
        with pytest.raises(SwitchError) as error:
            await switch._device._session.write(table_entries.changes([], twice))
        assert error.value.entity == Entity("l2_forward", 0x020000000002)
        assert str(error.value).startswith(f"s1: l2_forward[{MAC}]: ")
        assert error.value.code == "ALREADY_EXISTS"
        assert "\n" not in str(error.value)

    on(address, refused)


def test_what_a_refused_batch_has_left_is_taken_back(address: str) -> None:
    """BMv2 cannot roll back: of a batch with an entry too many it keeps all the others."""

    async def overfill(switch: PrimarySession) -> Any:
        before = Forwarding({MAC: 2}, (1, 2))
        settings = [PortSettings(1, stamp=True)]
        await switch.configure(settings, before)
        written = await tables(switch)
        numbers = (each.to_bytes(2, "big").hex(":") for each in range(L2_FORWARD_SIZE + 1))
        too_many = {f"02:00:00:01:{each}": 1 for each in numbers}
        with pytest.raises(SwitchError, match=r"^s1: l2_forward\[02:00:00:01:10:00\]: "):
            await switch.configure([PortSettings(2, stamp=True)], Forwarding(too_many, (1, 2)))
        assert await tables(switch) != written
        await switch.configure(settings, before)
        assert await tables(switch) == written
        return await switch._device._session.read("l2_forward", [P4TableEntry("l2_forward")])

    (left,) = on(address, overfill)
    assert table_entries.decoded(left) == [Entry("l2_forward", 0x020000000002, {"port": 2})]


def test_addresses_and_flooding_read_back(address: str) -> None:
    async def forward(switch: PrimarySession) -> Any:
        await switch.configure([], Forwarding({MAC: 2, "02:00:00:00:00:01": 1}, (1, 2)))
        await switch.configure([], Forwarding({MAC: 3}, (1, 3)))
        read = switch._device._session.read
        table = await read("l2_forward", [P4TableEntry("l2_forward")])
        return table, await read("multicast group", [P4MulticastGroupEntry(1)])

    table, groups = on(address, forward)[0]
    assert table_entries.decoded(table) == [Entry("l2_forward", 0x020000000002, {"port": 3})]
    assert [(group.multicast_group_id, group.replicas) for group in groups] == [(1, (257, 259))]


def test_every_counter_has_a_cell_per_port(address: str) -> None:
    async def counters() -> Any:
        async with session(address, ports=range(64)) as switch:
            return await switch.counters()

    cells = asyncio.run(counters())
    assert len(cells) == 64
    arrays = set(cells[0].packets)
    assert {"tx", "malformed", "queue_drops", "wire_late", "queue_rebased"} <= arrays
    assert all(set(each.packets) == arrays for each in cells.values())


def test_a_switch_that_is_not_there_is_one_error_in_time() -> None:
    async def enter() -> None:
        async with session(f"127.0.0.1:{free_port()}", connect_timeout_s=1):
            pytest.fail("no switch answers there")

    start = time.monotonic()
    with pytest.raises(SwitchError, match=r"^s1: session: no switch answers at 127.0.0.1:\d+; start it"):
        asyncio.run(enter())
    assert time.monotonic() - start < CONNECT_TIMEOUT_S  # its own timeout counts, not the default


def test_only_one_controller_is_primary(address: str) -> None:
    async def second(_: PrimarySession) -> None:
        with pytest.raises(SwitchError, match="another controller is primary"):
            async with session(address, connect_timeout_s=1):
                pytest.fail("the first one is")

    on(address, second)


def test_a_switch_that_dies_ends_the_reports(tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    child = subprocess.Popen(switch_command(tmp_path, address), stdout=subprocess.DEVNULL)

    async def outlive(switch: PrimarySession) -> None:
        child.kill()
        with pytest.raises(SwitchError, match="no switch answers"):
            await asyncio.wait_for(anext(switch.reports()), 10)
        with pytest.raises(SwitchError, match="no switch answers"):
            await asyncio.wait_for(switch.counters(), 15)

    try:
        on(address, outlive)
    finally:
        child.kill()
        child.wait()


def frame(source: str, sport: int) -> bytes:
    """A UDP frame of 60 bytes for MAC; its checksums are not checked."""
    address = socket.inet_aton
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 46, 0, 0, 64, 17, 0, address(source), address("10.0.0.2"))
    ethernet = bytes.fromhex(MAC.replace(":", "")) + bytes.fromhex("020000000001") + b"\x08\x00"
    return (ethernet + ip + struct.pack("!HHHH", sport, 2000, 26, 0)).ljust(60, b"\0")


async def inject(switch: PrimarySession, *frames: bytes) -> None:
    client = switch._device._session._client
    assert client is not None
    for each in frames:
        await client.send(packet_out(each))


def test_digests_arrive(address: str) -> None:
    async def listen(switch: PrimarySession) -> list[Any]:
        xcp = XcpSettings(100_000_000, min_interval_us=1, max_interval_us=1)
        settings = [PortSettings(1, xcp=xcp), PortSettings(2, queue_limit_bytes=59)]
        got: list[Any] = []
        reports = switch.reports()
        await switch.configure(settings, Forwarding({MAC: 2}, ()))
        await inject(switch, frame("10.0.0.1", 1000), frame("10.0.0.7", 1001))
        got += [await asyncio.wait_for(anext(reports), 10) for _ in range(2)]
        await switch.configure(settings, Forwarding({MAC: 1}, ()))
        await inject(switch, frame("10.0.0.1", 1000), frame("10.0.0.1", 1000))
        got.append(await asyncio.wait_for(anext(reports), 10))
        return got

    first, second, interval = on(address, listen)[0]
    assert isinstance(first, QueueDrop)
    # BMv2 counts the two bytes of a PacketOut's header with its frame.
    assert (first.port, first.frame_bytes, first.drops, first.format) == (2, 62, 1, 0)
    assert (first.source, first.source_port) == ("10.0.0.1", 1000)
    assert (first.destination, first.destination_port, first.protocol) == ("10.0.0.2", 2000, 17)
    assert (second.source, second.source_port, second.drops) == ("10.0.0.7", 1001, 2)
    assert second.time_us >= first.time_us
    assert isinstance(interval, IntervalReport)
    assert (interval.port, interval.intervals, interval.input_bytes) == (1, 1, 62)
    assert interval.avg_rtt_us == pytest.approx(100_000, rel=1e-6)


def test_digests_are_configured_anew_by_a_second_session(address: str) -> None:
    async def spoil(switch: PrimarySession) -> None:
        await switch._device._session.write(
            [~P4DigestEntry("queue_drop_t", max_list_size=1, ack_timeout_ns=10**9)]
        )

    async def read(switch: PrimarySession) -> Any:
        return await switch._device._session.read("digest", [P4DigestEntry("queue_drop_t")])

    assert on(address, spoil, read)[1] == [
        P4DigestEntry("queue_drop_t", max_list_size=256, max_timeout_ns=100_000_000)
    ]


@pytest.mark.parametrize("speaks", [True, False])
def test_a_session_says_hello_at_its_ports_only_if_it_is_to(address: str, speaks: bool) -> None:
    """BMv2 here has no interfaces, but counts what leaves."""

    async def sent() -> dict[int, int]:
        async with session(address, speaks_lldp=speaks) as switch:
            await switch.configure([PortSettings(1, stamp=True)])
            await asyncio.sleep(2.5)
            return {port: cells.packets["tx"] for port, cells in (await switch.counters()).items()}

    found = asyncio.run(sent())
    assert all((count >= 2) is speaks for count in found.values()), found
