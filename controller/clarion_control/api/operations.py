# SPDX-License-Identifier: Apache-2.0
"""What every operation says of itself: role, name, summary, and the problems that it may answer with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter

from clarion_control.api.guard import MERGE_PATCH, ROLE, GuardedRoute
from clarion_control.api.problems import MEDIA_TYPE, PROBLEMS, ProblemType
from clarion_control.model import Role

SCHEME = "bearer"
PROBLEM_SCHEMA = "#/components/schemas/Problem"
WRITING = ("not-primary", "refused-by-switch", "switch-failed", "unreachable")
BODY = ("malformed-json", "body-too-large", "unsupported-media-type")

ETAG = {
    "ETag": {
        "description": "Version of the desired settings, for If-Match and If-None-Match.",
        "schema": {"type": "string"},
        "example": '"7-3"',
    }
}
LOCATION = {
    "Location": {
        "description": "Address of what was made.",
        "schema": {"type": "string"},
        "example": "/v1/switches/s1",
    }
}
LINK = {
    "Link": {
        "description": "The next page, if there is one.",
        "schema": {"type": "string"},
        "example": '</v1/audit?before_id=4711>; rel="next"',
    }
}
_RETRY_AFTER = {
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}
}


def router(tag: str) -> APIRouter:
    """A router whose routes all state their role."""
    return APIRouter(route_class=GuardedRoute, tags=[tag])


def operation(
    role: Role | None,
    operation_id: str,
    summary: str,
    *problems: str,
    body: bool = False,
    headers: Mapping[str, Any] | None = None,
    status: int = 200,
    **more: Any,
) -> dict[str, Any]:
    """Arguments for a route. `problems` are those beside the ones that all operations share."""
    slugs = {"too-many-requests", "unavailable", "invalid-request", "unknown-host", *problems}
    if role is not None:
        slugs.add("unauthenticated")
    if role not in (None, Role.VIEWER):
        slugs.add("forbidden")
    if body:
        slugs.update(BODY)
    responses = _problem_responses(slugs)
    for code, stated in more.pop("responses", {}).items():
        responses[code] = {**responses.get(code, {}), **stated}
    if headers:
        responses[status] = {**responses.get(status, {}), "headers": dict(headers)}
    extra = more.pop("openapi_extra", {})
    return {
        "operation_id": operation_id,
        "summary": summary,
        "status_code": status,
        "response_description": more.pop("answer", f"{summary}."),
        "responses": responses,
        "openapi_extra": {
            ROLE: "none" if role is None else role.name.lower(),
            "security": [] if role is None else [{SCHEME: []}],
            **extra,
        },
        **more,
    }


def also_as_merge_patch(schema: str) -> dict[str, Any]:
    """What a PATCH says of its body: the same schema under both media types."""
    content = {MERGE_PATCH: {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    return {"requestBody": {"content": content}}


def example(kind: ProblemType) -> dict[str, Any]:
    """A problem document of that kind."""
    made: dict[str, Any] = {
        "type": kind.uri,
        "title": kind.title,
        "status": kind.status,
        "detail": kind.remedy,
    }
    if kind.status == 422:
        made["errors"] = [{"pointer": "#/xcp/alpha", "detail": "must be above 0 and below 0.5553"}]
    return made


def _problem_responses(slugs: set[str]) -> dict[int | str, dict[str, Any]]:
    by_status: dict[int | str, list[ProblemType]] = {}
    for kind in PROBLEMS.values():
        if kind.slug in slugs:
            by_status.setdefault(kind.status, []).append(kind)
    return {status: _problem_response(kinds) for status, kinds in by_status.items()}


def _problem_response(kinds: list[ProblemType]) -> dict[str, Any]:
    examples = {kind.slug: {"summary": kind.title, "value": example(kind)} for kind in kinds}
    made: dict[str, Any] = {
        "description": "; ".join(kind.title for kind in kinds) + ".",
        "content": {MEDIA_TYPE: {"schema": {"$ref": PROBLEM_SCHEMA}, "examples": examples}},
    }
    if kinds[0].status == 429:
        made["headers"] = _RETRY_AFTER
    return made
