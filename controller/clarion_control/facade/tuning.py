# SPDX-License-Identifier: Apache-2.0
"""Policies and decisions: what the tuner may do, and what it did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clarion_control.errors import NotFoundError
from clarion_control.facade.core import Core, check_writable
from clarion_control.model import Actor, Decision, DesiredPort, Policy, PolicyState
from clarion_control.store import decisions, policies


class TuningPart(Core):
    """Policies and decisions."""

    async def policies(self, name: str, port: int) -> list[Policy]:
        """The policies that were ever set at a port."""
        return await self.store.read(policies.listed, self._port_link(name, port).switch, port)

    async def all_policies(self, name: str) -> list[Policy]:
        """The policies of all ports of a switch."""
        return await self.store.read(policies.listed, self._fleet.link(name).switch)

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
        """Sets a policy; `parameters` are complete and were checked by the tuner."""
        link = self._port_link(name, port)
        if policy not in policies.GOVERNED:
            raise NotFoundError("policy", policy)

        async def store() -> Policy:
            stored = await self.store.change(
                policies.put, actor, link.switch, port, policy, state, parameters, reason
            )
            await self._announce_policies(link, port)
            return stored

        return await self._carried_through(store())

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

        StaleVersionError or PolicyHeldError if somebody was there before; else errors as for `set_port`.
        """
        link = self._port_link(name, port)
        if changes:
            check_writable(link, wait=True)

        async def store() -> tuple[Decision, DesiredPort | None]:
            decision, stored = await self.store.change(
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

        decision, stored = await self._carried_through(store())
        if wait and stored is not None:
            await self._applied(link, port, stored.version)
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
        return await self.store.read(decisions.listed, switch, port, policy, before_id, limit)

    async def decision(self, decision_id: int) -> Decision:
        """One decision, or NotFoundError."""
        return await self.store.read(decisions.get, decision_id)

    async def undo_decision(self, actor: Actor, decision_id: int, *, wait: bool = True) -> Decision:
        """Sets back what a decision changed, and holds the policy. UndoneError if that cannot be."""
        decision = await self.decision(decision_id)
        link = self._port_link(decision.switch, decision.port)
        check_writable(link, wait)

        async def store() -> tuple[Decision, DesiredPort]:
            undone, stored = await self.store.change(decisions.undo, actor, link.switch, decision_id)
            link.desire_port(decision.port, stored)
            await self._announce_policies(link, decision.port)
            return undone, stored

        undone, stored = await self._carried_through(store())
        if wait:
            await self._applied(link, decision.port, stored.version)
        return undone
