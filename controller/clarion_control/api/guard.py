# SPDX-License-Identifier: Apache-2.0
"""The way of every request to its operation: token, role, rate, media type, JSON.

A class of route rather than dependencies: FastAPI reads the body before it resolves dependencies, and a
request without a token must not learn what is wrong with its body.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from datetime import datetime, timezone
from email.utils import format_datetime
from typing import Any, NoReturn, get_args, get_origin

from fastapi import Request, Response
from fastapi.routing import APIRoute

from clarion_control.api import auth, context
from clarion_control.api.problems import Problem, in_query
from clarion_control.model import Role
from clarion_control.services.tokens import expires_soon_us

TOKEN_EXPIRES = "Clarion-Token-Expires"  # of answers in a token's last two weeks: an HTTP date
ROLE = "x-clarion-role"  # in the OpenAPI document, too
JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
MAX_DEPTH = 40
_TAKES = {"PATCH": (MERGE_PATCH, JSON), "PUT": (JSON,), "POST": (JSON,)}


class GuardedRoute(APIRoute):
    """A route that states its role; one that does not cannot be made."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What FastAPI makes, behind the checks."""
        handle = super().get_route_handler()
        role = role_of(self)
        parameters = {
            field.alias: _is_list(field.field_info.annotation) for field in self.dependant.query_params
        }

        async def guarded(request: Request) -> Response:
            await auth.admit(context.of(request), request, role)
            _check_query(request, parameters)
            checked = CheckedRequest(request.scope, request.receive)
            if self.body_field is not None and await checked.body():
                _check_media_type(checked)
                await checked.json()  # here, where its Problem reaches the client unchanged
            return _warned(request, await handle(checked))

        return guarded


def _warned(request: Request, response: Response) -> Response:
    """Says until when the token is valid, in the last two weeks."""
    token = getattr(request.state, "token", None)
    if token is not None and expires_soon_us(token) is not None:
        ends = datetime.fromtimestamp(token.expires_us / 1e6, timezone.utc)
        response.headers[TOKEN_EXPIRES] = format_datetime(ends, usegmt=True)
    return response


def role_of(route: APIRoute) -> Role | None:
    """The role that a route states; None if it needs no token."""
    stated = (route.openapi_extra or {})[ROLE]
    return None if stated == "none" else Role[stated.upper()]


class CheckedRequest(Request):
    """A request whose JSON is JSON: no NaN, no key twice, nothing that UTF-8 cannot carry."""

    async def json(self) -> Any:
        """The body, or Problem."""
        if not hasattr(self, "_checked"):
            self._checked = parsed(await self.body())
        return self._checked


def parsed(body: bytes) -> Any:
    """The value of a JSON document, or Problem."""
    try:
        value = json.loads(body.decode(), object_pairs_hook=_object, parse_constant=_refuse)
    except UnicodeDecodeError:
        raise Problem("malformed-json", "the body is not UTF-8") from None
    except json.JSONDecodeError as error:
        detail = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise Problem("malformed-json", detail) from None
    except RecursionError:
        raise Problem("malformed-json", "nested too deeply") from None
    except ValueError:  # Python reads no number of more than 4300 digits
        raise Problem("malformed-json", "a number is too long") from None
    _check(value, 0)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Problem("malformed-json", f"the key {json.dumps(twice)} stands twice in an object")
    return made


def _refuse(constant: str) -> NoReturn:
    raise Problem("malformed-json", f"{constant} is not JSON")


def _check(value: Any, depth: int) -> None:
    """Refuses text with half a surrogate pair, or a NUL, which a database cannot keep."""
    if depth > MAX_DEPTH:
        raise Problem("malformed-json", f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        try:
            refused = b"\0" in value.encode()
        except UnicodeEncodeError:
            refused = True
        if refused:
            raise Problem("malformed-json", "a text holds a NUL or half of a surrogate pair")
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check(key, depth)
            _check(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth + 1)


def _is_list(annotation: Any) -> bool:
    return any(get_origin(each) is list for each in (annotation, *get_args(annotation)))


def _check_query(request: Request, known: Mapping[str, bool]) -> None:
    """Refuses parameters that there are not: a filter with a misspelt name would let everything through. And
    those given several times that are not lists, of which one would be passed over.
    """
    for name in request.query_params:
        if name not in known:
            has = f"there are {', '.join(sorted(known))}" if known else "there are none here"
            detail = f"there is no such parameter; {has}"
        elif not known[name] and len(request.query_params.getlist(name)) > 1:
            detail = "is given several times; give it once"
        else:
            continue
        raise Problem("invalid-request", f"{name[:100]!r}: {detail}", errors=[in_query(name, detail)])


def _check_media_type(request: Request) -> None:
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    takes = _TAKES[request.method]
    if given not in takes:
        what = f"not {given}" if given else "and say so in Content-Type"
        headers = {"Accept-Patch" if request.method == "PATCH" else "Accept": ", ".join(takes)}
        raise Problem("unsupported-media-type", f"send {' or '.join(takes)}, {what}", headers=headers)
