# SPDX-License-Identifier: Apache-2.0
"""gRPC's errors in our own words: which switch, which entity, what to do."""

from __future__ import annotations

from collections.abc import Sequence

from finsy import (
    GRPCStatusCode,
    P4ClientError,
    P4CounterEntry,
    P4DigestEntry,
    P4MulticastGroupEntry,
    P4TableEntry,
)

from clarion_p4rt.errors import MULTICAST_GROUP, SESSION, Entity, SwitchError
from clarion_p4rt.table_entries import key_of

MAX_REASON = 200  # characters of a switch's own words

P4Entity = P4TableEntry | P4CounterEntry | P4DigestEntry | P4MulticastGroupEntry


def entity_of(entity: P4Entity) -> Entity:
    """Table and key of what was read or written."""
    if isinstance(entity, P4TableEntry):
        return Entity(*key_of(entity))
    if isinstance(entity, P4MulticastGroupEntry):
        return Entity(MULTICAST_GROUP, entity.multicast_group_id)
    if isinstance(entity, P4DigestEntry):
        return Entity(f"digest {entity.digest_id}")
    return Entity(f"counter {entity.counter_id}")


def no_answer(switch: str, address: str, entity: Entity = SESSION) -> SwitchError:
    """No server at the address, or no longer."""
    return SwitchError(
        switch, entity, "UNAVAILABLE", f"no switch answers at {address}; start it, or correct the address"
    )


def not_primary(switch: str, entity: Entity = SESSION) -> SwitchError:
    """Another controller has mastership."""
    return SwitchError(
        switch, entity, "ALREADY_EXISTS", "another controller is primary at this switch; stop that one"
    )


def failure(switch: str, address: str, entity: Entity, error: P4ClientError) -> SwitchError:
    """An error of a whole request or of the session."""
    if error.code in (GRPCStatusCode.UNAVAILABLE, GRPCStatusCode.DEADLINE_EXCEEDED):
        return no_answer(switch, address, entity)
    if error.is_election_id_used or error.code == GRPCStatusCode.PERMISSION_DENIED:
        return not_primary(switch, entity)
    return SwitchError(
        switch, entity, error.code.name, f"the switch refused: {_reason(error.message, error.code)}"
    )


def refusal(switch: str, address: str, updates: Sequence[P4Entity], error: P4ClientError) -> SwitchError:
    """An error of a write: of the first update that the switch refused, if it says which."""
    if not error.details:
        return failure(switch, address, Entity("write"), error)
    # A switch that writes all or nothing calls the updates that were in order "aborted".
    valid = (GRPCStatusCode.OK, GRPCStatusCode.ABORTED)
    faulty = [at for at, each in error.details.items() if each.canonical_code not in valid]
    first = min(faulty or error.details)
    detail = error.details[first]
    reason = f"the switch refused: {_reason(detail.message, detail.canonical_code)}"
    if len(faulty) > 1:
        reason += f" (and {len(faulty) - 1} more of {len(updates)})"
    return SwitchError(switch, entity_of(updates[first]), detail.canonical_code.name, reason)


def is_missing(error: P4ClientError) -> bool:
    """Whether all that is wrong with a read is that something named does not exist."""
    if not error.details:
        return error.code == GRPCStatusCode.NOT_FOUND
    fine = (GRPCStatusCode.OK, GRPCStatusCode.NOT_FOUND)
    return all(each.canonical_code in fine for each in error.details.values())


def _reason(message: str, code: GRPCStatusCode) -> str:
    """The switch's own words on one line, or the code if it has none."""
    words = " ".join(message.split())
    return words[:MAX_REASON] or code.name.lower().replace("_", " ")
