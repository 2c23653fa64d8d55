# SPDX-License-Identifier: Apache-2.0
"""The REST API: what a request meets, in the order in which it meets it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from clarion_base import __version__
from clarion_control.api import failures, openapi
from clarion_control.api.body_limit import BodyLimit
from clarion_control.api.context import ApiContext, TunerView
from clarion_control.api.limits import RateLimits
from clarion_control.api.options import DEFAULTS, ApiOptions
from clarion_control.api.routes import experiments as experiment_routes
from clarion_control.api.routes import (
    fallback,
    health,
    links,
    ports,
    records,
    runs,
    switches,
    telemetry,
    tuner,
)
from clarion_control.api.streams import Streams
from clarion_control.controller import Controller

if TYPE_CHECKING:
    from clarion_control.experiments.service import Experiments


ROUTERS = tuple(
    part.routes
    for part in (health, switches, ports, links, telemetry, tuner, experiment_routes, runs, records)
)


@functools.cache
def document() -> dict[str, Any]:
    """The OpenAPI document, the same for every application of the process."""
    return openapi.describe(__version__, ROUTERS)


def create_app(
    controller: Controller,
    *,
    experiments: Experiments | None = None,
    options: ApiOptions = DEFAULTS,
    tuner_state: Callable[[], str] = lambda: "off",
    tuner: TunerView | None = None,
) -> FastAPI:
    """The application. What the controller or the experiments need closing is their owner's to close.

    Before the server ends, `app.state.clarion_api.streams.close()` ends the event streams.
    """
    app = FastAPI(title="Clarion controller", openapi_url=None, docs_url=None, redoc_url=None)
    app.state.tuner = tuner  # may also come later
    app.state.clarion_api = ApiContext(
        controller,
        experiments,
        options,
        RateLimits(options),
        Streams(options),
        tuner_state,
        lambda: app.state.tuner,
    )
    app.add_middleware(BodyLimit, max_bytes=options.body_bytes)
    failures.install(app)
    for router in ROUTERS:
        app.include_router(router)  # each route is a GuardedRoute: token, role, rate, media type
    app.include_router(fallback.pages)
    app.openapi = document  # type: ignore[method-assign]
    fallback.add_document(app)
    fallback.add_catch_all(app)
    return app
