# SPDX-License-Identifier: Apache-2.0
"""Every way in which a request can fail, as RFC 9457 problem documents: the table, and what leads to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi.responses import JSONResponse

from clarion_base.faults import pointer

MEDIA_TYPE = "application/problem+json"
INDEX = "/problems"  # all kinds, on a page for people


@dataclass(frozen=True)
class ProblemType:
    """A kind of problem. `remedy` is the advice on the page at its URI."""

    slug: str
    status: int
    title: str
    remedy: str

    @property
    def uri(self) -> str:
        """What a problem document has as `type`; the API serves a page there."""
        return f"{INDEX}/{self.slug}"


PROBLEMS: Mapping[str, ProblemType] = {
    row[0]: ProblemType(*row)
    for row in (
        (
            "malformed-json",
            400,
            "The body is not JSON",
            "Send one JSON document in UTF-8, no key twice in an object.",
        ),
        (
            "malformed-header",
            400,
            "A header cannot be read",
            "Write entity tags as they came, quotes included.",
        ),
        (
            "unauthenticated",
            401,
            "A valid token is needed",
            "Send `Authorization: Bearer TOKEN`; `clarion token` makes tokens.",
        ),
        (
            "forbidden",
            403,
            "The token's role does not allow this",
            "Use a token of the role that `detail` names.",
        ),
        (
            "not-found",
            404,
            "There is nothing at this address",
            "The API's addresses are in `/v1/openapi.json`.",
        ),
        ("unknown-switch", 404, "No switch has this name", "`GET /v1/switches` lists those that were added."),
        ("unknown-port", 404, "The switch has no such port", "`GET /v1/switches/{switch}` lists its ports."),
        ("unknown-policy", 404, "The tuner has no such policy", "`GET /v1/policies` lists them."),
        ("unknown-decision", 404, "No decision has this number", "`GET /v1/decisions` lists them."),
        ("unknown-token", 404, "No token has this number", "`GET /v1/tokens` lists them."),
        ("unknown-experiment", 404, "No experiment has this number", "`GET /v1/experiments` lists them."),
        (
            "unknown-file",
            404,
            "The experiment has no such file",
            "`GET /v1/experiments/{id}` lists its files.",
        ),
        (
            "no-forwarding",
            404,
            "Forwarding was not set",
            "The switch keeps its present forwarding until one is set with PUT.",
        ),
        (
            "method-not-allowed",
            405,
            "The address does not know this method",
            "The header Allow lists those that it knows.",
        ),
        (
            "already-exists",
            409,
            "Something has this name already",
            "Choose another name, or remove the other first.",
        ),
        (
            "not-primary",
            409,
            "Another controller is primary",
            "Send the change to the primary controller of the switch.",
        ),
        (
            "conflict",
            409,
            "The state does not allow this now",
            "See `detail`; read the state again and decide.",
        ),
        (
            "stale-version",
            412,
            "It was changed since you read it",
            "GET it again, and send the change with the new ETag.",
        ),
        ("body-too-large", 413, "The body is too large", "Send less; `detail` has the limit."),
        (
            "unsupported-media-type",
            415,
            "The body's media type is not known here",
            "Send `Content-Type: application/json`.",
        ),
        (
            "unknown-host",
            421,
            "The controller does not answer to this name",
            "Use its address, or name this host with `clarion controller serve --host NAME`.",
        ),
        (
            "invalid-request",
            422,
            "The request does not fit its schema",
            "`errors` names each field and what would be right.",
        ),
        (
            "invalid-settings",
            422,
            "No switch may get these settings",
            "`errors` names the field and the range.",
        ),
        (
            "invalid-experiment",
            422,
            "The scenario cannot run like this",
            "`errors` names the field of the scenario.",
        ),
        (
            "precondition-required",
            428,
            "If-Match is needed",
            "GET the port, and send its ETag as If-Match; or `If-Match: *`.",
        ),
        ("too-many-requests", 429, "Too many requests", "Wait as many seconds as Retry-After says."),
        (
            "internal-error",
            500,
            "The controller failed",
            "The controller's log has the cause under the `incident` given here.",
        ),
        (
            "refused-by-switch",
            502,
            "The switch refused the settings",
            "Nothing changed; `detail` has the switch's reason.",
        ),
        (
            "switch-failed",
            502,
            "The switch did not do what it was asked",
            "`detail` has the switch's reason.",
        ),
        (
            "unreachable",
            503,
            "The switch does not answer",
            "Try again, or send `Prefer: respond-async` to have it done later.",
        ),
        (
            "unavailable",
            503,
            "The controller cannot do this now",
            "Try again later; `detail` has the reason.",
        ),
    )
}


class Problem(Exception):  # noqa: N818 - the name in RFC 9457
    """A request that fails, as a document. `errors` are made by `at_field`, `in_query` and `in_header`."""

    def __init__(
        self,
        slug: str,
        detail: str,
        *,
        errors: Iterable[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
        **extensions: Any,
    ) -> None:
        super().__init__(detail)
        self.kind = PROBLEMS[slug]
        self.detail = detail
        self.errors = list(errors)
        self.headers = dict(headers or {})
        self.extensions = extensions

    def document(self) -> dict[str, Any]:
        """The members of RFC 9457, then our own."""
        made: dict[str, Any] = {
            "type": self.kind.uri,
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": self.detail,
        }
        if self.errors:
            made["errors"] = self.errors
        return made | self.extensions

    def response(self) -> JSONResponse:
        """The document with its status and headers."""
        headers = {"Cache-Control": "no-store", **self.headers}
        return JSONResponse(self.document(), self.kind.status, headers, media_type=MEDIA_TYPE)


def at_field(path: Sequence[str | int], detail: str) -> dict[str, str]:
    """A fault in the body, at the JSON pointer of the field as a URI fragment (RFC 9457): `#/xcp/alpha`."""
    return {"pointer": f"#{pointer(path)}", "detail": detail}


def in_query(name: str, detail: str) -> dict[str, str]:
    """A fault in a parameter of the query or the path."""
    return {"parameter": name, "detail": detail}


def in_header(name: str, detail: str) -> dict[str, str]:
    """A fault in a header."""
    return {"header": name, "detail": detail}
