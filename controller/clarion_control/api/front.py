# SPDX-License-Identifier: Apache-2.0
"""What every request meets first, of API and dashboard, WebSockets included: its client behind a proxy, the
names that are allowed, and what makes HTTPS stay HTTPS.
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clarion_control.api.hosts import Hosts
from clarion_control.api.problems import Problem
from clarion_control.api.proxies import Proxies

HSTS = "max-age=31536000"  # RFC 6797, section 6.1: a year; other names below this one are not ours to decide


class Front:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, proxies: Proxies, hosts: Hosts, *, https: bool = False) -> None:
        """`https`: all come by HTTPS, in front of whatever hands them on."""
        self._app = app
        self._https = https
        self._proxies = proxies
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on with its true client and scheme, or answers with a problem."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        self._proxies.apply(scope)
        if self._https or scope["scheme"] in ("https", "wss"):
            send = _secured(send)
        try:
            self._hosts.check(Headers(scope=scope).getlist("host"))
        except Problem as problem:
            await _refuse(problem, scope, receive, send)
            return
        await self._app(scope, receive, send)


async def _refuse(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": problem.detail})
    else:
        await problem.response()(scope, receive, send)


def _secured(send: Send) -> Send:
    """Adds to answers over TLS what keeps the browser there: HSTS, and Secure on every cookie."""

    async def with_headers(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            headers = MutableHeaders(raw=message.setdefault("headers", []))
            headers["strict-transport-security"] = HSTS
            cookies = headers.getlist("set-cookie")
            if cookies:
                del headers["set-cookie"]
                for cookie in cookies:
                    headers.append("set-cookie", cookie if _is_secure(cookie) else f"{cookie}; secure")
        await send(message)

    return with_headers


def _is_secure(cookie: str) -> bool:
    return any(part.strip().lower() == "secure" for part in cookie.split(";")[1:])
