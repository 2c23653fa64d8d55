# SPDX-License-Identifier: Apache-2.0
"""The verdicts on wires as table entries, each of which ends at a time of the switch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from clarion_contract.settings import DISPROVE, JUDGING, PROVE, UNTIL
from clarion_p4rt.device import Lease

LAST_US = 2**48 - 1
ALL = (P4TableEntry(JUDGING),)


def changes(present: Mapping[int, Lease], wanted: Mapping[int, Lease | None]) -> list[Any]:
    """The updates that give these ports these verdicts; None takes one away."""
    updates: list[Any] = []
    for port, lease in sorted(wanted.items()):
        if lease == present.get(port):
            continue
        if lease is None:
            updates.append(-_encoded(port, present[port]))
        elif port in present:
            updates.append(~_encoded(port, lease))
        else:
            updates.append(+_encoded(port, lease))
    return updates


def decoded(entities: Iterable[P4TableEntry]) -> dict[int, Lease]:
    """The verdicts by port that entries stand for."""
    found: dict[int, Lease] = {}
    for entity in entities:
        assert entity.match is not None
        assert isinstance(entity.action, P4TableAction)
        (port,) = entity.match.values()
        found[port] = Lease(entity.action.name == PROVE, entity.action.args[UNTIL])
    return found


def _encoded(port: int, lease: Lease) -> P4TableEntry:
    action = P4TableAction(PROVE if lease.proven else DISPROVE, **{UNTIL: min(lease.until_us, LAST_US)})
    return P4TableEntry(JUDGING, match=P4TableMatch(port=port), action=action)
