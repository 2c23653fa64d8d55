# SPDX-License-Identifier: Apache-2.0
"""finsy, unmodified, against the agent: its Switch with reads, writes, digests, packets and failover."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import finsy as fy
import pytest
from finsy.p4entity import P4BackupReplica, P4Replica
from finsy.proto import stratum

from clarion_contract import pipeline
from clarion_contract.words import taken_apart
from fakes.p4runtime_messages import IDS
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


async def read(switch: fy.Switch, entity: Any) -> list[Any]:
    """All matching entities. (mypy does not follow finsy's annotations of asynchronous generators.)"""
    reading: Any = switch.read
    return [found async for found in reading(entity)]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with switch_and_agent(tmp_path) as both:
        yield both


def made(name: str, address: str, ready: object, election_id: int = 10, **options: Any) -> fy.Switch:
    given: dict[str, Any] = {
        "p4info": pipeline.directory() / pipeline.P4INFO,
        "p4blob": pipeline.directory() / pipeline.PROGRAM,
        "ready_handler": ready,
        "initial_election_id": election_id,
        **options,
    }
    return fy.Switch(name, address, fy.SwitchOptions(**given))


async def run(ready: object, address: str, **options: Any) -> None:
    """Runs a ready handler to its end."""
    done = asyncio.Event()
    failures: list[BaseException] = []

    async def handler(switch: fy.Switch) -> None:
        try:
            await ready(switch)  # type: ignore[operator]
        except BaseException as error:
            failures.append(error)
        finally:
            done.set()

    running = asyncio.create_task(fy.Controller([made("s1", address, handler, **options)]).run())
    await asyncio.wait_for(done.wait(), DEADLINE_S)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    if failures:
        raise failures[0]


async def test_entries_registers_counters_digests_and_packets(served: Served) -> None:
    async def ready(switch: fy.Switch) -> None:
        assert switch.is_primary
        xcp = fy.P4TableEntry(
            "xcp_port",
            match=fy.P4TableMatch(port=2),
            action=fy.P4TableAction(
                "set_xcp_port", capacity=1_000_000, alpha=26214, beta=14811, gamma=6554,
                min_interval=268435, max_interval=268435456, generation=1, epoch=1,
            ),
        )  # fmt: skip
        forward = fy.P4TableEntry(
            "l2_forward", match=fy.P4TableMatch(dst_addr=MAC), action=fy.P4TableAction("forward", port=2)
        )
        punt = fy.P4TableEntry(
            "l2_forward", match=fy.P4TableMatch(dst_addr=MAC + 1), action=fy.P4TableAction("forward", port=63)
        )
        drops = fy.P4DigestEntry("queue_drop_t", max_list_size=2, max_timeout_ns=10**15)
        await switch.insert([xcp, forward, punt, drops])
        assert await read(switch, fy.P4TableEntry("xcp_port")) == [xcp]
        assert len(await read(switch, fy.P4TableEntry())) == 3

        cells = await read(switch, fy.P4RegisterEntry("interval_clock"))
        assert len(cells) == 64
        assert taken_apart("interval_clock", cells[2].data)["avg_rtt"] == round(2**28 / 10)  # 100 ms
        with pytest.raises(fy.P4ClientError, match="UNIMPLEMENTED"):
            await switch.modify([fy.P4RegisterEntry("interval_clock", index=2, data=1 << 27)])

        full = fy.P4TableEntry(
            "queue_port",
            match=fy.P4TableMatch(port=2),
            action=fy.P4TableAction("set_queue_port", limit_bytes=0),
        )
        await switch.insert([full])
        for _ in range(2):
            served[0].ask(cmd="inject", switch="s1", frame=ethernet(MAC, 100).hex())
        async for lists in switch.read_digests("queue_drop_t"):
            assert [drop["drops"] for drop in lists] == [1, 2]
            await switch.write([lists.ack()])
            break
        served[0].ask(cmd="inject", switch="s2", frame=ethernet(MAC + 1, 80).hex())
        async for packet in switch.read_packets():
            assert packet.payload == ethernet(MAC + 1, 80)
            break
        counted = await read(switch, fy.P4CounterEntry("queue_drops"))
        assert (counted[2].packet_count, counted[2].byte_count) == (2, 200)

        with pytest.raises(fy.P4ClientError) as error:
            await switch.insert([forward])
        assert "l2_forward[02:00:00:00:00:02]: exists; use MODIFY" in str(error.value)
        await switch.delete_all()
        assert await read(switch, fy.P4TableEntry()) == []

    await run(ready, served[1].address)


async def test_a_second_controller_takes_over(served: Served) -> None:
    """The backup's handler sees the entries of the first; it becomes primary when the first is gone."""
    primary_up, backup_up, took_over = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def first_ready(switch: fy.Switch) -> None:
        assert switch.is_primary
        stamp = fy.P4TableEntry("stamp_port", match=fy.P4TableMatch(port=1), action=fy.P4TableAction("stamp"))
        await switch.insert([stamp])
        primary_up.set()

    async def second_ready(switch: fy.Switch) -> None:
        if not switch.is_primary:
            backup_up.set()
            return
        entries = await read(switch, fy.P4TableEntry("stamp_port"))
        await switch.delete(entries)
        took_over.set()

    address = served[1].address
    first = asyncio.create_task(fy.Controller([made("first", address, first_ready, 10)]).run())
    await asyncio.wait_for(primary_up.wait(), DEADLINE_S)
    second = asyncio.create_task(fy.Controller([made("second", address, second_ready, 5)]).run())
    await asyncio.wait_for(backup_up.wait(), DEADLINE_S)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await asyncio.wait_for(took_over.wait(), DEADLINE_S)
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)


