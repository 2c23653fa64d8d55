# SPDX-License-Identifier: Apache-2.0
"""Settings of ports: read, replace, change, and the conditions under which."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Annotated

from fastapi import Header, Request, Response
from fastapi.responses import JSONResponse

from clarion_contract import settings_json
from clarion_contract.neighbours import judge
from clarion_control.api import etags
from clarion_control.api.auth import Asker
from clarion_control.api.context import Api
from clarion_control.api.etags import Condition, EntityTag
from clarion_control.api.operations import ETAG, WRITING, also_as_merge_patch, operation, router
from clarion_control.api.problems import Problem, in_header
from clarion_control.api.schemas.base import PortNumber, Reason, SwitchName
from clarion_control.api.schemas.links import WireView
from clarion_control.api.schemas.ports import NewSettings, Port, Ports, SettingsChanges
from clarion_control.errors import ApplyPending
from clarion_control.model import PortState, Role

routes = router("ports")

UNHEARD = judge([])

IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        description="ETags of the versions that may be changed, or `*` for any.",
        examples=['"7-3"', "*"],
    ),
]
IfNoneMatch = Annotated[
    str | None,
    Header(
        alias="If-None-Match", description="ETags of versions that are known already.", examples=['"7-3"']
    ),
]
Prefer = Annotated[
    str | None,
    Header(
        description="`respond-async` answers as soon as the change is stored (RFC 7240); then the switch"
        " need not be reachable.",
        examples=["respond-async"],
    ),
]
_PENDING = {"model": Port, "description": "Stored; the switch has not confirmed yet.", "headers": ETAG}


@routes.get(
    "/v1/switches/{switch}/ports",
    **operation(
        Role.VIEWER,
        "list_ports",
        "All ports of a switch",
        "unknown-switch",
        description="Desired and effective.",
    ),
)
async def list_ports(api: Api, switch: SwitchName) -> Ports:
    """All ports of a switch."""
    return Ports(items=[Port.of(state) for state in await api.controller.ports.all(switch)])


@routes.get(
    "/v1/switches/{switch}/ports/{port}",
    response_model=Port,
    **operation(
        Role.VIEWER,
        "get_port",
        "A port",
        "unknown-switch",
        "unknown-port",
        "malformed-header",
        headers=ETAG,
        description="Desired settings and those that the switch has confirmed. The ETag changes with either,"
        " and with the wire.",
        responses={304: {"description": "It is as If-None-Match says.", "headers": ETAG}},
    ),
)
async def get_port(
    request: Request, api: Api, switch: SwitchName, port: PortNumber, if_none_match: IfNoneMatch = None
) -> Response:
    """One port with its desired and effective settings."""
    state = await api.controller.ports.get(switch, port)
    known = etags.condition("If-None-Match", request.headers.getlist("if-none-match"))
    if known is not None and known.weakly(entity_tag(state)):
        return Response(status_code=304, headers=_headers(state))
    return _answer(state)


@routes.put(
    "/v1/switches/{switch}/ports/{port}",
    response_model=Port,
    **operation(
        Role.OPERATOR,
        "replace_port",
        "Replace the settings of a port",
        "unknown-switch",
        "unknown-port",
        "malformed-header",
        "stale-version",
        "precondition-required",
        "invalid-settings",
        *WRITING,
        body=True,
        headers=ETAG,
        description="What the body leaves out is off. Needs If-Match, so that no change is lost unseen."
        " Answers when the switch has confirmed, or with 202 if it takes long.",
        responses={202: _PENDING},
    ),
)
async def replace_port(
    request: Request,
    api: Api,
    actor: Asker,
    switch: SwitchName,
    port: PortNumber,
    settings: NewSettings,
    if_match: IfMatch = None,
    if_none_match: IfNoneMatch = None,
    prefer: Prefer = None,
    reason: Reason = None,
) -> Response:
    """Replace all settings of a port."""
    state = await api.controller.ports.get(switch, port)
    if not request.headers.getlist("if-match"):
        detail = (
            f"replacing all settings needs If-Match: {entity_tag(state)}, or * to overwrite whatever is there"
        )
        raise Problem(
            "precondition-required",
            detail,
            errors=[in_header("If-Match", "is missing")],
            headers=_headers(state),
        )
    version = _checked_version(request, state)
    wanted = settings_json.from_json(switch, port, settings.model_dump(exclude_unset=True))
    wait = not _asynchronously(request)

    async def change() -> PortState:
        return await api.controller.ports.set(
            actor, switch, wanted, if_version=version, reason=reason, wait=wait
        )

    return await _changed(api, switch, port, change, wait)


@routes.patch(
    "/v1/switches/{switch}/ports/{port}",
    response_model=Port,
    **operation(
        Role.OPERATOR,
        "change_port",
        "Change some settings of a port",
        "unknown-switch",
        "unknown-port",
        "malformed-header",
        "stale-version",
        "invalid-settings",
        *WRITING,
        body=True,
        headers=ETAG,
        description="A JSON merge patch (RFC 7396); beta follows alpha unless both are given. With If-Match"
        " only if the version is still the same. Answers when the switch has confirmed, or with 202 after a"
        " while.",
        responses={202: _PENDING},
        openapi_extra=also_as_merge_patch("SettingsChanges"),
    ),
)
async def change_port(
    request: Request,
    api: Api,
    actor: Asker,
    switch: SwitchName,
    port: PortNumber,
    changes: SettingsChanges,
    if_match: IfMatch = None,
    if_none_match: IfNoneMatch = None,
    prefer: Prefer = None,
    reason: Reason = None,
) -> Response:
    """Change the given settings of a port (RFC 7396 merge patch)."""
    version = _checked_version(request, await api.controller.ports.get(switch, port))
    patch = changes.model_dump(exclude_unset=True)
    wait = not _asynchronously(request)

    async def change() -> PortState:
        return await api.controller.ports.change(
            actor, switch, port, patch, if_version=version, reason=reason, wait=wait
        )

    return await _changed(api, switch, port, change, wait)


def entity_tag(state: PortState) -> EntityTag:
    """UID-VERSION once the switch has confirmed, as long as nothing is heard at the port. Else something is
    added that changes with what the switch has and with the wire, so that a cache never shows a change as
    pending that is through, or a wire as it was.
    """
    version = _version_text(state)
    shown: list[object] = []
    if not state.applied:
        shown.append(None if state.effective is None else settings_json.to_json(state.effective))
    if state.wire is not None and state.wire.verdict != UNHEARD:
        shown.append(WireView.of(state.wire).model_dump())
    if not shown:
        return EntityTag(version)
    return EntityTag(f"{version}-{hashlib.sha256(repr(shown).encode()).hexdigest()[:8]}")


def _checked_version(request: Request, state: PortState) -> int | None:
    """The version that the request may change, None for any; Problem if that is over."""
    version, current = _version(state), EntityTag(_version_text(state))
    match = _condition(request, "If-Match", current)
    if match is not None and not match.strongly(current):
        raise _stale(state, "If-Match", version)
    none_match = _condition(request, "If-None-Match", current)
    if none_match is not None and none_match.weakly(current):
        raise _stale(state, "If-None-Match", version)
    return version if match is not None and not match.anything else None


def _condition(request: Request, header: str, current: EntityTag) -> Condition | None:
    """The condition on the desired settings: these are the same however far the switch is with them, so what
    a tag says about that is left out.
    """
    given = etags.condition(header, request.headers.getlist(header))
    if given is None:
        return None
    cut = (
        replace(tag, opaque=current.opaque) if tag.opaque.startswith(f"{current.opaque}-") else tag
        for tag in given.tags
    )
    return Condition(given.anything, tuple(cut))


def _version(state: PortState) -> int:
    return 0 if state.desired is None else state.desired.version


def _version_text(state: PortState) -> str:
    return f"{state.switch.uid}-{_version(state)}"


def _stale(state: PortState, header: str, version: int) -> Problem:
    detail = (
        f"{state.switch.name} port {state.port}: {header} does not hold; the ETag is {entity_tag(state)} now"
    )
    return Problem("stale-version", detail, headers=_headers(state), current_version=version)


def _asynchronously(request: Request) -> bool:
    """Whether Prefer holds respond-async; what else it holds is ignored, as it may be."""
    preferences = ",".join(request.headers.getlist("prefer")).split(",")
    return any(each.partition(";")[0].strip().lower() == "respond-async" for each in preferences)


async def _changed(
    api: Api, switch: str, port: int, change: Callable[[], Awaitable[PortState]], wait: bool
) -> Response:
    try:
        state = await change()
    except ApplyPending:
        return _answer(await api.controller.ports.get(switch, port), 202)
    if wait:
        return _answer(state)
    return _answer(state, 202, {"Preference-Applied": "respond-async"})


def _answer(state: PortState, status: int = 200, more: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse(Port.of(state).model_dump(mode="json"), status, {**_headers(state), **(more or {})})


def _headers(state: PortState) -> dict[str, str]:
    return {"ETag": str(entity_tag(state)), "Cache-Control": "private, no-cache"}
