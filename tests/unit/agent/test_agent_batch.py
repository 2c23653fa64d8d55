# SPDX-License-Identifier: Apache-2.0
"""Writes against a switch in memory: refusals name the right update, and a refused batch changes nothing."""

from __future__ import annotations

import pytest
from finsy.proto import p4r
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clarion_agent import values
from clarion_agent.device import RefusedBatch
from clarion_agent.status import Refused
from clarion_base.faults import Code, Fault
from clarion_contract.target import TargetError, TargetFaultError
from fakes.p4runtime_messages import (
    XCP,
    clone_session,
    counted,
    counter,
    delete,
    insert,
    modify,
    register,
    table_entry,
)
from fakes.target import FakeTarget
from unit.agent.conftest import Primary

MAC = 0x020000000002
DIRECT_COUNTER = p4r.Entity(direct_counter_entry=p4r.DirectCounterEntry())
DIRECT_METER = p4r.Entity(direct_meter_entry=p4r.DirectMeterEntry())


def constant(entity: p4r.Entity) -> p4r.Entity:
    entity.table_entry.is_const = True
    return entity


def default(table: str, action: str = "") -> p4r.Entity:
    entity = table_entry(table, None, action)
    entity.table_entry.is_default_action = True
    return entity


async def refusals(primary: Primary, *updates: p4r.Update) -> list[tuple[str, str] | None]:
    """Code and message per update of a batch that must be refused."""
    with pytest.raises(RefusedBatch) as refused:
        await primary.write(*updates)
    return [(error.code.name, error.message) if error else None for error in refused.value.plan.errors]


