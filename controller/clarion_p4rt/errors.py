# SPDX-License-Identifier: Apache-2.0
"""Failures between a P4Runtime client and a switch."""

from __future__ import annotations

from dataclasses import dataclass

from finsy import MACAddress

from clarion_base.errors import UserError

FORWARDING_TABLE = "l2_forward"
MULTICAST_GROUP = "multicast group"


@dataclass(frozen=True)
class Entity:
    """The part of a switch that an error is about: an entry by table and key, or a part without a key, such
    as "session" or "counters".
    """

    table: str
    key: int | None = None

    def __str__(self) -> str:
        if self.key is None:
            return self.table
        if self.table == MULTICAST_GROUP:
            return f"{self.table} {self.key}"
        return f"{self.table}[{MACAddress(self.key) if self.table == FORWARDING_TABLE else self.key}]"


SESSION = Entity("session")
# Codes of errors after which nothing more can come of a session.
SESSION_OVER = frozenset(
    {"UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "ALREADY_EXISTS", "UNAUTHENTICATED"}
)


class SwitchError(UserError):
    """A switch that does not answer, or refuses. `code` names a gRPC status, such as "UNAVAILABLE"."""

    def __init__(self, switch: str, entity: Entity, code: str, reason: str) -> None:
        super().__init__(f"{switch}: {entity}: {reason}")
        self.switch = switch
        self.entity = entity
        self.code = code
        self.reason = reason
