# SPDX-License-Identifier: Apache-2.0
"""What the OpenID Connect sign-in refuses: forged and foreign ID tokens, unsolicited answers, and
providers that answer with anything at all. Each refusal is one line of the log and one failure in the audit.

What is right is tried with a real provider, in tests/integration/test_oidc.py.
"""

from __future__ import annotations

import base64
import hmac
import json
import logging
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware

from clarion_control.controller import Controller
from clarion_control.dashboard import oidc
from clarion_control.dashboard.gate import Gate
from clarion_control.dashboard.guard import Guard
from clarion_control.dashboard.oidc import BEGIN, CALLBACK, OidcSignIn
from clarion_control.dashboard.sessions import Sessions
from clarion_control.dashboard.signin import SignIn
from clarion_control.model import Action, Role
from clarion_control.oidc_options import OidcOptions
from clarion_control.services.access import STRANGER, AccessLog, Entry
from clarion_control.store import Store
from fakes.oidc_provider import CLIENT, DISCOVERY, KEYS, TOKEN, USERINFO, FakeProvider, key, serving

URL = "http://127.0.0.1:8080"
NOT_VALID = "was not valid"
NOT_BEGUN = "not begun in this browser"
NO_ANSWER = "does not answer as it should"
OTHER_AUDIENCE = ["other", CLIENT]


class House:
    """A dashboard whose people sign in at the provider."""

    def __init__(self, provider: FakeProvider, log: pytest.LogCaptureFixture) -> None:
        self.provider, self.log = provider, log
        self.access = AccessLog(cast(Store, None))  # never started: what it would write is of interest
        controller = cast(Controller, SimpleNamespace(access=self.access))
        guard = Guard(controller, Sessions())
        signin = SignIn(controller, guard)
        options = OidcOptions(provider.issuer, CLIENT, {"ops": Role.OPERATOR}, client_secret="any")
        self._app = Starlette(
            routes=[*signin.routes(), *OidcSignIn(signin, options, URL).routes()],
            middleware=[
                Middleware(SessionMiddleware, secret_key="only a test"),
                Middleware(Gate, guard=guard),
            ],
        )

    def browser(self) -> httpx.AsyncClient:
        """One without cookies."""
        return httpx.AsyncClient(transport=httpx.ASGITransport(self._app), base_url=URL)

    async def back(self, browser: httpx.AsyncClient) -> dict[str, str]:
        """Begins a sign-in; the fields with which the provider would send the browser back."""
        begun = await browser.get(BEGIN)
        assert begun.status_code == 302, begun.text
        asked = parse_qs(urlsplit(begun.headers["location"]).query)
        self.provider.claims.setdefault("nonce", asked["nonce"][0])
        return {"code": "any", "state": asked["state"][0]}

    async def sign_in(self) -> httpx.Response:
        """All of it, in a browser of its own."""
        async with self.browser() as browser:
            return await browser.get(CALLBACK, params=await self.back(browser))

    def refused(self, answer: httpx.Response, status: int, sentence: str, reason: str) -> None:
        """The page says so, the log why in one line, and the audit that it happened, once."""
        assert (answer.status_code, sentence in answer.text) == (status, True), answer.text
        lines = [each.getMessage() for each in self.log.records if each.name == oidc.__name__]
        assert len(lines) == 1, lines
        assert reason in lines[0]
        assert "\n" not in lines[0]
        assert [each.exc_info for each in self.log.records if each.exc_info] == []
        assert self.audited() == [(STRANGER, Action.SESSION_FAIL, {"source": "127.0.0.1", "count": 1})]

    def audited(self) -> list[Entry]:
        """What the audit would be told now."""
        return self.access._tally.take(time.monotonic(), everything=True)


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with serving() as provider:
        yield provider


@pytest.fixture
def house(provider: FakeProvider, caplog: pytest.LogCaptureFixture) -> House:
    caplog.set_level(logging.WARNING)
    return House(provider, caplog)


async def test_without_a_fault_it_signs_in(house: House) -> None:
    """Else what follows would show nothing."""
    assert (await house.sign_in()).status_code == 303


