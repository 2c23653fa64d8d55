# SPDX-License-Identifier: Apache-2.0
"""The dashboard as one object: access, and the addresses of pages."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from nicegui import context, ui
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from clarion_base.errors import UserError
from clarion_control.controller import Controller
from clarion_control.dashboard import parts
from clarion_control.dashboard.frame import frame
from clarion_control.dashboard.guard import SESSION_KEY, Guard
from clarion_control.dashboard.options import Options
from clarion_control.dashboard.sessions import Sessions
from clarion_control.dashboard.visit import Visit
from clarion_control.errors import NotFoundError
from clarion_control.experiments.service import Experiments
from clarion_control.services.tokens import expires_soon_us
from clarion_control.tuner.loop import Tuner

RESPONSE_TIMEOUT_S = 30.0  # for a page to be built, on a machine that has other things to do

Build = Callable[..., Awaitable[None]]


class Dashboard:
    """Pages over a controller; `mount` of the package makes one."""

    def __init__(
        self,
        controller: Controller,
        experiments: Experiments | None,
        tuner: Tuner | None,
        options: Options,
    ) -> None:
        self.controller = controller
        self.experiments = experiments
        self.tuner = tuner
        self.options = options
        self.sessions = Sessions()
        self.guard = Guard(controller, self.sessions)

    def sign_in_link(self, base_url: str, token_id: int) -> str:
        """An address that signs one browser in as this token, once, within a quarter of an hour.

        What is behind the # stays in the browser: no log and no other site gets to see it.
        """
        return f"{base_url.rstrip('/')}/login#code={self.sessions.code(token_id, time.monotonic())}"

    def page(self, path: str, area: str, title: str) -> Callable[[Build], Build]:
        """Registers `build(visit, **parameters of the path)` as a page; `area` is its navigation entry."""

        def decorate(build: Build) -> Build:
            @ui.page(path, title=f"{title} · Clarion", response_timeout=RESPONSE_TIMEOUT_S)
            async def show(request: Request) -> Response | None:
                return await self._show(build, area, request)

            return build

        return decorate

    async def _show(self, build: Build, area: str, request: Request) -> Response | None:
        key = request.session.get(SESSION_KEY)
        actor, token = await self.guard.actor(key), self.guard.token(key)
        if actor is None:  # signed out since the gate's check
            return RedirectResponse("/login", 303)
        visit = Visit(request, actor, self.controller, self.guard, self.options)
        with frame(request, actor, area, None if token is None else expires_soon_us(token)):
            try:
                await build(visit, **request.path_params)
            except UserError as error:
                context.client.status_code = 404 if isinstance(error, NotFoundError) else 503
                with parts.card("This page cannot be shown", level="h1"):
                    parts.text(str(error), "p")
            visit.watch_session()
        return None
