# SPDX-License-Identifier: Apache-2.0
"""Section 9.1: table entries, default entries, and what of them a Read finds."""

from __future__ import annotations

from finsy.proto import p4r

from conformance.p4runtime.checks import check, wants
from conformance.p4runtime.formatting import NO_OBJECT
from conformance.p4runtime.messages import MAC, default, entry, forward, keys, number, stamp
from conformance.p4runtime.peer import OK, Lab, Peer, refused
from fakes.p4runtime_messages import IDS, delete, insert, modify

INVALID = refused("INVALID_ARGUMENT")
DENIED = refused("PERMISSION_DENIED")
SIZE = 64  # of stamp_port; l2_forward has 4096
LARGE = 4096


def with_metadata(made: p4r.Entity, metadata: bytes) -> p4r.Entity:
    made.table_entry.metadata = metadata
    return made


def holding(lab: Lab, *entities: p4r.Entity) -> Peer:
    """A primary that has inserted these."""
    peer = lab.primary()
    wants(peer.write(*(insert(each) for each in entities)), OK)
    return peer


@check("9.1", "MUST", "The metadata of an entry is returned with it.")
def metadata_is_returned(lab: Lab) -> None:
    made = with_metadata(stamp(), b"mine\0")
    peer = holding(lab, made)
    wants(peer.entries(entry("stamp_port")) == [made], True)


@check("9.1", "MUST", "So is controller_metadata.")
def controller_metadata_is_returned(lab: Lab) -> None:
    made = stamp()
    made.table_entry.controller_metadata = 2**63 + 5
    peer = holding(lab, made)
    wants(peer.entries(entry("stamp_port")) == [made], True)


@check("9.1", "MUST", "The priority of an entry with exact matches only is 0.")
def a_priority_where_none_belongs(lab: Lab) -> None:
    made = stamp()
    made.table_entry.priority = 5
    wants(lab.primary().write(insert(made)), INVALID)


@check("9.1", "MUST", "DELETE considers the key only, even if the rest is nonsense.")
def delete_considers_the_key_only(lab: Lab) -> None:
    peer = holding(lab, stamp())
    made = with_metadata(stamp(), b"else")
    made.table_entry.action.action.action_id = 0xDEAD
    wants(peer.write(delete(made)), OK)
    wants(peer.entries(entry("stamp_port")), [])


@check("9.1", "MUST", "INSERT into a table without a key is refused with INVALID_ARGUMENT.")
def a_table_without_a_key_has_no_entries(lab: Lab) -> None:
    wants(lab.primary().write(insert(entry("clock", None, "set_clock", 1, 0))), INVALID)


@check("9.1", "MUST", "An entry that has no place is refused with RESOURCE_EXHAUSTED.")
def a_full_table(lab: Lab) -> None:
    peer = holding(lab, *(forward(MAC + each) for each in range(LARGE)))
    wants(peer.write(insert(forward(1))), refused("RESOURCE_EXHAUSTED"))
    wants(len(peer.entries(entry("l2_forward"))), LARGE)


@check("9.1", "MUST", "is_const in a Write is refused with INVALID_ARGUMENT.")
def constant_entries_cannot_be_written(lab: Lab) -> None:
    peer = holding(lab, stamp())
    fixed = stamp()
    fixed.table_entry.is_const = True
    for update in (modify(fixed), delete(fixed)):
        wants(peer.write(update), INVALID)
    fixed.table_entry.match[0].exact.value = b"\2"
    wants(peer.write(insert(fixed)), INVALID)


@check("9.1", "MUST", "A table that the program does not have is an error.")
def an_unknown_table(lab: Lab) -> None:
    made = stamp()
    made.table_entry.table_id = 0x02FFFFFF
    wants(lab.primary().write(insert(made)), *NO_OBJECT)


@check("9.1.1", "MUST", "A field id that the table does not have is INVALID_ARGUMENT.")
def an_unknown_match_field(lab: Lab) -> None:
    made = stamp()
    made.table_entry.match[0].field_id = 9
    wants(lab.primary().write(insert(made)), INVALID)


@check("9.1.1", "MUST", "An exact match cannot be left out.")
def a_missing_match_field(lab: Lab) -> None:
    made = stamp()
    del made.table_entry.match[:]
    wants(lab.primary().write(insert(made)), INVALID)


@check("9.1.1", "MUST", "A match field is there once.")
def a_match_field_that_is_there_twice(lab: Lab) -> None:
    made = stamp()
    made.table_entry.match.add(field_id=1).exact.value = b"\2"
    wants(lab.primary().write(insert(made)), INVALID)


