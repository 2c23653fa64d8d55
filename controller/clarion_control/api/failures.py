# SPDX-License-Identifier: Apache-2.0
"""From errors to problem documents."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from clarion_base.errors import UserError
from clarion_contract.errors import SettingsError
from clarion_control import errors
from clarion_control.api.problems import Problem, at_field, in_header, in_query
from clarion_control.experiments.library import ExperimentFault
from clarion_control.experiments.protocol import RunnerError
from clarion_control.experiments.service import ElsewhereError, NoExperimentsError, QueueFullError
from clarion_p4rt.errors import SwitchError

_log = logging.getLogger(__name__)

# The table from error to kind of problem. Those that need more than their text have a function below.
KINDS: dict[type[UserError], str] = {
    errors.ExistsError: "already-exists",
    errors.NotPrimaryError: "not-primary",
    errors.FullError: "conflict",
    errors.PolicyHeldError: "conflict",
    errors.UndoneError: "conflict",
    errors.RunError: "conflict",
    errors.RefusedError: "refused-by-switch",
    SwitchError: "switch-failed",
    ElsewhereError: "conflict",
    QueueFullError: "conflict",
    NoExperimentsError: "unavailable",
    RunnerError: "unavailable",
    errors.StoreError: "unavailable",
}
_UNKNOWN = ("switch", "port", "policy", "decision", "token", "experiment")
_RETRY_S = "5"


def _settings(error: SettingsError) -> Problem:
    where = at_field(error.fault.path, error.fault.reason)
    return Problem("invalid-settings", str(error), errors=[where])


def _field(error: errors.FieldError) -> Problem:
    return Problem("invalid-request", str(error), errors=[at_field(error.field.split(".", 1), error.reason)])


def _not_found(error: errors.NotFoundError) -> Problem:
    kind = error.kind.partition(" ")[0]
    return Problem(f"unknown-{kind}" if kind in _UNKNOWN else "not-found", str(error))


def _stale(error: errors.StaleVersionError) -> Problem:
    return Problem("stale-version", str(error), current_version=error.current)


def _unreachable(error: errors.UnreachableError) -> Problem:
    return Problem("unreachable", str(error), headers={"Retry-After": _RETRY_S})


def _experiment(error: ExperimentFault) -> Problem:
    return Problem("invalid-experiment", str(error), errors=[at_field(error.path, error.reason)])


FUNCTIONS: dict[type[UserError], Callable[[Any], Problem]] = {
    SettingsError: _settings,
    errors.FieldError: _field,
    errors.NotFoundError: _not_found,
    errors.StaleVersionError: _stale,
    errors.UnreachableError: _unreachable,
    ExperimentFault: _experiment,
}


def problem_of(error: UserError) -> Problem:
    """The problem that an error of the controller is."""
    for kind in type(error).__mro__:
        if kind in FUNCTIONS:
            return FUNCTIONS[kind](error)
        if kind in KINDS:
            return Problem(KINDS[kind], str(error))
    return Problem("unavailable", str(error))


def install(app: FastAPI) -> None:
    """Every failure of an operation becomes a problem document."""
    app.add_exception_handler(Problem, _answer)
    app.add_exception_handler(UserError, _answer)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _failed)


async def _answer(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, UserError):
        error = problem_of(error)
    assert isinstance(error, Problem)
    return error.response()


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    found = [_fault(each) for each in error.errors()]
    first = found[0]
    place = first.get("pointer") or first.get("parameter") or first.get("header")
    detail = f"{place}: {first['detail']}" if place != "#" else f"body: {first['detail']}"
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return Problem("invalid-request", detail + more, errors=found).response()


def _fault(error: dict[str, Any]) -> dict[str, str]:
    place, *path = error["loc"]
    if path and path[-1] == "[key]":  # Pydantic's word for a key that is wrong, not its value
        path.pop()
    if place == "body":
        return at_field(path, _words(error))
    make = in_header if place == "header" else in_query
    return make(str(path[0]) if path else "", _words(error))


def _words(error: dict[str, Any]) -> str:
    """Pydantic's message, but for what reads badly to those who do not write Python."""
    plain = {
        "extra_forbidden": "there is no such field",
        "missing": "is missing",
        "model_attributes_type": "use a JSON object",
        "model_type": "use a JSON object",
        "dict_type": "use a JSON object",
        "list_type": "use a JSON array",
        "bool_type": "use true or false",
        "int_type": "use a whole number",
        "float_type": "use a number",
        "string_type": "use a text",
    }
    if error["type"] == "string_pattern_mismatch":
        return f"does not match {error['ctx']['pattern']}"
    return plain.get(error["type"], str(error["msg"]).replace("Input should be", "must be"))


async def _http(request: Request, error: Exception) -> JSONResponse:
    """What the framework itself refuses."""
    assert isinstance(error, HTTPException)
    slugs = {400: "malformed-json", 404: "not-found", 405: "method-not-allowed", 413: "body-too-large"}
    slug = slugs.get(error.status_code, "unavailable" if error.status_code >= 500 else "invalid-request")
    routing = slug in ("not-found", "method-not-allowed")
    detail = f"{request.method} {request.url.path}" if routing else str(error.detail)
    return Problem(slug, detail, headers=error.headers).response()


async def _failed(request: Request, error: Exception) -> JSONResponse:
    """An internal error: logged in full, while the client gets only an incident number."""
    incident = secrets.token_hex(4)
    _log.error("incident %s: %s %s", incident, request.method, request.url.path, exc_info=error)
    detail = f"a fault of the controller; its log has incident {incident}"
    return Problem("internal-error", detail, incident=incident).response()
