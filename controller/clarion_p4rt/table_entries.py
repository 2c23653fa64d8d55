# SPDX-License-Identifier: Apache-2.0
"""Entries of the contract as finsy's entities, and what to write so that a switch has exactly those."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from finsy import P4MulticastGroupEntry, P4TableAction, P4TableEntry, P4TableMatch

from clarion_contract.entries import Entry
from clarion_contract.settings import ACTIONS, FLOOD_BASE, FLOOD_GROUP, PORT_TABLES

Key = tuple[str, int]  # table and the value of its one key


def all_of(tables: Iterable[str]) -> list[P4TableEntry]:
    """What to read for all entries of these tables."""
    return [P4TableEntry(table) for table in tables]


def decoded(entities: Iterable[P4TableEntry]) -> list[Entry]:
    """The entries that were read."""
    return [_decoded(entity) for entity in entities]


def changes(present: Iterable[Entry], wanted: Iterable[Entry]) -> list[Any]:
    """The updates that turn the present entries into the wanted: deletions, then changes, then new ones."""
    before = {(entry.table, entry.key): entry for entry in present}
    after = {(entry.table, entry.key): entry for entry in wanted}
    deleted = [-_encoded(entry) for key, entry in before.items() if key not in after]
    modified = [~_encoded(entry) for key, entry in after.items() if key in before and before[key] != entry]
    inserted = [+_encoded(entry) for key, entry in after.items() if key not in before]
    return deleted + modified + inserted


def flood_group(ports: Iterable[int]) -> P4MulticastGroupEntry:
    """The group of all ports that unknown addresses are flooded to."""
    return P4MulticastGroupEntry(FLOOD_GROUP, replicas=tuple(FLOOD_BASE + port for port in ports))


def key_of(entity: P4TableEntry) -> Key:
    """What makes an entry the same as another with a different action."""
    assert entity.match is not None
    (value,) = entity.match.values()
    return entity.table_id, value


def _encoded(entry: Entry) -> P4TableEntry:
    match = P4TableMatch(**{"port" if entry.table in PORT_TABLES else "dst_addr": entry.key})
    action = P4TableAction(ACTIONS[entry.table], **entry.arguments)
    return P4TableEntry(entry.table, match=match, action=action)


def _decoded(entity: P4TableEntry) -> Entry:
    assert isinstance(entity.action, P4TableAction)
    return Entry(*key_of(entity), dict(entity.action.args))
