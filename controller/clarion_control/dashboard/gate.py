# SPDX-License-Identifier: Apache-2.0
"""The first check of every request: admits signed-in browsers only, and only from our own pages."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clarion_control.dashboard.guard import SESSION_KEY, Guard

# Vue compiles its templates in the browser, hence 'unsafe-eval'; everything comes from this server.
PAGE_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_OPEN = ("/login", "/login/oidc", "/login/oidc/callback", "/logout", "/favicon.ico")
_FILES = ("/_nicegui/", "/_clarion/")  # without any data; their addresses carry a version


class Gate:
    """ASGI middleware inside the one that reads the session cookie."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Admits the request, redirects it to the sign-in page, or refuses it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        if not _is_from_here(scope):
            await _refuse(scope, receive, send, "This request came from another site.")
        elif path in _OPEN or path.startswith(_FILES) or await self._is_signed_in(scope):
            await self._app(scope, receive, _guarded(path, send))
        elif scope["type"] == "http" and scope["method"] == "GET" and not path.startswith("/_"):
            query = scope["query_string"].decode("latin-1")
            here = quote(path) + (f"?{query}" if query else "")
            target = "/login" if here == "/" else f"/login?next={quote(here, safe='')}"
            await RedirectResponse(target, 303)(scope, receive, _guarded(path, send))
        else:
            await _refuse(scope, receive, send, "Sign in first.", 401)

    async def _is_signed_in(self, scope: Scope) -> bool:
        key = HTTPConnection(scope).session.get(SESSION_KEY)
        return await self._guard.actor(key) is not None


def _is_from_here(scope: Scope) -> bool:
    """Whether the request's Origin is this server. Links and typed addresses have none, and are admitted.

    What is known to have come over TLS has to come from a page that did; elsewhere a proxy may do TLS that we
    do not hear of.
    """
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    if origin is None:
        return True
    parts = urlsplit(origin)
    secure = scope["scheme"] in ("https", "wss")
    return parts.netloc == headers.get("host") and (parts.scheme == "https" or not secure)


async def _refuse(scope: Scope, receive: Receive, send: Send, text: str, status: int = 403) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": text})
    else:
        await PlainTextResponse(text + "\n", status)(scope, receive, send)


def _guarded(path: str, send: Send) -> Send:
    """Adds security headers to responses: content security policy, no framing, referrer policy."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("content-security-policy", PAGE_POLICY)
            headers["x-content-type-options"] = "nosniff"
            headers["referrer-policy"] = "same-origin"  # with none at all, browsers send forms with no origin
            headers["x-frame-options"] = "DENY"
            if not path.startswith(_FILES):
                headers["cache-control"] = "no-store"
        await send(message)

    return with_headers
