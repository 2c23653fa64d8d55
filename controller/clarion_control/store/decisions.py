# SPDX-License-Identifier: Apache-2.0
"""The tuner's decisions, each with its evidence and the change that it made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, select

from clarion_contract.settings import PortSettings
from clarion_contract.settings_json import checked, merged
from clarion_control.errors import NotFoundError, PolicyHeldError, UndoneError
from clarion_control.model import Actor, Decision, DesiredPort, Origin
from clarion_control.settings_diff import differences
from clarion_control.store import desired_state, policies
from clarion_control.store.clock import now_us
from clarion_control.store.schema import audit, decisions
from clarion_p4rt.switch import Switch


def listed(
    connection: Connection,
    switch: str | None = None,
    port: int | None = None,
    policy: str | None = None,
    before_id: int | None = None,
    limit: int = 100,
) -> list[Decision]:
    """Decisions, the newest first."""
    query = select(decisions).order_by(decisions.c.id.desc()).limit(limit)
    if switch is not None:
        query = query.where(decisions.c.switch == switch)
    if port is not None:
        query = query.where(decisions.c.port == port)
    if policy is not None:
        query = query.where(decisions.c.policy == policy)
    if before_id is not None:
        query = query.where(decisions.c.id < before_id)
    return [_decision(row) for row in connection.execute(query)]


def get(connection: Connection, decision_id: int) -> Decision:
    """One decision, or NotFoundError."""
    row = connection.execute(select(decisions).where(decisions.c.id == decision_id)).first()
    if row is None:
        raise NotFoundError("decision", decision_id)
    return _decision(row)


def apply(
    connection: Connection,
    actor: Actor,
    switch: Switch,
    port: int,
    policy: str,
    *,
    if_version: int | None,
    changes: Mapping[str, Any],
    summary: str,
    evidence: Mapping[str, Any],
) -> tuple[Decision, DesiredPort | None]:
    """Records a decision and makes its changes (a merge patch of the port; empty for a flag), both or
    neither. StaleVersionError or PolicyHeldError after another change in between.
    """
    if not policies.is_active(connection, switch, port, policy):
        raise PolicyHeldError(switch.name, port, policy)
    stored = None
    made: dict[str, list[Any]] = {}
    if changes:

        def transform(settings: PortSettings) -> PortSettings:
            after = checked(switch.name, switch.ports, merged(switch.name, settings, changes))
            made.update(differences(settings, after))
            return after

        stored = desired_state.change_port(
            connection,
            actor,
            switch,
            port,
            transform,
            if_version=if_version,
            origin=Origin.TUNER,
            reason=summary,
        )
    values = {
        "time_us": now_us(),
        "switch": switch.name,
        "port": port,
        "policy": policy,
        "summary": summary,
        "changes": made,
        "evidence": dict(evidence),
    }
    row = connection.execute(decisions.insert().values(values).returning(decisions)).one()
    return _decision(row), stored


def undo(
    connection: Connection, actor: Actor, switch: Switch, decision_id: int
) -> tuple[Decision, DesiredPort]:
    """Reverts the changes of a decision, and holds the policy, which would make them again."""
    decision = get(connection, decision_id)
    if decision.undone_us is not None:
        raise UndoneError(decision_id, f"was undone by {decision.undone_by} already")
    if decision.time_us < switch.added_us:
        raise UndoneError(decision_id, f"is about an earlier switch {switch.name}, which was removed")
    if not decision.changes:
        raise UndoneError(decision_id, "changed nothing that could be undone")

    def transform(settings: PortSettings) -> PortSettings:
        after = checked(
            switch.name, switch.ports, merged(switch.name, settings, _patch(decision.changes, settings))
        )
        reason = f"{actor.name} undid decision {decision_id}"
        policies.hold(connection, actor, switch, decision.port, settings, after, reason)
        return after

    stored = desired_state.change_port(
        connection,
        actor,
        switch,
        decision.port,
        transform,
        origin=Origin.UNDO,
        reason=f"undo of decision {decision_id}",
    )
    values = {"undone_us": now_us(), "undone_by": actor.name}
    where = decisions.c.id == decision_id
    row = connection.execute(decisions.update().where(where).values(values).returning(decisions)).one()
    return _decision(row), stored


def expire(connection: Connection, before_us: int) -> int:
    """Deletes decisions older than a time, with their audit records; manual changes stay in the audit."""
    old = decisions.c.time_us < before_us
    gone = connection.execute(decisions.delete().where(old)).rowcount
    tuned = (audit.c.origin == Origin.TUNER.value) & (audit.c.time_us < before_us)
    return int(gone + connection.execute(audit.delete().where(tuned)).rowcount)


def _patch(changes: Mapping[str, tuple[Any, Any]], settings: PortSettings) -> dict[str, Any]:
    """The merge patch that reverts the changes."""
    patch: dict[str, Any] = {}
    for name, (old, _) in changes.items():
        group, _, field = name.rpartition(".")
        if not group:
            patch[field] = old
        elif settings.xcp is not None:
            patch.setdefault(group, {})[field] = old
    return patch


def _decision(row: Row[Any]) -> Decision:
    return Decision(
        id=row.id,
        time_us=row.time_us,
        switch=row.switch,
        port=row.port,
        policy=row.policy,
        summary=row.summary,
        changes={name: (old, new) for name, (old, new) in row.changes.items()},
        evidence=row.evidence,
        undone_us=row.undone_us,
        undone_by=row.undone_by,
    )
