# SPDX-License-Identifier: Apache-2.0
"""Access control: the gate and the sign-in form over a store of their own, without a browser."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from clarion_control.controller import Controller
from clarion_control.dashboard import signin, visit
from clarion_control.dashboard.gate import Gate
from clarion_control.dashboard.guard import SESSION_KEY, ForbiddenError, Guard, SignedOutError
from clarion_control.dashboard.options import Options
from clarion_control.dashboard.sessions import Sessions
from clarion_control.dashboard.signin import MAX_FORM_BYTES, SPENT, WRONG, SignIn
from clarion_control.model import Actor, Role, Token
from clarion_control.services import tokens as token_service
from clarion_control.store.clock import now_us
from fakes.controller import ADMIN, open_controller

HOST = "clarion.test"


class Door:
    """A dashboard with one page, and an HTTP client."""

    def __init__(self, controller: Controller, token: Token, text: str) -> None:
        self.controller = controller
        self.token, self.text = token, text
        self.sessions = Sessions()
        self.guard = Guard(controller, self.sessions)
        app = Starlette(
            routes=[Route("/", _page), *SignIn(controller, self.guard).routes()],
            middleware=[
                Middleware(SessionMiddleware, secret_key="only a test"),
                Middleware(Gate, guard=self.guard),
            ],
        )
        self.browser = httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url=f"http://{HOST}", follow_redirects=False
        )

    async def sign_in(self, text: str, next_page: str = "/") -> httpx.Response:
        return await self.browser.post("/login", data={"token": text, "next": next_page})


async def _page(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"token {request.session[SESSION_KEY] is not None}")


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Door]:
    async with open_controller(tmp_path) as controller:
        token, text = await controller.tokens.create(ADMIN, "vera", Role.VIEWER)
        made = Door(controller, token, text)
        async with made.browser:
            yield made


async def test_pages_lead_to_the_form_and_back(door: Door) -> None:
    away = await door.browser.get("/?a=1")
    assert (away.status_code, away.headers["location"]) == (303, "/login?next=%2F%3Fa%3D1")
    form = await door.browser.get(away.headers["location"])
    assert 'name="next" value="/?a=1"' in form.text
    back = await door.sign_in(door.text, "/?a=1")
    assert (back.status_code, back.headers["location"]) == (303, "/?a=1")
    page = await door.browser.get("/")
    assert page.status_code == 200
    assert "httponly; samesite=lax" in back.headers["set-cookie"]
    assert page.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]


@pytest.mark.parametrize("target", ["//evil.test/", "https://evil.test/", "/\\evil.test", "javascript:x", ""])
async def test_signing_in_leads_nowhere_else(door: Door, target: str) -> None:
    assert (await door.sign_in(door.text, target)).headers["location"] == "/"


async def test_wrong_tokens_are_refused_and_then_have_to_wait(door: Door) -> None:
    for _ in range(10):
        refused = await door.sign_in("clarion_guess")
        assert refused.status_code == 401
        assert WRONG in refused.text
    waiting = await door.sign_in("clarion_guess")
    assert waiting.status_code == 429
    assert 0 < int(waiting.headers["retry-after"]) <= 61
    assert (await door.browser.get("/")).status_code == 303
    assert (await door.sign_in(door.text)).status_code == 303  # who shares the address is not held up
    assert (await door.browser.get("/")).status_code == 200


async def test_sign_ins_failures_and_sign_outs_are_in_the_audit(door: Door) -> None:
    await door.sign_in(door.text)
    await door.browser.post("/logout")
    for _ in range(12):
        await door.sign_in("clarion_" + 43 * "x")
    await door.controller.access.flush(everything=True)
    records = [each for each in await door.controller.records.audit() if each.action != "token.create"]
    found = {each.action: (each.actor, each.after) for each in records}
    address = {"source": "127.0.0.1"}
    assert found == {
        "session.begin": ("vera", address | {"count": 1}),
        "session.end": ("vera", address | {"count": 1}),
        "session.fail": ("unknown", address | {"count": 12}),
    }
    assert "xxx" not in str(records)


async def test_a_code_is_good_for_one_browser(door: Door) -> None:
    code = door.sessions.code(door.token.id, time.monotonic())
    first = await door.browser.post("/login", data={"code": code})
    assert first.status_code == 303
    second = await door.browser.post("/login", data={"code": code})
    assert (second.status_code, SPENT in second.text) == (401, True)


async def test_a_form_that_is_too_large_is_not_read(door: Door) -> None:
    """With a valid token, so that only the size is a reason for refusal."""
    fields = f"token={door.text}&next="
    largest = await door.browser.post("/login", content=fields + "x" * (MAX_FORM_BYTES - len(fields)))
    assert largest.status_code == 303
    door.browser.cookies.clear()
    too_large = await door.browser.post("/login", content=fields + "x" * (MAX_FORM_BYTES + 1 - len(fields)))
    assert too_large.status_code == 401
    assert (await door.browser.get("/")).status_code == 303


async def test_reading_ends_at_the_limit_of_a_form() -> None:
    chunks = iter([b"x" * MAX_FORM_BYTES, b"x", b"never taken"])

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": next(chunks), "more_body": True}

    request = Request({"type": "http", "method": "POST", "headers": []}, receive)
    assert await signin._fields(request) == {}
    assert next(chunks) == b"never taken"


@pytest.mark.parametrize("origin", ["http://evil.test", "null", f"http://{HOST}.evil.test"])
async def test_other_sites_may_not_send_forms(door: Door, origin: str) -> None:
    refused = await door.browser.post("/login", data={"token": door.text}, headers={"Origin": origin})
    assert refused.status_code == 403


async def test_sockets_and_posts_need_a_session(door: Door) -> None:
    assert (await door.browser.post("/")).status_code == 401
    assert (await door.browser.get("/_nicegui_ws/socket.io/")).status_code == 401


async def test_signing_out_ends_it(door: Door) -> None:
    await door.sign_in(door.text)
    out = await door.browser.post("/logout")
    assert (out.status_code, out.headers["location"]) == (303, "/login")
    assert (await door.browser.get("/")).status_code == 303


async def test_a_revoked_token_is_out_at_once(door: Door) -> None:
    await door.sign_in(door.text)
    assert (await door.browser.get("/")).status_code == 200
    await door.controller.tokens.revoke(ADMIN, door.token.id)
    assert (await door.browser.get("/")).status_code == 303


async def test_an_expired_token_is_out(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    expires_us = now_us() + 3600 * 1_000_000
    token, _ = await door.controller.tokens.create(ADMIN, "gone", Role.ADMIN, expires_us=expires_us)
    key = door.sessions.begin(token.id, time.monotonic())
    assert await door.guard.actor(key) is not None
    monkeypatch.setattr(token_service, "now_us", lambda: expires_us)
    assert await door.guard.actor(key) is None


async def test_a_browser_that_does_not_leave_is_cut_off(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    key = door.sessions.begin(door.token.id, time.monotonic())
    page = _Page()
    monkeypatch.setattr(visit, "context", SimpleNamespace(client=page))
    monkeypatch.setattr(visit, "ui", page)
    request = Request({"type": "http", "headers": [], "session": {SESSION_KEY: key}})
    actor = Actor("vera", Role.VIEWER)
    visit.Visit(request, actor, door.controller, door.guard, Options()).watch_session()
    await page.check()
    assert page.left == []
    await door.controller.tokens.revoke(ADMIN, door.token.id)
    await page.check()
    assert (page.left, page.deleted) == (["/login"], False)
    await page.check()
    await asyncio.sleep(0)
    assert page.deleted


class _Page:
    """The part of NiceGUI's client that a visit uses."""

    has_socket_connection = True

    def __init__(self) -> None:
        self.left: list[str] = []
        self.deleted = False
        self.navigate = SimpleNamespace(to=self.left.append)
        self.check: Callable[[], Awaitable[None]]

    def timer(self, _: float, check: Callable[[], Awaitable[None]], *, immediate: bool) -> None:
        self.check = check

    def delete(self) -> None:
        self.deleted = True


async def test_what_needs_a_role_names_it(door: Door) -> None:
    with pytest.raises(SignedOutError):
        await door.guard.require(None, Role.VIEWER)
    key = door.sessions.begin(door.token.id, time.monotonic())
    assert (await door.guard.require(key, Role.VIEWER)).name == "vera"
    with pytest.raises(ForbiddenError, match="needs the role operator; yours is viewer"):
        await door.guard.require(key, Role.OPERATOR)
