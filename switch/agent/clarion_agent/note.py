# SPDX-License-Identifier: Apache-2.0
"""The note that an agent leaves in the switch for the next one: that a pipeline config is set, its cookie,
and what the switch does not know of the entries.
"""

from __future__ import annotations

import json
from typing import Any

from clarion_agent.state import Backup, DigestConfig, Entry, Pipeline, Replica, State
from clarion_contract.settings import ACTIONS, FLOOD_BASE
from clarion_contract.target import Note, Present


class UnreadableError(Exception):
    """The note is of an agent of another version, in a form that this one does not know."""


def write(pipeline: Pipeline | None, state: State) -> Note:
    """The note of a pipeline and state; none is left before a pipeline is set."""
    if pipeline is None:
        return Note("")
    content = {
        "cookie": pipeline.cookie,
        "digests": {
            name: [each.max_timeout_ns, each.max_list_size, each.ack_timeout_ns]
            for name, each in state.digests.items()
        },
        "group": None if state.group is None else [_row(each) for each in state.group],
    }
    return Note(json.dumps(content, separators=(",", ":")))


def read(present: Present) -> tuple[Pipeline | None, State]:
    """Pipeline and state by what the switch has. UnreadableError."""
    state = of_switch(present)
    if not present.note:
        return None, state
    try:
        note = json.loads(present.note)
        state.digests = {name: DigestConfig(*each) for name, each in note["digests"].items()}
        if note["group"] is not None:
            state.group = tuple(_replica(*each) for each in note["group"])
        return Pipeline(cookie=note["cookie"]), state
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise UnreadableError from error


def of_switch(present: Present) -> State:
    """What the switch has, without the note."""
    state = State(
        {(table, key): Entry(ACTIONS[table], each) for (table, key), each in present.entries.items()}
    )
    if present.flood is not None:
        state.group = tuple(Replica(FLOOD_BASE + port, 0) for port in present.flood)
    return state


def _row(replica: Replica) -> list[object]:
    backups = [[each.port, each.instance] for each in replica.backups]
    return [replica.port, replica.instance, replica.as_bytes, backups]


def _replica(port: int, instance: int, as_bytes: bool, backups: Any = ()) -> Replica:
    """The replica of a row; those of older agents have no backups."""
    return Replica(port, instance, as_bytes, tuple(Backup(*each) for each in backups))
