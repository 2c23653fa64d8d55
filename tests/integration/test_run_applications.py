# SPDX-License-Identifier: Apache-2.0
"""Runs of unmodified applications over links that differ by direction: plain TCP, a tunnel, proxies."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from clarion_lab.machine.state import SCRATCH_ROOT, start_time
from clarion_lab.recording.files import read_table
from clarion_lab.scenario.validation import first_fault

pytestmark = [pytest.mark.root, pytest.mark.timeout(600)]
CLARION = [sys.executable, "-m", "clarion"]
FAKE = Path(__file__).parents[1] / "fakes" / "proxy.py"
FORWARD_BPS, REVERSE_BPS = 20_000_000, 2_000_000
SCENARIO = """\
description: an application over an asymmetric link
topology: dumbbell
algorithm: cubic
links:
  bottleneck:
    rate: {forward: 20 Mbit/s, reverse: 2 Mbit/s}
    delay: {forward: 15 ms, reverse: 25 ms}
    loss:
      forward: {model: packet, rate: 0.1 %}
flows:
  - {application: ftp, size: 4 MB}
duration: 60 s
"""
PUT = "{application: ftp, size: 4 MB}"
GET = "{application: ftp, size: 1 MB, transfer: get, direction: reverse}"
PROXY = "proxy={law: boost, header: off}"  # the stand-in has no header to put on
HTTP = "{application: http, size: 4 MB}"


def needs(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "asymmetric.yaml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clarion-proxy that is the stand-in."""
    needs("vsftpd", "lftp", "nft")
    program = tmp_path / "clarion-proxy"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("CLARION_PROXY_BIN", str(program))


