# SPDX-License-Identifier: Apache-2.0
"""Runs that were started elsewhere: they register, say how they go on, and leave their summary."""

from __future__ import annotations

from fastapi import Response

from clarion_control.api.auth import Asker
from clarion_control.api.context import Api
from clarion_control.api.operations import LOCATION, operation, router
from clarion_control.api.routes.experiments import service, view
from clarion_control.api.schemas.base import RecordId
from clarion_control.api.schemas.experiments import ExperimentView, NewRun, RunProgress, RunResult
from clarion_control.model import ExperimentState, Role

routes = router("experiments")


@routes.post(
    "/v1/runs",
    **operation(
        Role.OPERATOR,
        "register_run",
        "Register a run that was started elsewhere",
        body=True,
        status=201,
        headers=LOCATION,
        description="It is an experiment from then on, running. The run reports with the token that"
        " registered it; one that is not heard for 30 s is lost.",
    ),
)
async def register_run(api: Api, actor: Asker, new: NewRun, response: Response) -> ExperimentView:
    """Store a run that reports by itself."""
    made = await service(api).reported.register(
        actor, new.scenario, new.engine, new.settings, new.repeat, new.place
    )
    response.headers["Location"] = f"/v1/experiments/{made.id}"
    return view(api, made)


@routes.put(
    "/v1/runs/{id}/progress",
    **operation(
        Role.OPERATOR,
        "report_progress",
        "Say how a run goes on",
        "unknown-experiment",
        "conflict",
        body=True,
        description="Due every few seconds. `stop` in the answer: the run was asked to stop.",
    ),
)
async def report_progress(api: Api, actor: Asker, id: RecordId, said: RunProgress) -> ExperimentView:
    """A sign of life of a run."""
    return view(api, await service(api).reported.hear(actor, id, said.progress))


@routes.put(
    "/v1/runs/{id}/result",
    **operation(
        Role.OPERATOR,
        "report_result",
        "Say how a run ended",
        "unknown-experiment",
        "conflict",
        body=True,
        description="Final. Its summary can be fetched as `summary.json` of the experiment.",
    ),
)
async def report_result(api: Api, actor: Asker, id: RecordId, result: RunResult) -> ExperimentView:
    """The end of a run."""
    found = await service(api).reported.finish(
        actor, id, ExperimentState(result.state), result.error, result.summary
    )
    return view(api, found)
