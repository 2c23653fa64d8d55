# SPDX-License-Identifier: Apache-2.0
"""Sections 16 and 17: packets, errors of stream messages, and Capabilities."""

from __future__ import annotations

import re

from finsy.proto import p4r
from google.protobuf.any_pb2 import Any

from conformance.p4runtime.checks import check, wants
from conformance.p4runtime.messages import (
    AS_RECEIVED,
    MAC,
    TO_CONTROLLER,
    forward,
    frame,
    number,
    packet,
    packet_to,
)
from conformance.p4runtime.peer import CODES, OK, SILENCE, Lab, Peer
from fakes.p4runtime_messages import counter, insert, modify, p4info
from integration.agent_net import until

INVALID = "INVALID_ARGUMENT"
GOOD_BYTES = 120  # of a frame that is not like the others


def sent(peer: Peer, port: int) -> int:
    """The packets that have left by a port."""
    count: int = peer.entries(counter("tx", port))[0].counter_entry.data.packet_count
    return count


def complaint(peer: Peer, details: str) -> str:
    """The code of the error that has come on the stream, which the server may leave out."""
    found = peer.so_far("error")
    if not found:
        return SILENCE
    assert len(found) == 1, found
    named = found[0].WhichOneof("details")
    return CODES[found[0].canonical_code] if named == details else f"an error of {named}"


def is_dropped(lab: Lab, request: p4r.StreamMessageRequest) -> None:
    """Whether only the next packet comes in, and the error, if there is one, is that of a bad argument."""
    peer = listening(lab)
    peer.send(request)
    peer.send(packet_to(1, frame(length=GOOD_BYTES)))
    found = peer.next("packet")
    wants(None if found is None else len(found.payload), GOOD_BYTES)
    wants(complaint(peer, "packet_out"), INVALID, "OUT_OF_RANGE", SILENCE)


def listening(lab: Lab) -> Peer:
    """A primary that gets what comes in by a port for MAC."""
    peer = lab.primary()
    wants(peer.write(insert(forward(MAC, TO_CONTROLLER))), OK)
    return peer


@check("16.1", "MUST", "The primary's PacketOut leaves by the port that its metadata name.")
def a_packet_goes_out(lab: Lab) -> None:
    peer = listening(lab)
    peer.send(packet_to(1, frame()))
    wants(peer.next("packet") is not None, True)
    wants((sent(peer, 1), sent(peer, 2)), (1, 0))


@check("16.1", "MUST", "A PacketIn has the whole packet and precisely the metadata of the P4Info.")
def a_packet_comes_in(lab: Lab) -> None:
    peer = listening(lab)
    peer.send(packet_to(1, frame()))  # over the wire to port 2
    found = peer.next("packet")
    wants(found is not None and found.payload == frame(), True)
    (header,) = (each for each in p4info().controller_packet_metadata if each.preamble.name == "packet_in")
    wants(sorted(each.metadata_id for each in found.metadata), sorted(each.id for each in header.metadata))
    values = {each.metadata_id: each.value for each in found.metadata}
    wants(values[1], b"\2")


@check("16.1", "MUST", "Values in a PacketIn are byte strings in their shortest form.")
def metadata_are_in_their_shortest_form(lab: Lab) -> None:
    peer = listening(lab)
    peer.send(packet_to(1, frame()))
    found = peer.next("packet")
    wants(found is not None, True)
    for each in found.metadata:
        wants(each.value, number(int.from_bytes(each.value, "big")))


@check("5", "MUST", "PacketIn goes to the primary only.")
def packets_are_for_the_primary(lab: Lab) -> None:
    peer = listening(lab)
    backup = lab.backup(None)
    peer.send(packet_to(1, frame()))
    wants(peer.next("packet") is not None, True)
    wants(backup.so_far("packet"), [])


@check("16.1", "MUST", "A PacketOut of a client that may not send any is dropped.")
def a_backup_sends_no_packets(lab: Lab) -> None:
    peer = listening(lab)
    backup = lab.backup(0)
    backup.send(packet_to(1, frame()))
    wants(complaint(backup, "packet_out"), "PERMISSION_DENIED", SILENCE)
    peer.send(packet_to(1, frame(length=GOOD_BYTES)))
    found = peer.next("packet")
    wants(None if found is None else len(found.payload), GOOD_BYTES)