@check("9.1.1", "MUST", "A match of another type than the table's is INVALID_ARGUMENT.")
def a_match_of_another_type(lab: Lab) -> None:
    peer = lab.primary()
    ternary, lpm, one_of, empty = stamp(), stamp(), stamp(), stamp()
    ternary.table_entry.match[0].ternary.value = ternary.table_entry.match[0].ternary.mask = b"\1"
    lpm.table_entry.match[0].lpm.value, lpm.table_entry.match[0].lpm.prefix_len = b"\1", 9
    one_of.table_entry.match[0].optional.value = b"\1"
    empty.table_entry.match[0].ClearField("exact")
    for made in (ternary, lpm, one_of, empty):
        wants(peer.write(insert(made)), INVALID)


@check("9.1.2", "MUST", "INSERT needs an action.")
def an_insert_without_an_action(lab: Lab) -> None:
    wants(lab.primary().write(insert(entry("stamp_port", 1))), INVALID)


@check("9.1.2", "MUST", "MODIFY without an action keeps the action.")
def a_modify_without_an_action(lab: Lab) -> None:
    peer = holding(lab, forward(MAC, 2))
    wants(peer.write(modify(with_metadata(entry("l2_forward", MAC), b"new"))), OK)
    wants(peer.entries(entry("l2_forward")) == [with_metadata(forward(MAC, 2), b"new")], True)


@check("9.1.2", "MUST", "A member or group id for a table without an implementation is INVALID_ARGUMENT.")
def an_action_of_another_kind(lab: Lab) -> None:
    peer = lab.primary()
    member, group, one_shot = (entry("stamp_port", 1) for _ in range(3))
    member.table_entry.action.action_profile_member_id = 1
    group.table_entry.action.action_profile_group_id = 1
    one_shot.table_entry.action.action_profile_action_set.action_profile_actions.add(
        action=p4r.Action(action_id=IDS["stamp"]), weight=1
    )
    for made in (member, group, one_shot):
        wants(peer.write(insert(made)), INVALID)


@check("9.1.2", "MUST", "An action that is none of the table's is INVALID_ARGUMENT.")
def an_action_of_another_table(lab: Lab) -> None:
    wants(lab.primary().write(insert(entry("stamp_port", 1, "forward", 1))), INVALID)


@check("9.1.2", "MUST", "A default-only action in an entry is PERMISSION_DENIED.")
def an_action_out_of_its_scope(lab: Lab) -> None:
    wants(lab.primary().write(insert(entry("stamp_port", 1, "NoAction"))), DENIED)


@check("9.1.2", "MUST", "A missing parameter is INVALID_ARGUMENT.")
def a_missing_parameter(lab: Lab) -> None:
    wants(lab.primary().write(insert(entry("l2_forward", MAC, "forward"))), INVALID)


@check("9.1.2", "MUST", "A parameter that the action does not have is INVALID_ARGUMENT.")
def an_unknown_parameter(lab: Lab) -> None:
    wants(lab.primary().write(insert(entry("l2_forward", MAC, "forward", 1, 1))), INVALID)


@check("9.1.2", "MUST", "A parameter that is there twice is INVALID_ARGUMENT.")
def a_parameter_that_is_there_twice(lab: Lab) -> None:
    made = forward()
    made.table_entry.action.action.params.add(param_id=1, value=b"\2")
    wants(lab.primary().write(insert(made)), INVALID)


@check("9.1.3", "MUST", "INSERT and DELETE of a default entry are INVALID_ARGUMENT.")
def a_default_entry_is_always_there(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(default("clock", "set_clock", 1, 0))), INVALID)
    wants(peer.write(delete(default("clock"))), INVALID)


@check("9.1.3", "MUST", "A default entry with a match is INVALID_ARGUMENT.")
def a_default_entry_has_no_match(lab: Lab) -> None:
    made = stamp()
    made.table_entry.is_default_action = True
    wants(lab.primary().write(modify(made)), INVALID)


@check("9.1.3", "MUST", "A default entry with a priority is INVALID_ARGUMENT.")
def a_default_entry_has_no_priority(lab: Lab) -> None:
    made = default("clock")
    made.table_entry.priority = 1
    wants(lab.primary().write(modify(made)), INVALID)


@check("9.1.3", "MUST", "A constant default entry cannot be modified: PERMISSION_DENIED.")
def a_constant_default_entry(lab: Lab) -> None:
    wants(lab.primary().write(modify(default("stamp_port", "NoAction"))), DENIED)


