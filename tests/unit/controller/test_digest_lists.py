# SPDX-License-Identifier: Apache-2.0
"""Digest lists read from the wire, against what protobuf itself makes of them."""

from __future__ import annotations

from finsy.proto import p4d, p4r

from clarion_p4rt import digest_lists
from clarion_p4rt.digest_lists import DigestList

VALUES = [[0, 1, 255, 2**64 - 1, 2**128 - 1], [7, 10, 0x0A0A, 2**40, 5]]


def message(values: list[list[int]]) -> p4r.StreamMessageResponse:
    """A list of reports, zero as the empty string and as one byte in turn."""
    digest = p4r.DigestList(digest_id=390749407, list_id=3, timestamp=99)
    for row in values:
        data = digest.data.add()
        for at, value in enumerate(row):
            size = (value.bit_length() + 7) // 8 or at % 2
            data.struct.members.append(p4d.P4Data(bitstring=value.to_bytes(size, "big")))
    return p4r.StreamMessageResponse(digest=digest)


def test_values_are_those_that_protobuf_reads() -> None:
    read = digest_lists.decode(message(VALUES).SerializeToString())
    assert isinstance(read, DigestList)
    assert read.digest_id == 390749407
    assert list(read.values()) == VALUES


def test_an_empty_list_is_one() -> None:
    read = digest_lists.decode(message([]).SerializeToString())
    assert isinstance(read, DigestList)
    assert list(read.values()) == []


def test_other_messages_are_protobufs() -> None:
    sent = p4r.StreamMessageResponse(arbitration=p4r.MasterArbitrationUpdate(device_id=4))
    assert digest_lists.decode(sent.SerializeToString()) == sent
