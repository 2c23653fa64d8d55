# SPDX-License-Identifier: Apache-2.0
"""Experiments over HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from clarion_control.api.app import create_app
from clarion_control.model import ExperimentState, Role
from fakes.controller import DEADLINE_S
from fakes.rest import Rig, problem


async def start(rig: Rig, **settings: Any) -> str:
    answer = await rig.experiment("POST", "/v1/experiments", json={"scenario": "smoke", "settings": settings})
    assert answer.status_code == 201, answer.text
    assert answer.json()["settings"] == settings
    return answer.headers["location"]


async def until_state(rig: Rig, path: str, state: ExperimentState) -> Any:
    async def watch() -> Any:
        async for now, _ in rig.experiments.updates(int(path.rpartition("/")[2])):
            if now.state is state:
                return await rig.read(path)
        raise AssertionError("it ended otherwise")

    return await asyncio.wait_for(watch(), DEADLINE_S)


async def test_a_run_and_its_results(rig: Rig) -> None:
    path = await start(rig, duration="4 s")
    done = await until_state(rig, path, ExperimentState.COMPLETE)
    assert done["created_by"] == "experimenter"
    assert "summary.json" in done["files"]
    files = {file["path"]: file["bytes"] for file in (await rig.read(f"{path}/files"))["items"]}
    assert files.keys() == set(done["files"])
    answer = await rig.ask(Role.VIEWER, "GET", f"{path}/files/summary.json")
    assert answer.json() == {"state": "complete"}
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("sandbox")
    assert (await rig.ask(Role.VIEWER, "GET", f"{path}/files/iperf3/flow-1.json")).content == b"{}"
    assert [item["id"] for item in (await rig.read("/v1/experiments"))["items"]] == [done["id"]]


@pytest.mark.parametrize(
    "name",
    [
        "..%2f..%2fcontroller.db",
        "%2e%2e/%2e%2e/controller.db",
        "%2fetc%2fpasswd",
        "nothing",
        "iperf3",
        "a%00b",
        "link",
    ],
)
async def test_only_results_are_given_out(rig: Rig, tmp_path: Path, name: str) -> None:
    path = await start(rig)
    await until_state(rig, path, ExperimentState.COMPLETE)
    [place] = (tmp_path / "experiments").glob("*-*")
    (place / "link").symlink_to(tmp_path / "controller.db")
    problem(await rig.ask(Role.VIEWER, "GET", f"{path}/files/{name}"), 404, "unknown-file")


async def test_a_run_is_stopped(rig: Rig) -> None:
    path = await start(rig, description="goes on")
    await until_state(rig, path, ExperimentState.RUNNING)
    stopped = await rig.experiment("DELETE", path)
    assert stopped.status_code == 202
    await until_state(rig, path, ExperimentState.STOPPED)
    again = await rig.experiment("DELETE", path)
    assert (again.status_code, again.json()["state"]) == (202, "stopped")


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("body", "slug", "pointer"),
    [
        ({}, "invalid-request", "#/scenario"),
        ({"scenario": "/tmp/mine.yaml"}, "invalid-experiment", "#/scenario"),
        ({"scenario": "smoke", "engine": "x"}, "invalid-experiment", "#/engine"),
        ({"scenario": "smoke", "settings": {"duration": "x"}}, "invalid-experiment", "#/settings/duration"),
        ({"scenario": "smoke", "settings": []}, "invalid-request", "#/settings"),
        ({"scenario": "smoke", "repeat": 0}, "invalid-request", "#/repeat"),
        ({"scenario": "smoke", "out": "/etc"}, "invalid-request", "#/out"),
    ],
)
async def test_what_cannot_run_is_named(shared: Rig, body: dict[str, Any], slug: str, pointer: str) -> None:
    answer = await shared.experiment("POST", "/v1/experiments", json=body)
    assert problem(answer, 422, slug)["errors"][0]["pointer"] == pointer
    assert (await shared.read("/v1/experiments"))["items"] == []


@pytest.mark.asyncio(loop_scope="module")
async def test_unknown_ones(shared: Rig) -> None:
    for path in (
        "/v1/experiments/9",
        "/v1/experiments/9/files",
        "/v1/experiments/9/files/x",
        "/v1/experiments/9/events",
    ):
        problem(await shared.ask(Role.VIEWER, "GET", path), 404, "unknown-experiment")
    problem(await shared.experiment("DELETE", "/v1/experiments/9"), 404, "unknown-experiment")


async def test_a_controller_may_run_none(rig: Rig) -> None:
    context = create_app(rig.controller).state.clarion_api
    rig.app.state.clarion_api = context
    problem(await rig.ask(Role.VIEWER, "GET", "/v1/experiments"), 503, "unavailable")


@pytest.mark.asyncio(loop_scope="module")
async def test_scenarios_and_engines(shared: Rig) -> None:
    listed = await shared.read("/v1/scenarios")
    assert "smoke" in [item["name"] for item in listed["items"]]
    assert listed["engines"] == ["emu", "bmv2", "sim", "hls-sim"]