@pytest.mark.parametrize(
    ("update", "code", "message"),
    [
        (insert(table_entry("xcp_port", 4, "stamp")), "INVALID_ARGUMENT",
         "xcp_port[4]: the switch has no port 4; it has 1, 2, 3"),
        (insert(table_entry("xcp_port", 2, "stamp")), "INVALID_ARGUMENT",
         "xcp_port[2]: stamp: not an action for entries of this table; use set_xcp_port"),
        (insert(table_entry("xcp_port", 2, "set_xcp_port", XCP[:7])), "INVALID_ARGUMENT",
         "xcp_port[2].epoch: is missing"),
        (insert(table_entry("xcp_port", 2, "set_xcp_port", (*XCP[:7], 0))), "INVALID_ARGUMENT",
         "xcp_port[2].epoch: 0: use 1 to 255"),
        (insert(table_entry("xcp_port", 2, "set_xcp_port", (1, 1, 1, 1, 8, 8, 3, 1))), "INVALID_ARGUMENT",
         "xcp_port[2].generation: 3: use at most 2"),
        (insert(table_entry("xcp_port", 2, "set_xcp_port", (1, 1, 1, 1, 9, 8, 1, 1))), "INVALID_ARGUMENT",
         "xcp_port[2].min_interval: 9: exceeds max_interval, 8"),
        (insert(table_entry("xcp_port", 2, "set_xcp_port", (*XCP, 1))), "INVALID_ARGUMENT",
         "xcp_port[2]: set_xcp_port: a parameter is unknown, or there twice"),
        (insert(table_entry("tag_port", 2, "set_tag_port", (2, 0, 1, 0))), "OUT_OF_RANGE",
         "tag_port[2].check: 0x000000000000000002: has more than 1 bits"),
        (insert(table_entry("l2_forward", MAC, "forward", (9,))), "INVALID_ARGUMENT",
         "l2_forward[02:00:00:00:00:02].port: the switch has no port 9; it has 1, 2, 3"),
        (insert(table_entry("stamp_port", 2)), "INVALID_ARGUMENT",
         "stamp_port[2]: action: is missing, or not a single action"),
        (insert(table_entry("stamp_port", None, "stamp")), "INVALID_ARGUMENT",
         "stamp_port: match: give field 1 (port), once"),
        (insert(table_entry("clock", 1, "set_clock", (1, 1))), "INVALID_ARGUMENT",
         "clock: has no key; it has a default entry only"),
        (modify(table_entry("stamp_port", 2, "stamp")), "NOT_FOUND", "stamp_port[2]: does not exist"),
        (delete(table_entry("stamp_port", 2)), "NOT_FOUND", "stamp_port[2]: does not exist"),
        (modify(register("shares", 2, 1)), "UNIMPLEMENTED",
         "shares: registers can be read only; an entry with another epoch starts anew"),
        (insert(register("left_bytes", None, 1)), "UNIMPLEMENTED",
         "left_bytes: registers can be read only; an entry with another epoch starts anew"),
        (modify(register("shares", -1, 1)), "INVALID_ARGUMENT", "shares[-1]: the array has cells 0 to 63"),
        (modify(register("shares", 64, 1)), "OUT_OF_RANGE", "shares[64]: the array has cells 0 to 63"),
        (modify(register("wire_lost", 2)), "INVALID_ARGUMENT", "wire_lost.data: use a bitstring of 64 bits"),
        (modify(register("wire_lost", 2, 1 << 64)), "OUT_OF_RANGE",
         "wire_lost.data: 0x00000000000000010000000000000000: has more than 64 bits"),
        (modify(counted("tx", 2)), "UNIMPLEMENTED",
         "tx: counters can be read only; VERIFY_AND_COMMIT sets them to zero"),
        (modify(counted("tx", None)), "UNIMPLEMENTED",
         "tx: counters can be read only; VERIFY_AND_COMMIT sets them to zero"),
        (modify(counted("tx", -1)), "INVALID_ARGUMENT", "tx[-1]: the array has cells 0 to 63"),
        (modify(counter("tx", 64)), "OUT_OF_RANGE", "tx[64]: the array has cells 0 to 63"),
        (insert(counted("tx", 2)), "INVALID_ARGUMENT", "counter_entry: can be modified only"),
        (delete(counter("tx", 2)), "INVALID_ARGUMENT", "counter_entry: can be modified only"),
        (insert(DIRECT_COUNTER), "INVALID_ARGUMENT", "direct_counter_entry: can be modified only"),
        (delete(DIRECT_METER), "INVALID_ARGUMENT", "direct_meter_entry: can be modified only"),
        (modify(DIRECT_COUNTER), "UNIMPLEMENTED", "direct_counter_entry: the program has none"),
        (insert(clone_session(0)), "INVALID_ARGUMENT",
         "clone session 0: stands for all of them, in a Read only"),
        (insert(clone_session(100)), "UNIMPLEMENTED", "clone session: the program clones nothing"),
        (insert(constant(table_entry("stamp_port", 2, "stamp"))), "INVALID_ARGUMENT",
         "stamp_port.is_const: an entry that is written cannot be constant"),
        (delete(constant(table_entry("stamp_port", 1))), "INVALID_ARGUMENT",
         "stamp_port.is_const: an entry that is written cannot be constant"),
        (insert(table_entry("stamp_port", 2, "NoAction")), "PERMISSION_DENIED",
         "stamp_port[2]: NoAction: not an action for entries of this table; use stamp"),
        (modify(default("clock", "stamp")), "INVALID_ARGUMENT",
         "clock default: stamp: not an action for the default entry of this table; use set_clock"),
        (modify(register("", 2, 1)), "NOT_FOUND", "register 0: there is none of that id"),
        (modify(counter("")), "NOT_FOUND", "counter 0: there is none of that id"),
    ],
)  # fmt: skip
async def test_refusals_name_the_entity(
    primary: Primary, target: FakeTarget, update: p4r.Update, code: str, message: str
) -> None:
    good = insert(table_entry("stamp_port", 1, "stamp"))
    assert await refusals(primary, good, update) == [None, (code, message)]
    assert (target.batches, await primary.read(table_entry("", None))) == ([], [])


