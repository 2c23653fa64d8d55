# SPDX-License-Identifier: Apache-2.0
"""Signing in and out: plain HTML forms, so that a token travels in the body of a request and nowhere else."""

from __future__ import annotations

import time
from collections.abc import Callable
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from clarion_control.controller import Controller
from clarion_control.dashboard import templates
from clarion_control.dashboard.guard import SESSION_KEY, Guard
from clarion_control.dashboard.sessions import Attempts, Holder
from clarion_control.model import Action

MAX_FORM_BYTES = 8192
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
WRONG = "This token is not valid. It may be mistyped, revoked or expired."
SPENT = "This sign-in link has been used already, or is too old. Paste a token instead."


class SignIn:
    """The pages /login and /logout."""

    def __init__(self, controller: Controller, guard: Guard) -> None:
        self._controller = controller
        self._guard = guard
        self._sessions = guard.sessions
        self._attempts = Attempts()
        self._provider: str | None = None
        self._elsewhere: Callable[[str], str] = str

    def offer(self, provider: str, address: Callable[[str], str]) -> None:
        """Another way to sign in: where it begins, by the page that it shall lead to."""
        self._provider, self._elsewhere = provider, address

    def routes(self) -> list[Route]:
        """The routes of both pages."""
        return [
            Route("/login", self._form, methods=["GET"]),
            Route("/login", self._sign_in, methods=["POST"]),
            Route("/logout", self._sign_out, methods=["POST"]),
        ]

    async def _form(self, request: Request) -> Response:
        return self.page(request, local(request.query_params.get("next")))

    async def _sign_in(self, request: Request) -> Response:
        form = await _fields(request)
        target = local(form.get("next"))
        code, text = form.get("code"), form.get("token", "").strip()
        token_id = self._redeemed(code) if code else self._known(text)
        if token_id is None:
            wait_s = self._attempts.wait_s(_address(request), time.monotonic())
            if wait_s == 0 and not code:
                token = await self._controller.tokens.look_again(text)
                token_id = None if token is None else token.id
            if token_id is None:
                return self._failed(request, target, SPENT if code else WRONG, wait_s)
        self.begin(request, token_id)
        return RedirectResponse(target, 303)

    def begin(self, request: Request, holder: Holder) -> None:
        """Signs the browser in."""
        self._sessions.end(request.session.get(SESSION_KEY))
        request.session.clear()  # a session key that others may know must not become a signed-in one
        request.session[SESSION_KEY] = self._sessions.begin(holder, time.monotonic())
        self._note(request, Action.SESSION_BEGIN, holder)

    async def _sign_out(self, request: Request) -> Response:
        key = request.session.get(SESSION_KEY)
        holder = self._sessions.holder(key, time.monotonic())
        if holder is not None:
            self._note(request, Action.SESSION_END, holder)
        self._sessions.end(key)
        request.session.clear()
        return RedirectResponse("/login", 303)

    def _redeemed(self, code: str) -> int | None:
        token_id = self._sessions.redeem(code, time.monotonic())
        return None if token_id is None or self._controller.tokens.by_id(token_id) is None else token_id

    def _known(self, text: str) -> int | None:
        token = self._controller.tokens.valid(text)
        return None if token is None else token.id

    def _failed(self, request: Request, target: str, problem: str, wait_s: float) -> Response:
        """Only what is wrong has to wait: who shares an address with a guesser gets in."""
        address = self.note_failure(request)
        if wait_s == 0:
            self._attempts.failed(address, time.monotonic())
            return self.page(request, target, problem, 401)
        seconds = int(wait_s) + 1
        page = self.page(request, target, f"Too many attempts. Try again in {seconds} s.", 429)
        page.headers["Retry-After"] = str(seconds)
        return page

    def note_failure(self, request: Request) -> str:
        """Puts it into the audit; returns where it came from."""
        address = _address(request)
        self._controller.access.note(Action.SESSION_FAIL, address)
        return address

    def _note(self, request: Request, action: Action, holder: Holder) -> None:
        actor = self._guard.actor_of(holder)
        if actor is not None:
            self._controller.access.note(action, _address(request), actor)

    def page(self, request: Request, target: str, problem: str | None = None, status: int = 200) -> Response:
        """The form; it leads to the page `target`."""
        page = templates.page(
            "login.html",
            request,
            status,
            next=target,
            problem=problem,
            provider=self._provider,
            elsewhere=self._elsewhere(target),
        )
        page.headers["Content-Security-Policy"] = _POLICY
        return page


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def local(target: str | None) -> str:
    """The redirect target after sign-in: a path of this server only."""
    is_path = target is not None and target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if target is not None and is_path and target.isprintable() else "/"


async def _fields(request: Request) -> dict[str, str]:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_FORM_BYTES:
            return {}
    return {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}
