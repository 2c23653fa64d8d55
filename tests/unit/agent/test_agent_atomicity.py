# SPDX-License-Identifier: Apache-2.0
"""The three atomicities of a Write, where the agent refuses an update and where only the switch does."""

from __future__ import annotations

from typing import Any

import pytest
from finsy.proto import p4r

from clarion_agent.device import Device, RefusedBatch
from clarion_agent.program import Program
from clarion_agent.status import Refused
from clarion_contract.target import SetEntry, TargetError
from clarion_nic.driver.target import NicTarget
from fakes.p4runtime_messages import delete, digest, group, insert, modify, table_entry
from fakes.target import FakeTarget
from unit.agent.conftest import Primary

CONTINUE = p4r.WriteRequest.CONTINUE_ON_ERROR
ROLLBACK = p4r.WriteRequest.ROLLBACK_ON_ERROR
ATOMIC = p4r.WriteRequest.DATAPLANE_ATOMIC


def queue(port: int, limit: int = 5000) -> p4r.Entity:
    return table_entry("queue_port", port, "set_queue_port", (limit,))


async def refused(primary: Primary, *updates: p4r.Update, atomicity: Any) -> RefusedBatch:
    with pytest.raises(RefusedBatch) as caught:
        await primary.write(*updates, atomicity=atomicity)
    return caught.value


def codes(batch: RefusedBatch) -> list[str]:
    return ["OK" if error is None else error.code.name for error in batch.plan.errors]


async def test_the_default_goes_on_after_an_error(primary: Primary, target: FakeTarget) -> None:
    batch = await refused(
        primary,
        insert(queue(1)),
        insert(queue(1)),
        modify(queue(1, 6000)),  # builds on the first
        modify(queue(2)),
        insert(queue(9)),
        insert(queue(3)),
        delete(queue(3)),
        delete(digest("queue_drop_t")),
        atomicity=CONTINUE,
    )
    assert batch.others_written
    assert codes(batch) == [
        "OK", "ALREADY_EXISTS", "OK", "NOT_FOUND", "INVALID_ARGUMENT", "OK", "OK", "NOT_FOUND",
    ]  # fmt: skip
    assert target.entries == {("queue_port", 1): {"limit_bytes": 6000}}
    assert len(target.batches) == 1


async def test_the_default_goes_on_after_a_refusal_of_the_switch(
    primary: Primary, target: FakeTarget
) -> None:
    target.refused_changes = [SetEntry("queue_port", 2, {"limit_bytes": 5000})]
    batch = await refused(
        primary,
        insert(queue(1)),
        insert(queue(2)),
        insert(digest("queue_drop_t")),
        modify(queue(2)),
        insert(queue(3)),
        atomicity=CONTINUE,
    )
    assert codes(batch) == ["OK", "INVALID_ARGUMENT", "OK", "NOT_FOUND", "OK"]
    error = batch.plan.errors[1]
    assert error is not None
    assert error.message == "queue_port[2]: the switch refused: value: no"
    assert [key for _, key in target.entries] == [1, 3]
    assert target.wanted == ("queue_drop_t",)
    assert len(await primary.read(table_entry("queue_port", None))) == 2


async def test_a_switch_that_goes_away_in_the_middle(
    primary: Primary, target: FakeTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    target.refused_changes = [SetEntry("queue_port", 2, {"limit_bytes": 5000})]
    apply = target.apply

    async def goes_away(changes: Any) -> None:
        if SetEntry("queue_port", 3, {"limit_bytes": 5000}) in changes and len(changes) == 1:
            raise TargetError("clarion-switch does not answer", gone=True)
        await apply(changes)

    monkeypatch.setattr(target, "apply", goes_away)
    batch = await refused(primary, insert(queue(1)), insert(queue(2)), insert(queue(3)), atomicity=CONTINUE)
    assert codes(batch) == ["OK", "INVALID_ARGUMENT", "UNAVAILABLE"]
    assert [key for _, key in target.entries] == [1]


@pytest.mark.parametrize("atomicity", [ROLLBACK, ATOMIC])
async def test_all_or_nothing(primary: Primary, target: FakeTarget, atomicity: Any) -> None:
    batch = await refused(primary, insert(queue(1)), modify(queue(2)), atomicity=atomicity)
    assert not batch.others_written
    assert codes(batch) == ["OK", "NOT_FOUND"]  # the service says ABORTED for the first
    target.refused_changes = [SetEntry("queue_port", 2, {"limit_bytes": 5000})]
    batch = await refused(primary, insert(queue(1)), insert(queue(2)), atomicity=atomicity)
    assert not batch.others_written
    assert codes(batch) == ["OK", "INVALID_ARGUMENT"]
    assert (target.entries, target.batches) == ({}, [])


async def test_what_is_not_atomic_is_refused_as_such(primary: Primary, target: FakeTarget) -> None:
    target.atomic = False
    with pytest.raises(Refused, match="cannot carry out this batch between two packets") as caught:
        await primary.write(insert(queue(1)), insert(queue(2)), atomicity=ATOMIC)
    assert caught.value.code.name == "UNIMPLEMENTED"
    assert target.entries == {}
    await primary.write(insert(queue(1)), atomicity=ATOMIC)
    await primary.write(insert(queue(2)), insert(queue(3)), atomicity=ROLLBACK)
    with pytest.raises(Refused, match="atomicity 7: is none") as caught:
        await primary.write(insert(queue(1)), atomicity=7)
    assert caught.value.code.name == "INVALID_ARGUMENT"


def test_a_nic_is_atomic_for_one_unit() -> None:
    is_atomic = NicTarget.is_atomic
    stamp, limit = SetEntry("stamp_port", 1, {}), SetEntry("queue_port", 1, {"limit_bytes": 1})
    nic: Any = None
    assert is_atomic(nic, [stamp, limit])
    assert not is_atomic(nic, [stamp, SetEntry("stamp_port", 0, None)])
    assert not is_atomic(nic, [stamp, SetEntry("tag_port", 1, None)])


async def test_a_refused_group_leaves_the_old_one(primary: Primary, target: FakeTarget) -> None:
    await primary.write(insert(group(1)))
    twice = group(2, 2)
    batch = await refused(primary, modify(twice), insert(queue(1)), atomicity=CONTINUE)
    assert codes(batch) == ["INVALID_ARGUMENT", "OK"]
    assert await primary.read(group()) == [group(1)]
    assert target.flood == (1,)


async def test_nothing_is_written_before_a_pipeline_is_set(target: FakeTarget, program: Program) -> None:
    device = Device(1, target, program)
    await device.start()
    primary = Primary(device)
    for call in (primary.write(insert(queue(1))), device.packet_out(p4r.PacketOut())):
        with pytest.raises(Refused, match="no forwarding pipeline config") as caught:
            await call
        assert caught.value.code.name == "FAILED_PRECONDITION"
    device.on_packet(b"frame", 1, 1)
    assert [message.WhichOneof("update") for message in primary.sent] == ["arbitration"]
    await primary.set_pipeline(program)
    device.on_packet(b"frame", 1, 1)
    assert primary.sent[-1].packet.payload == b"frame"
