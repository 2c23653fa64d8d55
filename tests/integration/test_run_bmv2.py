# SPDX-License-Identifier: Apache-2.0
"""`clarion run --engine bmv2` as a user runs it: small scenarios over simple_switch_grpc."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from clarion_lab.machine import bmv2_installation
from clarion_lab.machine.state import start_time
from clarion_lab.recording import files
from clarion_lab.scenario.validation import first_fault
from integration.test_run import assert_tags_tell_the_causes

BMV2_FAULT = bmv2_installation.fault()
pytestmark = [
    pytest.mark.root,
    pytest.mark.timeout(600),
    pytest.mark.skipif(BMV2_FAULT is not None, reason=f"{bmv2_installation.PROGRAM}: {BMV2_FAULT}"),
]
RUN = [sys.executable, "-m", "clarion", "run", "smoke", "--engine", "bmv2"]
SMALL = ("links.bottleneck.rate=10 Mbit/s", "links.access.rate=20 Mbit/s")


def command(out: Path, *settings: str) -> list[str]:
    return [
        *RUN,
        *(part for setting in (*SMALL, *settings) for part in ("--set", setting)),
        "--out",
        str(out),
    ]


def run(out: Path, *settings: str) -> dict[str, Any]:
    done = subprocess.run(command(out, *settings), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    made: dict[str, Any] = json.loads((out / "summary.json").read_text())
    assert first_fault("summary", made) is None
    assert (made["engine"], made["state"]) == ("bmv2", "complete")
    return made


def left_behind() -> list[str]:
    """Devices of a run, and the processes that used them."""
    devices = [name for name in os.listdir("/sys/class/net") if name.startswith(("s1-", "s2-", "w1-", "w2-"))]
    return devices + [line for line in command_lines() if "@s1-right" in line or "@s2-left" in line]


def command_lines() -> list[str]:
    lines = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(entry.read_text(errors="replace"))
    return lines


def port(made: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in made["ports"] if each["port"] == name)
    return found


def test_xcp_fills_the_link_over_the_p4_program(tmp_path: Path) -> None:
    """A round trip of 104 ms: scheduling delays of a busy machine matter less than on a short path."""
    settings = ("algorithm=xcp", "links.bottleneck.rtt=100 ms", "duration=10 s", "measure-from=4 s")
    made = run(tmp_path / "out", *settings)
    totals = made["totals"]
    assert 0.9 < totals["fraction_of_ceiling"] < 1.02
    assert totals["jain"] > 0.98
    assert totals["unasked_drop_packets"] == 0
    assert 104 <= made["flows"][0]["idle_rtt_ms"] < 112
    forward = port(made, "s1-right")
    assert forward["packet_queue"] == {
        "rate_bps": 10_000_000,
        "frame_bytes": 1546,
        "rate_pps": 809,
        "queue_bytes": 130_000,
        "depth_packets": 130_000 // 42 + 64,
    }
    assert forward["utilisation"] == pytest.approx(1, abs=0.05)
    assert forward["queue_mean_bytes"] < 65_000
    series = files.read_table(tmp_path / "out" / files.PORTS)
    assert {bool(value) for value in series["xcp_avg_rtt_us"][series["port"] == "s1-right"][-20:]} == {True}
    assert left_behind() == []


def test_tags_find_both_causes_and_the_truth_knows_them(tmp_path: Path) -> None:
    """Two CUBIC flows overflow a queue of six packets while the wire loses 0.5 %; the tags tell which."""
    made = run(
        tmp_path / "out",
        "tag-plain-tcp=true",
        "links.bottleneck.queue=6 packets",
        "links.bottleneck.loss.forward.rate=0.5 %",
        "duration=10 s",
    )
    tags = made["totals"]["tags"]
    assert tags["wire"]["truth"] > 10
    assert tags["queue"]["truth"] > 5
    assert_tags_tell_the_causes(made)
    losses = files.read_table(tmp_path / "out" / files.LOSSES)
    assert set(losses["port"]) == {"s1-right"}
    assert set(losses["flow"]) <= {-1, 0, 1}  # -1: a hello of the switches
    assert {1448} == set(losses["payload_bytes"])
    assert port(made, "s1-right")["drop_packets"] == (losses["cause"] == "queue").sum()
    assert port(made, "s1-right")["wire_lost_packets"] == (losses["cause"] == "wire").sum()
    assert (losses["time_us"] > -1e6).all()
    assert (losses["time_us"] < 13e6).all()


def test_ideal_links_need_no_wires(tmp_path: Path) -> None:
    made = run(tmp_path / "out", "links.access={}", 'links.bottleneck={"rate": "5 Mbit/s", "queue": "30 kB"}')
    assert made["totals"]["fraction_of_ceiling"] > 0.85
    assert not (tmp_path / "out" / "switch.json").exists()
    assert left_behind() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_run_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    """Immediately after Ctrl-C; after kill -9 once `clarion cleanup` has run."""
    out = tmp_path / "out"
    runner = subprocess.Popen(command(out, "duration=60 s"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    began = start_time(runner.pid)
    deadline = time.monotonic() + 120
    while not list(out.glob("iperf3/flow-2.json")):
        assert runner.poll() is None, runner.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    runner.send_signal(number)
    runner.communicate(timeout=120)
    assert start_time(runner.pid) != began
    if number == signal.SIGKILL:
        done = subprocess.run(
            [sys.executable, "-m", "clarion", "cleanup"],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout
    else:
        assert runner.returncode == 128 + number
        assert json.loads((out / "summary.json").read_text())["state"] == "interrupted"
    assert left_behind() == []
