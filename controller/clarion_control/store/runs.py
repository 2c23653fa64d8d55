# SPDX-License-Identifier: Apache-2.0
"""Experiments that were started elsewhere and report by themselves: what they say, and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from clarion_control.errors import RunError
from clarion_control.model import Action, Actor, Experiment, ExperimentState
from clarion_control.store import audit
from clarion_control.store.clock import now_us
from clarion_control.store.experiments import get, of_row
from clarion_control.store.schema import experiments, summaries

SILENT = "no word from it any more: it was killed, or its machine is away"
GOING_ON = (ExperimentState.RUNNING, ExperimentState.LOST)


def register(
    connection: Connection,
    actor: Actor,
    scenario: str,
    engine: str,
    settings: Sequence[str],
    repeat: int,
    place: str,
) -> Experiment:
    """Creates an experiment in state running, whose files are at `place`."""
    begun_us = now_us()
    values = {
        "scenario": scenario,
        "engine": engine,
        "settings": list(settings),
        "repeat": repeat,
        "state": ExperimentState.RUNNING.value,
        "created_us": begun_us,
        "created_by": actor.name,
        "started_us": begun_us,
        "heard_us": begun_us,
        "files": [],
        "place": place,
    }
    row = connection.execute(experiments.insert().values(values).returning(experiments)).one()
    after = {name: values[name] for name in ("scenario", "engine", "settings", "repeat", "place")}
    audit.record(connection, actor, Action.RUN_REGISTER, after={"id": row.id, **after})
    return of_row(row)


def heard(connection: Connection, actor: Actor, experiment_id: int, progress: str | None) -> Experiment:
    """The run says what it is doing; with None only that it goes on. One that was lost is running again."""
    _check_reporter(actor, get(connection, experiment_id))
    values: dict[str, Any] = {
        "state": ExperimentState.RUNNING.value,
        "ended_us": None,
        "error": None,
        "heard_us": now_us(),
    }
    if progress is not None:
        values["progress"] = progress
    return _updated(connection, experiment_id, values)


def finish(
    connection: Connection,
    actor: Actor,
    experiment_id: int,
    state: ExperimentState,
    error: str | None,
    summary: Mapping[str, Any] | None,
    files: Sequence[str],
) -> Experiment:
    """The run has ended. Saying so again, as after an answer that was lost, changes nothing."""
    found = get(connection, experiment_id)
    if found.is_reported and found.created_by == actor.name and found.state is state:
        return found
    _check_reporter(actor, found)
    if summary is not None:
        values = {"experiment_id": experiment_id, "document": dict(summary)}
        connection.execute(summaries.insert().values(values))
    after = {"id": experiment_id, "state": state.value, "error": error}
    audit.record(connection, actor, Action.RUN_END, after=after)
    ended = {"state": state.value, "ended_us": now_us(), "error": error, "files": list(files)}
    return _updated(connection, experiment_id, ended)


def ask_to_stop(connection: Connection, experiment_id: int) -> Experiment:
    """The run is to end; it learns of it when it reports next."""
    return _updated(connection, experiment_id, {"stop_us": now_us()})


def lose_silent(connection: Connection, before_us: int) -> int:
    """Runs that were not heard since then are lost, from when they were; how many there are."""
    silent = (
        (experiments.c.state == ExperimentState.RUNNING.value)
        & experiments.c.place.is_not(None)
        & (experiments.c.heard_us < before_us)
    )
    values = {"state": ExperimentState.LOST.value, "ended_us": experiments.c.heard_us, "error": SILENT}
    return connection.execute(experiments.update().where(silent).values(values)).rowcount


def summary(connection: Connection, experiment_id: int) -> dict[str, Any] | None:
    """What the run has left as its summary; None if there is none."""
    query = select(summaries.c.document).where(summaries.c.experiment_id == experiment_id)
    return connection.execute(query).scalar()


def _check_reporter(actor: Actor, found: Experiment) -> None:
    if not found.is_reported:
        raise RunError(found.id, "a controller runs it; only what was registered as a run is reported")
    if found.created_by != actor.name:
        raise RunError(found.id, f"token {found.created_by} registered it; report with that token")
    if found.state not in GOING_ON:
        raise RunError(found.id, f"has ended already: {found.state.value}")


def _updated(connection: Connection, experiment_id: int, values: Mapping[str, Any]) -> Experiment:
    statement = experiments.update().where(experiments.c.id == experiment_id).values(dict(values))
    return of_row(connection.execute(statement.returning(experiments)).one())
