# SPDX-License-Identifier: Apache-2.0
"""The topology over HTTP, and the wire of a port in its resource."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from clarion_contract import lldp
from clarion_contract.lldp import Hello, Identifier
from clarion_contract.settings import PortSettings, XcpSettings
from clarion_control.model import Role
from fakes.controller import until
from fakes.rest import PORT, Rig, open_rig, problem
from fakes.switch import FakeSwitch

MAC = bytes.fromhex("020000000009")
BRIDGE = lldp.encode(MAC, Hello(Identifier(4, MAC), Identifier(5, b"eth0"), 120))


@pytest_asyncio.fixture
async def linked(tmp_path: Path) -> AsyncIterator[Rig]:
    """Port 2 of s1 at port 1 of s2, proven both ways."""
    first, second = FakeSwitch("s1"), FakeSwitch("s2")
    first.ports[2] = PortSettings(2, xcp=XcpSettings(80_000_000), stamp=True)
    second.ports[1] = PortSettings(1, stamp=True, check=True)
    first.wire(2, second, 1)
    async with open_rig(tmp_path, first, second) as rig:
        await until(lambda: [each.is_two_way for each in rig.controller.topology.links()] == [True])
        yield rig


async def links(rig: Rig, **params: Any) -> list[Any]:
    items: list[Any] = (await rig.read("/v1/links", params=params))["items"]
    return items


async def test_a_link_with_both_ends(linked: Rig) -> None:
    (link,) = await links(linked)
    assert [(end["switch"], end["port"], end["hears"]) for end in link["ends"]] == [
        ("s1", 2, True),
        ("s2", 1, True),
    ]
    assert link["heard"] == "two-way"
    assert (link["state"], link["conflict"], link["counts"]) == ("proven", False, "lldp")
    assert link["reason"] == "s1 port 2: s2 port 1 is the only neighbour and numbers its packets"
    assert link["since_us"] > 1.7e15
    assert [each["capacity_bps"] for each in link["directions"]] == [80_000_000, None]
    assert [each["errors"] for each in link["directions"]] == [None, None]


async def test_only_those_of_a_switch_or_in_conflict(linked: Rig) -> None:
    linked.switches["s1"].receive_frame(1, BRIDGE)
    await until(lambda: len(linked.controller.topology.links()) == 2)
    stranger, pair = await links(linked)
    assert stranger["ends"][1] == {
        "switch": None,
        "port": None,
        "name": None,
        "chassis_id": "02:00:00:00:00:09",
        "port_id": "eth0",
        "hears": None,
        "wire": None,
    }
    assert (stranger["heard"], stranger["state"]) == ("one-way", "disproved")
    assert [each["ends"] for each in await links(linked, switch="s2")] == [pair["ends"]]
    assert await links(linked, conflicts=True) == []  # disproved, but not declared either


@pytest.mark.parametrize(("params", "status"), [({"switch": "s9"}, 404), ({"conflicts": "maybe"}, 422)])
async def test_what_cannot_be_asked(rig: Rig, params: dict[str, str], status: int) -> None:
    answer = await rig.ask(Role.VIEWER, "GET", "/v1/links", params=params)
    problem(answer, status, "unknown-switch" if status == 404 else "invalid-request")


async def test_no_links_is_an_empty_list(rig: Rig) -> None:
    assert await links(rig) == []


async def test_the_etag_of_a_port_changes_with_its_wire(rig: Rig) -> None:
    before = (await rig.ask(Role.VIEWER, "GET", PORT)).headers["etag"]
    rig.switches["s1"].receive_frame(1, BRIDGE)
    await until(lambda: bool(rig.controller.topology.links()))
    answer = await rig.ask(Role.VIEWER, "GET", PORT, headers={"If-None-Match": before})
    assert answer.status_code == 200
    assert answer.headers["etag"] != before
    assert answer.json()["wire"] == {
        "state": "disproved",
        "declared": False,
        "conflict": False,
        "counts": "lldp",
        "reason": "02:00:00:00:00:09 port eth0 is not a Clarion port",
    }
    same = await rig.ask(Role.VIEWER, "GET", PORT, headers={"If-None-Match": answer.headers["etag"]})
    assert same.status_code == 304
    # The settings are the same: the older tag still allows a change of them.
    changed = await rig.operate("PATCH", PORT, json={"check": True}, headers={"If-Match": before})
    assert changed.status_code == 200