@pytest.mark.parametrize("audience", [[CLIENT], OTHER_AUDIENCE])
async def test_a_token_for_several_that_names_us_signs_in(house: House, audience: list[str]) -> None:
    house.provider.claims = {"aud": audience, "azp": CLIENT}
    assert (await house.sign_in()).status_code == 303


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"iss": "http://127.0.0.1:1"}, "iss"),
        ({"iss": None}, "iss"),
        ({"aud": "other"}, "aud"),
        ({"aud": None}, "aud"),
        ({"aud": ["other"]}, "aud"),
        ({"aud": OTHER_AUDIENCE}, "azp"),
        ({"aud": OTHER_AUDIENCE, "azp": "other"}, "azp"),
        ({"azp": "other"}, "azp"),
        ({"exp": 1_000_000_000}, "ExpiredTokenError"),
        ({"exp": None}, "exp"),
        ({"exp": "tomorrow"}, "exp"),
        ({"iat": 1 << 40}, "issued in the future"),
        ({"nbf": 1 << 40}, "not yet valid"),
        ({"nonce": "another"}, "nonce"),
        ({"nonce": None}, "nonce"),
        ({"nonce": 5}, "nonce"),
        ({"sub": None}, "sub"),
        ({"at_hash": "another"}, "at_hash"),
        ({"at_hash": 5}, "at_hash"),
    ],
    ids=str,
)
async def test_claims_that_are_not_of_this_sign_in(house: House, claims: dict[str, Any], reason: str) -> None:
    house.provider.claims = claims
    house.refused(await house.sign_in(), 401, NOT_VALID, reason)


def base64url(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).decode().rstrip("=")


def encoded(*parts: dict[str, Any]) -> str:
    """Header and claims as they are signed."""
    return ".".join(base64url(json.dumps(part).encode()) for part in parts)


async def test_a_token_without_a_signature(house: House) -> None:
    async with house.browser() as browser:
        fields = await house.back(browser)
        claims = {**house.provider.usual_claims(), **house.provider.claims}
        house.provider.id_token = encoded({"alg": "none"}, claims) + "."
        answer = await browser.get(CALLBACK, params=fields)
    house.refused(answer, 401, NOT_VALID, "UnsupportedAlgorithmError")


async def test_a_token_whose_secret_is_the_public_key(house: House) -> None:
    """A verifier that lets the token choose takes what anybody can read for a shared secret."""
    async with house.browser() as browser:
        fields = await house.back(browser)
        claims = {**house.provider.usual_claims(), **house.provider.claims}
        signed = encoded({"alg": "HS256", "kid": "first"}, claims)
        secret = house.provider.key.as_pem(private=False)
        signature = hmac.digest(secret, signed.encode(), "sha256")
        house.provider.id_token = f"{signed}.{base64url(signature)}"
        answer = await browser.get(CALLBACK, params=fields)
    house.refused(answer, 401, NOT_VALID, "UnsupportedAlgorithmError")


async def test_a_token_of_another_key_with_the_name_of_ours(house: House) -> None:
    house.provider.key = key("first", "attacker")
    house.refused(await house.sign_in(), 401, NOT_VALID, "BadSignatureError")


async def test_a_token_of_an_unknown_key_has_the_keys_fetched_once_more(house: House) -> None:
    house.provider.key = key("second")
    house.refused(await house.sign_in(), 401, NOT_VALID, "InvalidKeyIdError")
    assert house.provider.asked.count(KEYS) == 2


async def test_a_new_key_is_found_without_a_restart(house: House) -> None:
    assert (await house.sign_in()).status_code == 303
    house.provider.key = key("second")
    house.provider.published.append(house.provider.key)
    del house.provider.claims["nonce"]
    assert (await house.sign_in()).status_code == 303
    assert house.provider.asked.count(KEYS) == 2


async def test_the_answer_to_another_browser(house: House) -> None:
    async with house.browser() as ours, house.browser() as other:
        fields = await house.back(ours)
        await house.back(other)
        house.refused(await other.get(CALLBACK, params=fields), 401, NOT_BEGUN, "MismatchingStateError")
    assert TOKEN not in house.provider.asked  # the code is not even tried


async def test_an_answer_that_comes_again(house: House) -> None:
    async with house.browser() as browser:
        fields = await house.back(browser)
        house.provider.claims["nonce"] = "another"
        await browser.get(CALLBACK, params=fields)
        assert len(house.audited()) == 1
        house.log.clear()
        answer = await browser.get(CALLBACK, params=fields)
    house.refused(answer, 401, NOT_BEGUN, "MismatchingStateError")
    assert house.provider.asked.count(TOKEN) == 1


@pytest.mark.parametrize("fields", [{}, {"code": "any"}, {"code": "any", "state": ""}, {"state": "\u202e\n"}])
async def test_an_answer_that_nobody_asked_for(house: House, fields: dict[str, str]) -> None:
    async with house.browser() as browser:
        await house.back(browser)
        answer = await browser.get(CALLBACK, params=fields)
    house.refused(answer, 401, NOT_BEGUN, "MismatchingStateError")


