# SPDX-License-Identifier: Apache-2.0
"""Tuner policies of ports, and their hold by manual changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, exists, select

from clarion_contract.settings import PortSettings
from clarion_control.model import Action, ActivePolicy, Actor, Policy, PolicyState
from clarion_control.settings_diff import differences
from clarion_control.store import audit
from clarion_control.store.clock import now_us
from clarion_control.store.schema import policies, switches
from clarion_control.tuner.registry import POLICIES
from clarion_p4rt.switch import Switch


def listed(connection: Connection, switch: Switch, port: int | None = None) -> list[Policy]:
    """The policies ever set at a port, or at all ports of a switch."""
    query = select(policies).where(policies.c.switch_uid == switch.uid)
    if port is not None:
        query = query.where(policies.c.port == port)
    rows = connection.execute(query.order_by(policies.c.port, policies.c.name))
    return [_policy(switch, row) for row in rows]


def active(connection: Connection) -> list[ActivePolicy]:
    """All active policies of all switches, in one query."""
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


def put(
    connection: Connection,
    actor: Actor,
    switch: Switch,
    port: int,
    name: str,
    state: PolicyState,
    parameters: Mapping[str, float],
    reason: str | None = None,
) -> Policy:
    """Sets a policy, with an audit record of the state before and after."""
    where = _key(switch, port, name)
    row = connection.execute(select(policies).where(where)).first()
    values = {
        "state": state.value,
        "parameters": dict(parameters),
        "changed_us": now_us(),
        "changed_by": actor.name,
        "reason": reason,
    }
    if row is None:
        statement: Any = policies.insert().values(switch_uid=switch.uid, port=port, name=name, **values)
    else:
        statement = policies.update().where(where).values(values)
    stored = connection.execute(statement.returning(policies)).one()
    audit.record(
        connection,
        actor,
        Action.POLICY_CHANGE,
        switch=switch.name,
        port=port,
        before=None if row is None else _document(row),
        after=_document(stored),
        reason=reason,
    )
    return _policy(switch, stored)


def is_active(connection: Connection, switch: Switch, port: int, name: str) -> bool:
    """Whether the policy is active at the port."""
    state = connection.execute(select(policies.c.state).where(_key(switch, port, name))).scalar()
    return bool(state == PolicyState.ACTIVE.value)


def active_at(switch_uid: Any, port: Any) -> Any:
    """Whether any policy is active at a port: a condition within another statement."""
    columns = policies.c
    is_active = columns.state == PolicyState.ACTIVE.value
    return exists().where((columns.switch_uid == switch_uid) & (columns.port == port) & is_active)


def hold(
    connection: Connection,
    actor: Actor,
    switch: Switch,
    port: int,
    before: PortSettings,
    after: PortSettings,
    reason: str | None = None,
) -> None:
    """Holds the active policies that govern a field that differs: manual settings win."""
    changed = differences(before, after)
    for policy in listed(connection, switch, port):
        governs = POLICIES[policy.name].governs if policy.name in POLICIES else ()
        touched = [name.rpartition(".")[2] for name in governs if name in changed]
        if policy.state is PolicyState.ACTIVE and touched:
            why = reason or f"{actor.name} set {', '.join(touched)} by hand"
            put(connection, actor, switch, port, policy.name, PolicyState.HELD, policy.parameters, why)


def _key(switch: Switch, port: int, name: str) -> Any:
    columns = policies.c
    return (columns.switch_uid == switch.uid) & (columns.port == port) & (columns.name == name)


def _policy(switch: Switch, row: Row[Any]) -> Policy:
    return Policy(
        switch=switch.name,
        port=row.port,
        name=row.name,
        state=PolicyState(row.state),
        parameters=row.parameters,
        changed_us=row.changed_us,
        changed_by=row.changed_by,
        reason=row.reason,
    )


def _document(row: Row[Any]) -> dict[str, Any]:
    return {"name": row.name, "state": row.state, "parameters": row.parameters}
