# SPDX-License-Identifier: Apache-2.0
"""Signing in at an OpenID Connect provider: authorization code flow with PKCE, state and nonce, by Authlib.

Authlib checks signature, expiry, nonce and `at_hash` of the ID token (OpenID Connect Core 1.0, 3.1.3.7). What
it leaves to its user is here: issuer and audience, that the discovery is that of the issuer, and algorithms.

A sign-in that fails does not count as a wrong token does: there is nothing to guess, and any site could have
a browser ask for the callback until its user had to wait.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import ssl
import time
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

import httpx2
from authlib.integrations.starlette_client import OAuth, OAuthError
from joserfc.errors import JoseError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from clarion_base.errors import UserError
from clarion_control.dashboard.signin import SignIn, local
from clarion_control.oidc_options import NotAdmittedError, OidcOptions, checked_url

BEGIN, CALLBACK = "/login/oidc", "/login/oidc/callback"
TIMEOUT_S = 10.0  # for all that the provider is asked at a time, however slowly it answers
LEEWAY_S = 60  # between the clocks of provider and controller
KNOWN_FOR_S = 10.0  # what the provider said of itself and its keys; nobody is sent to one that is away
PAUSE_S = 5.0  # after a provider did not answer, for which it is not asked again
SIGNATURES = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
)
_NEXT = "oidc_next"  # in the signed cookie: the page asked for
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint")
_log = logging.getLogger(__name__)
T = TypeVar("T")


class AwayError(UserError):
    """The provider does not answer, or not with what OpenID Connect prescribes."""


class OidcSignIn:
    """The way to the provider and back."""

    def __init__(self, signin: SignIn, options: OidcOptions, public_url: str) -> None:
        self._signin = signin
        self._options = options
        self._redirect_uri = public_url + CALLBACK
        self._known: tuple[Any, float] | None = None  # the client, and until when what it knows is good
        self._paused_until_s = 0.0
        self._asking = asyncio.Lock()
        signin.offer(options.provider, lambda target: f"{public_url}{BEGIN}?next={quote(target, safe='')}")

    def routes(self) -> list[Route]:
        """The routes to the provider and back."""
        return [Route(BEGIN, self._begin, methods=["GET"]), Route(CALLBACK, self._finish, methods=["GET"])]

    async def _begin(self, request: Request) -> Response:
        target = local(request.query_params.get("next"))
        try:
            client = await self._discovered()
        except AwayError as error:
            return self._away(request, target, error)
        answer: Response = await client.authorize_redirect(request, self._redirect_uri)
        request.session[_NEXT] = target
        return answer

    async def _finish(self, request: Request) -> Response:
        target = local(request.session.pop(_NEXT, None))
        try:
            person = self._options.person(await self._claims(request))
        except AwayError as error:
            return self._away(request, target, error)
        except NotAdmittedError as error:
            self._signin.note_failure(request)
            return self._signin.page(request, target, str(error), 403)
        except (OAuthError, JoseError) as error:
            _log.warning("sign-in by %s: %s", self._options.provider, _printable(error))
            self._signin.note_failure(request)
            return self._signin.page(request, target, self._words(error), 401)
        self._signin.begin(request, person)
        return RedirectResponse(target, 303)

    async def _claims(self, request: Request) -> Mapping[str, Any]:
        """The claims of the ID token, and those that the provider has at its userinfo endpoint only."""
        client = await self._discovered()
        return await _asked(self._received(client, request))

    async def _received(self, client: Any, request: Request) -> Mapping[str, Any]:
        wanted = {"iss": self._options.issuer, "aud": self._options.client_id}
        checks = {claim: {"essential": True, "value": value} for claim, value in wanted.items()}
        token = await client.authorize_access_token(request, claims_options=checks, leeway=LEEWAY_S)
        claims: Mapping[str, Any] | None = token.get("userinfo")
        if claims is None:
            raise AwayError("it sent no ID token")
        is_whole = self._options.groups_claim in claims and self._options.name_claim in claims
        if is_whole or "userinfo_endpoint" not in client.server_metadata:
            return claims
        more: Mapping[str, Any] = await client.userinfo(token=token)
        if more.get("sub") != claims["sub"]:  # OpenID Connect Core 1.0, 5.3.2: else it is of somebody else
            raise AwayError("its userinfo is of another subject than its ID token")
        return {**more, **claims}

    async def _discovered(self) -> Any:
        """Authlib's client of the provider, with what the issuer says of itself now; AwayError."""
        async with self._asking:
            now_s = time.monotonic()
            if self._known is not None and now_s < self._known[1]:
                return self._known[0]
            if now_s < self._paused_until_s:
                raise AwayError("it did not answer a moment ago")
            client = self._client()
            try:
                await _asked(self._discover(client))
            except UserError as error:
                self._paused_until_s = time.monotonic() + PAUSE_S
                raise AwayError(_printable(error)) from error
            self._known = client, time.monotonic() + KNOWN_FOR_S
            return client

    async def _discover(self, client: Any) -> None:
        metadata = await client.load_server_metadata()
        self._check(metadata)
        client.client_kwargs["token_endpoint_auth_method"] = self._authentication(metadata)

    def _client(self) -> Any:
        issuer = self._options.issuer.rstrip("/")
        return OAuth().register(
            "oidc",
            client_id=self._options.client_id,
            client_secret=self._options.client_secret,
            server_metadata_url=f"{issuer}/.well-known/openid-configuration",
            client_kwargs={
                "scope": self._options.scope,
                "code_challenge_method": "S256",
                "timeout": None,  # `_asked` has one
                "verify": _trusted(),
            },
        )

    def _check(self, metadata: dict[str, Any]) -> None:
        if metadata.get("issuer") != self._options.issuer:  # OpenID Connect Discovery 1.0, 4.3
            raise AwayError(f"its discovery is of the issuer {metadata.get('issuer')}")
        for name in _ENDPOINTS:
            if name in metadata or name != "userinfo_endpoint":
                checked_url(name, str(metadata.get(name)).partition("?")[0])
        offered = metadata.get("id_token_signing_alg_values_supported") or ["RS256"]
        signatures = [each for each in offered if each in SIGNATURES]
        if not signatures:
            raise AwayError(f"it signs ID tokens by {', '.join(map(str, offered))} only")
        metadata["id_token_signing_alg_values_supported"] = signatures

    def _authentication(self, metadata: dict[str, Any]) -> str:
        """Authlib does not quote a secret in a header, as RFC 6749 (2.3.1) has it, so a form is preferred."""
        if self._options.client_secret is None:
            return "none"
        post = "client_secret_post"
        return (
            post
            if post in metadata.get("token_endpoint_auth_methods_supported", ())
            else "client_secret_basic"
        )

    def _away(self, request: Request, target: str, error: AwayError) -> Response:
        _log.warning("sign-in by %s: %s", self._options.provider, error)
        self._signin.note_failure(request)
        sentence = f"{self._options.provider} does not answer as it should. Try again later, or use a token."
        return self._signin.page(request, target, sentence, 503)

    def _words(self, error: OAuthError | JoseError) -> str:
        provider = self._options.provider
        if error.error == "access_denied":
            return f"{provider} did not let you in, or you have left it."
        if error.error == "mismatching_state":
            return "This sign-in was not begun in this browser, or was finished already. Begin again."
        return (
            f"The answer of {provider} was not valid. Begin again; the controller's log says what is wrong."
        )


@functools.cache
def _trusted() -> ssl.SSLContext:
    """Authorities for providers, read once: that takes 70 ms, for which nothing else is answered."""
    return httpx2.create_ssl_context()


async def _asked(asking: Awaitable[T]) -> T:
    """What the provider is asked; AwayError if that takes long, or is answered with what no provider should.

    Authlib takes for granted that answers have the types they should have, so any error may come of others.
    """
    try:
        return await asyncio.wait_for(asking, TIMEOUT_S)
    except (OAuthError, JoseError, UserError):
        raise
    except asyncio.TimeoutError as error:
        raise AwayError(f"it did not answer within {TIMEOUT_S:g} s") from error
    except Exception as error:
        raise AwayError(_printable(error)) from error


def _printable(error: Exception) -> str:
    """One line of bounded length: some of it may come from anybody."""
    text = f"{type(error).__name__}: {error}" if not isinstance(error, UserError) else str(error)
    return "".join(each if each.isprintable() else " " for each in text[:300])
