# SPDX-License-Identifier: Apache-2.0
"""Is it well: for load balancers and people without a token, and for Prometheus. And who leads."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from fastapi import Request, Response

from clarion_base import __version__
from clarion_control.api import metrics
from clarion_control.api.context import Api
from clarion_control.api.operations import operation, router
from clarion_control.api.schemas.records import Controllers, ControllerView, Health
from clarion_control.errors import StoreError
from clarion_control.model import LinkState, Role

routes = router("health")
_TROUBLE = (LinkState.UNREACHABLE, LinkState.REFUSED)


@routes.get(
    "/v1/health",
    response_model=Health,
    **operation(
        None,
        "get_health",
        "Whether the controller works",
        description="Needs no token and names no switch. 503 only if the database does not answer.",
        responses={503: {"model": Health, "description": "The store does not answer."}},
    ),
)
async def get_health(api: Api, response: Response) -> Health:
    """The state of the links, the store and the tuner."""
    controller = api.controller
    links = Counter(controller.switches.status(switch.name).state for switch in controller.switches.all())
    store = await _store(api)
    tuner = api.tuner_state()
    degraded = any(links[state] for state in _TROUBLE) or tuner == "failing"
    response.headers["Cache-Control"] = "no-store"
    if store != "ok":
        response.status_code = 503
    return Health(
        status="failing" if store != "ok" else "degraded" if degraded else "ok",
        store=store,
        links={state.value: count for state, count in sorted(links.items(), key=lambda item: item[0].value)},
        tuner=tuner,
        version=__version__,
    )


async def _store(api: Api) -> Literal["ok", "failing"]:
    try:
        await api.controller.records.check_store()
    except StoreError:
        return "failing"
    return "ok"


@routes.get(
    "/v1/controllers",
    **operation(
        Role.VIEWER,
        "list_controllers",
        "All controllers of the store",
        description="Which there are, and which switches each leads.",
    ),
)
async def list_controllers(api: Api) -> Controllers:
    """Those of the last day."""
    standing, switches = api.controller.standing, api.controller.switches
    leader = {switch.name: switches.status(switch.name).primary for switch in switches.all()}
    return Controllers(
        items=[
            ControllerView(
                name=each.name,
                election_id=each.election_id,
                url=each.url,
                seen_us=each.seen_us,
                present=present,
                this=each.election_id == standing.me.election_id,
                leads=[name for name, primary in leader.items() if primary == each.election_id],
            )
            for each, present in standing.known()
        ]
    )


@routes.get(
    "/metrics",
    response_class=Response,
    **operation(
        Role.VIEWER,
        "get_metrics",
        "Figures for Prometheus",
        description="The latest of every switch and port, from memory.",
        responses={
            200: {
                "description": "One line per figure.",
                "content": {
                    "text/plain": {
                        "schema": {"type": "string"},
                        "example": 'clarion_port_queue_bytes{port="1",switch="s1"} 4500.0\n',
                    }
                },
            }
        },
    ),
)
async def get_metrics(api: Api, request: Request) -> Response:
    """Prometheus metrics, from memory alone."""
    text, media_type = metrics.exposition(
        api.controller, api.tuner(), api.options.certificate, request.headers.get("accept", "")
    )
    return Response(text, media_type=media_type, headers={"Cache-Control": "no-store"})