# --- What else a Switch of finsy has ----------------------------------------------------------------------


def forward(port: int, mac: int = MAC) -> fy.P4TableEntry:
    match, action = fy.P4TableMatch(dst_addr=mac), fy.P4TableAction("forward", port=port)
    return fy.P4TableEntry("l2_forward", match=match, action=action)


def stamp(port: int, **fields: Any) -> fy.P4TableEntry:
    match, action = fy.P4TableMatch(port=port), fy.P4TableAction("stamp")
    return fy.P4TableEntry("stamp_port", match=match, action=action, **fields)


async def refusal(writing: Any) -> str:
    """What a refused call says, with the errors of its updates."""
    with pytest.raises(fy.P4ClientError) as error:
        await writing
    return f"{error.value} {error.value.details}"


async def test_updates_of_every_kind(served: Served) -> None:
    async def ready(switch: fy.Switch) -> None:
        assert (switch.p4runtime_version.major, switch.p4runtime_version.minor) == (1, 5)
        noted = stamp(1, metadata=b"mine")
        await switch.write([+noted, +stamp(2), +forward(1)])
        await switch.write([~forward(2), -stamp(2)])
        assert await read(switch, fy.P4TableEntry("stamp_port")) == [noted]
        assert await read(switch, forward(2)) == [forward(2)]
        assert await read(switch, [fy.P4TableEntry("l2_forward"), fy.P4TableEntry("stamp_port")]) == [
            forward(2),
            noted,
        ]
        await switch.delete([stamp(2), stamp(3)], strict=False)
        await switch.modify([stamp(3)], strict=False)
        await switch.insert([noted], warn_only=True)
        assert "NOT_FOUND" in await refusal(switch.delete([stamp(3)]))
        assert "ALREADY_EXISTS" in await refusal(switch.insert([stamp(3), noted]))
        assert len(await read(switch, fy.P4TableEntry("stamp_port"))) == 2  # stamp(3) was in order
        idle = await refusal(switch.insert([stamp(2, idle_timeout_ns=10**9)]))
        assert "INVALID_ARGUMENT" in idle
        assert "UNIMPLEMENTED" in await refusal(switch.insert([fy.P4CloneSessionEntry(1, replicas=(1,))]))
        await switch.delete_many([fy.P4TableEntry("stamp_port")])
        assert await read(switch, fy.P4TableEntry()) == [forward(2)]

    await run(ready, served[1].address)


async def test_default_entries(served: Served) -> None:
    async def ready(switch: fy.Switch) -> None:
        clock = fy.P4TableEntry("clock", is_default_action=True)
        before = await read(switch, clock)
        assert before[0].action.name == "set_clock"
        await switch.modify([clock])
        assert await read(switch, clock) == before
        fixed = fy.P4TableEntry("stamp_port", action=fy.P4TableAction("NoAction"), is_default_action=True)
        assert "PERMISSION_DENIED" in await refusal(switch.modify([fixed]))

    await run(ready, served[1].address)


async def test_groups_and_their_backups(served: Served) -> None:
    async def ready(switch: fy.Switch) -> None:
        group = fy.P4MulticastGroupEntry(1, replicas=(257, (258, 3)), metadata=b"mine")
        await switch.insert([group])
        (found,) = await read(switch, fy.P4MulticastGroupEntry())
        assert (found.replicas_str(), found.metadata) == (group.replicas_str(), b"mine")
        backups = (P4BackupReplica(258, instance=2), P4BackupReplica(259, instance=3))
        backed = P4Replica(257, instance=1, backup_replicas=backups)
        await switch.modify([fy.P4MulticastGroupEntry(1, replicas=(backed,))])
        (found,) = await read(switch, fy.P4MulticastGroupEntry(1))
        assert [each.port for each in found.replicas[0].backup_replicas] == [258, 259]
        await switch.delete([fy.P4MulticastGroupEntry(1)])
        assert await read(switch, fy.P4MulticastGroupEntry()) == []

    await run(ready, served[1].address)