def run(scenario: Path, out: Path, *settings: str, status: int = 0) -> str:
    arguments = [part for setting in settings for part in ("--set", setting)]
    command = [*CLARION, "run", str(scenario), *arguments, "--out", str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        output, errors = running.communicate(timeout=300)
    assert running.returncode == status, errors
    assert not scratch(running.pid).exists()
    return output + errors


def summary(out: Path) -> dict[str, Any]:
    made: dict[str, Any] = json.loads((out / "summary.json").read_text())
    assert first_fault("summary", made) is None
    return made


def scratch(pid: int) -> Path:
    """Where a run has the files of its applications."""
    return SCRATCH_ROOT / f"clarion-run-{pid}"


@pytest.mark.parametrize("flow", [PUT, GET, HTTP], ids=["put", "get", "http"])
def test_the_proxy_carries_a_file_and_its_law_hears_the_causes(
    flow: str, scenario: Path, tmp_path: Path
) -> None:
    """clarion-proxy itself, with headers on its packets through switches that tag."""
    needs("nft", *(("curl",) if flow == HTTP else ("vsftpd", "lftp")))
    run(scenario, tmp_path / "out", "proxy={law: boost}", f"flows=[{flow}]")
    made = summary(tmp_path / "out")
    (entry,) = made["flows"]
    assert entry["application"]["checksum_equal"] is True
    for each in made["proxies"]:
        (tunnel,) = each["status"]["tunnels"]
        assert tunnel["header"] == "open", each["name"]
        assert tunnel["reductions"]["loss"] == 0, tunnel["reductions"]


@pytest.mark.parametrize(
    ("flow", "size", "rate_bps", "port"),
    [
        (PUT, 4_000_000, FORWARD_BPS, "s1-right"),
        (GET, 1_000_000, REVERSE_BPS, "s2-left"),
        (HTTP, 4_000_000, FORWARD_BPS, "s1-right"),
    ],
    ids=["put", "get", "http"],
)
def test_a_file_arrives_at_the_rate_of_its_direction(
    flow: str, size: int, rate_bps: int, port: str, scenario: Path, tmp_path: Path
) -> None:
    needs(*(("curl",) if flow == HTTP else ("vsftpd", "lftp")))
    run(scenario, tmp_path / "out", f"flows=[{flow}]")
    made = summary(tmp_path / "out")
    (entry,) = made["flows"]
    moved = entry["application"]
    assert moved["checksum_equal"] is True
    assert moved["received_bytes"] == size
    assert 0.04 < moved["first_byte_s"] < moved["last_byte_s"]  # a round trip at least
    # Not faster than the link carries payload; with 0.1 % of losses and a dialogue before, half of it.
    assert 0.4 * rate_bps < moved["mean_bits_per_s"] < rate_bps * 1448 / 1514
    assert entry["goodput_bits_per_s"] == pytest.approx(moved["mean_bits_per_s"], rel=0.01)
    assert entry["idle_rtt_ms"] == pytest.approx(40, rel=0.1)
    shaped = {each["port"]: each for each in made["ports"] if each["rate_bits_per_s"]}
    assert {name: each["rate_bits_per_s"] for name, each in shaped.items()} == {
        "s1-right": FORWARD_BPS,
        "s2-left": REVERSE_BPS,
    }
    assert 0.3 < shaped[port]["utilisation"] <= 1.01
    lost = entry["losses"]["data_wire"] + entry["losses"]["data_queue"]
    assert lost > 0  # the truth finds the connection, although nobody chose its client's port
    assert entry["retransmits"] > 0
    delivered = read_table(tmp_path / "out" / "flows.parquet")["delivered_bytes"]
    assert sorted(delivered) == list(delivered)


def test_a_transfer_that_runs_out_of_time_is_what_arrived(scenario: Path, tmp_path: Path) -> None:
    needs("vsftpd", "lftp")
    run(scenario, tmp_path / "out", "flows=[{application: ftp, size: 100 MB}]", "duration=4 s")
    made = summary(tmp_path / "out")
    moved = made["flows"][0]["application"]
    assert made["state"] == "complete"
    assert 1_000_000 < moved["received_bytes"] < 10_000_000
    assert (moved["completed_s"], moved["checksum_equal"]) == (None, None)
    assert 5e6 < made["flows"][0]["goodput_bits_per_s"] < FORWARD_BPS


def test_a_tunnel_carries_the_application(scenario: Path, tmp_path: Path) -> None:
    needs("vsftpd", "lftp", "openvpn")
    run(scenario, tmp_path / "out", "tunnel=openvpn")
    made = summary(tmp_path / "out")
    assert made["flows"][0]["application"]["checksum_equal"] is True
    losses = made["flows"][0]["losses"]
    assert losses["data_wire"] + losses["data_queue"] > 0  # of the tunnel's datagrams


@pytest.mark.parametrize("flow", [PUT, GET], ids=["put", "get"])
def test_proxies_carry_the_application(flow: str, scenario: Path, tmp_path: Path, proxy: None) -> None:
    run(scenario, tmp_path / "out", PROXY, f"flows=[{flow}]")
    made = summary(tmp_path / "out")
    assert made["flows"][0]["application"]["checksum_equal"] is True
    ends = {each["role"]: each for each in made["proxies"]}
    assert (ends["client"]["host"], ends["server"]["host"]) == ("h1", "r1")
    for end in ends.values():
        assert end["status"]["connections"] == 2  # FTP's dialogue and its data
        assert end["cpu_s"] >= 0.07  # of the stand-in's two connections
        assert end["peak_rss_bytes"] > 1_000_000
        assert end["carried_bytes"] == made["flows"][0]["size_bytes"]
    assert made["totals"]["proxy"]["client"]["cpu_s_per_gbyte"] > 0
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<h2>Proxies</h2>" in page
    assert "<td>equal</td>" in page


def test_proxied_bulk_counts_what_its_receiver_has(scenario: Path, tmp_path: Path, proxy: None) -> None:
    run(scenario, tmp_path / "out", PROXY, "flows=[{}]", "duration=4 s", "measure-from=1 s")
    made = summary(tmp_path / "out")
    # The sender's own connection ends at its proxy, which takes at once whatever fits into its buffers.
    assert 0.4 * FORWARD_BPS < made["totals"]["goodput_bits_per_s"] < FORWARD_BPS
    assert made["flows"][0]["received_bytes"] < 4 * FORWARD_BPS / 8


def test_a_proxy_that_fails_is_one_line(
    scenario: Path, tmp_path: Path, proxy: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_PROXY_FAILS", "client")
    said = run(scenario, tmp_path / "out", PROXY, status=1)
    line = "clarion: clarion-proxy: peer does not answer; start the server first (partial results are in"
    assert line in said
    assert "Traceback" not in said


@pytest.mark.parametrize("flow", [PUT, GET, "{}"], ids=["put", "get", "bulk"])
def test_a_connection_past_the_proxies_is_not_measured_as_theirs(
    flow: str, scenario: Path, tmp_path: Path, proxy: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_PROXY_FAILS", "redirect")
    said = run(scenario, tmp_path / "out", PROXY, f"flows=[{flow}]", status=1)
    assert ": its connection goes past the proxies (partial results are in" in said


def start_long(scenario: Path, out: Path) -> subprocess.Popen[str]:
    """A run of proxies with a transfer that has begun."""
    command = [*CLARION, "run", str(scenario), "--set", "flows=[{application: ftp, size: 100 MB}]"]
    command += ["--set", PROXY, "--out", str(out)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    file = scratch(running.pid) / "flow-1/served/incoming/file.bin"
    while not (file.exists() and file.stat().st_size):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return running


def recorded(run_pid: int) -> list[dict[str, Any]]:
    root = Path(os.environ.get("CLARION_RUN_ROOT", "/run/clarion"))
    record = json.loads((root / f"run-{run_pid}" / "state.json").read_text())
    processes: list[dict[str, Any]] = record["processes"]
    return processes


def test_a_stopped_run_takes_its_proxies_along(scenario: Path, tmp_path: Path, proxy: None) -> None:
    running = start_long(scenario, tmp_path / "out")
    started = recorded(running.pid)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 130, errors
    made = summary(tmp_path / "out")
    assert made["state"] == "interrupted"
    assert [each["role"] for each in made["proxies"]] == ["server", "client"]
    assert [each["name"] for each in started if start_time(each["pid"]) is not None] == []
    assert not scratch(running.pid).exists()


def test_cleanup_after_kill_9_leaves_nothing(scenario: Path, tmp_path: Path, proxy: None) -> None:
    running = start_long(scenario, tmp_path / "out")
    started = recorded(running.pid)
    running.kill()
    running.communicate(timeout=120)
    done = subprocess.run([*CLARION, "cleanup"], capture_output=True, text=True, timeout=120, check=True)
    assert "removed nothing" in done.stdout  # which is what the stand-in's own cleanup says
    assert not scratch(running.pid).exists()
    assert [each["name"] for each in started if start_time(each["pid"]) is not None] == []


def test_a_proxy_that_dies_fails_the_run(scenario: Path, tmp_path: Path, proxy: None) -> None:
    running = start_long(scenario, tmp_path / "out")
    victim = next(each for each in recorded(running.pid) if each["name"] == "clarion-proxy r1-server")
    os.kill(victim["pid"], signal.SIGKILL)
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 1
    said = [line for line in errors.splitlines() if line.startswith("clarion: ")]
    # Whichever is noticed first: the server's end, or that of the application's connection.
    assert len(said) == 1
    assert said[0].startswith(("clarion: clarion-proxy", "clarion: flow 1 ftp cubic: its client: "))
    assert not scratch(running.pid).exists()
