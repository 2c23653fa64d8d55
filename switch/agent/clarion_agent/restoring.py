# SPDX-License-Identifier: Apache-2.0
"""What brings a switch that was away to what controllers have written to it."""

from __future__ import annotations

from collections.abc import Mapping

from clarion_agent.state import State
from clarion_contract.target import Change, Note, Present, Reset, SetEntry, SetFlood


def changes(present: Present, state: State, noted: Note, flood: SetFlood) -> list[Change]:
    """The changes from what the switch has; all of the state if it has none of ours, which its note says."""
    made: list[Change] = []
    entries: Mapping[tuple[str, int], Mapping[str, int]] = present.entries
    ports = present.flood
    if not present.note:
        made, entries, ports = [Reset()], {}, None
    made += [SetEntry(table, key, None) for table, key in entries if (table, key) not in state.entries]
    for (table, key), entry in state.entries.items():
        if entries.get((table, key)) != entry.arguments:
            made.append(SetEntry(table, key, entry.arguments))
    if flood.ports != ports:
        made.append(flood)
    if present.note != noted.text:
        made.append(noted)
    return made