async def test_a_counter_without_data_is_not_modified(primary: Primary, target: FakeTarget) -> None:
    await primary.write(modify(counter("tx", 2)), modify(counter("tx")))
    assert target.batches == []


async def test_the_table_of_addresses_is_full_at_its_size(primary: Primary, target: FakeTarget) -> None:
    await primary.write(*(insert(table_entry("l2_forward", mac, "forward", (1,))) for mac in range(4096)))
    assert await refusals(primary, insert(table_entry("l2_forward", MAC, "forward", (1,)))) == [
        ("RESOURCE_EXHAUSTED", "l2_forward[02:00:00:00:00:02]: the table holds 4096 entries")
    ]
    assert len(target.entries) == 4096


async def test_what_the_switch_refuses_is_blamed_on_the_update(primary: Primary, target: FakeTarget) -> None:
    target.refuse = TargetFaultError(Fault(("changes", 1, "value"), "must be less", Code.OUT_OF_RANGE))
    updates = [modify(default("clock")), insert(table_entry("stamp_port", 1, "stamp"))]
    assert await refusals(
        primary, *updates, insert(table_entry("queue_port", 2, "set_queue_port", (5000,)))
    ) == [
        None,
        None,
        ("INVALID_ARGUMENT", "queue_port[2]: the switch refused: value: must be less"),
    ]
    assert await primary.read(table_entry("", None)) == []


async def test_a_switch_that_is_away(primary: Primary, target: FakeTarget) -> None:
    target.refuse = TargetError("clarion-switch does not answer", gone=True)
    with pytest.raises(Refused, match="switch s1: clarion-switch does not answer") as refused:
        await primary.write(insert(table_entry("stamp_port", 1, "stamp")))
    assert refused.value.code.name == "UNAVAILABLE"
    assert await primary.read(table_entry("", None)) == []


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from((p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE)),
        st.sampled_from((1, 2, 3, 4)),
        st.sampled_from((0, 1, 2**40)),
    ),
    max_size=6,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(OPERATIONS, max_size=8))
async def test_any_batches_leave_the_switch_as_the_agent_says(
    primary: Primary, target: FakeTarget, batches: list[list[tuple[int, int, int]]]
) -> None:
    """queue_port entries: a model of one dictionary against agent and switch."""
    before = {key: each["limit_bytes"] for (_, key), each in target.entries.items()}
    for batch in batches:
        model: dict[int, int] | None = dict(before)
        for kind, port, limit in batch:
            if model is None or port == 4 or (kind == p4r.Update.INSERT) == (port in model):
                model = None
            elif kind == p4r.Update.DELETE:
                del model[port]
            elif limit >= 2**40:
                model = None
            else:
                model[port] = limit
        updates = [
            p4r.Update(type=kind, entity=table_entry("queue_port", port, "set_queue_port", (limit,)))  # type: ignore[arg-type]
            for kind, port, limit in batch
        ]
        if model is None:
            with pytest.raises(RefusedBatch):
                await primary.write(*updates)
        else:
            await primary.write(*updates)
            before = model
        assert {key: each["limit_bytes"] for (_, key), each in target.entries.items()} == before
        assert len(await primary.read(table_entry("queue_port", None))) == len(before)


@given(number=st.integers(0, 2**64), zeros=st.integers(0, 9))
def test_values_come_back_in_their_shortest_form(number: int, zeros: int) -> None:
    encoded = values.encode(number)
    assert encoded[0] or encoded == b"\0"
    assert values.decode(bytes(zeros) + encoded, 65, "x") == number


@pytest.mark.parametrize(("data", "code"), [(b"", "INVALID_ARGUMENT"), (b"\2\0", "OUT_OF_RANGE")])
def test_values_that_are_none(data: bytes, code: str) -> None:
    with pytest.raises(Refused, match=r"^port: ") as refused:
        values.decode(data, 9, "port")
    assert refused.value.code.name == code
