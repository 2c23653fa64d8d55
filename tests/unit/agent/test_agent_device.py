# SPDX-License-Identifier: Apache-2.0
"""Digests, pipeline configs, and recovery after a crash on either side; the switch is in memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from finsy.proto import p4r

from clarion_agent.device import Device
from clarion_agent.embedded import EmbeddedSwitch, SwitchConnection
from clarion_agent.program import Program
from clarion_agent.status import Refused
from clarion_base.faults import Code, Fault
from clarion_contract.target import Reset, SetEntry, TargetError, TargetFaultError
from clarion_switch.control_socket import ControlSocket
from clarion_switch.protocol import COMMAND_LIMIT_BYTES
from fakes.p4runtime_messages import XCP, delete, digest, insert, modify, table_entry
from fakes.target import FakeTarget
from unit.agent.conftest import Primary

DROP = tuple(range(1, 12))
FOREVER_NS = 10**15
_Set = p4r.SetForwardingPipelineConfigRequest


def lists(primary: Primary) -> list[tuple[int, int]]:
    """Number and length of the digest lists sent so far."""
    digests = [message.digest for message in primary.sent if message.HasField("digest")]
    return [(each.list_id, len(each.data)) for each in digests]


async def test_lists_are_sent_when_they_are_full_or_their_time_is_over(
    primary: Primary, target: FakeTarget
) -> None:
    await primary.write(insert(digest("queue_drop_t", size=2, timeout_ns=FOREVER_NS)))
    assert target.wanted == ("queue_drop_t",)
    for _ in range(5):
        primary.device.on_digest("queue_drop_t", DROP)
    assert lists(primary) == [(1, 2), (2, 2)]
    await primary.write(modify(digest("queue_drop_t", size=9, timeout_ns=1)))
    assert lists(primary)[2:] == [(3, 1)]  # the remaining reports; numbering continues
    primary.device.on_digest("queue_drop_t", DROP)
    while len(lists(primary)) < 4:
        await asyncio.sleep(0)
    await primary.write(delete(digest("queue_drop_t")))
    primary.device.on_digest("queue_drop_t", DROP)
    assert len(lists(primary)) == 4
    assert not target.wanted


async def test_a_report_equal_to_an_unacknowledged_one_is_held_back(primary: Primary) -> None:
    await primary.write(insert(digest("queue_drop_t", ack_ns=FOREVER_NS)))
    primary.device.on_digest("queue_drop_t", DROP)
    primary.device.on_digest("queue_drop_t", DROP)
    primary.device.on_digest("queue_drop_t", (*DROP[:10], 99))
    assert lists(primary) == [(1, 1), (2, 1)]
    ack = p4r.DigestListAck(digest_id=digest("queue_drop_t").digest_entry.digest_id, list_id=1)
    primary.device.acknowledge(ack)
    primary.device.on_digest("queue_drop_t", DROP)
    assert lists(primary)[2:] == [(3, 1)]
    for digest_id, list_id, message in ((ack.digest_id, 4, "list 4: was never sent"), (1, 1, "not switched")):
        with pytest.raises(Refused, match=message):
            primary.device.acknowledge(p4r.DigestListAck(digest_id=digest_id, list_id=list_id))


async def commit(primary: Primary, program: Program, action: int, cookie: int) -> None:
    request = _Set(device_id=1, election_id=primary.election_id, action=action)  # type: ignore[arg-type]
    request.config.p4info.CopyFrom(program.p4info)
    request.config.cookie.cookie = cookie
    await primary.device.set_pipeline(request)


async def test_a_commit_clears_a_reconciliation_keeps(
    primary: Primary, target: FakeTarget, program: Program
) -> None:
    await primary.write(insert(table_entry("xcp_port", 2, "set_xcp_port", XCP)))
    await commit(primary, program, _Set.RECONCILE_AND_COMMIT, 5)
    assert len(target.entries) == 1
    await commit(primary, program, _Set.VERIFY, 6)
    get = p4r.GetForwardingPipelineConfigRequest
    cookie_only = get(response_type=get.COOKIE_ONLY)
    assert primary.device.get_pipeline(cookie_only).config.cookie.cookie == 5
    await commit(primary, program, _Set.VERIFY_AND_COMMIT, 7)
    assert (target.entries, await primary.read(table_entry("", None))) == ({}, [])
    other = Program(program.p4info)
    changed = type(program.p4info)()
    changed.CopyFrom(program.p4info)
    changed.counters[0].size = 1
    assert other.difference(changed) == "counter malformed: is not this switch's"
    changed.CopyFrom(program.p4info)
    changed.pkg_info.version = "later"
    assert other.difference(changed) is None


async def test_a_switch_that_forgot_everything_gets_it_again(
    primary: Primary, target: FakeTarget, program: Program
) -> None:
    await commit(primary, program, _Set.VERIFY_AND_COMMIT, 7)
    await primary.write(
        insert(table_entry("xcp_port", 2, "set_xcp_port", XCP)),
        insert(digest("queue_drop_t", size=3)),
    )
    before, note = dict(target.entries), target.note
    target.forget()
    target.entries["stamp_port", 1] = {}  # of its configuration
    await primary.device.on_connected()
    assert (target.entries, target.note) == (before, note)
    assert target.batches[-1][0] == Reset()
    target.entries["stamp_port", 3] = {}  # only the connection broke, and entries were changed meanwhile
    await primary.device.on_connected()
    assert target.batches[-1] == [SetEntry("stamp_port", 3, None)]
    batches = len(target.batches)
    await primary.device.on_connected()
    assert len(target.batches) == batches  # nothing to do


async def test_another_agent_takes_over(primary: Primary, target: FakeTarget, program: Program) -> None:
    await commit(primary, program, _Set.VERIFY_AND_COMMIT, 7)
    group = p4r.Entity()
    made = group.packet_replication_engine_entry.multicast_group_entry
    made.multicast_group_id = 1
    made.replicas.add(port=b"\1\2", instance=9)
    await primary.write(
        insert(table_entry("xcp_port", 2, "set_xcp_port", XCP)),
        insert(group),
        insert(digest("queue_drop_t", size=3)),
    )
    everything = (table_entry("", None), group, digest("queue_drop_t"))
    successor = Device(1, target, program)
    await successor.start()
    second = Primary(successor)
    assert await second.read(*everything) == await primary.read(*everything)
    get = p4r.GetForwardingPipelineConfigRequest()
    assert successor.get_pipeline(get).config.cookie.cookie == 7
    assert target.wanted == ("queue_drop_t",)


async def test_what_the_configuration_switched_on_is_there_until_somebody_writes(
    target: FakeTarget, program: Program
) -> None:
    target.entries["stamp_port", 1] = {}
    device = Device(1, target, program)
    await device.start()
    primary = Primary(device)
    with pytest.raises(Refused, match="no forwarding pipeline config is set") as refused:
        await primary.read(table_entry("stamp_port", None))
    assert refused.value.code.name == "FAILED_PRECONDITION"
    assert not device.get_pipeline(p4r.GetForwardingPipelineConfigRequest()).HasField("config")
    target.forget()
    target.entries["stamp_port", 3] = {}
    await device.on_connected()  # the switch started again with another configuration
    await primary.set_pipeline(program)
    (entry,) = await primary.read(table_entry("stamp_port", None))
    assert entry.table_entry.match[0].exact.value == b"\3"
    await primary.write(delete(entry))
    await primary.write(insert(table_entry("stamp_port", 2, "stamp")))
    target.forget()
    await device.on_connected()
    assert list(target.entries) == [("stamp_port", 2)]


async def test_a_write_is_finished_when_its_client_hangs_up(primary: Primary, target: FakeTarget) -> None:
    writing = asyncio.create_task(primary.write(insert(table_entry("stamp_port", 2, "stamp"))))
    await asyncio.sleep(0)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    while not target.entries:
        await asyncio.sleep(0)
    assert len(await primary.read(table_entry("", None))) == 1


async def test_a_commit_that_has_to_wait_is_refused_to_a_primary_of_the_past(
    primary: Primary, target: FakeTarget, program: Program
) -> None:
    await primary.write(insert(table_entry("stamp_port", 2, "stamp")))
    async with primary.device._changing:  # another Write is pending
        late = asyncio.create_task(commit(primary, program, _Set.VERIFY_AND_COMMIT, 7))
        await asyncio.sleep(0.01)
        assert not late.done()
        Primary(primary.device, election_id=2)
    with pytest.raises(Refused, match="not the primary"):
        await late
    assert list(target.entries) == [("stamp_port", 2)]


async def test_what_is_too_much_for_the_switch_is_not_sent(tmp_path: Path) -> None:
    heard: list[int] = []
    left = asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            heard.append(len(line))
            writer.write(b'{"ok":true}\n')
        writer.close()
        await writer.wait_closed()
        left.set()

    path = tmp_path / "control.sock"
    async with await asyncio.start_unix_server(listen, path):
        socket = ControlSocket(path, lambda *_: None)
        await socket.open()
        with pytest.raises(TargetError, match="write less at a time") as refused:
            await socket.ask({"note": COMMAND_LIMIT_BYTES * "x"})
        assert not refused.value.gone
        assert await socket.ask({"note": "x"}) == {"ok": True}
        await socket.close()
        await asyncio.wait_for(left.wait(), 30)
    assert heard == [14]


async def test_a_switch_that_refuses_its_entries_keeps_nothing_from_the_others(tmp_path: Path) -> None:
    connection = SwitchConnection(tmp_path / "none.sock")
    listeners = [
        _Listener(
            TargetFaultError(Fault(("changes", 0, "port"), "the switch has no port 3", Code.NOT_FOUND))
        ),
        _Listener(None),
    ]
    connection.switches = [EmbeddedSwitch(connection, f"s{at}", {1: "p"}, None) for at in range(2)]
    for switch, listener in zip(connection.switches, listeners, strict=True):
        switch.listen(listener)
    connection.subscribe = _nothing  # type: ignore[method-assign]
    await connection._on_connected()
    assert [listener.times for listener in listeners] == [1, 1]


class _Listener(Device):
    """Counts the calls of `on_connected`."""

    def __init__(self, refusal: TargetError | None) -> None:
        self.times = 0
        self._refusal = refusal

    async def on_connected(self) -> None:
        self.times += 1
        if self._refusal is not None:
            raise self._refusal


async def _nothing() -> None:
    pass
