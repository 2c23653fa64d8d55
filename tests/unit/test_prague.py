# SPDX-License-Identifier: Apache-2.0
"""Prague in the simulator: over queues that mark early, beside others, and where nothing marks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from builds import plain
from clarion_lab.engines.simulation import simulation_config
from clarion_lab.hosts.agent import attach_commands
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import build
from clarion_lab.scenario.topology import plan

RATE_BPS = 100_000_000
DUAL_PI2 = "{limit: 2 bdp, discipline: dual-pi2}"


@pytest.fixture(scope="module", autouse=True)
def program() -> str:
    path = os.environ.get("CLARION_SIM_BIN") or str(plain("sim/clarion-sim"))
    os.environ["CLARION_SIM_BIN"] = path
    return path


def settings(queue: str, *more: str) -> tuple[str, ...]:
    """100 Mbit/s and 20 ms."""
    bottleneck = f"{{rate: 100 Mbit/s, rtt: 18 ms, queue: {queue}}}"
    return (f"links={{access: {{rtt: 2 ms}}, bottleneck: {bottleneck}}}", *more)


def run(out: Path, *given: str) -> subprocess.CompletedProcess[str]:
    options = [part for setting in given for part in ("--set", setting)]
    command = [sys.executable, "-m", "clarion", "run", "geo", "--engine", "sim", "--out", str(out), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def summary(out: Path, *given: str) -> dict[str, Any]:
    done = run(out, *given)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return found


def bottleneck(found: dict[str, Any]) -> dict[str, Any]:
    return next(port for port in found["ports"] if port["role"].endswith("forward"))


def test_alone_it_fills_the_link_with_hardly_any_queue(tmp_path: Path) -> None:
    given = settings(DUAL_PI2, "ecn=true", "algorithm=prague", "flows=[{}]", "duration=15 s")
    found = summary(tmp_path / "out", *given, "measure-from=5 s")
    port = bottleneck(found)
    assert port["utilisation"] >= 0.9
    assert port["queue_mean_bytes"] * 8e3 / RATE_BPS < 2  # ms
    assert found["flows"][0]["losses"]["data_queue"] == 0


def test_beside_cubic_neither_has_twice_as_much(tmp_path: Path) -> None:
    """CUBIC's connection has classic ECN, in the other queue."""
    flows = "flows=[{algorithm: prague}, {algorithm: cubic}]"
    given = settings(DUAL_PI2, "ecn=true", flows, "duration=40 s", "measure-from=10 s")
    found = summary(tmp_path / "out", *given)
    prague, cubic = (flow["goodput_bits_per_s"] for flow in found["flows"])
    assert 0.5 < prague / cubic < 2
    assert bottleneck(found)["utilisation"] > 0.95


def test_two_on_paths_of_unlike_length_share(tmp_path: Path) -> None:
    """Below 25 ms the round trip does not matter: 22 ms over both links, 12 ms over one."""
    shared = "{between: [a, b], rate: 100 Mbit/s, rtt: 10 ms, queue: " + DUAL_PI2 + "}"
    longer = "{between: [b, c], rate: 1 Gbit/s, rtt: 10 ms, queue: 1 bdp}"
    given = (
        "topology=graph",
        f"links={{access: {{rtt: 2 ms}}, bottleneck: [{shared}, {longer}]}}",
        "flows=[{from: a, to: b}, {from: a, to: c}]",
        "algorithm=prague",
        "ecn=true",
        "duration=40 s",
        "measure-from=15 s",
    )
    near, far = (flow["goodput_bits_per_s"] for flow in summary(tmp_path / "out", *given)["flows"])
    assert 0.7 < near / far < 1.4


def test_where_nothing_marks_it_fills_the_link_by_losses(program: str, tmp_path: Path) -> None:
    given = settings("1 bdp", "ecn=true", "algorithm=prague", "flows=[{}]", "duration=30 s")
    document = documents.read(documents.locate("geo"))
    point = documents.points("geo", document, [documents.parse_assignment(each) for each in given])[0]
    scenario = build("geo", point.document)
    config = simulation_config(scenario, plan(scenario), tmp_path)
    for switch in config["network"]["switches"]:
        for port in switch["ports"]:
            port.pop("ecn_threshold_bytes", None)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    done = subprocess.run([program, "--config", str(path)], capture_output=True, text=True, check=True)
    samples = [json.loads(line) for line in done.stdout.splitlines()]
    received = {line["time_us"]: line["flows"][0][-1] for line in samples if line.get("flows")}
    rate_bps = (received[30_000_000] - received[10_000_000]) * 8 / 20
    assert rate_bps > 0.9 * 0.9564 * RATE_BPS  # payload of packets of 1514 bytes
    reasons = {each[2] for line in samples for each in line.get("reductions", ())}
    assert reasons == {"loss"}


def test_on_real_hosts_both_ends_count_marks() -> None:
    document = documents.read(documents.locate("geo"))
    given = [documents.parse_assignment(each) for each in settings(DUAL_PI2, "ecn=true", "algorithm=prague")]
    scenario = build("geo", documents.points("geo", document, given)[0].document)
    commands = attach_commands(scenario, plan(scenario))
    assert len(commands) == 2 * len(scenario.flows)
    for _, options in commands:
        assert options[2:6] == ["--cc", "clarion_prague", "--set", "prague_assume_accurate_ecn=1"]


def test_without_ecn_it_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path / "out", *settings("1 bdp", "algorithm=prague", "flows=[{}]"))
    assert done.returncode == 2
    assert done.stderr == "clarion: scenario geo: ecn: prague counts marks; set ecn: true\n"
