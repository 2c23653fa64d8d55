# SPDX-License-Identifier: Apache-2.0
"""Settings of ports over HTTP: applied settings, named faults, concurrent changes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from clarion_contract.settings import XcpSettings
from clarion_control.model import LinkState, Role
from clarion_p4rt.device import Mastership
from fakes.controller import in_state, until
from fakes.rest import PORT, Rig, open_rig, problem
from fakes.switch import FakeSwitch

XCP = {"capacity_bps": 100_000_000}
ANY = {"If-Match": "*"}


async def change(rig: Rig, changes: Any, **headers: str) -> Any:
    return await rig.operate("PATCH", PORT, json=changes, headers=headers)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_port_shows_what_is_desired_and_what_is(shared: Rig) -> None:
    answer = await shared.ask(Role.VIEWER, "GET", PORT)
    assert answer.headers["etag"] == '"1-1"'
    off = {
        "xcp": None,
        "stamp": False,
        "check": False,
        "edge": False,
        "wire": False,
        "queue_limit_bytes": None,
    }
    shown = answer.json()
    assert shown.pop("changed_us") > 0
    wire = {
        "state": "unproven",
        "declared": False,
        "conflict": False,
        "counts": None,
        "reason": "no LLDP neighbour is heard",
    }
    expected = {
        **{
            "switch": "s1",
            "port": 1,
            "name": None,
            "desired": off,
            "effective": off,
            "applied": True,
            "version": 1,
        },
        "wire": wire,
    }
    assert shown == expected


async def test_a_patch_reaches_the_switch_before_it_is_answered(rig: Rig) -> None:
    answer = await change(rig, {"xcp": XCP, "stamp": True})
    assert answer.status_code == 200
    assert answer.headers["etag"] == '"1-2"'
    assert answer.json()["effective"] == answer.json()["desired"]
    assert rig.switches["s1"].ports[1].xcp == XcpSettings(100_000_000)
    assert rig.switches["s1"].ports[1].stamp


async def test_a_patch_leaves_alone_what_it_does_not_name(rig: Rig) -> None:
    await change(rig, {"xcp": XCP, "queue_limit_bytes": 5000})
    await change(rig, {"xcp": {"gamma": 0.2}})
    settings = rig.switches["s1"].ports[1]
    assert settings.queue_limit_bytes == 5000
    assert settings.xcp == XcpSettings(100_000_000, gamma=0.2)
    await change(rig, {"xcp": None, "queue_limit_bytes": None})
    assert rig.switches["s1"].ports[1].xcp is None
    assert rig.switches["s1"].ports[1].queue_limit_bytes is None


async def test_beta_follows_alpha(rig: Rig) -> None:
    """0.3^2 * sqrt 2 = 0.127279."""
    await change(rig, {"xcp": XCP})
    answer = await change(rig, {"xcp": {"alpha": 0.3}})
    assert answer.json()["desired"]["xcp"]["beta"] == pytest.approx(0.127279, abs=1e-6)


@pytest.mark.parametrize("media_type", ["application/json", "application/merge-patch+json; charset=utf-8"])
async def test_a_patch_has_two_media_types(rig: Rig, media_type: str) -> None:
    headers = {"Content-Type": media_type}
    answer = await rig.operate("PATCH", PORT, content=b'{"stamp": true}', headers=headers)
    assert answer.status_code == 200


async def test_one_kind_of_number(rig: Rig) -> None:
    answer = await change(rig, {"xcp": {"capacity_bps": 1e8}, "queue_limit_bytes": 1500.0})
    assert answer.json()["desired"]["xcp"]["capacity_bps"] == 100_000_000
    problem(await change(rig, {"queue_limit_bytes": 1500.5}), 422, "invalid-request")


async def test_put_switches_off_what_it_does_not_name(rig: Rig) -> None:
    await change(rig, {"xcp": XCP, "stamp": True})
    answer = await rig.operate("PUT", PORT, json={"check": True}, headers=ANY)
    assert answer.status_code == 200
    settings = rig.switches["s1"].ports[1]
    assert (settings.xcp, settings.stamp, settings.check) == (None, False, True)


@pytest.mark.parametrize(
    ("changes", "slug", "pointer", "reason"),
    [
        ({"xcp": {"alpha": 0.6}}, "invalid-settings", "#/xcp/alpha", "below 0.5553"),
        ({"xcp": {"alpha": 0}}, "invalid-settings", "#/xcp/alpha", "above 0"),
        ({"xcp": {"alpha": 0.4, "beta": 0.4}}, "invalid-settings", "#/xcp/beta", "0.2263"),
        ({"xcp": {"gamma": 1}}, "invalid-settings", "#/xcp/gamma", "below 1"),
        ({"xcp": {"capacity_bps": 7}}, "invalid-settings", "#/xcp/capacity_bps", "from 8"),
        ({"xcp": {"capacity_bps": 10**30}}, "invalid-settings", "#/xcp/capacity_bps", "from 8"),
        ({"xcp": {"min_interval_us": 0}}, "invalid-settings", "#/xcp/min_interval_us", "from 1"),
        ({"xcp": {"max_interval_us": 1}}, "invalid-settings", "#/xcp/min_interval_us", "at most"),
        ({"queue_limit_bytes": 0}, "invalid-settings", "#/queue_limit_bytes", "from 1"),
        ({"xcp": {"alpha": "0.4"}}, "invalid-request", "#/xcp/alpha", "use a number"),
        ({"xcp": {"alpha": True}}, "invalid-request", "#/xcp/alpha", "use a number"),
        ({"xcp": {"capcity_bps": 8}}, "invalid-request", "#/xcp/capcity_bps", "no such field"),
        ({"stamp": 1}, "invalid-request", "#/stamp", "true or false"),
        ({"xcp": [1]}, "invalid-request", "#/xcp", "JSON object"),
        ({"a/b~c": 1}, "invalid-request", "#/a~1b~0c", "no such field"),
        ([1], "invalid-request", "#", "JSON object"),
        (None, "invalid-request", "#", "missing"),
    ],
)  # fmt: skip
async def test_what_cannot_be_is_named_and_nothing_changes(
    rig: Rig, changes: Any, slug: str, pointer: str, reason: str
) -> None:
    await change(rig, {"xcp": XCP})
    before = dict(rig.switches["s1"].ports)
    document = problem(await change(rig, changes), 422, slug)
    [error] = document["errors"]
    assert error["pointer"] == pointer
    assert reason in error["detail"]
    assert (await rig.read(PORT))["version"] == 2
    assert rig.switches["s1"].ports == before


async def test_every_wrong_field_is_named(rig: Rig) -> None:
    document = problem(await change(rig, {"stamp": 1, "xcp": {"gamma": "x", "y": 1}}), 422, "invalid-request")
    assert {error["pointer"] for error in document["errors"]} == {"#/stamp", "#/xcp/gamma", "#/xcp/y"}


@pytest.mark.asyncio(loop_scope="module")
async def test_xcp_needs_a_capacity(shared: Rig) -> None:
    answer = await shared.operate("PUT", PORT, json={"xcp": {}}, headers=ANY)
    assert problem(answer, 422, "invalid-request")["errors"][0]["pointer"] == "#/xcp/capacity_bps"
    document = problem(await change(shared, {"xcp": {"alpha": 0.3}}), 422, "invalid-settings")
    assert document["errors"][0]["pointer"] == "#/xcp/capacity_bps"


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("path", "slug"),
    [
        ("/v1/switches/s9/ports/1", "unknown-switch"),
        ("/v1/switches/s1/ports/9", "unknown-port"),
        ("/v1/switches/s1/ports/99999999999", "unknown-port"),
    ],
)
async def test_what_is_not_there_says_which_of_the_two(shared: Rig, path: str, slug: str) -> None:
    problem(await shared.ask(Role.VIEWER, "GET", path), 404, slug)
    problem(await shared.operate("PATCH", path, json={"stamp": True}), 404, slug)
    problem(await shared.operate("PUT", path, json={}, headers=ANY), 404, slug)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_port_is_a_number(shared: Rig) -> None:
    answer = await shared.ask(Role.VIEWER, "GET", "/v1/switches/s1/ports/eth0")
    assert problem(answer, 422, "invalid-request")["errors"][0]["parameter"] == "port"


# Conditions.


@pytest.mark.asyncio(loop_scope="module")
async def test_put_needs_to_know_what_it_replaces(shared: Rig) -> None:
    document = problem(await shared.operate("PUT", PORT, json={}), 428, "precondition-required")
    assert '"1-1"' in document["detail"]
    assert document["errors"] == [{"header": "If-Match", "detail": "is missing"}]


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize(
    ("if_match", "status"),
    [
        ('"1-1"', 200),
        ('"9-9", "1-1"', 200),
        ("*", 200),
        ('"1-1-0badf00d"', 200),  # the tag of the same version while it was pending
        ('W/"1-1"', 412),  # weak tags never match strongly
        ('"1-0"', 412),
        ('"1-12"', 412),
        ('"2-1"', 412),  # of an earlier switch with this name
        ("1-1", 400),
        ('"1-1', 400),
    ],
)
async def test_if_match(rig: Rig, method: str, if_match: str, status: int) -> None:
    headers = {"If-Match": if_match}
    answer = await rig.operate(method, PORT, json={"stamp": True}, headers=headers)
    assert answer.status_code == status
    assert rig.switches["s1"].ports[1].stamp is (status == 200)
    if status == 412:
        assert answer.headers["etag"] == '"1-1"'
        assert problem(answer, 412, "stale-version")["current_version"] == 1


async def test_a_change_is_refused_after_somebody_elses(rig: Rig) -> None:
    tag = (await rig.ask(Role.VIEWER, "GET", PORT)).headers["etag"]
    assert (await change(rig, {"edge": True}, **{"If-Match": tag})).status_code == 200
    problem(await change(rig, {"stamp": True}, **{"If-Match": tag}), 412, "stale-version")


async def test_of_many_changes_of_one_version_one_is_made(rig: Rig) -> None:
    headers = {"If-Match": '"1-1"'}
    answers = await asyncio.gather(
        *(change(rig, {"queue_limit_bytes": 1000 + number}, **headers) for number in range(10))
    )
    assert sorted(answer.status_code for answer in answers) == [200] + 9 * [412]
    assert (await rig.read(PORT))["version"] == 2


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("if_none_match", "status"),
    [('"1-1"', 304), ('W/"1-1"', 304), ("*", 304), ('"x", "1-1"', 304), ('"1-2"', 200), ("x", 400)],
)
async def test_if_none_match_spares_a_body(shared: Rig, if_none_match: str, status: int) -> None:
    answer = await shared.ask(Role.VIEWER, "GET", PORT, headers={"If-None-Match": if_none_match})
    assert answer.status_code == status
    if status == 304:
        assert answer.content == b""
        assert answer.headers["etag"] == '"1-1"'


async def test_if_none_match_keeps_from_overwriting(rig: Rig) -> None:
    problem(await change(rig, {"stamp": True}, **{"If-None-Match": "*"}), 412, "stale-version")
    problem(await change(rig, {"stamp": True}, **{"If-None-Match": '"1-1"'}), 412, "stale-version")
    assert (await change(rig, {"stamp": True}, **{"If-None-Match": '"1-9"'})).status_code == 200


async def test_a_cache_sees_that_a_change_is_through(tmp_path: Path) -> None:
    """Pending and confirmed settings have different tags; either one permits a change of that version."""
    switch = FakeSwitch()
    async with open_rig(tmp_path, switch, apply_timeout_s=0.05) as rig:
        switch.answering.clear()
        pending = await change(rig, {"stamp": True})
        assert pending.status_code == 202
        assert pending.json()["applied"] is False
        tag = pending.headers["etag"]
        assert tag != '"1-2"'
        same = await rig.ask(Role.VIEWER, "GET", PORT, headers={"If-None-Match": tag})
        assert same.status_code == 304
        switch.answering.set()
        await until(lambda: switch.ports[1].stamp)
        seen: list[Any] = []
        while not seen or not seen[-1].json()["applied"]:
            seen.append(await rig.ask(Role.VIEWER, "GET", PORT))
        assert seen[-1].headers["etag"] == '"1-2"'
        changed = await rig.ask(Role.VIEWER, "GET", PORT, headers={"If-None-Match": tag})
        assert changed.status_code == 200
        assert (await change(rig, {"edge": True}, **{"If-Match": tag})).status_code in (200, 202)


# Switches that do not answer, refuse, or have another primary.


async def test_an_unreachable_switch_gets_nothing_unless_later_will_do(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_rig(tmp_path, switch) as rig:
        switch.go()
        await in_state(rig.controller, "s1", LinkState.UNREACHABLE)
        refused = await change(rig, {"stamp": True})
        assert "s1" in problem(refused, 503, "unreachable")["detail"]
        assert int(refused.headers["retry-after"]) > 0
        assert (await rig.read(PORT))["version"] == 1
        accepted = await change(rig, {"stamp": True}, Prefer="respond-async, wait=10")
        assert accepted.status_code == 202
        assert accepted.headers["preference-applied"] == "respond-async"
        assert accepted.json()["desired"]["stamp"] is True
        assert accepted.json()["applied"] is False
        switch.come_back()
        await until(lambda: switch.ports[1].stamp)


async def test_what_the_switch_refuses_is_taken_back(tmp_path: Path) -> None:
    switch = FakeSwitch()
    switch.refuse = lambda settings: "no XCP today" if settings.xcp else None
    async with open_rig(tmp_path, switch) as rig:
        document = problem(await change(rig, {"xcp": XCP}), 502, "refused-by-switch")
        assert "no XCP today" in document["detail"]
        assert (await rig.read(PORT))["desired"]["xcp"] is None


async def test_a_backup_reads_and_does_not_write(tmp_path: Path) -> None:
    switch = FakeSwitch()
    async with open_rig(tmp_path, switch) as rig:
        switch.become(Mastership.BACKUP)
        await in_state(rig.controller, "s1", LinkState.BACKUP)
        assert (await rig.read(PORT))["version"] == 1
        for headers in ({}, {"Prefer": "respond-async"}):
            problem(await change(rig, {"stamp": True}, **headers), 409, "not-primary")
        assert (await rig.read(PORT))["version"] == 1


async def test_a_reason_goes_into_the_audit(rig: Rig) -> None:
    await rig.operate("PATCH", PORT, json={"stamp": True}, params={"reason": "cable 7 swapped"})
    record = (await rig.operate("GET", "/v1/audit", params={"limit": 1})).json()["items"][0]
    assert (record["actor"], record["reason"]) == ("operator", "cable 7 swapped")
    assert (record["before"]["stamp"], record["after"]["stamp"]) == (False, True)


@pytest.mark.asyncio(loop_scope="module")
async def test_all_ports(shared: Rig) -> None:
    assert [port["port"] for port in (await shared.read("/v1/switches/s2/ports"))["items"]] == [1, 2, 3]
