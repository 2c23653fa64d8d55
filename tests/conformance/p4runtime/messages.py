# SPDX-License-Identifier: Apache-2.0
"""Entities in their canonical form, as the specification wants them to be read back."""

from __future__ import annotations

from collections.abc import Sequence

from finsy.proto import p4r

from fakes.p4runtime_messages import IDS

MAC = 0x020000000002
TO_CONTROLLER = 63
AS_RECEIVED = 511
XCP = (1_000_000, 26214, 14811, 6554, 268_435, 268_435_456, 1, 1)


def number(value: int) -> bytes:
    """The shortest byte string of a number."""
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def entry(table: str, key: int | None = None, action: str = "", *arguments: int) -> p4r.Entity:
    """A table entry; parameters in the order of their ids."""
    made = p4r.TableEntry(table_id=IDS[table] if table else 0)
    if key is not None:
        made.match.add(field_id=1).exact.value = number(key)
    if action:
        made.action.action.action_id = IDS[action]
        for param_id, value in enumerate(arguments, 1):
            made.action.action.params.add(param_id=param_id, value=number(value))
    return p4r.Entity(table_entry=made)


def forward(mac: int = MAC, port: int = 1) -> p4r.Entity:
    """An entry of the table of addresses."""
    return entry("l2_forward", mac, "forward", port)


def stamp(port: int = 1) -> p4r.Entity:
    """An entry of an action without parameters."""
    return entry("stamp_port", port, "stamp")


def default(table: str, action: str = "", *arguments: int) -> p4r.Entity:
    """A table's default entry."""
    made = entry(table, None, action, *arguments)
    made.table_entry.is_default_action = True
    return made


def group(group_id: int, *replicas: tuple[int, int], metadata: bytes = b"") -> p4r.Entity:
    """A multicast group, of pairs of port and instance."""
    made = p4r.Entity()
    entry = made.packet_replication_engine_entry.multicast_group_entry
    entry.multicast_group_id = group_id
    entry.metadata = metadata
    for port, instance in replicas:
        entry.replicas.add(port=number(port), instance=instance)
    return made


def backed_up(port: int, *backups: int) -> p4r.Entity:
    """Multicast group 1 with one replica and its backups, whose instances count from 2."""
    made = group(1, (port, 1))
    replica = made.packet_replication_engine_entry.multicast_group_entry.replicas[0]
    for instance, backup in enumerate(backups, 2):
        replica.backup_replicas.add(port=number(backup), instance=instance)
    return made


def clone_session(session_id: int, port: int = 1) -> p4r.Entity:
    """A clone session with one copy."""
    made = p4r.Entity()
    entry = made.packet_replication_engine_entry.clone_session_entry
    entry.session_id = session_id
    if session_id:
        entry.replicas.add(port=number(port), instance=1)
    return made


def frame(mac: int = MAC, length: int = 100) -> bytes:
    """A frame of the experimental type."""
    return mac.to_bytes(6, "big") + bytes.fromhex("020000000001") + b"\x88\xb5" + bytes(length - 14)


def packet(payload: bytes, *metadata: tuple[int, bytes]) -> p4r.StreamMessageRequest:
    """A PacketOut with pairs of metadata id and value."""
    made = p4r.PacketOut(payload=payload)
    for metadata_id, value in metadata:
        made.metadata.add(metadata_id=metadata_id, value=value)
    return p4r.StreamMessageRequest(packet=made)


def packet_to(port: int, payload: bytes) -> p4r.StreamMessageRequest:
    """A PacketOut for a port."""
    return packet(payload, (1, number(port)), (2, b"\0"))


def keys(entities: Sequence[p4r.Entity]) -> list[tuple[int, bytes]]:
    """Table and match of entries, in order."""
    found = [each.table_entry for each in entities]
    return sorted((each.table_id, each.match[0].exact.value if each.match else b"") for each in found)
