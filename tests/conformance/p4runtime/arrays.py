# SPDX-License-Identifier: Apache-2.0
"""Sections 9.3 and 9.7: counters and registers; 9.2, 9.4, 9.6, 9.9: what the program has none of."""

from __future__ import annotations

from finsy.proto import p4r

from conformance.p4runtime.checks import check, wants
from conformance.p4runtime.messages import stamp
from conformance.p4runtime.peer import OK, Lab, Peer, refused
from fakes.p4runtime_messages import counted, counter, delete, insert, modify, p4info, register

INVALID = refused("INVALID_ARGUMENT")
RANGE = refused("OUT_OF_RANGE")
CELLS = 64


def drops(index: int | None) -> p4r.Entity:
    return counted("queue_drops", index, 5)


@check("9.3.1", "MUST", "INSERT and DELETE of a direct counter are INVALID_ARGUMENT.")
def direct_counters_cannot_be_inserted(lab: Lab) -> None:
    peer = lab.primary()
    made = p4r.Entity(direct_counter_entry=p4r.DirectCounterEntry(table_entry=stamp().table_entry))
    wants(peer.write(insert(made)), INVALID)
    wants(peer.write(delete(made)), INVALID)


@check("9.3.2", "MUST", "INSERT and DELETE of a counter cell are INVALID_ARGUMENT.")
def counters_cannot_be_inserted(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(drops(1))), INVALID)
    wants(peer.write(delete(drops(1))), INVALID)


@check("9.3.2", "MUST", "All cells are 0 at first.")
def counters_begin_at_zero(lab: Lab) -> None:
    data = [each.counter_entry.data for each in lab.primary().entries(counter("queue_drops"))]
    wants({(each.packet_count, each.byte_count) for each in data}, {(0, 0)})


@check("9.3.2", "MUST", "MODIFY sets a cell.")
def a_counter_is_set(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(modify(drops(1))), OK)
    wants(peer.entries(counter("queue_drops", 1))[0].counter_entry.data.packet_count, 5)


@check("9.3.2", "MUST", "MODIFY without an index sets all cells.")
def a_counter_array_is_set(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(modify(drops(None))), OK)
    found = peer.entries(counter("queue_drops"))
    wants([each.counter_entry.data.packet_count for each in found], [5] * CELLS)


@check("9.3.2", "MUST", "MODIFY without data changes nothing.")
def a_counter_without_data_is_not_modified(lab: Lab) -> None:
    wants(lab.primary().write(modify(counter("queue_drops", 1))), OK)


@check("9.3.2", "MUST", "A negative index is INVALID_ARGUMENT, one beyond the array OUT_OF_RANGE.")
def a_counter_index_that_is_none(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.read(counter("queue_drops", -1))[0], INVALID)
    wants(peer.read(counter("queue_drops", CELLS))[0], RANGE)
    wants(peer.write(modify(drops(-1))), INVALID)
    wants(peer.write(modify(drops(CELLS))), RANGE)


@check("9.3.2", "MUST", "A cell, an array and all arrays can be read.")
def counters_can_be_read(lab: Lab) -> None:
    peer = lab.primary()
    wants([each.counter_entry.index.index for each in peer.entries(counter("tx", 3))], [3])
    wants([each.counter_entry.index.index for each in peer.entries(counter("tx"))], list(range(CELLS)))
    wants(len(peer.entries(counter(""))), CELLS * len(p4info().counters))


@check("9.7", "MUST", "A cell and an array can be read.")
def registers_can_be_read(lab: Lab) -> None:
    peer = lab.primary()
    found, cell = peer.read(register("wire_lost", 3))
    wants(found, OK)
    wants([each.register_entry.index.index for each in cell], [3])
    wants(len(peer.entries(register("wire_lost"))), CELLS)


@check("9.7", "MUST", "A cell can be written.")
def registers_can_be_written(lab: Lab) -> None:
    wants(lab.primary().write(modify(register("wire_lost", 3, 5))), OK)


@check("9.7", "MUST", "A negative index is INVALID_ARGUMENT, one beyond the array OUT_OF_RANGE.")
def a_register_index_that_is_none(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.read(register("wire_lost", -1))[0], INVALID)
    wants(peer.read(register("wire_lost", CELLS))[0], RANGE)
    wants(peer.write(modify(register("wire_lost", -1, 5))), INVALID)
    wants(peer.write(modify(register("wire_lost", CELLS, 5))), RANGE)


@check("9.7", "MUST", "Data of another type than the register's are INVALID_ARGUMENT.")
def register_data_of_another_type(lab: Lab) -> None:
    made = register("wire_lost", 3)
    made.register_entry.data.bool = True
    wants(lab.primary().write(modify(made)), INVALID)


def absent(peer: Peer, wildcard: p4r.Entity, named: p4r.Entity) -> None:
    wants(peer.read(wildcard), (OK, []))
    wants(peer.read(named)[0] == OK, False)
    wants(peer.write(insert(named)) == OK, False)


@check("9.2", "MUST", "Of action profiles that the program does not have, all are none, and one is an error.")
def action_profiles_that_are_not_there(lab: Lab) -> None:
    peer = lab.primary()
    absent(
        peer,
        p4r.Entity(action_profile_member=p4r.ActionProfileMember()),
        p4r.Entity(action_profile_member=p4r.ActionProfileMember(action_profile_id=5, member_id=1)),
    )
    absent_group = p4r.ActionProfileGroup(action_profile_id=5, group_id=1)
    absent(
        peer,
        p4r.Entity(action_profile_group=p4r.ActionProfileGroup()),
        p4r.Entity(action_profile_group=absent_group),
    )


@check("9.4", "MUST", "Of meters that the program does not have, all are none, and one is an error.")
def meters_that_are_not_there(lab: Lab) -> None:
    absent(
        lab.primary(),
        p4r.Entity(meter_entry=p4r.MeterEntry()),
        p4r.Entity(meter_entry=p4r.MeterEntry(meter_id=5, index=p4r.Index(index=1))),
    )


@check("9.6", "MUST", "Of value sets that the program does not have, all are none, and one is an error.")
def value_sets_that_are_not_there(lab: Lab) -> None:
    absent(
        lab.primary(),
        p4r.Entity(value_set_entry=p4r.ValueSetEntry()),
        p4r.Entity(value_set_entry=p4r.ValueSetEntry(value_set_id=5)),
    )


@check("9.9", "MUST", "Of externs that the program does not have, all are none, and one is an error.")
def externs_that_are_not_there(lab: Lab) -> None:
    absent(
        lab.primary(),
        p4r.Entity(extern_entry=p4r.ExternEntry()),
        p4r.Entity(extern_entry=p4r.ExternEntry(extern_type_id=129, extern_id=1)),
    )
