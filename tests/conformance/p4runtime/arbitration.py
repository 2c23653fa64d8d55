# SPDX-License-Identifier: Apache-2.0
"""Section 5: who is primary, and what controllers are told of it."""

from __future__ import annotations

from finsy.proto import U128
from google.protobuf.any_pb2 import Any

from conformance.p4runtime.checks import check, wants
from conformance.p4runtime.messages import stamp
from conformance.p4runtime.peer import OK, Lab
from fakes.p4runtime_messages import insert

ENDS = "ends the stream with "
DENIED = "PERMISSION_DENIED"


@check("5", "MUST", "The client with the highest election id ever received is primary; the server says OK.")
def the_first_controller_is_primary(lab: Lab) -> None:
    peer = lab.peer()
    wants(peer.arbitrate(5), OK)
    wants((peer.told.device_id, U128.decode(peer.told.election_id)), (lab.devices[0], 5))


@check("5", "MUST", "The election id has 128 bits.")
def election_ids_have_128_bits(lab: Lab) -> None:
    low, high = lab.peer(), lab.peer()
    wants(low.arbitrate(2**64 - 1), OK)
    wants(high.arbitrate(2**64), OK)
    wants(low.notice(), "ALREADY_EXISTS")
    wants(U128.decode(low.told.election_id), 2**64)


@check("5", "MUST", "The server selects a primary for each device and role independently.")
def each_role_has_its_primary(lab: Lab) -> None:
    first = lab.bare_primary(5)
    wants(lab.peer(role="other").arbitrate(4), OK)
    wants(first.notices_so_far(), [])


@check("5", "MUST", "The same election id may be used with another role.")
def roles_may_have_the_same_election_id(lab: Lab) -> None:
    lab.bare_primary(5)
    other = lab.peer(role="other")
    wants(other.arbitrate(5), OK)
    wants(other.told.role.name, "other")


@check("5", "MUST", "The same election id may be used with another device of the server.")
def devices_may_have_the_same_election_id(lab: Lab) -> None:
    for device_id in lab.devices:
        peer = lab.peer(device_id=device_id)
        wants(peer.arbitrate(5), OK)
        wants(peer.told.device_id, device_id)


@check("5", "MUST", "A Write is identified by device, role and election id, not by its connection.")
def a_write_may_come_by_another_connection(lab: Lab) -> None:
    lab.primary(5)
    wants(lab.peer().write(insert(stamp()), election_id=5), OK)


@check("5", "MUST", "When the primary's stream breaks, the others are told, and there is no primary.")
def a_primary_leaves(lab: Lab) -> None:
    primary = lab.primary(5)
    backup = lab.backup(4)
    primary.close()
    wants(backup.notice(), "NOT_FOUND")
    wants(U128.decode(backup.told.election_id), 5)


@check("5", "MUST", "After that there is no primary until a client asks to be it.")
def no_backup_moves_up_by_itself(lab: Lab) -> None:
    primary = lab.primary(5)
    backup = lab.backup(4)
    primary.close()
    backup.notice()
    wants(backup.write(insert(stamp())), DENIED)


@check(
    "5.1", "MUST", "Without a role the controller has the default role, and its calls leave the role unset."
)
def the_default_role_has_full_access(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.told.role.name, "")
    wants(peer.write(insert(stamp()), role=""), OK)


@check("5.1", "MUST", "A device id is not zero.")
def device_zero_is_none(lab: Lab) -> None:
    wants(lab.peer().arbitrate(1, device_id=0), f"{ENDS}NOT_FOUND", f"{ENDS}INVALID_ARGUMENT")


@check("5.3", "MUST", "A first update for an unknown device ends the stream with NOT_FOUND.")
def arbitration_for_an_unknown_device(lab: Lab) -> None:
    wants(lab.peer().arbitrate(1, device_id=lab.absent_device_id), f"{ENDS}NOT_FOUND")


@check(
    "5.3",
    "MUST",
    "A first update with another live controller's election id ends the stream, INVALID_ARGUMENT.",
)
def an_election_id_that_is_in_use(lab: Lab) -> None:
    lab.bare_primary(5)
    wants(lab.peer().arbitrate(5), f"{ENDS}INVALID_ARGUMENT")


@check("5.3", "MUST", "So does a later one; the controller's own election id is not another's.")
def an_election_id_that_is_in_use_later(lab: Lab) -> None:
    lab.bare_primary(5)
    backup = lab.backup(4)
    wants(backup.arbitrate(4), "ALREADY_EXISTS")
    wants(backup.arbitrate(5), f"{ENDS}INVALID_ARGUMENT")


@check("5.3", "MUST", "An election id is in use only as long as its controller lives.")
def an_election_id_is_free_when_its_stream_ends(lab: Lab) -> None:
    first = lab.bare_primary(5)
    backup = lab.backup(None)
    first.close()
    wants(backup.notice(), "NOT_FOUND")
    wants(lab.peer().arbitrate(5), OK)


