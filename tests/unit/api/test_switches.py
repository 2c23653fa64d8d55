# SPDX-License-Identifier: Apache-2.0
"""Switches, forwarding, health and figures over HTTP."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from clarion_control.errors import StoreError
from clarion_control.keys import certificates
from clarion_control.model import LinkState, Role
from clarion_control.store import controllers
from clarion_p4rt.device import Mastership
from fakes.controller import in_state, until
from fakes.rest import GENEROUS, Rig, open_rig, problem
from fakes.switch import FakeSwitch

NEW = {"name": "s3", "address": "127.0.0.1:9559", "device_id": 3, "ports": [2, 1]}
FORWARDING = "/v1/switches/s1/forwarding"


async def test_switches_are_added_shown_and_removed(rig: Rig) -> None:
    added = await rig.administer("POST", "/v1/switches", json=NEW)
    assert added.status_code == 201
    assert added.headers["location"] == "/v1/switches/s3"
    shown = await rig.read("/v1/switches/s3")
    assert shown["ports"] == [1, 2]
    assert shown["tls"] is None
    assert shown["status"]["state"] in ("connecting", "unreachable")
    assert [switch["name"] for switch in (await rig.read("/v1/switches"))["items"]] == ["s1", "s2", "s3"]
    removed = await rig.administer("DELETE", "/v1/switches/s3")
    assert (removed.status_code, removed.content) == (204, b"")
    problem(await rig.ask(Role.VIEWER, "GET", "/v1/switches/s3"), 404, "unknown-switch")
    problem(await rig.administer("DELETE", "/v1/switches/s3"), 404, "unknown-switch")


async def test_who_leads_is_shown(tmp_path: Path) -> None:
    s1, s2 = FakeSwitch("s1"), FakeSwitch("s2")
    async with open_rig(tmp_path, s1, s2, name="east", election_id=1, url="http://east/") as rig:
        await rig.store.append(controllers.beat, "west", 2, "http://west/")
        s2.become(Mastership.BACKUP)
        await in_state(rig.controller, "s2", LinkState.BACKUP)
        await until(lambda: rig.controller.standing.name_of(2) == "west")
        shown = (await rig.read("/v1/switches"))["items"]
        assert {each["name"]: each["primary"] for each in shown} == {"s1": "east", "s2": "west"}
        assert (await rig.read("/v1/switches/s2"))["primary"] == "west"
        there = (await rig.read("/v1/controllers"))["items"]
        assert [(each["name"], each["url"], each["this"], each["leads"]) for each in there] == [
            ("east", "http://east/", True, ["s1"]),
            ("west", "http://west/", False, ["s2"]),
        ]
        figures = (await rig.ask(Role.VIEWER, "GET", "/metrics")).text
        assert 'clarion_switch_primary{controller="west",switch="s2"} 1.0' in figures
        refused = await rig.operate("PATCH", "/v1/switches/s2/ports/1", json={"stamp": True})
        assert "(west)" in problem(refused, 409, "not-primary")["detail"]


TLS = {"ca": "/etc/clarion/ca.pem", "certificate": "/etc/clarion/c.pem", "key": "/etc/clarion/c.pem"}


async def test_a_switch_is_reached_elsewhere_from_now_on(rig: Rig) -> None:
    settings = await rig.operate("PATCH", "/v1/switches/s1/ports/1", json={"stamp": True})
    assert settings.status_code == 200
    uid = (await rig.read("/v1/switches/s1"))["uid"]
    changes = {"address": "192.0.2.7:9559", "tls": TLS, "port_names": {"2": "up"}}
    answer = await rig.administer("PATCH", "/v1/switches/s1", json=changes)
    assert answer.status_code == 200
    shown = await rig.read("/v1/switches/s1")
    assert {name: shown[name] for name in changes} == changes
    assert shown["uid"] == uid
    assert (await rig.read("/v1/switches/s1/ports/1"))["desired"]["stamp"] is True
    answer = await rig.administer("PATCH", "/v1/switches/s1", json={"tls": None})
    assert problem(answer, 422, "invalid-request")["errors"][0]["pointer"] == "#/tls"
    answer = await rig.administer("PATCH", "/v1/switches/s1", json={"tls": None, "address": "[::1]:9559"})
    assert answer.status_code == 200
    shown = await rig.read("/v1/switches/s1")
    assert (shown["address"], shown["tls"], shown["port_names"]) == ("[::1]:9559", None, {"2": "up"})
    problem(await rig.administer("PATCH", "/v1/switches/s9", json={}), 404, "unknown-switch")


async def test_ports_have_names_beside_their_numbers(rig: Rig) -> None:
    names = {"1": "right", "2": "h1"}
    answer = await rig.administer(
        "POST", "/v1/switches", json={**NEW, "ports": [1, 2, 3], "port_names": names}
    )
    assert answer.status_code == 201
    assert (await rig.read("/v1/switches/s3"))["port_names"] == names
    ports = (await rig.read("/v1/switches/s3/ports"))["items"]
    assert [(port["port"], port["name"]) for port in ports] == [(1, "right"), (2, "h1"), (3, None)]
    assert (await rig.read("/v1/switches/s1"))["port_names"] == {}


@pytest.mark.asyncio(loop_scope="module")
async def test_a_name_is_given_once(shared: Rig) -> None:
    problem(
        await shared.administer("POST", "/v1/switches", json={**NEW, "name": "s1"}), 409, "already-exists"
    )


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"name": "a b"}, "#/name"),
        ({"name": "../s1"}, "#/name"),
        ({"name": "x" * 64}, "#/name"),
        ({"name": "s3\n"}, "#/name"),
        ({"address": "127.0.0.1"}, "#/address"),
        ({"address": "127.0.0.1:0"}, "#/address"),
        ({"address": "127.0.0.1:70000"}, "#/address"),
        ({"address": "unix:p4runtime.sock"}, "#/address"),
        ({"address": "192.0.2.7:9559"}, "#/tls"),
        ({"device_id": 0}, "#/device_id"),
        ({"device_id": 2**63}, "#/device_id"),
        ({"ports": []}, "#/ports"),
        ({"ports": [64]}, "#/ports/0"),
        ({"ports": [1, 1]}, "#/ports"),
        ({"port_names": {"3": "h1"}}, "#/port_names/3"),
        ({"port_names": {"1": "a b"}}, "#/port_names/1"),
        ({"port_names": {"one": "h1"}}, "#/port_names/one"),
        ({"tls": {"ca": "/a", "certificate": "/b"}}, "#/tls/key"),
        ({"tls": {"ca": "ca.pem", "certificate": "/b", "key": "/c"}}, "#/tls/ca"),
        ({"colour": "red"}, "#/colour"),
    ],
)
async def test_what_is_wrong_with_a_switch_is_named(
    shared: Rig, changes: dict[str, Any], pointer: str
) -> None:
    answer = await shared.administer("POST", "/v1/switches", json={**NEW, **changes})
    assert problem(answer, 422, "invalid-request")["errors"][0]["pointer"] == pointer
    assert len(shared.controller.switches.all()) == 2


async def test_forwarding_is_set_and_left_alone_again(rig: Rig) -> None:
    problem(await rig.ask(Role.VIEWER, "GET", FORWARDING), 404, "no-forwarding")
    table = {"addresses": {"02:00:00:00:00:01": 1}, "flood_ports": [1, 2]}
    answer = await rig.operate("PUT", FORWARDING, json=table)
    assert answer.status_code == 200
    assert await rig.read(FORWARDING) == table
    forwarding = rig.switches["s1"].forwarding
    assert forwarding is not None
    assert dict(forwarding.addresses) == table["addresses"]
    assert (await rig.operate("DELETE", FORWARDING)).status_code == 204
    problem(await rig.ask(Role.VIEWER, "GET", FORWARDING), 404, "no-forwarding")


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("table", "pointer"),
    [
        ({"addresses": {"nonsense": 1}, "flood_ports": []}, "#/addresses/nonsense"),
        ({"addresses": {"ff:ff:ff:ff:ff:ff": 1}, "flood_ports": []}, "#/addresses/ff:ff:ff:ff:ff:ff"),
        ({"addresses": {"02:00:00:00:00:01": 9}, "flood_ports": []}, "#/addresses/02:00:00:00:00:01"),
        ({"addresses": {}, "flood_ports": [9]}, "#/flood_ports"),
        ({"addresses": {}, "flood_ports": [1, 1]}, "#/flood_ports"),
    ],
)
async def test_forwarding_that_cannot_be_is_named(shared: Rig, table: dict[str, Any], pointer: str) -> None:
    answer = await shared.operate("PUT", FORWARDING, json=table)
    assert problem(answer, 422, "invalid-settings")["errors"][0]["pointer"] == pointer
    assert shared.switches["s1"].forwarding is None


async def test_health_says_how_it_is_and_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    switch = FakeSwitch("secret-site")
    async with open_rig(tmp_path, switch) as rig:
        answer = await rig.ask(None, "GET", "/v1/health")
        assert answer.status_code == 200
        assert answer.json()["status"] == "ok"
        assert answer.json()["links"] == {"in-sync": 1}
        switch.go()
        await in_state(rig.controller, switch.name, LinkState.UNREACHABLE)
        answer = await rig.ask(None, "GET", "/v1/health")
        assert answer.status_code == 200
        assert answer.json()["status"] == "degraded"
        assert "secret" not in answer.text

        async def broken() -> None:
            raise StoreError("/secret/place: disk full")

        monkeypatch.setattr(rig.controller.records, "check_store", broken)
        answer = await rig.ask(None, "GET", "/v1/health")
        assert answer.status_code == 503
        assert (answer.json()["status"], answer.json()["store"]) == ("failing", "failing")
        assert "secret" not in answer.text


async def test_a_store_that_fails_is_a_problem(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(**_: object) -> None:
        raise StoreError("controller.db: disk full")

    monkeypatch.setattr(rig.controller.records, "audit", broken)
    problem(await rig.operate("GET", "/v1/audit"), 503, "unavailable")


async def test_figures_are_those_of_the_controller(rig: Rig) -> None:
    rig.switches["s1"].report(1, queue_bytes=4500, lost_on_wire=7)
    await until(lambda: rig.controller.telemetry.latest("s1", 1) is not None)
    answer = await rig.ask(Role.VIEWER, "GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    samples = {
        (
            sample.name,
            " ".join(f"{name}={value}" for name, value in sorted(sample.labels.items())),
        ): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    assert samples["clarion_port_queue_bytes", "port=1 switch=s1"] == 4500
    assert samples["clarion_port_lost_on_wire_packets_total", "port=1 switch=s1"] == 7
    assert samples["clarion_switch_state", "state=in-sync switch=s2"] == 1
    assert samples["clarion_switch_reports_total", "switch=s1"] == 1


async def test_figures_say_when_certificates_expire(tmp_path: Path) -> None:
    authority = certificates.new_authority()
    party = certificates.checked_party("c1", certificates.PartyRole.CONTROLLER, [])
    mine, ca = tmp_path / "c1.pem", tmp_path / "ca.pem"
    mine.write_bytes(certificates.issue(authority, party, timedelta(days=10)).pem())
    ca.write_bytes(certificates.pem_of([authority.certificate]))
    files = {"ca": str(ca), "certificate": str(mine), "key": str(tmp_path / "none")}
    options = replace(GENEROUS, certificate=tmp_path / "none")
    async with open_rig(tmp_path, options=options) as rig:

        async def days_left() -> dict[str, float]:
            text = (await rig.ask(Role.VIEWER, "GET", "/metrics")).text
            return {
                Path(sample.labels["file"]).name: round(sample.value / 86400, 1)
                for family in text_string_to_metric_families(text)
                for sample in family.samples
                if sample.name == "clarion_certificate_expires_in_seconds"
            }

        assert await days_left() == {}
        answer = await rig.administer("PATCH", "/v1/switches/s1", json={"tls": files})
        assert answer.status_code == 200
        assert await days_left() == {"c1.pem": 10.0, "ca.pem": 3650.0}
        mine.write_bytes(certificates.issue(authority, party, timedelta(days=20)).pem())
        assert await days_left() == {"c1.pem": 20.0, "ca.pem": 3650.0}


@pytest.mark.asyncio(loop_scope="module")
async def test_figures_come_in_the_format_that_is_asked_for(shared: Rig) -> None:
    headers = {"Accept": "application/openmetrics-text; version=1.0.0"}
    answer = await shared.ask(Role.VIEWER, "GET", "/metrics", headers=headers)
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")
