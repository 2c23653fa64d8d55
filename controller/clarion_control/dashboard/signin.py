# SPDX-License-Identifier: Apache-2.0
"""Signing in and out: plain HTML forms, so that a token travels in the body of a request and nowhere else."""

from __future__ import annotations

import time
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from clarion_control.controller import Controller
from clarion_control.dashboard import templates
from clarion_control.dashboard.guard import SESSION_KEY
from clarion_control.dashboard.sessions import Attempts, Sessions
from clarion_control.model import Action, Actor

MAX_FORM_BYTES = 8192
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
WRONG = "This token is not valid. It may be mistyped, revoked or expired."
SPENT = "This sign-in link has been used already, or is too old. Paste a token instead."


class SignIn:
    """The pages /login and /logout."""

    def __init__(self, controller: Controller, sessions: Sessions) -> None:
        self._controller = controller
        self._sessions = sessions
        self._attempts = Attempts()

    def routes(self) -> list[Route]:
        """The routes of both pages."""
        return [
            Route("/login", self._form, methods=["GET"]),
            Route("/login", self._sign_in, methods=["POST"]),
            Route("/logout", self._sign_out, methods=["POST"]),
        ]

    async def _form(self, request: Request) -> Response:
        return _page(request, _local(request.query_params.get("next")))

    async def _sign_in(self, request: Request) -> Response:
        form = await _fields(request)
        target = _local(form.get("next"))
        code, text = form.get("code"), form.get("token", "").strip()
        token_id = self._redeemed(code) if code else self._known(text)
        if token_id is None:
            wait_s = self._attempts.wait_s(_address(request), time.monotonic())
            if wait_s == 0 and not code:
                token = await self._controller.tokens.look_again(text)
                token_id = None if token is None else token.id
            if token_id is None:
                return self._failed(request, target, SPENT if code else WRONG, wait_s)
        self._sessions.end(request.session.get(SESSION_KEY))
        request.session.clear()  # a session key that others may know must not become a signed-in one
        request.session[SESSION_KEY] = self._sessions.begin(token_id, time.monotonic())
        self._note(request, Action.SESSION_BEGIN, token_id)
        return RedirectResponse(target, 303)

    async def _sign_out(self, request: Request) -> Response:
        key = request.session.get(SESSION_KEY)
        token_id = self._sessions.token_id(key, time.monotonic())
        if token_id is not None:
            self._note(request, Action.SESSION_END, token_id)
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
        address = _address(request)
        self._controller.access.note(Action.SESSION_FAIL, address)
        if wait_s == 0:
            self._attempts.failed(address, time.monotonic())
            return _page(request, target, problem, 401)
        seconds = int(wait_s) + 1
        page = _page(request, target, f"Too many attempts. Try again in {seconds} s.", 429)
        page.headers["Retry-After"] = str(seconds)
        return page

    def _note(self, request: Request, action: Action, token_id: int) -> None:
        token = self._controller.tokens.by_id(token_id)
        if token is not None:
            self._controller.access.note(action, _address(request), Actor(token.name, token.role))


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _page(request: Request, target: str, problem: str | None = None, status: int = 200) -> Response:
    page = templates.page("login.html", request, status, next=target, problem=problem)
    page.headers["Content-Security-Policy"] = _POLICY
    return page


def _local(target: str | None) -> str:
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
