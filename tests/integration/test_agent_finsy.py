# SPDX-License-Identifier: Apache-2.0
"""finsy, unmodified, against the agent: its Switch with reads, writes, digests, packets and failover."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import finsy as fy
import pytest

from clarion_contract import pipeline
from clarion_contract.words import taken_apart
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


def made(name: str, address: str, ready: object, election_id: int = 10) -> fy.Switch:
    options = fy.SwitchOptions(
        p4info=pipeline.directory() / pipeline.P4INFO,
        p4blob=pipeline.directory() / pipeline.PROGRAM,
        ready_handler=ready,  # type: ignore[arg-type]
        initial_election_id=election_id,
    )
    return fy.Switch(name, address, options)


async def run(ready: object, address: str) -> None:
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

    running = asyncio.create_task(fy.Controller([made("s1", address, handler)]).run())
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
