# SPDX-License-Identifier: Apache-2.0
"""Audit, tokens and experiments: the store, passed on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clarion_control.facade.core import Core
from clarion_control.model import Actor, AuditRecord, Experiment, Role, Token
from clarion_control.store import audit, experiments


class RecordPart(Core):
    """Audit, tokens, experiments."""

    async def check_store(self) -> None:
        """StoreError unless the database answers."""
        await self.store.read(audit.last_id)

    async def note(
        self,
        actor: Actor,
        action: str,
        *,
        switch: str | None = None,
        port: int | None = None,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
        reason: str | None = None,
    ) -> None:
        """An audit record of something that is not the store's."""
        await self.store.change(
            audit.record,
            actor,
            action,
            switch=switch,
            port=port,
            before=before,
            after=after,
            reason=reason,
        )

    async def audit(
        self,
        *,
        switch: str | None = None,
        actor: str | None = None,
        before_id: int | None = None,
        limit: int = 100,
    ) -> list[AuditRecord]:
        """Changes, the newest first."""
        return await self.store.read(audit.listed, switch, actor, before_id, limit)

    async def create_token(
        self, actor: Actor, name: str, role: Role, expires_us: int | None = None
    ) -> tuple[Token, str]:
        """A new token and its text, which nobody can read again."""
        return await self._access.create(actor, name, role, expires_us)

    async def tokens(self) -> list[Token]:
        """All tokens, also revoked ones."""
        return await self._access.tokens()

    async def revoke_token(self, actor: Actor, token_id: int) -> Token:
        """Makes a token useless: here at once, with other controllers of the store within seconds."""
        return await self._access.revoke(actor, token_id)

    async def authenticate(self, text: str) -> Token | None:
        """The valid token with this text."""
        return await self._access.authenticate(text)

    async def create_experiment(
        self, actor: Actor, scenario: str, engine: str, settings: Sequence[str], repeat: int
    ) -> Experiment:
        """A new experiment, queued."""
        return await self.store.change(experiments.create, actor, scenario, engine, settings, repeat)

    async def update_experiment(self, experiment_id: int, **changes: Any) -> Experiment:
        """Changes any of state, started_us, ended_us, error, files."""
        return await self.store.change(experiments.update, experiment_id, **changes)

    async def experiments(self, *, before_id: int | None = None, limit: int = 100) -> list[Experiment]:
        """Experiments, the newest first."""
        return await self.store.read(experiments.listed, before_id, limit)

    async def experiment(self, experiment_id: int) -> Experiment:
        """One experiment, or NotFoundError."""
        return await self.store.read(experiments.get, experiment_id)