@check("16.1", "MUST", "A PacketOut without one of its metadata is dropped.")
def a_packet_without_its_metadata(lab: Lab) -> None:
    is_dropped(lab, packet(frame(), (2, b"\0")))


@check("16.1", "MUST", "Padding is metadata, too: a PacketOut without it is dropped.")
def a_packet_without_its_padding(lab: Lab) -> None:
    is_dropped(lab, packet(frame(), (1, b"\1")))


@check("16.1", "MUST", "A PacketOut with metadata that it does not have is dropped.")
def a_packet_with_unknown_metadata(lab: Lab) -> None:
    is_dropped(lab, packet(frame(), (1, b"\1"), (2, b"\0"), (7, b"\1")))


@check("16.1", "MUST", "A PacketOut with the same metadata twice is dropped.")
def a_packet_with_metadata_twice(lab: Lab) -> None:
    is_dropped(lab, packet(frame(), (1, b"\1"), (2, b"\0"), (1, b"\2")))


@check("16.1", "MUST", "A PacketOut with a value that is too large for its metadata is dropped.")
def a_packet_with_a_value_that_is_too_large(lab: Lab) -> None:
    is_dropped(lab, packet(frame(), (1, b"\x02\x01"), (2, b"\0")))


@check("16.1", "MUST", "Metadata may have leading zeros, as all byte strings.")
def metadata_may_have_leading_zeros(lab: Lab) -> None:
    peer = listening(lab)
    peer.send(packet(frame(), (1, b"\0\0\1"), (2, b"\0")))
    wants(peer.next("packet") is not None, True)
    wants(peer.so_far("error"), [])


@check("16.1", "MUST", "A PacketOut can also be forwarded as the program says.")
def a_packet_is_forwarded(lab: Lab) -> None:
    peer = lab.primary()
    wants(peer.write(insert(forward(MAC, 2))), OK)
    peer.send(packet_to(AS_RECEIVED, frame()))
    until(lambda: sent(peer, 2) >= 1, "the packet leaves")  # and comes back, until the controller takes it
    wants(peer.write(modify(forward(MAC, TO_CONTROLLER))), OK)
    wants(peer.next("packet") is not None, True)


@check("16.6", "MAY", "An error of a DigestListAck with an unknown digest id is INVALID_ARGUMENT.")
def an_acknowledgement_of_an_unknown_digest(lab: Lab) -> None:
    peer = lab.primary()
    peer.send(p4r.StreamMessageRequest(digest_ack=p4r.DigestListAck(digest_id=5, list_id=1)))
    wants(complaint(peer, "digest_list_ack"), INVALID, SILENCE)


@check("16.6", "MAY", "An error of another message says so, and does not end the stream.")
def another_message(lab: Lab) -> None:
    peer = lab.primary()
    other = Any(type_url="type.googleapis.com/google.protobuf.Empty")
    peer.send(p4r.StreamMessageRequest(other=other))
    wants(complaint(peer, "other"), INVALID, "UNIMPLEMENTED", SILENCE)


@check("17", "MUST", "The version is a full semantic version.")
def the_version_is_semantic(lab: Lab) -> None:
    result, reply = lab.peer().capabilities()
    wants(result, OK)
    wants(bool(re.fullmatch(r"\d+\.\d+\.\d+(-[\w.]+)?", reply.p4runtime_api_version)), True)


@check(
    "17", "MUST", "The version is that of the API which is implemented: 1.5.0 has all that is checked here."
)
def the_version_is_the_newest(lab: Lab) -> None:
    wants(lab.peer().capabilities()[1].p4runtime_api_version, "1.5.0")


@check("17", "MUST", "Capabilities of a device have those of the server, too.")
def capabilities_of_a_device(lab: Lab) -> None:
    lab.primary()
    result, reply = lab.peer().capabilities(lab.devices[0])
    wants((result, reply.p4runtime_api_version != ""), (OK, True))


@check("17", "MUST", "Capabilities of an unknown device are NOT_FOUND.")
def capabilities_of_an_unknown_device(lab: Lab) -> None:
    wants(lab.peer().capabilities(lab.absent_device_id)[0], "NOT_FOUND")
