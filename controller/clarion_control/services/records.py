# SPDX-License-Identifier: Apache-2.0
"""Records in the store: the audit, and experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clarion_control.model import Action, Actor, AuditRecord, Experiment, ExperimentState
from clarion_control.store import Store, audit, experiments, runs


class Records:
    """The audit and the experiments of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def check_store(self) -> None:
        """StoreError unless the database answers."""
        await self._store.read(audit.last_id)

    async def note(
        self,
        actor: Actor,
        action: Action,
        *,
        switch: str | None = None,
        port: int | None = None,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
        reason: str | None = None,
    ) -> None:
        """Adds an audit record of an act that changes nothing else in the store."""
        await self._store.change(
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
        """Audit records, the newest first."""
        return await self._store.read(audit.listed, switch, actor, before_id, limit)

    async def create_experiment(
        self, actor: Actor, scenario: str, engine: str, settings: Sequence[str], repeat: int
    ) -> Experiment:
        """A new experiment, queued."""
        return await self._store.change(experiments.create, actor, scenario, engine, settings, repeat)

    async def update_experiment(self, experiment_id: int, **changes: Any) -> Experiment:
        """Changes any of state, started_us, ended_us, error, files."""
        return await self._store.change(experiments.update, experiment_id, **changes)

    async def experiments(self, *, before_id: int | None = None, limit: int = 100) -> list[Experiment]:
        """Experiments, the newest first."""
        return await self._store.read(experiments.listed, before_id, limit)

    async def experiment(self, experiment_id: int) -> Experiment:
        """One experiment, or NotFoundError."""
        return await self._store.read(experiments.get, experiment_id)

    async def register_run(
        self, actor: Actor, scenario: str, engine: str, settings: Sequence[str], repeat: int, place: str
    ) -> Experiment:
        """A new experiment that was started elsewhere, running."""
        return await self._store.change(runs.register, actor, scenario, engine, settings, repeat, place)

    async def hear_run(self, actor: Actor, experiment_id: int, progress: str | None) -> Experiment:
        """A sign of life of such a run; RunError if it cannot be its."""
        return await self._store.change(runs.heard, actor, experiment_id, progress)

    async def finish_run(
        self,
        actor: Actor,
        experiment_id: int,
        state: ExperimentState,
        error: str | None,
        summary: Mapping[str, Any] | None,
        files: Sequence[str],
    ) -> Experiment:
        """Such a run has ended; RunError if that is not its to say."""
        return await self._store.change(runs.finish, actor, experiment_id, state, error, summary, files)

    async def ask_run_to_stop(self, experiment_id: int) -> Experiment:
        """Such a run is to stop, and learns of it when it reports next."""
        return await self._store.change(runs.ask_to_stop, experiment_id)

    async def lose_silent_runs(self, before_us: int) -> int:
        """Such runs that were not heard since then are lost; how many there are."""
        return await self._store.change(runs.lose_silent, before_us)

    async def run_summary(self, experiment_id: int) -> dict[str, Any] | None:
        """The summary that such a run has left."""
        return await self._store.read(runs.summary, experiment_id)
