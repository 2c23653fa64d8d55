# SPDX-License-Identifier: Apache-2.0
"""A few calls to a controller's REST API; what goes wrong is one line."""

from __future__ import annotations

import http.client
import json
import re
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from clarion_base.errors import UserError

TIMEOUT_S = 20.0


class RefusedByController(UserError):  # noqa: N818 - reads as what happened
    """The controller answered, and said no."""

    def __init__(self, what: str, status: int, detail: str) -> None:
        super().__init__(f"{what}: {detail}")
        self.status = status


class RestClient:
    """Calls with one token. No redirects, no proxies: the token is for this controller."""

    def __init__(self, url: str, token: str, ca: Path | None = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
            raise UserError(f"--controller {url}: use http://HOST:PORT or https://HOST:PORT")
        self.url = f"{parts.scheme}://{parts.netloc}"
        self._token = token
        handlers: list[Any] = [urllib.request.ProxyHandler({}), _NoRedirects()]
        if parts.scheme == "https":
            handlers.append(urllib.request.HTTPSHandler(context=_context(ca)))
        elif ca is not None:
            raise UserError(f"--controller-ca {ca}: only an https:// controller has a certificate")
        self._opener = urllib.request.build_opener(*handlers)

    @classmethod
    def with_token_of(cls, url: str, token_file: Path, ca: Path | None) -> RestClient:
        """With the token in a file; UserError names the option."""
        try:
            token = token_file.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a text file"
            raise UserError(f"--token-file {token_file}: {reason}") from None
        if not re.fullmatch(r"[!-~]+", token):
            raise UserError(
                f"--token-file {token_file}: must hold one token, as `clarion token create` prints it"
            )
        return cls(url, token, ca)

    def call(self, method: str, path: str, document: object = None) -> Any:
        """The document that comes back, None without one. UserError names the controller and its reason."""
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        body = None
        if document is not None:
            body = json.dumps(document).encode()
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.url + path, data=body, headers=headers, method=method)
        try:
            with self._opener.open(request, timeout=TIMEOUT_S) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            with error:
                raise RefusedByController(self._where(path), error.code, _reason(error)) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise UserError(f"{self._where(path)}: {reason}") from None
        try:
            return json.loads(text) if text else None
        except ValueError:
            raise UserError(f"{self._where(path)}: no JSON came back; is this a controller?") from None

    def _where(self, path: str) -> str:
        return f"controller {self.url}{path}"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _context(ca: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if ca is None else str(ca))
    except (OSError, ssl.SSLError) as error:
        raise UserError(f"--controller-ca {ca}: {error.strerror or error}") from None


def _reason(error: urllib.error.HTTPError) -> str:
    """The detail of a problem document, or the status."""
    try:
        problem = json.loads(error.read())
        text = str(problem.get("detail") or problem.get("title") or error.reason)
        faults = problem.get("errors") or []
        return "; ".join([text, *(str(fault.get("detail")) for fault in faults[:1])])
    except (OSError, ValueError, AttributeError):
        return f"{error.code} {error.reason}"
