# SPDX-License-Identifier: Apache-2.0
"""A small part of docs/results/agreement.md: the same scenario in real time and in virtual time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clarion_lab.results.bottlenecks import bottlenecks
from integration.undisturbed import undisturbed

pytestmark = [pytest.mark.root, pytest.mark.timeout(600)]
PATH = "links={access: {rtt: 2 ms}, bottleneck: {rate: 10 Mbit/s, rtt: 38 ms, queue: 1 bdp}}"
LOSSY = PATH.replace("1 bdp", "1 bdp, loss: {forward: {model: packet, rate: 0.01}}")
MESH = ("mesh", "duration=10 s")


def run(engine: str, out: Path, scenario: str, *settings: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "clarion", "run", scenario, "--engine", engine, "--out", str(out)]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return summary


def both(tmp_path: Path, scenario: str, *settings: str) -> tuple[dict[str, Any], dict[str, Any]]:
    emu = undisturbed(lambda attempt: run("emu", tmp_path / f"emu-{attempt}", scenario, *settings))
    return emu, run("sim", tmp_path / "sim", scenario, *settings)


def queue_mean_bdp(summary: dict[str, Any]) -> float:
    queues: list[float] = [port["queue_mean_bdp"] for port in bottlenecks(summary)]
    return max(queues)


@pytest.mark.parametrize(
    ("sender", "links"), [("xcp", LOSSY), ("boost", LOSSY), ("cubic", PATH), ("reno", PATH)]
)
def test_goodput_and_queue_agree(tmp_path: Path, sender: str, links: str) -> None:
    settings = (links, f"algorithm={sender}", "flows=[{}]", "duration=12 s", "measure-from=4 s")
    emu, sim = both(tmp_path, "geo", *settings)
    goodputs = [summary["totals"]["goodput_bits_per_s"] for summary in (emu, sim)]
    assert goodputs[1] == pytest.approx(goodputs[0], rel=0.05), emu["sampler"]
    assert queue_mean_bdp(sim) == pytest.approx(queue_mean_bdp(emu), abs=0.1)
    truths = [summary["totals"]["losses"]["data_wire"] for summary in (emu, sim)]
    assert bool(truths[0]) == bool(truths[1]) == (links is LOSSY)


def test_a_mesh_carries_the_same(tmp_path: Path) -> None:
    emu, sim = both(tmp_path, *MESH)
    for real, virtual in zip(emu["flows"], sim["flows"], strict=True):
        assert virtual["goodput_bits_per_s"] == pytest.approx(real["goodput_bits_per_s"], rel=0.1)
        assert virtual["path_rtt_ms"] == real["path_rtt_ms"]
        assert real["idle_rtt_ms"] == pytest.approx(real["path_rtt_ms"], rel=0.2)


def test_a_path_over_satellites_is_the_same(tmp_path: Path) -> None:
    """Steps of the delay every 20 ms, and a handover in the middle, whose outage loses packets."""
    orbit = (
        "{satellites: iridium, ground: [[3.02, 101.7], [47.55, 101.7]], every: 20 ms, start: 206 s,"
        " min-elevation: 10.8, handover-outage: 40 ms}"
    )
    bottleneck = f"{{rate: 10 Mbit/s, queue: 50 packets, orbit: {orbit}}}"
    links = f"links={{access: {{rtt: 2 ms}}, bottleneck: {bottleneck}}}"
    settings = (links, "algorithm=cubic", "flows=[{}]", "duration=15 s", "measure-from=3 s")
    emu, sim = both(tmp_path, "geo", *settings)
    (real,), (virtual,) = emu["flows"], sim["flows"]
    assert virtual["goodput_bits_per_s"] == pytest.approx(real["goodput_bits_per_s"], rel=0.05)
    assert virtual["srtt_ms_mean"] == pytest.approx(real["srtt_ms_mean"], rel=0.1)
    assert real["idle_rtt_ms"] == pytest.approx(real["path_rtt_ms"], rel=0.1)
    assert real["losses"]["data_outage"] > 0
    assert virtual["losses"]["data_outage"] > 0
