# SPDX-License-Identifier: Apache-2.0
"""Digest lists as they come over the wire, without an object for each member of each report.

The members of a report are P4Data of bit strings. On the wire an embedded message is like bytes that hold it
(protobuf.dev/programming-guides/proto3, "Updating A Message Type"), and as such they are read here: a tag and
a length of one byte each, then the bit string. That takes a quarter of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from finsy.proto import p4d, p4r
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

HEAD_BYTES = 2  # of a member, before its bit string


def _reader() -> Any:
    """StreamMessageResponse as far as it is a digest list, with bytes for the members."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="clarion/digest_lists.proto", package="clarion")
    file.syntax = "proto3"

    def message(name: str, like: Any, **kinds: str) -> None:
        made = file.message_type.add(name=name)
        for each, kind in kinds.items():
            number = like.DESCRIPTOR.fields_by_name[each].number
            label = field.LABEL_REPEATED if each in ("members", "data") else field.LABEL_OPTIONAL
            added = made.field.add(name=each, number=number, label=label)
            added.type = getattr(field, f"TYPE_{'MESSAGE' if kind[0] == '.' else kind}")
            if kind[0] == ".":
                added.type_name = kind

    message("Struct", p4d.P4StructLike, members="BYTES")
    message("Data", p4d.P4Data, struct=".clarion.Struct")
    message("Digests", p4r.DigestList, digest_id="UINT32", data=".clarion.Data")
    message("Response", p4r.StreamMessageResponse, digest=".clarion.Digests")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("clarion.Response"))


_Response = _reader()
_DIGEST = p4r.StreamMessageResponse(digest=p4r.DigestList()).SerializeToString()[:1]  # the tag of its field


class DigestList:
    """One list of reports: the digest's id, and the values of each report."""

    def __init__(self, data: bytes) -> None:
        """From a serialised StreamMessageResponse that holds one."""
        self._list = _Response.FromString(data).digest
        self.digest_id: int = self._list.digest_id

    def values(self) -> Iterator[list[int]]:
        """The values of the members, report by report."""
        number = int.from_bytes
        for each in self._list.data:
            yield [number(member[HEAD_BYTES:], "big") for member in each.struct.members]


def decode(data: bytes) -> Any:
    """A message of the stream: a DigestList, or a StreamMessageResponse of another kind."""
    return DigestList(data) if data[:1] == _DIGEST else p4r.StreamMessageResponse.FromString(data)
