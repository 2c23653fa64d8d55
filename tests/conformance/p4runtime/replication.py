# SPDX-License-Identifier: Apache-2.0
"""Section 9.5: multicast groups and clone sessions."""

from __future__ import annotations

from finsy.proto import p4r

from conformance.p4runtime.checks import check, wants
from conformance.p4runtime.messages import backed_up, clone_session, group
from conformance.p4runtime.peer import OK, Lab, Peer, refused
from fakes.p4runtime_messages import delete, insert, modify

INVALID = refused("INVALID_ARGUMENT")
A, B = 257, 258  # where a copy for port 1 and one for port 2 goes


def with_group(lab: Lab) -> Peer:
    peer = lab.primary()
    wants(peer.write(insert(group(1, (A, 1), (B, 2)))), OK)
    return peer


def groups(found: list[p4r.Entity]) -> list[p4r.Entity]:
    """Groups with their replicas in order, which a server may change."""
    for each in found:
        replicas = each.packet_replication_engine_entry.multicast_group_entry.replicas
        replicas.sort(key=lambda replica: (replica.instance, replica.port))
    return found


@check("9.5.1", "MUST", "A multicast group is read as it was inserted.")
def a_group_is_inserted(lab: Lab) -> None:
    peer = lab.primary()
    made = group(1, (A, 1), (B, 2))
    wants(peer.write(insert(made)), OK)
    wants(groups(peer.entries(group(1))) == [made], True)


@check("9.5.1", "MUST", "So are its metadata.")
def metadata_of_a_group_are_returned(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(group(1, (A, 1), metadata=b"mine"))), OK)
    (found,) = peer.entries(group(1))
    wants(found.packet_replication_engine_entry.multicast_group_entry.metadata, b"mine")


@check("9.5.1", "MUST", "MODIFY replaces replicas and metadata.")
def a_group_is_modified(lab: Lab) -> None:
    peer = with_group(lab)
    made = group(1, (B, 7))
    wants(peer.write(modify(made)), OK)
    wants(peer.entries(group(1)) == [made], True)


@check("9.5.1", "MUST", "DELETE needs the group's id only.")
def a_group_is_deleted(lab: Lab) -> None:
    peer = with_group(lab)
    wants(peer.write(delete(group(1))), OK)
    wants(peer.entries(group(0)), [])


@check("9.5.1", "MUST", "Group id 0 reads all groups; nothing but the id is considered.")
def all_groups_are_read(lab: Lab) -> None:
    peer = with_group(lab)
    wants(groups(peer.entries(group(0))) == [group(1, (A, 1), (B, 2))], True)
    wants(groups(peer.entries(group(1, (A, 9)))) == [group(1, (A, 1), (B, 2))], True)


@check("9.5.1", "MUST", "Group id 0 in a Write is INVALID_ARGUMENT.")
def group_zero_cannot_be_written(lab: Lab) -> None:
    wants(lab.primary().write(insert(group(0, (A, 1)))), INVALID)


@check("9.5.1", "MUST", "A group has any id that the target supports, not only 1.")
def groups_have_other_ids(lab: Lab) -> None:
    wants(lab.primary().write(insert(group(2, (A, 1)))), OK)


@check("9.5.1", "MUST", "Instance 0 is one.")
def instance_zero_is_one(lab: Lab) -> None:
    wants(lab.primary().write(insert(group(1, (A, 0)))), OK)


@check("9.5.1", "MUST", "The same port and instance twice is INVALID_ARGUMENT.")
def a_replica_that_is_there_twice(lab: Lab) -> None:
    wants(lab.primary().write(insert(group(1, (A, 1), (A, 1)))), INVALID)


@check("9.5.1", "MUST", "The same port with two instances is in order.")
def a_port_with_two_instances(lab: Lab) -> None:
    wants(lab.primary().write(insert(group(1, (A, 1), (A, 2)))), OK)


@check("9.5.1", "MUST", "INSERT of a group that exists is ALREADY_EXISTS and changes nothing.")
def a_group_that_exists(lab: Lab) -> None:
    peer = with_group(lab)
    wants(peer.write(insert(group(1, (A, 1)))), refused("ALREADY_EXISTS"))
    wants(groups(peer.entries(group(1))) == [group(1, (A, 1), (B, 2))], True)


@check("9.5.1", "MUST", "MODIFY and DELETE of a group that does not exist are NOT_FOUND.")
def a_group_that_does_not_exist(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(modify(group(1, (A, 1)))), refused("NOT_FOUND"))
    wants(peer.write(delete(group(1))), refused("NOT_FOUND"))


@check("9.5.1", "MAY", "Backup replicas are supported, and read in their order; else they are UNIMPLEMENTED.")
def backup_replicas(lab: Lab) -> None:
    peer = lab.primary()
    made = backed_up(A, B, B)
    result = peer.write(insert(made))
    wants(result, OK, refused("UNIMPLEMENTED"))
    wants(peer.entries(group(0)) == ([made] if result == OK else []), True)


@check("9.5.1", "MUST", "A backup with the port of its own replica is INVALID_ARGUMENT.")
def a_backup_with_the_replicas_port(lab: Lab) -> None:
    wants(lab.primary().write(insert(backed_up(A, A))), INVALID, refused("UNIMPLEMENTED"))


@check("9.5.2", "MUST", "A clone session is read as it was inserted.")
def a_clone_session_is_inserted(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(clone_session(100))), OK)
    wants(peer.entries(clone_session(100)) == [clone_session(100)], True)


@check("9.5.2", "MUST", "Session id 0 in a Write is INVALID_ARGUMENT.")
def clone_session_zero_cannot_be_written(lab: Lab) -> None:
    wants(lab.primary().write(insert(clone_session(0))), INVALID)


@check("9.5.2", "MUST", "Session id 0 reads all sessions: none, as long as none was inserted.")
def all_clone_sessions_are_read(lab: Lab) -> None:
    wants(lab.primary().read(clone_session(0)), (OK, []))
