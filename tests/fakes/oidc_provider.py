# SPDX-License-Identifier: Apache-2.0
"""An OpenID Connect provider on loopback that answers as a test wants, so also as no provider should."""

from __future__ import annotations

import functools
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from joserfc.jws import JWSRegistry

CLIENT = "clarion"
DISCOVERY, KEYS, TOKEN, USERINFO = "/.well-known/openid-configuration", "/keys", "/token", "/userinfo"
DRIP_S = 0.02  # between two bytes of an answer that does not end

Answer = tuple[int, Mapping[str, str], bytes]  # status, headers, body


@functools.cache
def key(name: str, owner: str = "provider") -> RSAKey:
    """A key to sign with; the same for the same name and owner, since one takes a while to make."""
    made: RSAKey = RSAKey.generate_key(2048, {"kid": name, "use": "sig", "alg": "RS256"})
    return made


class FakeProvider:
    """What it says; tests change the fields."""

    def __init__(self) -> None:
        self.issuer = ""
        self.key = key("first")
        self.published = [self.key]
        self.claims: dict[str, Any] = {}  # of the ID token, beside the usual ones; None leaves one out
        self.id_token: str | None = None  # in place of one that is made of the claims
        self.metadata: dict[str, Any] = {}  # of the discovery, in the same way
        self.answers: dict[str, Answer] = {}  # by path, in place of the right one
        self.drips: set[str] = set()  # paths whose answer never ends
        self.hangs: set[str] = set()  # paths that are not answered
        self.asked: list[str] = []  # paths, in order
        self.released = threading.Event()  # ends answers that hang or drip

    def usual_claims(self) -> dict[str, Any]:
        """Of an ID token that is valid but for its nonce, which the test has of the request."""
        now_s = int(time.time())
        return {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": "ann",
            "iat": now_s,
            "exp": now_s + 300,
            "groups": ["ops"],
        }

    def signed(self, **header: Any) -> str:
        """The ID token; `header` changes fields of its header."""
        return jwt.encode(
            {"alg": "RS256", "kid": self.key.kid, **header},
            _changed(self.usual_claims(), self.claims),
            self.key,
            registry=JWSRegistry(strict_check_header=False),
        )

    def answer(self, path: str) -> Answer:
        """Of one request."""
        if path in self.answers:
            return self.answers[path]
        documents = {DISCOVERY: self._discovery, KEYS: self._keys, TOKEN: self._token}
        if path not in documents:
            return 404, {}, b""
        return 200, {"Content-Type": "application/json"}, json.dumps(documents[path]()).encode()

    def _discovery(self) -> dict[str, Any]:
        usual = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": self.issuer + TOKEN,
            "jwks_uri": self.issuer + KEYS,
            "id_token_signing_alg_values_supported": ["none", "HS256", "RS256"],
        }
        return _changed(usual, self.metadata)

    def _keys(self) -> dict[str, Any]:
        return {**KeySet(list(self.published)).as_dict(private=False)}

    def _token(self) -> dict[str, Any]:
        id_token = self.signed() if self.id_token is None else self.id_token
        return {"access_token": "any", "token_type": "Bearer", "id_token": id_token}


@contextmanager
def serving() -> Iterator[FakeProvider]:
    """A provider at a port of its own, until the end of the block."""
    provider = FakeProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            self.rfile.read(length)
            path = self.path.partition("?")[0]
            provider.asked.append(path)
            if path in provider.hangs:
                provider.released.wait()
                return
            status, headers, body = provider.answer(path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if path not in provider.drips:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            while path in provider.drips and not provider.released.wait(DRIP_S):
                self.wfile.write(b" ")

        do_POST = do_GET  # noqa: N815

        def log_message(self, format: str, *values: Any) -> None:
            """Nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that has left is no error."""

    with Server(("127.0.0.1", 0), Handler) as server:
        provider.issuer = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield provider
        finally:
            provider.released.set()
            server.shutdown()
            thread.join()


def _changed(usual: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**usual, **changes}.items() if value is not None}
