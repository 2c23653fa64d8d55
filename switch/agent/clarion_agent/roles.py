# SPDX-License-Identifier: Apache-2.0
"""What a role may do: `role.config` of an arbitration, as Stratum's message `stratum.P4RoleConfig`.

P4Runtime leaves the message open (section "Role Config"). Stratum's is the one that others use, too:
stratum/public/proto/p4_role_config.proto. A role may read and write the entities whose P4Info id it lists, as
its own (`exclusive_p4_ids`) or together with other roles (`shared_p4_ids`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from finsy.proto import p4r
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError
from grpc import StatusCode

from clarion_agent.status import Refused, invalid

FULL_NAME = "stratum.P4RoleConfig"
_Field = descriptor_pb2.FieldDescriptorProto


def _message() -> Any:
    file = descriptor_pb2.FileDescriptorProto(
        name="clarion_agent/p4_role_config.proto", package="stratum", syntax="proto3"
    )
    role = file.message_type.add(name="P4RoleConfig")
    packet_filter = role.nested_type.add(name="PacketFilter")
    for owner, name, number, kind, repeated in (
        (packet_filter, "metadata_id", 1, _Field.TYPE_UINT32, False),
        (packet_filter, "value", 2, _Field.TYPE_BYTES, False),
        (role, "exclusive_p4_ids", 1, _Field.TYPE_UINT32, True),
        (role, "shared_p4_ids", 2, _Field.TYPE_UINT32, True),
        (role, "packet_in_filter", 3, _Field.TYPE_MESSAGE, False),
        (role, "receives_packet_ins", 4, _Field.TYPE_BOOL, False),
        (role, "can_push_pipeline", 5, _Field.TYPE_BOOL, False),
    ):
        label = _Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
        field = owner.field.add(name=name, number=number, type=kind, label=label)
        if kind == _Field.TYPE_MESSAGE:
            field.type_name = ".stratum.P4RoleConfig.PacketFilter"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(FULL_NAME))


P4RoleConfig = _message()


@dataclass(frozen=True)
class Access:
    """What a role may do; without ids: everything."""

    exclusive: frozenset[int] | None = None
    shared: frozenset[int] = frozenset()
    receives_packet_ins: bool = True
    packet_in_filter: tuple[int, bytes] | None = None  # id and value of a PacketIn's metadata
    can_push_pipeline: bool = True

    def allows(self, p4_id: int) -> bool:
        """Whether the role may read and write the entities of this id."""
        return self.exclusive is None or p4_id in self.exclusive or p4_id in self.shared

    def receives(self, message: p4r.StreamMessageResponse) -> bool:
        """Whether a PacketIn or a digest list is for the role."""
        if message.WhichOneof("update") == "digest":
            return self.allows(message.digest.digest_id)
        wanted = self.packet_in_filter
        return self.receives_packet_ins and (
            wanted is None
            or any((each.metadata_id, each.value) == wanted for each in message.packet.metadata)
        )

    def conflict(self, other: Access) -> int | None:
        """An id that one of both has for itself and the other has, too."""
        mine, theirs = self.exclusive or frozenset(), other.exclusive or frozenset()
        common = mine & (theirs | other.shared) | theirs & self.shared
        return min(common, default=None)


FULL = Access()


def access(name: str, config: Any, known_ids: Collection[int]) -> Access:
    """The access that a role's packed configuration gives. Refused with INVALID_ARGUMENT."""
    said = P4RoleConfig()
    if config.type_url.rpartition("/")[2] != FULL_NAME:
        raise invalid(f"role {name!r}: config: {config.type_url!r}: use a {FULL_NAME}")
    try:
        said.ParseFromString(config.value)
    except DecodeError:
        raise invalid(f"role {name!r}: config: not a {FULL_NAME}") from None
    if not name:
        raise invalid("role: config: the default role may do everything; give the role a name")
    for p4_id in (*said.exclusive_p4_ids, *said.shared_p4_ids):
        if p4_id not in known_ids:
            raise invalid(f"role {name!r}: config: id {p4_id}: the program has nothing of that id")
    wanted = None
    if said.HasField("packet_in_filter"):
        value = bytes(said.packet_in_filter.value).lstrip(b"\0") or b"\0"
        wanted = (said.packet_in_filter.metadata_id, value)
        if not said.receives_packet_ins or not said.packet_in_filter.value:
            raise invalid(f"role {name!r}: config: packet_in_filter: needs a value, and receives_packet_ins")
    return Access(
        frozenset(said.exclusive_p4_ids),
        frozenset(said.shared_p4_ids),
        said.receives_packet_ins,
        wanted,
        said.can_push_pipeline,
    )


def denied(what: str) -> Refused:
    """The refusal of something that the role's configuration does not list."""
    return Refused(StatusCode.PERMISSION_DENIED, f"{what}: is not in the role's configuration")
