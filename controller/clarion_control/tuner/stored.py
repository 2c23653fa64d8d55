# SPDX-License-Identifier: Apache-2.0
"""What the tuner reads from the store itself: which policies act, over the whole fleet in one query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from clarion_control.model import PolicyState
from clarion_control.store.schema import policies, switches


@dataclass(frozen=True)
class ActivePolicy:
    """A policy that acts at a port. Another `switch_uid` under the same name is another switch."""

    switch_uid: int
    switch: str
    port: int
    name: str
    parameters: Mapping[str, Any]
    changed_us: int


def active(connection: Connection) -> list[ActivePolicy]:
    """All policies that act, wherever."""
    query = (
        select(
            switches.c.uid,
            switches.c.name,
            policies.c.port,
            policies.c.name.label("policy"),
            policies.c.parameters,
            policies.c.changed_us,
        )
        .join_from(policies, switches, policies.c.switch_uid == switches.c.uid)
        .where(policies.c.state == PolicyState.ACTIVE.value)
    )
    return [ActivePolicy(*row) for row in connection.execute(query)]