@check("5.3", "MUST", "A role.config of a scheme that was not agreed upon is refused with INVALID_ARGUMENT.")
def a_role_config_of_an_unknown_scheme(lab: Lab) -> None:
    config = Any(type_url="type.googleapis.com/google.protobuf.Empty")
    wants(lab.peer(role="other").arbitrate(1, config=config), f"{ENDS}INVALID_ARGUMENT")


@check("5.3", "MUST", "A live controller that names another device ends its stream with FAILED_PRECONDITION.")
def a_stream_keeps_its_device(lab: Lab) -> None:
    peer = lab.bare_primary(5)
    other = lab.devices[1] if len(lab.devices) > 1 else lab.absent_device_id
    wants(peer.arbitrate(5, device_id=other), f"{ENDS}FAILED_PRECONDITION")


@check("5.3", "MUST", "A live controller that names another role ends its stream with FAILED_PRECONDITION.")
def a_stream_keeps_its_role(lab: Lab) -> None:
    wants(lab.bare_primary(5).arbitrate(5, role="other"), f"{ENDS}FAILED_PRECONDITION")


@check("5.3", "MUST", "An election id below the highest ever seen makes a backup.")
def a_lower_election_id_is_a_backup(lab: Lab) -> None:
    lab.bare_primary(5)
    backup = lab.peer()
    wants(backup.arbitrate(4), "ALREADY_EXISTS")
    wants(U128.decode(backup.told.election_id), 5)
    wants(backup.write(insert(stamp())), DENIED)


@check("5.3", "MUST", "That holds although the highest one's controller has left.")
def a_lower_election_id_is_a_backup_later_too(lab: Lab) -> None:
    primary, witness = lab.bare_primary(5), lab.backup(None)
    primary.close()
    witness.notice()
    wants(lab.peer().arbitrate(4), "NOT_FOUND")


@check("5.3", "MUST", "An election id equal to the highest ever seen makes a primary.")
def a_primary_comes_back(lab: Lab) -> None:
    primary, witness = lab.bare_primary(5), lab.backup(None)
    primary.close()
    witness.notice()
    wants(lab.peer().arbitrate(5), OK)


@check("5.3", "MUST", "A backup that raises its election id to the highest becomes primary.")
def a_backup_takes_over(lab: Lab) -> None:
    primary, backup = lab.bare_primary(5), lab.backup(4)
    wants(backup.arbitrate(6), OK)
    wants(primary.notice(), "ALREADY_EXISTS")


@check("5.3", "MUST", "The previous primary's Writes are refused, the new one's accepted.")
def the_previous_primary_may_not_write(lab: Lab) -> None:
    first = lab.primary(5)
    second = lab.bare_primary(6)
    wants(first.write(insert(stamp())), DENIED)
    wants(second.write(insert(stamp())), OK)


@check("5.3", "MUST", "A primary that sends its election id again stays primary and is told so.")
def a_primary_asks_again(lab: Lab) -> None:
    peer = lab.primary(5)
    wants(peer.arbitrate(5), OK)
    wants(peer.write(insert(stamp())), OK)


@check("5.3", "MUST", "A primary that lowers its election id becomes a backup, and all are told.")
def a_primary_steps_down(lab: Lab) -> None:
    primary, backup = lab.bare_primary(5), lab.backup(4)
    wants(primary.arbitrate(3), "NOT_FOUND")
    wants(backup.notice(), "NOT_FOUND")
    wants(primary.write(insert(stamp())), DENIED)


@check("5.3", "MUST", "A new backup's notice goes to itself only.")
def others_are_not_told_of_a_backup(lab: Lab) -> None:
    primary = lab.bare_primary(5)
    lab.backup(4)
    wants(primary.notices_so_far(), [])


@check("5.4", "MUST", "All controllers of the role are told of a new primary and its election id.")
def all_are_told_of_a_new_primary(lab: Lab) -> None:
    lab.bare_primary(5)
    backups = [lab.backup(4), lab.backup(3), lab.backup(None)]
    lab.bare_primary(6)
    for backup in backups:
        wants(backup.notice(), "ALREADY_EXISTS")
        wants(U128.decode(backup.told.election_id), 6)


@check("5.4", "MUST", "Controllers of another role are not told.")
def other_roles_are_not_told(lab: Lab) -> None:
    other = lab.peer(role="other")
    wants(other.arbitrate(1), OK)
    lab.bare_primary(6)
    wants((other.arbitrate(2), U128.decode(other.told.election_id)), (OK, 2))


@check("5.4", "MUST", "As long as there has not been any primary, the notice has no election id.")
def there_has_not_been_any_primary(lab: Lab) -> None:
    peer = lab.peer()
    wants(peer.arbitrate(None), "NOT_FOUND")
    wants(peer.told.HasField("election_id"), False)


@check("16.2.1", "MUST", "A controller without an election id never becomes primary.")
def no_election_id_is_lower_than_any(lab: Lab) -> None:
    peer = lab.peer()
    wants(peer.arbitrate(None), "NOT_FOUND")
    wants(peer.write(insert(stamp())), DENIED)


@check("16.2.1", "MUST", "Election id 0 is an election id.")
def election_id_zero_is_one(lab: Lab) -> None:
    peer = lab.peer()
    wants(peer.arbitrate(0), OK)
    wants(peer.told.HasField("election_id"), True)
