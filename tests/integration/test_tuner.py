# SPDX-License-Identifier: Apache-2.0
"""A run under a controller: the switch's agent, P4Runtime, store, tuner and REST, with real flows."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from integration.controller_net import CLARION, ServedController

pytestmark = [pytest.mark.root, pytest.mark.slow]

RUN_S = 150.0


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedController]:
    with ServedController(tmp_path_factory.mktemp("controller")) as made:
        yield made


def run(controller: ServedController, out: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*CLARION, "run", "rate-steps", "--out", str(out), "--json", *controller.run_options(), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def switches(controller: ServedController) -> list[dict[str, Any]]:
    with controller.api() as api:
        items: list[dict[str, Any]] = api.get("/v1/switches")["items"]
    return items


def test_the_capacity_policy_follows_a_link_that_became_slower(
    controller: ServedController, tmp_path: Path
) -> None:
    """Ten of fourteen seconds at 20 Mbit/s on a link configured as 50 in XCP: the decision is recorded."""
    child = run(
        controller,
        tmp_path / "out",
        "--tune=capacity",
        "--tune=noise",
        "--set=duration=14 s",
        "--set=measure-from=2 s",
        "--set=links.bottleneck.rate=50 Mbit/s",
        "--set=links.bottleneck.rate-steps.0.at=4 s",
        "--set=links.bottleneck.rate-steps.0.rate=20 Mbit/s",
        "--set=links.bottleneck.rate-steps.1.at=13 s",
        "--set=links.bottleneck.rate-steps.1.rate=20 Mbit/s",
        "--set=links.bottleneck.rtt=40 ms",
    )
    said, errors = child.communicate(timeout=RUN_S)
    assert child.returncode == 0, errors
    summary = json.loads(said)
    joined = summary["environment"]["controller"]
    assert joined["switches"] == ["rate-steps-s1", "rate-steps-s2"]
    decided = json.loads((tmp_path / "out/decisions.json").read_text())["decisions"]
    capacities = [
        decision["changes"]["xcp.capacity_bps"] for decision in decided if decision["policy"] == "capacity"
    ]
    # No bound on the time, for slow machines: only that it has decided, and in which direction.
    assert any(after < 35e6 for _, after in capacities), decided
    for decision in decided:
        assert decision["summary"]
        assert "memory" in decision["evidence"]
    with controller.api() as api:
        audit = api.get("/v1/audit?limit=500")["items"]
    by_tuner = [record for record in audit if record["origin"] == "tuner"]
    assert len(by_tuner) == len(capacities)
    assert switches(controller) == []


def test_a_run_that_is_stopped_takes_its_switches_away(controller: ServedController, tmp_path: Path) -> None:
    child = run(controller, tmp_path / "out", "--set=duration=70 s")
    try:
        while not (joined := switches(controller)) or joined[-1]["status"]["state"] != "in-sync":
            assert child.poll() is None, child.communicate()[1]
            time.sleep(0.1)
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=RUN_S)
    finally:
        if child.poll() is None:
            child.kill()
            child.communicate()
    assert child.returncode == 128 + signal.SIGTERM
    assert switches(controller) == []