@check("9.1.3", "MUST", "A default entry that is not constant can be modified.")
def a_default_entry_that_is_not_constant(lab: Lab) -> None:
    peer = lab.primary()
    made = default("clock", "set_clock", 5, 1)
    wants(peer.write(modify(made)), OK)
    (found,) = peer.entries(default("clock"))
    wants(sorted(each.value for each in found.table_entry.action.action.params), [number(1), number(5)])


@check("9.1.3", "MUST", "MODIFY of a default entry without an action gives it its initial value.")
def a_default_entry_is_reset(lab: Lab) -> None:
    peer = lab.primary()
    before = peer.entries(default("clock"))
    wants(peer.write(modify(default("clock"))), OK)
    wants(peer.entries(default("clock")) == before, True)


@check("9.1.3", "MUST", "A table's default entry can be read, with the program's action.")
def default_entries_can_be_read(lab: Lab) -> None:
    found = lab.primary().entries(default("l2_forward"))
    wants([each.table_entry.is_default_action for each in found], [True])
    wants(found[0].table_entry.action.action.action_id, IDS["flood"])


@check("9.1.6", "MUST", "Table id 0 selects the entries of all tables, without default entries.")
def all_entries_of_all_tables(lab: Lab) -> None:
    entities = (stamp(1), stamp(2), forward())
    peer = holding(lab, *entities)
    wants(keys(peer.entries(entry(""))), keys(entities))


@check("9.1.6", "MUST", "A table id alone selects all entries of the table.")
def all_entries_of_a_table(lab: Lab) -> None:
    peer = holding(lab, stamp(1), stamp(2), forward())
    wants(keys(peer.entries(entry("stamp_port"))), keys((stamp(1), stamp(2))))


@check("9.1.6", "MUST", "A match selects at most one entry.")
def an_entry_by_its_match(lab: Lab) -> None:
    peer = holding(lab, stamp(1), stamp(2))
    wants(peer.entries(entry("stamp_port", 2)) == [stamp(2)], True)


@check("9.1.6", "MUST", "A match must be a valid key of the table.")
def a_match_that_is_no_key_cannot_be_read(lab: Lab) -> None:
    wanted = stamp()
    wanted.table_entry.match[0].field_id = 9
    wants(lab.primary().read(wanted)[0], INVALID)


@check("9.1.6", "MUST", "An action id selects the entries with this action.")
def entries_by_their_action(lab: Lab) -> None:
    peer = holding(lab, stamp(1), forward())
    wanted = entry("l2_forward", None, "flood")
    wants(len(peer.entries(wanted)), 0)
    wanted.table_entry.action.action.action_id = IDS["forward"]
    wants(len(peer.entries(wanted)), 1)


@check("9.1.6", "MUST", "Metadata that is not empty selects the entries with it.")
def entries_by_their_metadata(lab: Lab) -> None:
    peer = holding(lab, with_metadata(stamp(1), b"mine"), with_metadata(stamp(2), b"other"))
    wanted = with_metadata(entry("stamp_port"), b"mine")
    wants(len(peer.entries(wanted)), 1)


@check("9.1.6", "MUST", "controller_metadata that is not 0 selects the entries with it.")
def entries_by_their_controller_metadata(lab: Lab) -> None:
    one = stamp(1)
    one.table_entry.controller_metadata = 5
    peer = holding(lab, one, stamp(2))
    wanted = entry("stamp_port")
    wanted.table_entry.controller_metadata = 5
    wants(len(peer.entries(wanted)), 1)


@check("9.1.7", "MUST", "A direct counter of a table without one is INVALID_ARGUMENT.")
def a_direct_counter_where_there_is_none(lab: Lab) -> None:
    made = stamp()
    made.table_entry.counter_data.packet_count = 1
    wants(lab.primary().write(insert(made)), INVALID)


@check("9.1.7", "MUST", "A direct meter of a table without one is INVALID_ARGUMENT.")
def a_direct_meter_where_there_is_none(lab: Lab) -> None:
    made = stamp()
    made.table_entry.meter_config.cir = 1
    wants(lab.primary().write(insert(made)), INVALID)


@check("9.1.8", "MUST", "A time-out of an entry whose table has none is INVALID_ARGUMENT.")
def an_idle_timeout_where_there_is_none(lab: Lab) -> None:
    made = stamp()
    made.table_entry.idle_timeout_ns = 10**9
    wants(lab.primary().write(insert(made)), INVALID)


@check("9.1.8", "MUST", "time_since_last_hit in a Write is INVALID_ARGUMENT.")
def the_time_of_the_last_hit_cannot_be_written(lab: Lab) -> None:
    made = stamp()
    made.table_entry.time_since_last_hit.elapsed_ns = 1
    wants(lab.primary().write(insert(made)), INVALID)
