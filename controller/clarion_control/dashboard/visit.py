# SPDX-License-Identifier: Apache-2.0
"""One page open in one browser: its user, and actions on the user's behalf."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from nicegui import context, ui
from starlette.requests import Request

from clarion_base.errors import UserError
from clarion_control.controller import Controller
from clarion_control.dashboard.guard import SESSION_KEY, ForbiddenError, Guard, SignedOutError
from clarion_control.dashboard.options import Options
from clarion_control.errors import ApplyPending
from clarion_control.model import Action, Actor, Role

T = TypeVar("T")
_log = logging.getLogger(__name__)
CHECK_EVERY_S = 10.0


class Visit:
    """The context of a page. `actor` has opened it; an action looks the user up again."""

    def __init__(
        self, request: Request, actor: Actor, controller: Controller, guard: Guard, options: Options
    ) -> None:
        self.request = request
        self.actor = actor
        self.controller = controller
        self.options = options
        self._guard = guard
        self._key = request.session.get(SESSION_KEY)

    def may(self, role: Role) -> bool:
        """Whether the user has this role, to decide what the page offers."""
        return self.actor.role >= role

    async def act(
        self, role: Role, action: Callable[[Actor], Awaitable[object]], done: str | None = None
    ) -> bool:
        """Runs an action that needs a role and shows its outcome; False if it failed."""
        try:
            await self.do(role, action)
        except ApplyPending as pending:
            tell(str(pending), "warning")
            return True
        except SignedOutError:
            ui.navigate.to("/login")
            return False
        except UserError as error:
            tell(str(error), "negative")
            return False
        if done:
            tell(done, "positive")
        return True

    async def do(self, role: Role, action: Callable[[Actor], Awaitable[T]]) -> T:
        """Runs an action that needs a role; SignedOutError, ForbiddenError, or the action's own errors."""
        try:
            actor = await self._guard.require(self._key, role)
        except ForbiddenError:
            self._note_refusal(role)
            raise
        _log.info("%s: %s", actor.name, getattr(action, "__qualname__", "action"))
        return await action(actor)

    def _note_refusal(self, role: Role) -> None:
        address = self.request.client.host if self.request.client else ""
        needs = role.name.lower()
        page = self.request.url.path
        self.controller.access.note(Action.REQUEST_REFUSE, address, self.actor, request=page, needs=needs)

    def watch_session(self) -> None:
        """Closes the page when the session ends, so that nothing is shown after signing out. A
        browser that stays although it was redirected is cut off with the next check.
        """
        client = context.client
        redirected = False

        async def check() -> None:
            nonlocal redirected
            actor = await self._guard.actor(self._key)
            if actor is not None and actor.role == self.actor.role:
                redirected = False
            elif redirected and actor is None and client.has_socket_connection:
                # After this call: the page's timers, of which this is one, end with it.
                asyncio.get_running_loop().call_soon(client.delete)
            else:
                redirected = True
                ui.navigate.to("/login" if actor is None else self.request.url.path)

        ui.timer(CHECK_EVERY_S, check, immediate=False)


def tell(sentence: str, kind: str) -> None:
    """Shows a notification; one of kind "negative" stays until it is closed."""
    bad = kind == "negative"
    ui.notify(
        sentence,
        type=kind,  # type: ignore[arg-type]
        position="bottom",
        multi_line=True,
        close_button="Close" if bad else False,
        timeout=0 if bad else 4000,
    )


__all__ = ["ForbiddenError", "SignedOutError", "Visit", "tell"]
