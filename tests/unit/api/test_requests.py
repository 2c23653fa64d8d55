# SPDX-License-Identifier: Apache-2.0
"""Checks of any request before its operation: tokens, roles, sizes, media types, JSON, addresses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from clarion_control.api.app import document
from clarion_control.api.guard import GuardedRoute, parsed, role_of
from clarion_control.api.operations import router
from clarion_control.api.options import ApiOptions
from clarion_control.api.problems import PROBLEMS, Problem
from clarion_control.model import Role
from fakes.controller import ADMIN
from fakes.rest import PORT, Rig, open_rig, problem

from .operations import ROLES

JSON = {"Content-Type": "application/json"}


def filled(path: str) -> str:
    """An address with valid parameters, of existing objects or not."""
    return path.format(switch="s2", port=1, policy="capacity", id=999_999, path="summary.json")


def test_the_routes_ask_for_the_roles_of_the_table() -> None:
    """Read from the routes themselves, so that a new route must be added to the table."""
    found = {}
    for path, item in document()["paths"].items():
        for method, operation in item.items():
            role = operation["x-clarion-role"]
            found[method.upper(), path] = None if role == "none" else Role[role.upper()]
    assert found == ROLES


def test_a_route_without_a_role_cannot_be_made() -> None:
    with pytest.raises(KeyError):
        router("test").get("/v1/open")(lambda: None)


def test_every_route_is_guarded() -> None:
    """All except the pages about problems, the OpenAPI document and the answer to unknown addresses."""
    from clarion_control.api.routes import (
        experiments,
        health,
        links,
        ports,
        records,
        runs,
        switches,
        telemetry,
        tuner,
    )

    routes = [
        route
        for part in (experiments, health, links, ports, records, runs, switches, telemetry, tuner)
        for route in part.routes.routes
    ]
    assert len(routes) == len(ROLES)
    for route in routes:
        assert isinstance(route, GuardedRoute)
        role_of(route)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("key", ROLES, ids=" ".join)
async def test_nobody_gets_beyond_their_role(shared: Rig, key: tuple[str, str]) -> None:
    method, path = key
    needs = ROLES[key]
    if needs is None:
        assert (await shared.ask(None, method, filled(path))).status_code == 200
        return
    # A body that is no JSON at all: without the right role the answer does not say so.
    more: dict[str, Any] = {"content": b"{", "headers": JSON}
    problem(await shared.ask(None, method, filled(path), **more), 401, "unauthenticated")
    for role in Role:
        if role < needs:
            document = problem(await shared.ask(role, method, filled(path), **more), 403, "forbidden")
            assert needs.name.lower() in document["detail"]
        elif "stream" not in path and "events" not in path:
            answer = await shared.ask(role, method, filled(path), **more)
            assert answer.status_code not in (401, 403)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    "authorization",
    [
        "Bearer",
        "Bearer ",
        "Bearer clarion_nobody",
        "Bearer clarion_" + "x" * 10_000,
        "Basic YWRtaW46YWRtaW4=",
        "bearer\tx",
        "Bearer clarion_\xe9",
        "",
    ],
)
async def test_what_is_no_token_is_refused(shared: Rig, authorization: str) -> None:
    headers = {"Authorization": authorization.encode("latin-1")}
    answer = await shared.client.get("/v1/switches", headers=headers)  # type: ignore[arg-type]
    problem(answer, 401, "unauthenticated")
    assert answer.headers["www-authenticate"].startswith('Bearer realm="clarion"')


@pytest.mark.asyncio(loop_scope="module")
async def test_two_tokens_are_none(shared: Rig) -> None:
    token = f"Bearer {shared.tokens[Role.VIEWER]}"
    answer = await shared.client.get(
        "/v1/switches", headers=[("Authorization", token), ("Authorization", token)]
    )
    problem(answer, 401, "unauthenticated")


@pytest.mark.asyncio(loop_scope="module")
async def test_a_scheme_is_no_matter_of_capitals(shared: Rig) -> None:
    answer = await shared.client.get(
        "/v1/switches", headers={"Authorization": f"bEARER {shared.tokens[Role.VIEWER]}"}
    )
    assert answer.status_code == 200


async def test_a_revoked_token_is_worth_nothing(rig: Rig) -> None:
    token, text = await rig.controller.tokens.create(ADMIN, "short", Role.VIEWER)
    headers = {"Authorization": f"Bearer {text}"}
    assert (await rig.client.get("/v1/switches", headers=headers)).status_code == 200
    assert (await rig.administer("DELETE", f"/v1/tokens/{token.id}")).status_code == 200
    answer = await rig.client.get("/v1/switches", headers=headers)
    problem(answer, 401, "unauthenticated")
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "missing"),
        (b"{", "line 1, column 2"),
        (b'{"stamp": true} x', "Extra data"),
        (b'{"stamp": NaN}', "NaN is not JSON"),
        (b'{"queue_limit_bytes": -Infinity}', "-Infinity is not JSON"),
        (b'{"stamp": true, "stamp": false}', '"stamp" stands twice'),
        (b'\xff{"stamp": true}', "not UTF-8"),
        (b'\xef\xbb\xbf{"stamp": true}', "BOM"),
        (b'{"\\ud800": 1}', "surrogate"),
        (b'{"a": "\\u0000"}', "NUL"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"xcp": ' + b'{"a":' * 60 + b"1" + b"}" * 61, "nested deeper"),
        (b'{"queue_limit_bytes": ' + b"1" * 5000 + b"}", "too long"),
    ],
)
async def test_what_is_no_json_is_refused(shared: Rig, body: bytes, reason: str) -> None:
    answer = await shared.operate("PATCH", PORT, content=body, headers=JSON)
    document = problem(answer, 400 if body else 422, "malformed-json" if body else "invalid-request")
    assert reason in document["detail"]


def test_json_is_what_everybody_reads() -> None:
    assert parsed('{"a": [1, 2.5, null, "é€😀"]}'.encode()) == {"a": [1, 2.5, None, "é€😀"]}
    with pytest.raises(Problem):
        parsed(b"")


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    "media_type", [None, "", "text/plain", "application/x-www-form-urlencoded", "application/xml", "json"]
)
async def test_other_media_types_are_refused(shared: Rig, media_type: str | None) -> None:
    headers = {} if media_type is None else {"Content-Type": media_type}
    answer = await shared.operate("PATCH", PORT, content=b'{"stamp": true}', headers=headers)
    problem(answer, 415, "unsupported-media-type")
    assert "application/merge-patch+json" in answer.headers["accept-patch"]
    assert not shared.switches["s1"].ports[1].stamp


@pytest.mark.asyncio(loop_scope="module")
async def test_a_merge_patch_is_for_patch_only(shared: Rig) -> None:
    headers = {"Content-Type": "application/merge-patch+json", "If-Match": "*"}
    answer = await shared.operate("PUT", PORT, content=b"{}", headers=headers)
    problem(answer, 415, "unsupported-media-type")


async def test_large_bodies_are_refused_whether_they_say_so_or_not(tmp_path: Path) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(1000):
            yield b" " * 1000

    async with open_rig(tmp_path, options=ApiOptions(body_bytes=2000)) as rig:
        for body in (b" " * 2001, endless()):
            answer = await rig.operate("PATCH", PORT, content=body, headers=JSON)
            assert "2000" in problem(answer, 413, "body-too-large")["detail"]
        fits = b'{"stamp": true}'.ljust(2000)
        assert (await rig.operate("PATCH", PORT, content=fits, headers=JSON)).status_code == 200


@pytest.mark.asyncio(loop_scope="module")
async def test_parameters_that_there_are_not_are_refused(shared: Rig) -> None:
    """A misspelt filter must not select everything."""
    answer = await shared.operate("GET", "/v1/audit", params={"swich": "s1"})
    document = problem(answer, 422, "invalid-request")
    assert document["errors"][0]["parameter"] == "swich"
    assert "switch" in document["errors"][0]["detail"]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_parameter_is_given_once(shared: Rig) -> None:
    answer = await shared.operate("GET", "/v1/audit", params={"switch": ["s1", "s2"]})
    document = problem(answer, 422, "invalid-request")
    assert document["errors"][0]["parameter"] == "switch"
    assert document["errors"][0]["detail"] == "is given several times; give it once"


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/nothing", "/v1/switches/", "/v1/switches/s1/ports/1/"])
async def test_unknown_addresses_are_problems(shared: Rig, path: str) -> None:
    for role in (None, Role.ADMIN):
        problem(await shared.ask(role, "GET", path), 404, "not-found")


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("POST", PORT, "GET, PATCH, PUT"),
        ("DELETE", "/v1/switches", "GET, POST"),
        ("HEAD", "/v1/health", "GET"),
        ("OPTIONS", "/metrics", "GET"),
        ("PUT", "/v1/experiments/1/files/a/b/c", "GET"),
    ],
)
async def test_methods_that_an_address_does_not_have(shared: Rig, method: str, path: str, allow: str) -> None:
    answer = await shared.ask(Role.ADMIN, method, path)
    assert answer.headers["allow"] == allow
    if method != "HEAD":
        problem(answer, 405, "method-not-allowed")


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("slug", PROBLEMS)
async def test_every_problem_has_a_page(shared: Rig, slug: str) -> None:
    answer = await shared.client.get(PROBLEMS[slug].uri)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert f"status {PROBLEMS[slug].status}" in answer.text
    assert slug in (await shared.client.get("/problems")).text


@pytest.mark.asyncio(loop_scope="module")
async def test_there_is_no_page_about_other_problems(shared: Rig) -> None:
    problem(await shared.client.get("/problems/%3Cscript%3E"), 404, "not-found")


async def test_a_fault_of_ours_shows_nothing_of_itself(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails() -> None:
        raise RuntimeError("the password is swordfish")

    monkeypatch.setattr(rig.controller.switches, "all", fails)
    answer = await rig.ask(Role.VIEWER, "GET", "/v1/switches")
    document = problem(answer, 500, "internal-error")
    assert "swordfish" not in answer.text
    assert document["incident"] in caplog.text
    assert "swordfish" in caplog.text


@pytest.mark.asyncio(loop_scope="module")
async def test_the_document_is_there_without_a_token(shared: Rig) -> None:
    answer = await shared.ask(None, "GET", "/v1/openapi.json")
    assert answer.json()["openapi"].startswith("3.1")
