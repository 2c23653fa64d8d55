# SPDX-License-Identifier: Apache-2.0
"""What a request meets first: proxies that are trusted or not, names, and what HTTPS brings with it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from clarion_base.errors import UserError
from clarion_control.api.front import HSTS, Front
from clarion_control.api.hosts import Hosts
from clarion_control.api.problems import Problem
from clarion_control.api.proxies import Proxies, networks
from fakes.rest import problem

PROXIES = Proxies(networks(["127.0.0.1", "10.1.0.0/16", "2001:db8::/32"]))
Headers = list[tuple[str, str]]


def seen(peer: str, headers: Headers, kind: str = "http") -> tuple[str, str]:
    """Client and scheme of a request from `peer`."""
    raw = [(name.lower().encode(), value.encode()) for name, value in headers]
    scope: dict[str, Any] = {
        "type": kind,
        "scheme": "http" if kind == "http" else "ws",
        "client": (peer, 4711),
        "headers": raw,
    }
    PROXIES.apply(scope)
    return scope["client"][0], scope["scheme"]


@pytest.mark.parametrize(
    ("peer", "headers", "client", "scheme"),
    [
        ("127.0.0.1", [], "127.0.0.1", "http"),
        ("192.0.2.9", [("X-Forwarded-For", "192.0.2.1")], "192.0.2.9", "http"),
        ("192.0.2.9", [("Forwarded", "for=192.0.2.1;proto=https")], "192.0.2.9", "http"),
        ("192.0.2.9", [("X-Forwarded-Proto", "https")], "192.0.2.9", "http"),
        ("127.0.0.1", [("X-Forwarded-For", "192.0.2.1")], "192.0.2.1", "http"),
        ("::ffff:127.0.0.1", [("X-Forwarded-For", "192.0.2.1")], "192.0.2.1", "http"),
        ("127.0.0.1", [("X-Forwarded-Proto", "https")], "127.0.0.1", "https"),
        ("127.0.0.1", [("X-Forwarded-Proto", "javascript")], "127.0.0.1", "http"),
        # What the client made up stands left of what the proxy appended.
        ("127.0.0.1", [("X-Forwarded-For", "198.51.100.7, 192.0.2.1")], "192.0.2.1", "http"),
        ("127.0.0.1", [("X-Forwarded-For", "198.51.100.7, 192.0.2.1, 10.1.2.3")], "192.0.2.1", "http"),
        ("127.0.0.1", [("X-Forwarded-For", "6.6.6.6"), ("X-Forwarded-For", "192.0.2.1")],
         "192.0.2.1", "http"),
        ("127.0.0.1", [("X-Forwarded-For", "10.1.0.9, 10.1.0.8")], "10.1.0.9", "http"),
        ("127.0.0.1", [("X-Forwarded-For", "192.0.2.1, nonsense")], "127.0.0.1", "http"),
        ("127.0.0.1", [("X-Forwarded-For", "192.0.2.1:4711")], "192.0.2.1", "http"),
        ("127.0.0.1", [("X-Forwarded-For", "[2001:db9::1]:4711")], "2001:db9::1", "http"),
        ("127.0.0.1", [("X-Forwarded-For", "2001:db9::1")], "2001:db9::1", "http"),
        # The examples of RFC 7239, section 4, and what it allows.
        ("127.0.0.1", [("Forwarded", 'For="[2001:db9:cafe::17]:4711"')], "2001:db9:cafe::17", "http"),
        ("127.0.0.1", [("Forwarded", "for=192.0.2.60;proto=https;by=203.0.113.43")], "192.0.2.60", "https"),
        ("127.0.0.1", [("Forwarded", "for=6.6.6.6, for=192.0.2.43 ; proto=HTTPS")], "192.0.2.43", "https"),
        ("127.0.0.1", [("Forwarded", 'for=6.6.6.6;x="a\\",b;c", for=192.0.2.43')], "192.0.2.43", "http"),
        ("127.0.0.1", [("Forwarded", "for=192.0.2.43;proto=https, for=10.1.0.1;proto=http")],
         "192.0.2.43", "https"),
        ("127.0.0.1", [("Forwarded", "for=unknown;proto=https")], "127.0.0.1", "https"),
        ("127.0.0.1", [("Forwarded", "for=_hidden")], "127.0.0.1", "http"),
        ("127.0.0.1", [("Forwarded", "for=192.0.2.43;;")], "127.0.0.1", "http"),
        ("127.0.0.1", [("Forwarded", 'for="192.0.2.43')], "127.0.0.1", "http"),
        # Both headers: the client may have made up one of them.
        ("127.0.0.1", [("Forwarded", "for=6.6.6.6"), ("X-Forwarded-For", "192.0.2.1")], "127.0.0.1", "http"),
        ("127.0.0.1", [("Forwarded", "="), ("X-Forwarded-For", "6.6.6.6")], "127.0.0.1", "http"),
        (
            "127.0.0.1",
            [("Forwarded", "for=192.0.2.1;proto=https"), ("X-Forwarded-For", "192.0.2.1")],
            "192.0.2.1",
            "https",
        ),
        (
            "127.0.0.1",
            [("Forwarded", "for=192.0.2.1;proto=https"), ("X-Forwarded-Proto", "http")],
            "192.0.2.1",
            "http",
        ),
    ],
)  # fmt: skip
def test_who_the_client_is(peer: str, headers: Headers, client: str, scheme: str) -> None:
    assert seen(peer, headers) == (client, scheme)


def test_a_web_socket_behind_a_proxy() -> None:
    headers = [("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-Proto", "https")]
    assert seen("127.0.0.1", headers, "websocket") == ("192.0.2.1", "wss")


@given(st.text(st.characters(codec="latin-1", exclude_characters="\r\n"), max_size=60))
def test_no_header_does_harm(value: str) -> None:
    """Whatever stands there, the client is an address, and nobody that is not trusted changes anything."""
    for name in ("forwarded", "x-forwarded-for", "x-forwarded-proto"):
        assert seen("192.0.2.9", [(name, value)]) == ("192.0.2.9", "http")
        assert seen("127.0.0.1", [(name, value)])[0]


@pytest.mark.parametrize("text", ["nobody", "10.1.2.3/16", "", "*"])
def test_a_proxy_that_cannot_be(text: str) -> None:
    with pytest.raises(UserError, match=r"^--trusted-proxy: .*: write an address, or a network"):
        networks([text])


@pytest.mark.parametrize(
    ("host", "right"),
    [
        ("controller.example.org", True),
        ("Controller.Example.org.:8443", True),
        ("localhost", True),
        ("LOCALHOST:8080", True),
        ("127.0.0.1:8080", True),
        ("[::1]:8080", True),
        ("192.0.2.1", True),
        ("evil.test", False),
        ("localhost.evil.test:8080", False),
        ("controller.example.org.evil.test", False),
        ("user@localhost", False),
        ("localhost/x", False),
        ("localhost:x", False),
        ("[::1", False),
        ("", False),
    ],
)
def test_names(host: str, right: bool) -> None:
    hosts = Hosts.around("0.0.0.0", ["Controller.example.org"], tls=False)
    if right:
        hosts.check([host])
    else:
        with pytest.raises(Problem, match="start it with --host NAME"):
            hosts.check([host])


def test_names_that_are_not_given() -> None:
    Hosts.around("0.0.0.0", [], tls=True).check(["any.example.org"])
    with pytest.raises(Problem):
        Hosts.around("0.0.0.0", ["a.example.org"], tls=True).check(["any.example.org"])
    Hosts.around("lab.example.org", [], tls=False).check(["lab.example.org:8080"])
    with pytest.raises(Problem):
        Hosts.around("127.0.0.1", [], tls=False).check(["any.example.org"])
    hosts = Hosts.around("127.0.0.1", [], tls=False)
    hosts.check([])  # HTTP/1.0, of health checks
    with pytest.raises(Problem):
        hosts.check(["localhost", "localhost"])


async def _app(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        socket = WebSocket(scope, receive, send)
        await socket.accept()
        await socket.close()
        return
    request = Request(scope)
    response: Response = PlainTextResponse(request.client.host if request.client else "")
    response.set_cookie("session", "x", httponly=True)
    response.set_cookie("other", "y", secure=True)
    await response(scope, receive, send)


FRONT = Front(_app, PROXIES, Hosts(["board.test"]))


async def get(
    url: str = "http://localhost/", peer: str = "127.0.0.1", headers: dict[str, str] | None = None
) -> httpx.Response:
    transport = httpx.ASGITransport(FRONT, client=(peer, 1))
    async with httpx.AsyncClient(transport=transport) as client:
        return await client.get(url, headers=headers)


async def test_over_http_nothing_is_added() -> None:
    answer = await get()
    assert "strict-transport-security" not in answer.headers
    assert [("secure" in each.lower()) for each in answer.headers.get_list("set-cookie")] == [False, True]


@pytest.mark.parametrize("direct", [True, False])
async def test_over_https_the_browser_is_kept_there(direct: bool) -> None:
    """Of our own or of a trusted proxy."""
    answer = (
        await get("https://board.test/")
        if direct
        else await get("http://board.test/", headers={"Forwarded": "for=192.0.2.1;proto=https"})
    )
    assert answer.text == ("127.0.0.1" if direct else "192.0.2.1")
    assert answer.headers["strict-transport-security"] == HSTS
    cookies = answer.headers.get_list("set-cookie")
    assert [each.lower().count("secure") for each in cookies] == [1, 1]
    assert "HttpOnly" in cookies[0]


async def test_another_client_that_says_https_is_not_believed() -> None:
    answer = await get(peer="192.0.2.9", headers={"X-Forwarded-Proto": "https"})
    assert "strict-transport-security" not in answer.headers


async def test_a_name_that_is_not_served() -> None:
    refused = await get("http://evil.test/v1/health")
    problem(refused, 421, "unknown-host")
    assert "set-cookie" not in refused.headers


@pytest.mark.parametrize(
    ("host", "extensions", "answer"),
    [
        ("board.test", {}, {"type": "websocket.accept"}),
        ("evil.test", {}, {"type": "websocket.close", "code": 1008}),
        (
            "evil.test",
            {"websocket.http.response": {}},
            {"type": "websocket.http.response.start", "status": 421},
        ),
    ],
)
async def test_web_sockets_have_to_know_the_name_too(
    host: str, extensions: dict[str, Any], answer: dict[str, Any]
) -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", host.encode())]
    scope = {"type": "websocket", "scheme": "ws", "client": ("192.0.2.9", 1), "headers": headers}
    await FRONT(scope | {"path": "/", "query_string": b"", "extensions": extensions}, receive, send)
    assert {name: sent[0][name] for name in answer} == answer
