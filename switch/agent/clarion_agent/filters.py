# SPDX-License-Identifier: Apache-2.0
"""The filters of a Read of table entries (section 9.1.6). A field with its default value is none."""

from __future__ import annotations

from finsy.proto import p4r

from clarion_agent.program import Table
from clarion_agent.status import invalid

_FIELDS = ("match", "action", "priority", "controller_metadata", "metadata")
_NONE = p4r.TableEntry()


def check(wanted: p4r.TableEntry, table: Table | None) -> None:
    """Refuses filters that the table does not have; those of all tables (None) at once are none."""
    if table is None:
        for field in _FIELDS:
            if getattr(wanted, field) != getattr(_NONE, field):
                raise invalid(f"table_entry: {field} without table_id: name the table")
        return
    if wanted.action.WhichOneof("type") not in (None, "action"):
        raise invalid(f"{table.name}: action: not a single action")
    action_id = wanted.action.action.action_id
    if action_id and action_id not in table.entry_actions | table.default_actions:
        raise invalid(f"{table.name}: action {action_id}: not an action of this table")


def passes(found: p4r.TableEntry, wanted: p4r.TableEntry) -> bool:
    """Whether an entry of the right table and match passes the other filters."""
    return (
        wanted.action.action.action_id in (0, found.action.action.action_id)
        and wanted.priority in (0, found.priority)
        and wanted.controller_metadata in (0, found.controller_metadata)
        and wanted.metadata in (b"", found.metadata)
    )
