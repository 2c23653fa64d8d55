# SPDX-License-Identifier: Apache-2.0
"""Section 8: default values, byte strings, and that what is read is what was written."""

from __future__ import annotations

from finsy.proto import p4r

from conformance.p4runtime.checks import check, wants
from conformance.p4runtime.messages import MAC, XCP, entry, forward, stamp
from conformance.p4runtime.peer import OK, Lab, refused
from fakes.p4runtime_messages import counter, insert, modify

BAD_STRING = (refused("OUT_OF_RANGE"), refused("INVALID_ARGUMENT"))  # 8.3 says the one, 9.1 the other
NO_OBJECT = (refused("INVALID_ARGUMENT"), refused("NOT_FOUND"))
OF_EACH_TABLE = (
    entry("tag_port", 1, "set_tag_port", 1, 0, 9, 1),
    entry("xcp_port", 2, "set_xcp_port", *XCP),
    stamp(2),
    entry("queue_port", 1, "set_queue_port", 5000),
    forward(MAC, 2),
)


@check("8.1.1", "MUST", "Table id 0 in a Write is an error.")
def table_zero_cannot_be_written(lab: Lab) -> None:
    made = stamp()
    made.table_entry.table_id = 0
    wants(lab.primary().write(insert(made)), *NO_OBJECT)


@check("8.1.1", "MUST", "Action id 0 in a Write is an error.")
def action_zero_cannot_be_written(lab: Lab) -> None:
    made = stamp()
    made.table_entry.action.action.action_id = 0
    wants(lab.primary().write(insert(made)), *NO_OBJECT)


@check("8.1.1", "MUST", "Counter, register and digest id 0 in a Write are an error.")
def other_objects_zero_cannot_be_written(lab: Lab) -> None:
    peer = lab.primary()
    no_counter = p4r.Entity(counter_entry=p4r.CounterEntry(index=p4r.Index(index=0)))
    no_register = p4r.Entity(register_entry=p4r.RegisterEntry(index=p4r.Index(index=0)))
    no_digest = p4r.Entity(digest_entry=p4r.DigestEntry(config=p4r.DigestEntry.Config(max_list_size=1)))
    wants(peer.write(modify(no_counter)), *NO_OBJECT)
    wants(peer.write(modify(no_register)), *NO_OBJECT)
    wants(peer.write(insert(no_digest)), *NO_OBJECT)


@check("8.1.2", "MUST", "An index that is set to 0 means cell 0, an index that is unset all cells.")
def an_index_of_zero_is_an_index(lab: Lab) -> None:
    peer = lab.primary()
    wants(len(peer.entries(counter("tx", 0))), 1)
    wants(len(peer.entries(counter("tx"))), 64)


@check("8.2", "MUST", "Entities are read as they were written.")
def entries_are_read_as_written(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(*(insert(each) for each in OF_EACH_TABLE)), OK)
    for written in OF_EACH_TABLE:
        wanted = entry("", None)
        wanted.table_entry.table_id = written.table_entry.table_id
        found = peer.entries(wanted)
        for each in found:
            parameters = sorted(each.table_entry.action.action.params, key=lambda given: given.param_id)
            del each.table_entry.action.action.params[:]
            each.table_entry.action.action.params.extend(parameters)
        wants(found == [written], True)


@check("8.3", "MUST", "A byte string may have any number of leading zeros, and is read in its shortest form.")
def byte_strings_are_read_in_their_shortest_form(lab: Lab) -> None:
    peer = lab.primary()
    made = forward(MAC, 1)
    made.table_entry.match[0].exact.value = b"\0\0\0" + MAC.to_bytes(6, "big")
    made.table_entry.action.action.params[0].value = b"\0\0\0\0\1"
    wants(peer.write(insert(made)), OK)
    wants(peer.entries(entry("l2_forward")) == [forward(MAC, 1)], True)


@check("8.3", "MUST", "Zero is one byte.")
def zero_is_one_byte(lab: Lab) -> None:
    peer = lab.primary()
    made = entry("queue_port", 1, "set_queue_port", 0)
    made.table_entry.action.action.params[0].value = bytes(5)
    wants(peer.write(insert(made)), OK)
    (found,) = peer.entries(entry("queue_port"))
    wants(found.table_entry.action.action.params[0].value, b"\0")


@check("8.3", "MUST", "A shorter string than the field's width is a value like any other.")
def byte_strings_may_be_short(lab: Lab) -> None:
    peer = lab.primary()
    made = forward(5, 1)
    wants(peer.write(insert(made)), OK)
    wants(peer.entries(forward(5, 1)) == [made], True)


@check("8.3", "MUST", "A match value that is too large for its width is refused.")
def a_match_value_that_is_too_large(lab: Lab) -> None:
    made = stamp()
    made.table_entry.match[0].exact.value = b"\x02\x01"  # 10 bits of 9
    wants(lab.primary().write(insert(made)), *BAD_STRING)


@check("8.3", "MUST", "A parameter that is too large for its width is refused.")
def a_parameter_that_is_too_large(lab: Lab) -> None:
    made = entry("tag_port", 1, "set_tag_port", 2, 0, 9, 1)  # 2 bits of 1
    wants(lab.primary().write(insert(made)), *BAD_STRING)


@check("8.3", "MUST", "An empty match value is refused.")
def an_empty_match_value(lab: Lab) -> None:
    made = stamp()
    made.table_entry.match[0].exact.value = b""
    wants(lab.primary().write(insert(made)), *BAD_STRING)


@check("8.3", "MUST", "An empty parameter is refused.")
def an_empty_parameter(lab: Lab) -> None:
    made = forward()
    made.table_entry.action.action.params[0].value = b""
    wants(lab.primary().write(insert(made)), *BAD_STRING)