async def test_counters_and_registers_by_cell_and_array(served: Served) -> None:
    async def ready(switch: fy.Switch) -> None:
        assert len(await read(switch, fy.P4CounterEntry())) == 64 * len(switch.p4info.counters)
        assert [each.index for each in await read(switch, fy.P4CounterEntry("tx", index=2))] == [2]
        assert [each.index for each in await read(switch, fy.P4RegisterEntry("wire_lost", index=3))] == [3]
        data = fy.P4CounterData(packet_count=1, byte_count=0)
        written = await refusal(switch.modify([fy.P4CounterEntry("tx", index=1, data=data)]))
        assert "UNIMPLEMENTED" in written

    await run(ready, served[1].address)


async def test_digests_are_modified_and_switched_off(served: Served) -> None:
    async def ready(switch: fy.Switch) -> None:
        drops = fy.P4DigestEntry("queue_drop_t", max_list_size=5, max_timeout_ns=10**9)
        await switch.insert([drops])
        assert await read(switch, fy.P4DigestEntry("queue_drop_t")) == [drops]
        fewer = fy.P4DigestEntry("queue_drop_t", max_list_size=2, ack_timeout_ns=10**9)
        await switch.modify([fewer])
        assert await read(switch, fy.P4DigestEntry()) == [fewer]
        await switch.delete([fewer])
        assert await read(switch, fy.P4DigestEntry()) == []

    await run(ready, served[1].address)


async def test_packets_from_one_switch_to_the_next(served: Served) -> None:
    """Port 1 of s2 is wired to port 1 of s1, which sends the frame to its controller."""
    frame, heard = ethernet(MAC, 80), asyncio.Event()
    listening, errors = asyncio.Event(), asyncio.Queue[Any]()

    async def listen(switch: fy.Switch) -> None:
        await switch.insert([forward(63)])
        listening.set()
        async for packet in switch.read_packets(eth_types=[0x88B5]):
            assert packet.payload == frame
            assert (packet["ingress_port"], packet["pad"]) == (1, 0)
            heard.set()

    async def send(switch: fy.Switch) -> None:
        switch.ee.add_listener(fy.SwitchEvent.STREAM_ERROR, lambda _, error: errors.put_nowait(error))
        await listening.wait()
        await switch.write([fy.P4PacketOut(frame, egress_port=77, pad=0)])
        await switch.write([fy.P4PacketOut(frame, egress_port=1, pad=0)])

    address = served[1].address
    switches = [made("s1", address, listen), made("s2", address, send, device_id=2)]
    running = asyncio.create_task(fy.Controller(switches).run())
    try:
        await asyncio.wait_for(heard.wait(), DEADLINE_S)
        error = (await asyncio.wait_for(errors.get(), DEADLINE_S)).error
        assert error.message == "packet_out.egress_port: the switch has no port 77; it has 1, and 511"
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_entries_outlive_a_session_with_the_same_program(served: Served) -> None:
    """finsy compares cookies; only `p4force` commits the program anew, which clears everything."""

    async def write(switch: fy.Switch) -> None:
        await switch.insert([stamp(1)])

    async def kept(switch: fy.Switch) -> None:
        assert await read(switch, fy.P4TableEntry()) == [stamp(1)]

    async def cleared(switch: fy.Switch) -> None:
        assert await read(switch, fy.P4TableEntry()) == []

    await run(write, served[1].address)
    await run(kept, served[1].address)
    await run(cleared, served[1].address, p4force=True)


async def test_a_client_without_a_program_gets_it_from_the_switch(served: Served) -> None:
    async def write(switch: fy.Switch) -> None:
        await switch.insert([stamp(1)])

    async def find(switch: fy.Switch) -> None:
        assert {table.alias for table in switch.p4info.tables} >= {"xcp_port", "l2_forward"}
        assert await read(switch, fy.P4TableEntry("stamp_port")) == [stamp(1)]

    await run(write, served[1].address)
    await run(find, served[1].address, p4info=None, p4blob=None)


async def test_a_role_with_its_configuration(served: Served) -> None:
    async def ready(switch: fy.Switch) -> None:
        assert switch.role_name == "addresses"
        await switch.insert([forward(2)])
        assert "PERMISSION_DENIED" in await refusal(switch.insert([stamp(1)]))

    config = stratum.P4RoleConfig(shared_p4_ids=[IDS["l2_forward"]], can_push_pipeline=True)
    await run(ready, served[1].address, role_name="addresses", role_config=config)
