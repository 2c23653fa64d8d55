# SPDX-License-Identifier: Apache-2.0
"""The dashboard: NiceGUI pages on the controller's own FastAPI application."""

from __future__ import annotations

import secrets

from fastapi import FastAPI
from nicegui import app as nicegui_app
from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from clarion_control.controller import Controller
from clarion_control.dashboard import templates
from clarion_control.dashboard.dashboard import Dashboard
from clarion_control.dashboard.experiment_results import file_route
from clarion_control.dashboard.gate import Gate
from clarion_control.dashboard.oidc import OidcSignIn
from clarion_control.dashboard.options import Options
from clarion_control.dashboard.pages import register
from clarion_control.dashboard.sessions import LONGEST_S
from clarion_control.dashboard.signin import SignIn
from clarion_control.experiments.service import Experiments
from clarion_control.oidc_options import OidcOptions
from clarion_control.tuner.loop import Tuner

__all__ = ["Dashboard", "Options", "mount"]

_mounted = False


def mount(
    app: FastAPI,
    controller: Controller,
    *,
    experiments: Experiments | None = None,
    tuner: Tuner | None = None,
    options: Options | None = None,
    oidc: OidcOptions | None = None,
    public_url: str = "",
) -> Dashboard:
    """Adds the dashboard to the application, behind all routes that it has by now.

    NiceGUI keeps its pages per process, so this can be done once in each. To sign in by `oidc` needs
    `public_url`, to which the provider sends browsers back.
    """
    global _mounted
    if _mounted:
        raise RuntimeError("the dashboard is mounted already; a process can serve one")
    _mounted = True
    options = options or Options()
    dashboard = Dashboard(controller, experiments, tuner, options)
    nicegui_app.add_static_files("/_clarion", templates.STATIC, max_cache_age=31_536_000)
    signin = SignIn(controller, dashboard.guard)
    nicegui_app.router.routes.extend(signin.routes())
    if oidc is not None:
        nicegui_app.router.routes.extend(OidcSignIn(signin, oidc, public_url).routes())
    if experiments is not None:
        nicegui_app.router.routes.append(file_route(experiments))
    nicegui_app.add_exception_handler(404, _not_found)
    register(dashboard)
    nicegui_app.add_middleware(
        Gate, guard=dashboard.guard
    )  # innermost: it needs the session that others read
    ui.run_with(
        app,
        title="Clarion",
        dark=None,
        language="en-US",
        tailwind=False,
        binding_refresh_interval=None,
        reconnect_timeout=10.0,
        show_welcome_message=False,
        storage_secret=secrets.token_urlsafe(32),  # with the process all sessions end anyway
        session_middleware_kwargs={
            "session_cookie": "clarion_session",
            "same_site": "lax",
            "max_age": int(LONGEST_S),
        },
    )
    return dashboard


async def _not_found(request: Request, error: Exception) -> Response:
    return templates.page(
        "message.html", request, 404, title="There is no such page", text=f"{request.url.path} leads nowhere."
    )
