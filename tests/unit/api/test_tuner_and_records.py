# SPDX-License-Identifier: Apache-2.0
"""Policies, decisions, audit and tokens over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from clarion_control.api.guard import TOKEN_EXPIRES
from clarion_control.model import Actor, Decision, Role
from clarion_control.services import tokens as token_service
from clarion_control.services.tokens import DAY_US
from clarion_control.store.clock import now_us
from clarion_control.tuner.registry import POLICIES
from fakes.rest import PORT, Rig, problem

TUNER = Actor("tuner", Role.ADMIN)
POLICY = f"{PORT}/policies/capacity"
XCP = {"xcp": {"capacity_bps": 100_000_000}}


async def decided(rig: Rig, capacity_bps: int) -> Decision:
    """A decision of the capacity policy, which is active."""
    return await rig.controller.tuning.apply_decision(
        TUNER,
        "s1",
        1,
        "capacity",
        if_version=None,
        changes={"xcp": {"capacity_bps": capacity_bps}},
        summary=f"capacity to {capacity_bps}",
        evidence={"rate_bps": capacity_bps, "intervals": [1, 2]},
        wait=True,
    )


async def activate(rig: Rig) -> None:
    assert (await rig.operate("PATCH", PORT, json=XCP)).status_code == 200
    assert (await rig.operate("PUT", POLICY, json={"state": "active"})).status_code == 200


@pytest.mark.asyncio(loop_scope="module")
async def test_policies_describe_themselves(shared: Rig) -> None:
    kinds = (await shared.read("/v1/policies"))["items"]
    assert [kind["name"] for kind in kinds] == list(POLICIES)
    for kind in kinds:
        assert kind["law"]
        assert kind["guard_rails"]
        for parameter in kind["parameters"]:
            assert parameter["minimum"] <= parameter["default"] <= parameter["maximum"]


@pytest.mark.asyncio(loop_scope="module")
async def test_all_policies_are_off_at_first(shared: Rig) -> None:
    policies = (await shared.read(f"{PORT}/policies"))["items"]
    assert [(policy["name"], policy["state"]) for policy in policies] == [(name, "off") for name in POLICIES]
    assert policies[0]["parameters"]


async def test_a_policy_is_set_held_and_resumed(rig: Rig) -> None:
    await activate(rig)
    assert (await rig.read(POLICY))["state"] == "active"
    problem(await rig.operate("POST", f"{POLICY}/resume"), 409, "conflict")
    await rig.operate("PATCH", PORT, json={"xcp": {"capacity_bps": 50_000_000}})
    held = await rig.read(POLICY)
    assert held["state"] == "held"
    assert "operator" in held["reason"]
    assert (await rig.operate("POST", f"{POLICY}/resume")).json()["state"] == "active"


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"state": "held"}, "#/state"),
        ({}, "#/state"),
        ({"state": "active", "parameters": {"nothing": 1}}, "#/parameters/nothing"),
        ({"state": "active", "parameters": {"target_utilisation": 1e9}}, "#/parameters/target_utilisation"),
        ({"state": "active", "parameters": {"target_utilisation": "x"}}, "#/parameters/target_utilisation"),
    ],
)
async def test_policies_that_cannot_be_are_named(shared: Rig, body: dict[str, Any], pointer: str) -> None:
    answer = await shared.operate("PUT", POLICY, json=body)
    assert problem(answer, 422, "invalid-request")["errors"][0]["pointer"] == pointer


class Watching:
    """A tuner with observations of one port."""

    def observed(self, switch: str, port: int) -> dict[str, dict[str, Any]]:
        if (switch, port) != ("s1", 1):
            return {}
        return {"capacity": {"rate_bps": 4e7}, "noise": {"per": 0.001, "ber": None}}

    def health(self) -> dict[str, str]:
        return {"s1/1/capacity": "the switch is not in sync"}


async def test_a_policy_shows_what_the_tuner_sees(rig: Rig) -> None:
    await activate(rig)
    assert ((await rig.read(POLICY))["observed"], (await rig.read(POLICY))["problem"]) == ({}, None)
    rig.app.state.tuner = Watching()
    shown = await rig.read(POLICY)
    assert (shown["observed"], shown["problem"]) == ({"rate_bps": 4e7}, "the switch is not in sync")
    figures = (await rig.ask(Role.VIEWER, "GET", "/metrics")).text
    assert 'clarion_wire_packet_error_rate{port="1",switch="s1"} 0.001' in figures
    assert "clarion_wire_bit_error_rate{" not in figures


@pytest.mark.asyncio(loop_scope="module")
async def test_there_are_no_other_policies(shared: Rig) -> None:
    path = f"{PORT}/policies/magic"
    problem(await shared.ask(Role.VIEWER, "GET", path), 404, "unknown-policy")
    problem(await shared.operate("PUT", path, json={"state": "active"}), 404, "unknown-policy")
    problem(await shared.operate("POST", f"{path}/resume"), 404, "unknown-policy")


async def test_a_decision_is_shown_with_its_evidence_and_undone(rig: Rig) -> None:
    await activate(rig)
    made = await decided(rig, 40_000_000)
    shown = await rig.read(f"/v1/decisions/{made.id}")
    assert shown["changes"] == {"xcp.capacity_bps": [100_000_000, 40_000_000]}
    assert shown["evidence"]["intervals"] == [1, 2]
    undone = await rig.operate("POST", f"/v1/decisions/{made.id}/undo")
    assert undone.status_code == 200
    assert undone.json()["undone_by"] == "operator"
    assert (await rig.read(PORT))["desired"]["xcp"]["capacity_bps"] == 100_000_000
    assert (await rig.read(POLICY))["state"] == "held"
    problem(await rig.operate("POST", f"/v1/decisions/{made.id}/undo"), 409, "conflict")
    problem(await rig.operate("POST", "/v1/decisions/999/undo"), 404, "unknown-decision")
    problem(await rig.ask(Role.VIEWER, "GET", "/v1/decisions/999"), 404, "unknown-decision")


async def test_pages_hold_everything_once(rig: Rig) -> None:
    await activate(rig)
    for number in range(5):
        await decided(rig, 40_000_000 + number)
    seen: list[int] = []
    page: str | None = "/v1/decisions?limit=2&switch=s1&policy=capacity"
    while page:
        answer = await rig.ask(Role.VIEWER, "GET", page)
        seen += [item["id"] for item in answer.json()["items"]]
        page = answer.json()["next"]
        assert answer.headers.get("link") == (f'<{page}>; rel="next"' if page else None)
        if page:
            assert "switch=s1" in page
    assert len(seen) == 5
    assert seen == sorted(seen, reverse=True)
    assert (await rig.read("/v1/decisions", params={"policy": "noise"}))["items"] == []


async def test_the_audit_is_for_operators(rig: Rig) -> None:
    await activate(rig)
    records = (await rig.operate("GET", "/v1/audit", params={"actor": "operator"})).json()["items"]
    assert [record["action"] for record in records] == ["policy.change", "port.change"]
    assert records[1]["after"]["xcp"]["capacity_bps"] == 100_000_000
    answer = await rig.operate("GET", "/v1/audit", params={"actor": "a\nb"})
    assert problem(answer, 422, "invalid-request")["errors"][0]["parameter"] == "actor"


async def test_a_token_is_made_shown_once_and_revoked(rig: Rig) -> None:
    made = await rig.administer("POST", "/v1/tokens", json={"name": "grafana", "role": "viewer"})
    assert made.status_code == 201
    assert made.headers["cache-control"] == "no-store"
    secret, token = made.json()["secret"], made.json()["token"]
    assert made.headers["location"] == f"/v1/tokens/{token['id']}"
    assert (
        await rig.client.get("/v1/switches", headers={"Authorization": f"Bearer {secret}"})
    ).status_code == 200
    for answer in (await rig.administer("GET", "/v1/tokens"), await rig.administer("GET", "/v1/audit")):
        assert "grafana" in answer.text
        assert secret not in answer.text
    shown = await rig.administer("GET", made.headers["location"])
    assert shown.json()["role"] == "viewer"
    revoked = await rig.administer("DELETE", made.headers["location"])
    assert revoked.json()["revoked_us"] is not None
    problem(await rig.administer("DELETE", "/v1/tokens/999"), 404, "unknown-token")
    problem(await rig.administer("GET", "/v1/tokens/999"), 404, "unknown-token")


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"name": "x"}, "#/role"),
        ({"name": "x", "role": "root"}, "#/role"),
        ({"name": "", "role": "viewer"}, "#/name"),
        ({"name": "a\u202eb", "role": "viewer"}, "#/name"),
        ({"name": "x", "role": "viewer", "expires_us": 1}, "#/expires_us"),
        ({"name": "x", "role": "viewer", "expires_us": "2030"}, "#/expires_us"),
    ],
)
async def test_tokens_that_cannot_be_are_named(shared: Rig, body: dict[str, Any], pointer: str) -> None:
    answer = await shared.administer("POST", "/v1/tokens", json=body)
    assert problem(answer, 422, "invalid-request")["errors"][0]["pointer"] == pointer


async def test_a_token_ends_by_itself(rig: Rig) -> None:
    body = {"name": "short", "role": "viewer", "expires_us": now_us() + 60 * 10**6}
    made = await rig.administer("POST", "/v1/tokens", json=body)
    assert made.json()["token"]["expires_us"] == body["expires_us"]


async def test_a_token_ends_after_ninety_days_unless_it_is_to_last_for_ever(rig: Rig) -> None:
    made = await rig.administer("POST", "/v1/tokens", json={"name": "default", "role": "viewer"})
    left_us = made.json()["token"]["expires_us"] - now_us()
    assert 89 * DAY_US < left_us <= 90 * DAY_US
    body = {"name": "ever", "role": "viewer", "expires_us": None}
    assert (await rig.administer("POST", "/v1/tokens", json=body)).json()["token"]["expires_us"] is None


async def test_the_last_two_weeks_of_a_token_are_said(rig: Rig) -> None:
    assert TOKEN_EXPIRES not in (await rig.administer("GET", "/v1/switches")).headers
    ends_us = 4_102_444_800 * 10**6
    body = {"name": "soon", "role": "viewer", "expires_us": ends_us}
    with pytest.MonkeyPatch.context() as patch:
        made = await rig.administer("POST", "/v1/tokens", json=body)
        patch.setattr(token_service, "now_us", lambda: ends_us - 13 * DAY_US)
        for path in ("/v1/switches", "/metrics"):
            headers = {"Authorization": f"Bearer {made.json()['secret']}"}
            answer = await rig.client.get(path, headers=headers)
            assert answer.headers[TOKEN_EXPIRES] == "Fri, 01 Jan 2100 00:00:00 GMT"


async def test_the_next_token_to_expire_is_a_figure(rig: Rig) -> None:
    body = {"name": "short", "role": "viewer", "expires_us": now_us() + 3600 * 10**6}
    await rig.administer("POST", "/v1/tokens", json=body)
    lines = (await rig.ask(Role.VIEWER, "GET", "/metrics")).text.splitlines()
    figures = dict(line.split() for line in lines if line.startswith("clarion_"))
    assert 3000 < float(figures["clarion_token_expires_in_seconds"]) <= 3600
    assert float(figures['clarion_store_operations_total{kind="read"}']) > 0


async def test_failures_and_refusals_are_in_the_audit_without_the_token(rig: Rig) -> None:
    guess = "clarion_" + 43 * "x"
    for _ in range(3):
        answer = await rig.client.get("/v1/switches", headers={"Authorization": f"Bearer {guess}"})
        problem(answer, 401, "unauthenticated")
        answer = await rig.ask(Role.VIEWER, "DELETE", "/v1/switches/s1")
        problem(answer, 403, "forbidden")
    await rig.controller.access.flush()
    records = (await rig.operate("GET", "/v1/audit", params={"limit": 2})).json()["items"]
    found = {record["action"]: (record["actor"], record["after"]) for record in records}
    refused = {"request": "DELETE /v1/switches/{switch}", "needs": "admin"}
    where = {"source": "127.0.0.1", "count": 3}
    assert found == {"request.fail": ("unknown", where), "request.refuse": ("viewer", where | refused)}
    assert guess not in str(records)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_name_of_a_token_is_given_once(shared: Rig) -> None:
    answer = await shared.administer("POST", "/v1/tokens", json={"name": "viewer", "role": "viewer"})
    problem(answer, 409, "already-exists")
