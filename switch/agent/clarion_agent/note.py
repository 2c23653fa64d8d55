# SPDX-License-Identifier: Apache-2.0
"""The note that an agent leaves in the switch for the next one: that a pipeline config is set, its cookie,
and what the switch does not know of the entries.
"""

from __future__ import annotations

import json

from clarion_agent.state import Backup, DigestConfig, Entry, Pipeline, Replica, State
from clarion_contract.settings import ACTIONS, FLOOD_BASE
from clarion_contract.target import Note, Present


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
        "group": None if state.group is None else [_replica(each) for each in state.group],
    }
    return Note(json.dumps(content, separators=(",", ":")))


def read(present: Present) -> tuple[Pipeline | None, State]:
    """Pipeline and state by what the switch has."""
    state = State(
        {(table, key): Entry(ACTIONS[table], each) for (table, key), each in present.entries.items()}
    )
    if present.flood is not None:
        state.group = tuple(Replica(FLOOD_BASE + port, 0) for port in present.flood)
    if not present.note:
        return None, state
    note = json.loads(present.note)
    state.digests = {name: DigestConfig(*each) for name, each in note["digests"].items()}
    if note["group"] is not None:
        state.group = tuple(
            Replica(port, instance, as_bytes, tuple(Backup(*each) for each in backups))
            for port, instance, as_bytes, backups in note["group"]
        )
    return Pipeline(cookie=note["cookie"]), state


def _replica(replica: Replica) -> list[object]:
    backups = [[each.port, each.instance] for each in replica.backups]
    return [replica.port, replica.instance, replica.as_bytes, backups]
