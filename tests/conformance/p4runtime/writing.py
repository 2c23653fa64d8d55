# SPDX-License-Identifier: Apache-2.0
"""Sections 10 and 12: Write, its batches, and how errors are reported."""

from __future__ import annotations

from finsy.proto import p4r

from conformance.p4runtime.checks import check, wants
from conformance.p4runtime.messages import MAC, entry, forward, keys, stamp
from conformance.p4runtime.peer import OK, Lab, errors, refused, status
from fakes.p4runtime_messages import delete, insert, modify

CONTINUE, ROLLBACK, ATOMIC = 0, 1, 2
DENIED = "PERMISSION_DENIED"
# In order and wrong by turns.
MIXED = (insert(stamp(1)), delete(stamp(2)), insert(forward()), insert(entry("stamp_port", 2)))
OF_MIXED = refused("OK", "NOT_FOUND", "OK", "INVALID_ARGUMENT")


@check("12", "MUST", "A Write to an unknown device is NOT_FOUND, from any client.")
def a_write_to_an_unknown_device(lab: Lab) -> None:
    wants(lab.bare_primary().write(insert(stamp()), device_id=lab.absent_device_id), "NOT_FOUND")


@check("12", "MUST", "A Write with an unknown role is NOT_FOUND.")
def a_write_with_an_unknown_role(lab: Lab) -> None:
    wants(lab.primary().write(insert(stamp()), role="nobody"), "NOT_FOUND")


@check("12", "MUST", "A Write that is not the primary's is PERMISSION_DENIED, also before there is a config.")
def a_write_of_another_than_the_primary(lab: Lab) -> None:
    peer = lab.bare_primary(5)
    wants(peer.write(insert(stamp()), election_id=4), DENIED)
    wants(peer.write(insert(stamp()), election_id=None), DENIED)


@check("12", "MUST", "A Write before a config has been set is FAILED_PRECONDITION.")
def a_write_before_a_config(lab: Lab) -> None:
    wants(lab.bare_primary().write(insert(stamp())), "FAILED_PRECONDITION")


@check("12", "MUST", "INSERT of an entity that exists is ALREADY_EXISTS and changes nothing.")
def an_insert_of_what_exists(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(forward(MAC, 1))), OK)
    wants(peer.write(insert(forward(MAC, 2))), refused("ALREADY_EXISTS"))
    wants(peer.entries(entry("l2_forward")) == [forward(MAC, 1)], True)


@check("12", "MUST", "MODIFY gives an entity its complete new state.")
def a_modify_is_a_snapshot(lab: Lab) -> None:
    peer = lab.primary()
    first = forward(MAC, 1)
    first.table_entry.metadata = b"mine"
    wants(peer.write(insert(first)), OK)
    wants(peer.write(modify(forward(MAC, 2))), OK)
    wants(peer.entries(entry("l2_forward")) == [forward(MAC, 2)], True)


@check("12", "MUST", "MODIFY of an entity that does not exist is NOT_FOUND.")
def a_modify_of_what_does_not_exist(lab: Lab) -> None:
    wants(lab.primary().write(modify(stamp())), refused("NOT_FOUND"))


@check("12", "MUST", "DELETE removes an entity; its key is enough.")
def a_delete_by_the_key(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(stamp()), insert(forward())), OK)
    wants(peer.write(delete(entry("stamp_port", 1))), OK)
    wants(keys(peer.entries(entry(""))), keys([forward()]))


@check("12", "MUST", "DELETE of an entity that does not exist is NOT_FOUND.")
def a_delete_of_what_does_not_exist(lab: Lab) -> None:
    wants(lab.primary().write(delete(stamp())), refused("NOT_FOUND"))


@check("12", "MUST", "An update without a type is an error of this update.")
def an_update_without_a_type(lab: Lab) -> None:
    wants(lab.primary().write(p4r.Update(entity=stamp())), refused("INVALID_ARGUMENT"))


@check("12", "MUST", "An update without an entity is an error of this update.")
def an_update_without_an_entity(lab: Lab) -> None:
    wants(lab.primary().write(insert(p4r.Entity())), refused("INVALID_ARGUMENT"))


@check("12.1", "MUST", "A batch has updates of any kinds of entities; when Write returns they can be read.")
def a_batch_of_several_kinds(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(stamp(1)), insert(forward()), insert(stamp(2))), OK)
    wants(keys(peer.entries(entry(""))), keys((stamp(1), stamp(2), forward())))
    wants(peer.write(delete(stamp(1)), modify(forward(MAC, 2))), OK)
    wants(keys(peer.entries(entry(""))), keys((stamp(2), forward())))


@check("12.1", "MUST", "A batch without updates is in order.")
def an_empty_batch(lab: Lab) -> None:
    wants(lab.primary().write(), OK)


@check("12.2", "MUST", "CONTINUE_ON_ERROR attempts each update although others fail.")
def continue_on_error(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(*MIXED, atomicity=CONTINUE), OF_MIXED)
    wants(keys(peer.entries(entry(""))), keys((stamp(1), forward())))


def all_or_none(lab: Lab, atomicity: int) -> None:
    peer = lab.primary()
    result = peer.write(*MIXED, atomicity=atomicity)
    wants(result.partition(" ")[0], "UNKNOWN", "UNIMPLEMENTED")
    wants(peer.entries(entry("")), [])
    if result != "UNIMPLEMENTED":
        wants(peer.write(insert(stamp(1)), insert(forward()), atomicity=atomicity), OK, "UNIMPLEMENTED")


@check("12.2", "MAY", "ROLLBACK_ON_ERROR writes all or none, or is UNIMPLEMENTED.")
def rollback_on_error(lab: Lab) -> None:
    all_or_none(lab, ROLLBACK)


@check("12.2", "MAY", "DATAPLANE_ATOMIC writes all or none, or is UNIMPLEMENTED.")
def dataplane_atomic(lab: Lab) -> None:
    all_or_none(lab, ATOMIC)


@check(
    "12.3",
    "MUST",
    "A failed batch is UNKNOWN, with an error per update, in their order; those in order are OK.",
)
def errors_of_a_batch(lab: Lab) -> None:
    wants(lab.primary().write(*MIXED), OF_MIXED)


@check("12.3", "MUST", "The error of an update in order has a code only.")
def an_update_in_order_has_a_code_only(lab: Lab) -> None:
    peer = lab.primary()
    peer.write(*MIXED)
    assert peer.error is not None
    wants([each for each in errors(peer.error) if each.canonical_code == 0], [p4r.Error()] * 2)


@check("12.3", "MUST", "An error of the whole Write has no details.")
def an_error_of_the_whole_write(lab: Lab) -> None:
    peer = lab.primary(5)
    wants(peer.write(*MIXED, election_id=4), DENIED)
    assert peer.error is not None
    wants(len(status(peer.error).details), 0)


@check("10", "MUST", "Code and message of google.rpc.Status are those of the gRPC status.")
def the_status_is_that_of_the_call(lab: Lab) -> None:
    peer = lab.primary()
    peer.write(*MIXED)
    error = peer.error
    assert error is not None
    wants((status(error).code, status(error).message == error.details()), (2, True))


@check("A.4.2", "MUST", "A request may have 4 MB.")
def a_request_of_four_megabytes(lab: Lab) -> None:
    made = stamp()
    made.table_entry.metadata = bytes((4 << 20) - 200)
    result = lab.primary().write(insert(made))
    wants(result, OK, refused("INVALID_ARGUMENT"), refused("RESOURCE_EXHAUSTED"))