async def test_an_error_that_anybody_may_have_written(house: House) -> None:
    async with house.browser() as browser:
        answer = await browser.get(CALLBACK, params={"error": "a\nb", "error_description": 1000 * "\u202e"})
    house.refused(answer, 401, NOT_VALID, "a b")


GARBAGE: dict[str, tuple[int, dict[str, str], bytes]] = {
    "HTML": (200, {"Content-Type": "text/html"}, b"<h1>Welcome</h1>"),
    "nothing": (200, {}, b""),
    "a number": (200, {}, b"5"),
    "a list": (200, {}, b'["id_token", "error", "keys"]'),
    "an object": (200, {}, b"{}"),
    "nested": (200, {}, 100_000 * b"["),
    "an error": (500, {}, b"no"),
    "elsewhere": (302, {"Location": "http://127.0.0.1:1/"}, b""),
}


@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize("path", [DISCOVERY, KEYS, TOKEN, USERINFO])
async def test_a_provider_that_answers_with_garbage(house: House, path: str, garbage: str) -> None:
    house.provider.answers[path] = GARBAGE[garbage]
    house.provider.claims["groups"] = None  # so that the userinfo is asked for
    house.provider.metadata["userinfo_endpoint"] = house.provider.issuer + USERINFO
    await refused_by_the_provider(house, path)
    assert house.provider.asked.count(path) == 1


async def refused_by_the_provider(house: House, path: str) -> None:
    """At its begin if the discovery is wrong, at its end otherwise."""
    if path == DISCOVERY:
        async with house.browser() as browser:
            answer = await browser.get(BEGIN)
    else:
        answer = await house.sign_in()
    house.refused(answer, 503, NO_ANSWER, house.provider.issuer.removeprefix("http://"))


@pytest.mark.parametrize(
    ("path", "document"),
    [
        (TOKEN, {"error": 5}),
        (TOKEN, {"id_token": 5, "access_token": "any"}),
        (TOKEN, {"id_token": None}),
        (TOKEN, {"id_token": "a.b"}),
        (TOKEN, {"id_token": "\u202e.\u202e.\u202e"}),
        (TOKEN, {"expires_in": "soon"}),
        (KEYS, {"keys": 5}),
        (KEYS, {"keys": []}),
        (KEYS, {"keys": [5]}),
        (KEYS, {"keys": [{}]}),
        (KEYS, {"keys": [{"kty": "RSA", "kid": "first"}]}),
        (KEYS, {"keys": [{"kty": "RSA", "kid": "first", "n": "!", "e": 5}]}),
        (KEYS, {"keys": [{"kty": "none", "kid": "first"}]}),
    ],
    ids=str,
)
async def test_a_provider_that_answers_with_something_else(house: House, path: str, document: Any) -> None:
    house.provider.answers[path] = 200, {}, json.dumps(document).encode()
    answer = await house.sign_in()
    status, sentence = (503, NO_ANSWER) if answer.status_code == 503 else (401, NOT_VALID)
    house.refused(answer, status, sentence, "Error: ")


@pytest.mark.parametrize("path", [DISCOVERY, KEYS, TOKEN])
@pytest.mark.parametrize("manner", ["hangs", "drips"])
async def test_a_provider_that_does_not_end(
    house: House, path: str, manner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    getattr(house.provider, manner).add(path)
    async with house.browser() as browser:
        fields = {} if path == DISCOVERY else await house.back(browser)
        monkeypatch.setattr(oidc, "TIMEOUT_S", 0.3)
        answer = await browser.get(CALLBACK, params=fields)
    house.refused(answer, 503, NO_ANSWER, "it did not answer within 0.3 s")


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "http://127.0.0.1:1"},
        {"issuer": None},
        {"token_endpoint": None},
        {"token_endpoint": "http://192.0.2.1/token"},
        {"jwks_uri": 5},
        {"authorization_endpoint": "javascript:x"},
        {"id_token_signing_alg_values_supported": ["none", "HS256"]},
        {"id_token_signing_alg_values_supported": 5},
        {"id_token_signing_alg_values_supported": [["RS256"]]},
        {"token_endpoint_auth_methods_supported": 5},
    ],
    ids=str,
)
async def test_a_discovery_that_is_of_no_use(house: House, metadata: dict[str, Any]) -> None:
    house.provider.metadata = metadata
    await refused_by_the_provider(house, DISCOVERY)
