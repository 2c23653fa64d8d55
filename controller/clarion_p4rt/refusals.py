# SPDX-License-Identifier: Apache-2.0
"""gRPC's errors in our own words: which switch, which entry, what to do."""

from __future__ import annotations

from collections.abc import Sequence

from finsy import (
    GRPCStatusCode,
    MACAddress,
    P4ClientError,
    P4CounterEntry,
    P4DigestEntry,
    P4MulticastGroupEntry,
    P4TableEntry,
)

from clarion_p4rt.errors import SwitchError
from clarion_p4rt.table_entries import key_of

MAX_REASON = 200  # characters of what a switch says

Entity = P4TableEntry | P4CounterEntry | P4DigestEntry | P4MulticastGroupEntry


def entity_name(entity: Entity) -> str:
    """What people call it, such as "xcp_port[3]"."""
    if isinstance(entity, P4TableEntry):
        table, value = key_of(entity)
        return f"{table}[{MACAddress(value) if table == 'l2_forward' else value}]"
    if isinstance(entity, P4MulticastGroupEntry):
        return f"multicast group {entity.multicast_group_id}"
    if isinstance(entity, P4DigestEntry):
        return f"digest {entity.digest_id}"
    return f"counter {entity.counter_id}"


def no_answer(switch: str, address: str, entry: str = "session") -> SwitchError:
    """Nobody is there, or nobody any more."""
    return SwitchError(
        switch, entry, "UNAVAILABLE", f"no switch answers at {address}; start it, or correct the address"
    )


def not_in_charge(switch: str, entry: str = "session") -> SwitchError:
    """Another controller is the switch's primary."""
    return SwitchError(
        switch, entry, "ALREADY_EXISTS", "another controller is in charge of this switch; stop that one"
    )


def failure(switch: str, address: str, entry: str, error: P4ClientError) -> SwitchError:
    """An error of a whole request or of the session."""
    if error.code in (GRPCStatusCode.UNAVAILABLE, GRPCStatusCode.DEADLINE_EXCEEDED):
        return no_answer(switch, address, entry)
    if error.is_election_id_used or error.code == GRPCStatusCode.PERMISSION_DENIED:
        return not_in_charge(switch, entry)
    return SwitchError(
        switch, entry, error.code.name, f"the switch refused: {_reason(error.message, error.code)}"
    )


def refusal(switch: str, address: str, updates: Sequence[Entity], error: P4ClientError) -> SwitchError:
    """An error of a write: of the first update that the switch refused, if it says which."""
    if not error.details:
        return failure(switch, address, "write", error)
    # A switch that writes all or nothing calls the updates that were in order "aborted".
    faulty = [at for at, each in error.details.items() if each.canonical_code != GRPCStatusCode.ABORTED]
    first = min(faulty or error.details)
    detail = error.details[first]
    reason = f"the switch refused: {_reason(detail.message, detail.canonical_code)}"
    if len(faulty) > 1:
        reason += f" (and {len(faulty) - 1} more of {len(updates)})"
    return SwitchError(switch, entity_name(updates[first]), detail.canonical_code.name, reason)


def _reason(message: str, code: GRPCStatusCode) -> str:
    """The switch's own words on one line, or the code if it has none."""
    words = " ".join(message.split())
    return words[:MAX_REASON] or code.name.lower().replace("_", " ")
