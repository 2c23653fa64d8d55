# SPDX-License-Identifier: Apache-2.0
"""Runs that were started elsewhere, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from clarion_control.model import Role
from fakes.rest import Rig, problem

NEW = {"scenario": "mine", "engine": "emu", "settings": {"duration": "5 s"}, "repeat": 3, "place": "lab:/out"}


async def register(rig: Rig) -> Any:
    answer = await rig.operate("POST", "/v1/runs", json=NEW)
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"/v1/experiments/{answer.json()['id']}"
    return answer.json()


async def test_a_run_is_an_experiment(rig: Rig) -> None:
    made = await register(rig)
    assert made | NEW == made
    assert (made["state"], made["created_by"], made["stop"]) == ("running", "operator", False)
    path = f"/v1/runs/{made['id']}"
    said = await rig.operate("PUT", f"{path}/progress", json={"progress": "mine: 2.0 / 5 s"})
    assert said.json()["progress"] == "mine: 2.0 / 5 s"
    summary = {"format": "clarion-batch", "rows": []}
    ended = await rig.operate("PUT", f"{path}/result", json={"state": "complete", "summary": summary})
    assert ended.status_code == 200
    shown = await rig.read(f"/v1/experiments/{made['id']}")
    assert shown == ended.json()
    assert (shown["state"], shown["files"], shown["progress"]) == ("complete", ["summary.json"], None)
    assert await rig.read(f"/v1/experiments/{made['id']}/files/summary.json") == summary
    unknown = await rig.ask(Role.VIEWER, "GET", f"/v1/experiments/{made['id']}/files/report.html")
    problem(unknown, 404, "unknown-file")


async def test_a_run_is_asked_to_stop(rig: Rig) -> None:
    made = await register(rig)
    assert (await rig.experiment("DELETE", f"/v1/experiments/{made['id']}")).json()["stop"] is True
    said = await rig.operate("PUT", f"/v1/runs/{made['id']}/progress", json={})
    assert (said.json()["state"], said.json()["stop"]) == ("running", True)


async def test_reports_that_cannot_be_taken(rig: Rig) -> None:
    made = await register(rig)
    path = f"/v1/runs/{made['id']}"
    problem(await rig.administer("PUT", f"{path}/progress", json={}), 409, "conflict")
    await rig.operate("PUT", f"{path}/result", json={"state": "failed", "error": "no route"})
    problem(await rig.operate("PUT", f"{path}/progress", json={}), 409, "conflict")
    problem(await rig.operate("PUT", "/v1/runs/99/progress", json={}), 404, "unknown-experiment")
    problem(await rig.ask(Role.VIEWER, "POST", "/v1/runs", json=NEW), 403, "forbidden")


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"place": ""}, "#/place"),
        ({"place": "two\nlines"}, "#/place"),
        ({"repeat": 0}, "#/repeat"),
        ({"settings": {"a=b": 1}}, "#/settings/a=b"),
        ({"settings": {"sweep.seed": "x" * 10_000}}, "#/settings/sweep.seed"),
        ({"state": "complete"}, "#/state"),
    ],
)
async def test_what_is_wrong_with_a_run_is_named(shared: Rig, changes: dict[str, Any], pointer: str) -> None:
    answer = await shared.operate("POST", "/v1/runs", json={**NEW, **changes})
    assert problem(answer, 422, "invalid-request")["errors"][0]["pointer"] == pointer
    assert (await shared.read("/v1/experiments"))["items"] == []


@pytest.mark.asyncio(loop_scope="module")
async def test_a_run_ends_in_one_of_three_ways(shared: Rig) -> None:
    answer = await shared.operate("PUT", "/v1/runs/1/result", json={"state": "running"})
    assert problem(answer, 422, "invalid-request")["errors"][0]["pointer"] == "#/state"
