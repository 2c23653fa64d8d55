# SPDX-License-Identifier: Apache-2.0
"""Section 9.8: digests. The program sends one for each packet that finds no place in a queue."""

from __future__ import annotations

from finsy.proto import p4r

from conformance.p4runtime.checks import check, wants
from conformance.p4runtime.messages import AS_RECEIVED, entry, forward, frame, packet_to
from conformance.p4runtime.peer import OK, Lab, Peer, refused
from fakes.p4runtime_messages import IDS, delete, digest, insert, modify

DROP = "queue_drop_t"
NEVER_NS = 10**15


def dropping(lab: Lab, settings: p4r.Entity) -> Peer:
    """A primary of a switch that drops what goes to port 1, with these settings of the digest."""
    peer = lab.primary()
    full = entry("queue_port", 1, "set_queue_port", 0)
    wants(peer.write(insert(forward()), insert(full), insert(settings)), OK)
    return peer


def drop(peer: Peer, packets: int) -> None:
    for _ in range(packets):
        peer.send(packet_to(AS_RECEIVED, frame()))


def drops(found: p4r.DigestList | None) -> list[bytes] | None:
    """The last member of each message in a list: how many drops there have been."""
    return None if found is None else [each.struct.members[-1].bitstring for each in found.data]


@check("9.8", "MUST", "The settings of a digest are read as they were inserted, one or all.")
def digests_are_switched_on(lab: Lab) -> None:
    peer = lab.primary()
    made = digest(DROP, size=3, timeout_ns=10**9, ack_ns=10**9)
    wants(peer.write(insert(made)), OK)
    wants(peer.entries(digest(DROP)) == [made], True)
    wants(peer.entries(digest("")) == [made], True)


@check("9.8", "MUST", "MODIFY replaces the settings.")
def digests_are_modified(lab: Lab) -> None:
    peer = lab.primary()
    made = digest(DROP, size=5)
    wants(peer.write(insert(digest(DROP, size=3, timeout_ns=10**9))), OK)
    wants(peer.write(modify(made)), OK)
    wants(peer.entries(digest(DROP)) == [made], True)


@check("9.8", "MUST", "MODIFY of a digest that is not switched on is NOT_FOUND.")
def digests_that_are_off_cannot_be_modified(lab: Lab) -> None:
    wants(lab.primary().write(modify(digest(DROP, size=3))), refused("NOT_FOUND"))


@check("9.8", "MUST", "INSERT of a digest that is switched on is ALREADY_EXISTS.")
def digests_are_switched_on_once(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(digest(DROP, size=3))), OK)
    wants(peer.write(insert(digest(DROP, size=4))), refused("ALREADY_EXISTS"))


@check("9.8", "MUST", "DELETE switches a digest off.")
def digests_are_switched_off(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(digest(DROP, size=3))), OK)
    wants(peer.write(delete(digest(DROP))), OK)
    wants(peer.entries(digest("")), [])


@check("9.8", "MUST", "DELETE of a digest that is off is NOT_FOUND.")
def digests_are_switched_off_once(lab: Lab) -> None:
    wants(lab.primary().write(delete(digest(DROP))), refused("NOT_FOUND"))


@check("9.8", "MUST", "With a time-out of 0 each message is sent at once.")
def digests_without_a_timeout(lab: Lab) -> None:
    peer = dropping(lab, digest(DROP, size=100))
    drop(peer, 1)
    wants(drops(peer.next("digest")), [b"\1"])
    drop(peer, 1)
    wants(drops(peer.next("digest")), [b"\2"])


@check("9.8", "MUST", "A list is sent when it has max_list_size messages.")
def digests_fill_a_list(lab: Lab) -> None:
    peer = dropping(lab, digest(DROP, size=3, timeout_ns=NEVER_NS))
    drop(peer, 6)
    wants(drops(peer.next("digest")), [b"\1", b"\2", b"\3"])
    wants(drops(peer.next("digest")), [b"\4", b"\5", b"\6"])


@check("9.8", "MUST", "A list that is not full is sent after max_timeout_ns.")
def digests_are_sent_after_a_time(lab: Lab) -> None:
    peer = dropping(lab, digest(DROP, size=100, timeout_ns=200_000_000))
    drop(peer, 2)
    found = drops(peer.next("digest"))
    if found == [b"\1"]:  # the second took longer than that on the way
        found += drops(peer.next("digest")) or []
    wants(found, [b"\1", b"\2"])


@check("9.8", "MUST", "A list names its digest and has an id to acknowledge.")
def digest_lists_have_an_id(lab: Lab) -> None:
    peer = dropping(lab, digest(DROP, size=1, ack_ns=NEVER_NS))
    found = []
    for _ in range(2):
        drop(peer, 1)
        found.append(peer.next("digest"))
        if found[-1] is not None:
            ack = p4r.DigestListAck(digest_id=found[-1].digest_id, list_id=found[-1].list_id)
            peer.send(p4r.StreamMessageRequest(digest_ack=ack))
    wants([None if each is None else each.digest_id for each in found], [IDS[DROP]] * 2)
    wants(found[0].list_id != found[1].list_id, True)
    wants(peer.so_far("error"), [])


@check("9.8", "MUST", "Lists go to the primary.")
def digests_are_for_the_primary(lab: Lab) -> None:
    peer = dropping(lab, digest(DROP, size=1))
    backup = lab.backup(None)
    drop(peer, 1)
    wants(drops(peer.next("digest")), [b"\1"])
    wants(backup.so_far("digest"), [])
