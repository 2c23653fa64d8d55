# SPDX-License-Identifier: Apache-2.0
"""The note of an agent of another version: read, or refused with one line."""

from __future__ import annotations

import json

import pytest
from finsy.proto import p4r

from clarion_agent.device import Device
from clarion_agent.program import Program
from clarion_agent.status import Refused
from fakes.p4runtime_messages import delete, digest, group, table_entry
from fakes.target import FakeTarget
from unit.agent.conftest import Primary

GET = p4r.GetForwardingPipelineConfigRequest(device_id=1)
# As agents wrote it that knew no backup replicas.
OLD = '{"cookie":7,"digests":{"queue_drop_t":[0,2,0]},"group":[[257,5,false],[258,6,true]]}'


def left(target: FakeTarget, note: str) -> None:
    """A switch as an agent has left it: two ports in group 1, one entry."""
    target.flood = (1, 2)
    target.entries["stamp_port", 1] = {}
    target.note = note


async def test_the_note_of_an_older_agent_with_a_group(target: FakeTarget, program: Program) -> None:
    left(target, OLD)
    device = Device(1, target, program)
    await device.start()
    assert device.get_pipeline(GET).config.cookie.cookie == 7
    assert target.wanted == ("queue_drop_t",)
    primary = Primary(device)
    (found,) = await primary.read(group())
    first, second = found.packet_replication_engine_entry.multicast_group_entry.replicas
    assert (first.egress_port, first.instance, second.port, second.instance) == (257, 5, b"\1\2", 6)
    assert not first.backup_replicas
    await primary.write(delete(digest("queue_drop_t")))
    assert json.loads(target.note)["group"] == [[257, 5, False, []], [258, 6, True, []]]
    assert target.flood == (1, 2)


@pytest.mark.parametrize(
    "note",
    [
        "2",
        "not JSON",
        '{"cookie":7,"digests":{}}',
        '{"cookie":7,"digests":[],"group":null}',
        '{"cookie":7,"digests":{"queue_drop_t":[0]},"group":null}',
        '{"cookie":7,"digests":{},"group":[[257]]}',
        '{"cookie":7,"digests":{},"group":[[257,5,false,[],"new"]]}',
    ],
)
async def test_a_note_that_cannot_be_read_is_one_line_and_no_pipeline(
    target: FakeTarget, program: Program, caplog: pytest.LogCaptureFixture, note: str
) -> None:
    left(target, note)
    device = Device(1, target, program)
    await device.start()
    (line,) = caplog.messages
    assert line.startswith("s1: the note of an agent of another version cannot be read; the switch keeps its")
    primary = Primary(device)
    with pytest.raises(Refused, match="no forwarding pipeline config"):
        await primary.read(group())
    await primary.set_pipeline(program)
    (found,) = await primary.read(group())
    replicas = found.packet_replication_engine_entry.multicast_group_entry.replicas
    assert [each.egress_port for each in replicas] == [257, 258]
    assert len(await primary.read(table_entry("stamp_port", None))) == 1
    assert target.note != note
