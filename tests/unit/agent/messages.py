# SPDX-License-Identifier: Apache-2.0
"""Short ways to write the messages of the tests."""

from __future__ import annotations

from collections.abc import Sequence

from finsy.proto import p4r

from clarion_agent.program import load

IDS = {
    each.name: each.id
    for kind in (load().tables, load().actions, load().counters, load().registers, load().digests)
    for each in kind.values()
}
XCP = (1_000_000, 26214, 14811, 6554, 268_435, 268_435_456, 1)


def entry(table: str, key: int | None, action: str = "", arguments: Sequence[int] = ()) -> p4r.Entity:
    made = p4r.TableEntry(table_id=IDS[table] if table else 0)
    if key is not None:
        made.match.add(field_id=1).exact.value = key.to_bytes(6 if table == "l2_forward" else 2, "big")
    if action:
        made.action.action.action_id = IDS[action]
        for number, value in enumerate(arguments, 1):
            made.action.action.params.add(param_id=number, value=value.to_bytes(9, "big"))
    return p4r.Entity(table_entry=made)


def insert(entity: p4r.Entity) -> p4r.Update:
    return p4r.Update(type=p4r.Update.INSERT, entity=entity)


def modify(entity: p4r.Entity) -> p4r.Update:
    return p4r.Update(type=p4r.Update.MODIFY, entity=entity)


def delete(entity: p4r.Entity) -> p4r.Update:
    return p4r.Update(type=p4r.Update.DELETE, entity=entity)


def register(name: str, index: int | None, value: int | None = None) -> p4r.Entity:
    entity = p4r.Entity()
    entity.register_entry.register_id = IDS[name]
    if index is not None:
        entity.register_entry.index.index = index
    if value is not None:
        entity.register_entry.data.bitstring = value.to_bytes(16, "big")
    return entity


def digest(name: str, *, size: int = 0, timeout_ns: int = 0, ack_ns: int = 0) -> p4r.Entity:
    entity = p4r.Entity()
    entity.digest_entry.digest_id = IDS[name]
    entity.digest_entry.config.max_list_size = size
    entity.digest_entry.config.max_timeout_ns = timeout_ns
    entity.digest_entry.config.ack_timeout_ns = ack_ns
    return entity
