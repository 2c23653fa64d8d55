# SPDX-License-Identifier: Apache-2.0
"""Experiments: start, watch, stop, fetch results."""

from __future__ import annotations

import mimetypes
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, BinaryIO

from fastapi import Path, Request, Response
from fastapi.responses import StreamingResponse
from sse_starlette import EventSourceResponse, ServerSentEvent

from clarion_control.api import sse
from clarion_control.api.auth import Asker, BearerToken
from clarion_control.api.context import Api, ApiContext
from clarion_control.api.operations import LINK, LOCATION, operation, router
from clarion_control.api.pages import next_page
from clarion_control.api.problems import Problem
from clarion_control.api.schemas.base import PAGE_ITEMS, BeforeId, Limit, RecordId
from clarion_control.api.schemas.experiments import (
    ExperimentList,
    ExperimentView,
    Files,
    FileView,
    NewExperiment,
    Scenarios,
    ScenarioView,
)
from clarion_control.experiments.service import Experiments
from clarion_control.model import Experiment, Role

routes = router("experiments")

CHUNK_BYTES = 256 * 1024
FilePath = Annotated[
    str, Path(description="Of the file, below the experiment.", max_length=4096, examples=["summary.json"])
]
# A report is a page with pictures inside; it is shown without any right, should a browser open it.
_CONTAINED = {
    "Content-Security-Policy": "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-cache",
}
_EVENTS_EXAMPLE = """\
event: experiment
data: {"id": 5, "scenario": "smoke", "state": "running", "progress": "smoke: 2.0 / 3 s 18.9 Mbit/s"}

"""


def service(api: ApiContext) -> Experiments:
    """The runs; Problem if this controller makes none."""
    if api.experiments is None:
        raise Problem("unavailable", "this controller runs no experiments")
    return api.experiments


@routes.get(
    "/v1/scenarios",
    **operation(
        Role.VIEWER,
        "list_scenarios",
        "Scenarios that can be run",
        description="Those that ship with Clarion, and the engines.",
    ),
)
def list_scenarios(api: Api) -> Scenarios:
    """The scenarios that ship; read in a thread, the first time."""
    scenarios = service(api).scenarios
    return Scenarios(
        items=[
            ScenarioView(name=each.name, description=each.description, points=each.points, run_s=each.run_s)
            for each in scenarios.catalogue()
        ],
        engines=scenarios.engines(),
    )


@routes.get(
    "/v1/experiments",
    **operation(
        Role.VIEWER, "list_experiments", "All experiments", headers=LINK, description="Newest first."
    ),
)
async def list_experiments(
    request: Request, response: Response, api: Api, before_id: BeforeId = None, limit: Limit = PAGE_ITEMS
) -> ExperimentList:
    """A page of experiments from the store."""
    found = await service(api).experiments(before_id=before_id, limit=limit)
    items = [view(api, each) for each in found]
    return ExperimentList(items=items, next=next_page(request, response, [each.id for each in items], limit))


@routes.post(
    "/v1/experiments",
    **operation(
        Role.EXPERIMENTER,
        "start_experiment",
        "Run a scenario",
        "invalid-experiment",
        "conflict",
        body=True,
        status=201,
        headers=LOCATION,
        description="It waits until those before it have ended: a machine runs one at a time.",
    ),
)
async def start_experiment(api: Api, actor: Asker, new: NewExperiment, response: Response) -> ExperimentView:
    """Check a run and queue it."""
    made = await service(api).submit(actor, new.scenario, new.engine, new.settings, new.repeat)
    response.headers["Location"] = f"/v1/experiments/{made.id}"
    return view(api, made)


@routes.get(
    "/v1/experiments/{id}",
    **operation(
        Role.VIEWER, "get_experiment", "An experiment", "unknown-experiment", description="How far it is."
    ),
)
async def get_experiment(api: Api, id: RecordId) -> ExperimentView:
    """The experiment of that number."""
    return view(api, await service(api).experiment(id))


@routes.delete(
    "/v1/experiments/{id}",
    **operation(
        Role.EXPERIMENTER,
        "stop_experiment",
        "Stop an experiment",
        "unknown-experiment",
        "conflict",
        status=202,
        description="It writes what it has measured and ends. One that has ended stays as it is.",
    ),
)
async def stop_experiment(api: Api, actor: Asker, id: RecordId) -> ExperimentView:
    """Ask a run to stop; it ends after its clean-up."""
    return view(api, await service(api).stop(actor, id))


@routes.get(
    "/v1/experiments/{id}/events",
    response_class=EventSourceResponse,
    **operation(
        Role.VIEWER,
        "watch_experiment",
        "An experiment as it goes on",
        "unknown-experiment",
        description="An `experiment` event now and after every change; the stream ends with the experiment."
        " What a slow reader misses is in the next event.",
        responses={
            200: {
                "description": "Server-sent events.",
                "content": {"text/event-stream": {"schema": {"type": "string"}, "example": _EVENTS_EXAMPLE}},
            }
        },
    ),
)
async def watch_experiment(
    request: Request, api: Api, token: BearerToken, id: RecordId
) -> EventSourceResponse:
    """Stream every change of an experiment until it has ended."""
    await service(api).experiment(id)
    api.streams.check(token.id)
    return sse.stream(request, token, _changes(service(api), id))


@routes.get(
    "/v1/experiments/{id}/files",
    **operation(
        Role.VIEWER,
        "list_files",
        "Results of an experiment",
        "unknown-experiment",
        description="Those that are there by now; docs/summary-format.md says what they hold.",
    ),
)
async def list_files(api: Api, id: RecordId) -> Files:
    """The results in the directory of an experiment."""
    found = await service(api).files(id)
    return Files(items=[FileView(path=file.path, bytes=file.bytes) for file in found])


@routes.get(
    "/v1/experiments/{id}/files/{path:path}",
    response_class=StreamingResponse,
    **operation(
        Role.VIEWER,
        "get_file",
        "A result of an experiment",
        "unknown-experiment",
        "unknown-file",
        description="As it lies on disk.",
        responses={
            200: {
                "description": "The file.",
                "content": {"*/*": {"schema": {"description": "The bytes of the file."}, "example": "..."}},
            }
        },
    ),
)
async def get_file(api: Api, id: RecordId, path: FilePath) -> StreamingResponse:
    """A result from the directory of an experiment, and from nowhere else."""
    opened = await service(api).open_file(id, path)
    if opened is None:
        raise Problem("unknown-file", f"experiment {id} has no file of that name; list them with /files")
    media_type = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return StreamingResponse(_chunks(opened), media_type=media_type, headers=_CONTAINED)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def view(api: ApiContext, experiment: Experiment) -> ExperimentView:
    """An experiment as it is shown."""
    return ExperimentView.of(experiment, service(api).progress(experiment))


async def _changes(runs: Experiments, experiment_id: int) -> AsyncIterator[ServerSentEvent]:
    async for experiment, progress in runs.updates(experiment_id):
        yield sse.sent("experiment", ExperimentView.of(experiment, progress))
