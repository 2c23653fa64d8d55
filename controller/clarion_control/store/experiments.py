# SPDX-License-Identifier: Apache-2.0
"""Experiments: runs of `clarion run` under the controller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from clarion_control.errors import FieldError, NotFoundError
from clarion_control.model import Action, Actor, Experiment, ExperimentState
from clarion_control.store import audit
from clarion_control.store.clock import now_us
from clarion_control.store.schema import experiments

_FIELDS = frozenset({"state", "started_us", "ended_us", "error", "files"})


def create(
    connection: Connection, actor: Actor, scenario: str, engine: str, settings: Sequence[str], repeat: int
) -> Experiment:
    """Creates an experiment in state queued."""
    values = {
        "scenario": scenario,
        "engine": engine,
        "settings": list(settings),
        "repeat": repeat,
        "state": ExperimentState.QUEUED.value,
        "created_us": now_us(),
        "created_by": actor.name,
        "files": [],
    }
    row = connection.execute(experiments.insert().values(values).returning(experiments)).one()
    after = {name: values[name] for name in ("scenario", "engine", "settings", "repeat")}
    audit.record(connection, actor, Action.EXPERIMENT_CREATE, after={"id": row.id, **after})
    return of_row(row)


def update(connection: Connection, /, experiment_id: int, **changes: Any) -> Experiment:
    """Updates any of state, started_us, ended_us, error, files."""
    if unknown := changes.keys() - _FIELDS:
        raise FieldError(min(unknown), "cannot be changed")
    values = dict(changes)
    if "state" in values:
        values["state"] = ExperimentState(values["state"]).value
    if "files" in values:
        values["files"] = list(values["files"])
    statement = experiments.update().where(experiments.c.id == experiment_id).values(values)
    row = connection.execute(statement.returning(experiments)).first()
    if row is None:
        raise NotFoundError("experiment", experiment_id)
    return of_row(row)


def listed(connection: Connection, before_id: int | None = None, limit: int = 100) -> list[Experiment]:
    """Experiments, the newest first."""
    query = select(experiments).order_by(experiments.c.id.desc()).limit(limit)
    if before_id is not None:
        query = query.where(experiments.c.id < before_id)
    return [of_row(row) for row in connection.execute(query)]


def get(connection: Connection, experiment_id: int) -> Experiment:
    """An experiment, or NotFoundError."""
    row = connection.execute(select(experiments).where(experiments.c.id == experiment_id)).first()
    if row is None:
        raise NotFoundError("experiment", experiment_id)
    return of_row(row)


def of_row(row: Row[Any]) -> Experiment:
    """The record of a row of the table."""
    return Experiment(
        id=row.id,
        scenario=row.scenario,
        engine=row.engine,
        settings=tuple(row.settings),
        repeat=row.repeat,
        state=ExperimentState(row.state),
        created_us=row.created_us,
        created_by=row.created_by,
        started_us=row.started_us,
        ended_us=row.ended_us,
        error=row.error,
        files=tuple(row.files),
        place=row.place,
        progress=row.progress,
        heard_us=row.heard_us,
        stop_us=row.stop_us,
    )
