# SPDX-License-Identifier: Apache-2.0
"""Policies and decisions of the tuner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clarion_control.fleet.fleet import Fleet
from clarion_control.model import ActivePolicy, Actor, Decision, DesiredPort, Policy, PolicyState
from clarion_control.services.announcer import PolicyAnnouncer
from clarion_control.services.changes import Changes
from clarion_control.store import Store, decisions, policies
from clarion_control.tuner import registry


class Tuning:
    """The policies of all ports, and their decisions."""

    def __init__(self, store: Store, fleet: Fleet, changes: Changes, announcer: PolicyAnnouncer) -> None:
        self._store = store
        self._fleet = fleet
        self._changes = changes
        self._announcer = announcer

    async def policies(self, name: str, port: int | None = None) -> list[Policy]:
        """The policies that were ever set at a port, or at all ports of a switch."""
        link = self._fleet.port_link(name, port)
        return await self._store.read(policies.listed, link.switch, port)

    async def active_policies(self) -> list[ActivePolicy]:
        """The active policies of the whole store, also at switches that were added a moment ago."""
        return await self._store.read(policies.active)

    async def put_policy(
        self,
        actor: Actor,
        name: str,
        port: int,
        policy: str,
        state: PolicyState,
        parameters: Mapping[str, float],
        reason: str | None = None,
    ) -> Policy:
        """Sets a policy; `parameters` are those of `registry.checked_parameters`."""
        link = self._fleet.port_link(name, port)
        registry.policy(policy)

        async def store() -> Policy:
            stored = await self._store.change(
                policies.put, actor, link.switch, port, policy, state, parameters, reason
            )
            await self._announcer.announce(link.switch, port)
            return stored

        return await self._changes.finish(store())

    async def apply_decision(
        self,
        actor: Actor,
        name: str,
        port: int,
        policy: str,
        *,
        if_version: int | None,
        changes: Mapping[str, Any],
        summary: str,
        evidence: Mapping[str, Any],
        wait: bool = False,
    ) -> Decision:
        """Records a decision and makes its changes (merge patch; empty for a flag), both or neither.

        StaleVersionError or PolicyHeldError after another change in between; else errors as for `Ports.set`.
        """
        link = self._fleet.port_link(name, port)
        if changes:
            link.check_writable(at_once=True)

        async def store() -> tuple[Decision, DesiredPort | None]:
            decision, stored = await self._store.change(
                decisions.apply,
                actor,
                link.switch,
                port,
                policy,
                if_version=if_version,
                changes=changes,
                summary=summary,
                evidence=evidence,
            )
            if stored is not None:
                link.desire_port(port, stored)
            return decision, stored

        decision, stored = await self._changes.finish(store())
        if wait and stored is not None:
            await self._changes.applied(link, port, stored.version)
        return decision

    async def decisions(
        self,
        *,
        switch: str | None = None,
        port: int | None = None,
        policy: str | None = None,
        before_id: int | None = None,
        limit: int = 100,
    ) -> list[Decision]:
        """Decisions, the newest first."""
        return await self._store.read(decisions.listed, switch, port, policy, before_id, limit)

    async def decision(self, decision_id: int) -> Decision:
        """One decision, or NotFoundError."""
        return await self._store.read(decisions.get, decision_id)

    async def undo_decision(self, actor: Actor, decision_id: int, *, wait: bool = True) -> Decision:
        """Reverts the changes of a decision, and holds the policy; UndoneError if that is not possible."""
        decision = await self.decision(decision_id)
        link = self._fleet.port_link(decision.switch, decision.port)
        link.check_writable(at_once=wait)

        async def store() -> tuple[Decision, DesiredPort]:
            undone, stored = await self._store.change(decisions.undo, actor, link.switch, decision_id)
            link.desire_port(decision.port, stored)
            await self._announcer.announce(link.switch, decision.port)
            return undone, stored

        undone, stored = await self._changes.finish(store())
        if wait:
            await self._changes.applied(link, decision.port, stored.version)
        return undone
