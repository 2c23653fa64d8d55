# SPDX-License-Identifier: Apache-2.0
"""Short ways to write the P4Runtime messages of the tests, from the P4Info of p4/."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from finsy.proto import p4i, p4r
from google.protobuf import text_format

from clarion_base.paths import ROOT
from clarion_contract.settings import AS_RECEIVED

P4INFO = ROOT / "p4/clarion.p4info.txtpb"


def p4info() -> p4i.P4Info:
    """The P4Info of p4/."""
    made = p4i.P4Info()
    text_format.Parse(P4INFO.read_text(), made)
    return made


def ids() -> dict[str, int]:
    """The id of each table, action, counter, register and digest by name."""
    info = p4info()
    kinds: Iterable[Any] = (info.tables, info.actions, info.counters, info.registers, info.digests)
    return {each.preamble.name: each.preamble.id for kind in kinds for each in kind}


IDS = ids()
XCP = (1_000_000, 26214, 14811, 6554, 268_435, 268_435_456, 1, 1)


def table_entry(table: str, key: int | None, action: str = "", arguments: Sequence[int] = ()) -> p4r.Entity:
    """An entry; without a key all of the table, without an action the key alone."""
    entry = p4r.TableEntry(table_id=IDS[table] if table else 0)
    if key is not None:
        entry.match.add(field_id=1).exact.value = key.to_bytes(6 if table == "l2_forward" else 2, "big")
    if action:
        entry.action.action.action_id = IDS[action]
        for number, value in enumerate(arguments, 1):
            entry.action.action.params.add(param_id=number, value=value.to_bytes(9, "big"))
    return p4r.Entity(table_entry=entry)


def insert(entity: p4r.Entity) -> p4r.Update:
    """INSERT."""
    return p4r.Update(type=p4r.Update.INSERT, entity=entity)


def modify(entity: p4r.Entity) -> p4r.Update:
    """MODIFY."""
    return p4r.Update(type=p4r.Update.MODIFY, entity=entity)


def delete(entity: p4r.Entity) -> p4r.Update:
    """DELETE."""
    return p4r.Update(type=p4r.Update.DELETE, entity=entity)


def group(*ports: int) -> p4r.Entity:
    """Multicast group 1."""
    entity = p4r.Entity()
    made = entity.packet_replication_engine_entry.multicast_group_entry
    made.multicast_group_id = 1
    for port in ports:
        made.replicas.add(egress_port=256 + port)
    return entity


def register(name: str, index: int | None = None, value: int | None = None) -> p4r.Entity:
    """A register cell, or the whole array; with a value, what to write."""
    entity = p4r.Entity()
    entity.register_entry.register_id = IDS[name] if name else 0
    if index is not None:
        entity.register_entry.index.index = index
    if value is not None:
        entity.register_entry.data.bitstring = value.to_bytes(16, "big")
    entity.register_entry.SetInParent()
    return entity


def counter(name: str, index: int | None = None) -> p4r.Entity:
    """A counter cell, or the whole array."""
    entity = p4r.Entity()
    entity.counter_entry.counter_id = IDS[name] if name else 0
    if index is not None:
        entity.counter_entry.index.index = index
    entity.counter_entry.SetInParent()
    return entity


def counted(name: str, index: int | None, packets: int = 5) -> p4r.Entity:
    """A counter cell, or the whole array, with a number to set it to."""
    entity = counter(name, index)
    entity.counter_entry.data.packet_count = packets
    return entity


def clone_session(session_id: int) -> p4r.Entity:
    """A clone session without copies."""
    entity = p4r.Entity()
    entity.packet_replication_engine_entry.clone_session_entry.session_id = session_id
    return entity


def digest(name: str, *, size: int = 0, timeout_ns: int = 0, ack_ns: int = 0) -> p4r.Entity:
    """A digest's configuration."""
    entity = p4r.Entity()
    entity.digest_entry.digest_id = IDS[name] if name else 0
    entity.digest_entry.config.max_list_size = size
    entity.digest_entry.config.max_timeout_ns = timeout_ns
    entity.digest_entry.config.ack_timeout_ns = ack_ns
    return entity


def packet_out(frame: bytes, port: int = AS_RECEIVED) -> p4r.StreamMessageRequest:
    """A frame for a port, or for the switch to forward."""
    packet = p4r.PacketOut(payload=frame)
    packet.metadata.add(metadata_id=1, value=port.to_bytes(2, "big"))
    packet.metadata.add(metadata_id=2, value=b"\0")
    return p4r.StreamMessageRequest(packet=packet)
