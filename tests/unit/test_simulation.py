# SPDX-License-Identifier: Apache-2.0
"""Engine sim, with the real simulator: the same bytes from a seed, complete results, what it refuses."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from builds import plain
from clarion_lab.engines.simulation import simulation_config
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import build
from clarion_lab.scenario.topology import plan
from clarion_lab.scenario.validation import first_fault

PATH = "links={access: {rtt: 2 ms}, bottleneck: {rate: 20 Mbit/s, rtt: 38 ms, queue: 1 bdp}}"


@pytest.fixture(scope="module", autouse=True)
def program() -> str:
    path = str(plain("sim/clarion-sim"))
    os.environ["CLARION_SIM_BIN"] = path
    return path


def clarion(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "clarion", "run", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def run(out: Path, *settings: str, scenario: str = "geo") -> dict[str, Any]:
    options = [part for setting in settings for part in ("--set", setting)]
    done = clarion(scenario, "--engine", "sim", "--out", str(out), *options)
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return summary


def bottleneck(summary: dict[str, Any]) -> dict[str, Any]:
    return next(port for port in summary["ports"] if port["role"].endswith("forward"))


def output(program: str, tmp_path: Path, seed: int) -> str:
    document = {
        **documents.read(documents.locate("geo")),
        "seed": seed,
        "duration": "10 s",
        "measure-from": "5 s",
    }
    scenario = build("geo", documents.points("geo", document)[0].document)
    config = tmp_path / "config.json"
    config.write_text(json.dumps(simulation_config(scenario, plan(scenario), tmp_path)))
    done = subprocess.run([program, "--config", str(config)], capture_output=True, check=True)
    return hashlib.sha256(done.stdout + (tmp_path / "truth.csv").read_bytes()).hexdigest()


def test_the_same_seed_gives_the_same_bytes(program: str, tmp_path: Path) -> None:
    assert output(program, tmp_path, 1) == output(program, tmp_path, 1)
    assert output(program, tmp_path, 1) != output(program, tmp_path, 2)


def test_a_run_has_everything_that_an_emulation_has(tmp_path: Path) -> None:
    """XCP on the geo path: the link is full, every corrupted packet is tagged, nothing else is."""
    out = tmp_path / "out"
    summary = run(out)
    assert summary["engine"] == "sim"
    assert summary["totals"]["fraction_of_limit"] > 0.98
    assert summary["totals"]["jain"] > 0.99
    tags = summary["totals"]["tags"]["all"]
    assert (tags["precision"], tags["recall"]) == (1.0, 1.0)
    assert summary["totals"]["losses"]["data_wire"] > 100
    assert summary["totals"]["decisions"]["recorded"]
    assert bottleneck(summary)["queue_p99_bytes"] is not None
    assert {"flows.parquet", "ports.parquet", "losses.parquet", "report.html", "window.png"} <= {
        path.name for path in out.iterdir()
    }
    assert all(flow["sender_state"]["mode"] == "xcp" for flow in summary["flows"])


@pytest.mark.parametrize(
    ("sender", "fills"), [("cubic", 0.98), ("reno", 0.98), ("bbr", 0.93), ("boost", 0.9), ("fast", 0.95)]
)
def test_every_sender_fills_a_clean_link(tmp_path: Path, sender: str, fills: float) -> None:
    summary = run(
        tmp_path / "out", PATH, f"algorithm={sender}", "flows=[{}]", "duration=20 s", "measure-from=5 s"
    )
    assert summary["totals"]["fraction_of_limit"] > fills


@pytest.mark.parametrize(
    ("discipline", "least_ms", "most_ms"),
    [("drop-tail", 15, 75), ("codel", 0.3, 6), ("fq-codel", 0.3, 6), ("pie", 5, 22), ("dual-pi2", 5, 22)],
)
def test_disciplines_keep_their_delay(
    tmp_path: Path, discipline: str, least_ms: float, most_ms: float
) -> None:
    queue = f"{{limit: 2 bdp, discipline: {discipline}}}"
    link = f"links={{access: {{rtt: 2 ms}}, bottleneck: {{rate: 100 Mbit/s, rtt: 38 ms, queue: {queue}}}}}"
    flows = "flows=[{count: 2, stagger: 230 ms}]"
    summary = run(tmp_path / "out", link, "algorithm=cubic", flows, "duration=15 s", "measure-from=5 s")
    assert least_ms < bottleneck(summary)["queue_mean_bytes"] * 8 / 100e3 < most_ms
    assert summary["totals"]["fraction_of_limit"] > 0.95


def test_fq_codel_gives_an_unlike_sender_no_more_than_its_share(tmp_path: Path) -> None:
    queue = "{limit: 2 bdp, discipline: fq-codel}"
    link = f"links={{access: {{rtt: 2 ms}}, bottleneck: {{rate: 20 Mbit/s, rtt: 38 ms, queue: {queue}}}}}"
    flows = "flows=[{algorithm: cubic}, {protocol: udp, rate: 40 Mbit/s, packet: 1500 B, start: 1 s}]"
    summary = run(tmp_path / "out", link, flows, "duration=15 s", "measure-from=5 s")
    first, second = (flow["goodput_bits_per_s"] for flow in summary["flows"])
    assert 0.85 < first / second < 1.15


def goodput_of_laws(program: str, tmp_path: Path, queue: dict[str, str], laws: list[str]) -> list[float]:
    """Mbit/s from the tenth to the twentieth second behind 20 Mbit/s, of laws by the simulator's names."""
    bottleneck = {"rate": "20 Mbit/s", "rtt": "38 ms", "queue": {"limit": "2 bdp", **queue}}
    document = {
        **documents.read(documents.locate("geo")),
        "duration": "20 s",
        "measure-from": "10 s",
        "links": {"access": {"rtt": "2 ms"}, "bottleneck": bottleneck},
        "flows": [{"algorithm": "reno", "start": f"{number} s"} for number in range(len(laws))],
    }
    scenario = build("geo", documents.points("geo", document)[0].document)
    settings = simulation_config(scenario, plan(scenario), tmp_path)
    for flow, law in zip(settings["flows"], laws, strict=True):
        flow["law"] = law
    config = tmp_path / "config.json"
    config.write_text(json.dumps(settings))
    done = subprocess.run([program, "--config", str(config)], capture_output=True, check=True)
    samples = [json.loads(line) for line in done.stdout.splitlines()]
    received = {each["time_us"]: [flow[2] for flow in each["flows"]] for each in samples if "flows" in each}
    begin, end = received[10_000_000], received[20_000_000]
    return [(after - before) * 8 / 10e6 for before, after in zip(begin, end, strict=True)]


def test_packet_pairs_share_a_link_that_serves_in_turns(program: str, tmp_path: Path) -> None:
    """They know their share, half of 19.1 Mbit/s of payload, and leave an unlike sender its own."""
    queue = {"discipline": "fq-codel"}
    first, second = goodput_of_laws(program, tmp_path, queue, ["packet_pair", "packet_pair"])
    assert first == pytest.approx(second, rel=0.01)
    assert first + second > 19
    first, second = goodput_of_laws(program, tmp_path, queue, ["packet_pair", "cubic"])
    assert first > 9.4
    assert second > 8.5  # CoDel keeps its queue so short that it does not fill all of it


def test_datagrams_are_counted_and_cost_the_others(tmp_path: Path) -> None:
    flows = (
        "flows=[{algorithm: cubic}, {protocol: udp, rate: 5 Mbit/s, packet: 500 B, start: 1 s, stop: 9 s}]"
    )
    summary = run(tmp_path / "out", PATH, flows, "duration=10 s", "measure-from=2 s")
    tcp, udp = summary["flows"]
    assert udp["algorithm"] == "udp"
    # 5 Mbit/s of packets of 500 bytes for 8 s are 10,000, of 472 bytes of payload each.
    assert udp["iperf3"]["sent_bytes"] == 10_000 * 472
    lost = udp["losses"]["data_queue"]
    assert udp["iperf3"]["received_bytes"] == (10_000 - lost) * 472
    assert 12e6 < tcp["goodput_bits_per_s"] < 15.5e6


def test_xcp_follows_a_path_that_becomes_longer(tmp_path: Path) -> None:
    """Whenever the step comes between two rounds of the flows: some once stayed at half of the link."""
    steps = "rate: 50 Mbit/s, rtt: 18 ms, queue: 1 bdp, delay-steps: [{at: 5 s, rtt: 58 ms}]"
    for stagger_ms in (240, 250):
        summary = run(
            tmp_path / str(stagger_ms),
            f"links={{access: {{rtt: 2 ms}}, bottleneck: {{{steps}}}}}",
            f"flows=[{{count: 2, stagger: {stagger_ms} ms}}]",
            "duration=20 s",
            "measure-from=10 s",
        )
        assert summary["totals"]["fraction_of_limit"] > 0.95


def test_bursts_leave_the_link_idle_between_them(tmp_path: Path) -> None:
    flows = "flows=[{algorithm: cubic, bursts: {length: 1 s, gap: 3 s}}]"
    summary = run(tmp_path / "out", PATH, flows, "duration=16 s", "measure-from=0 s")
    assert 0.2 < bottleneck(summary)["utilisation"] < 0.3


def test_transfers_complete_and_count_once(tmp_path: Path) -> None:
    flows = "flows=[{arrivals: {load: 0.5, until: 15 s}, size: 50 kB, algorithm: cubic}]"
    summary = run(tmp_path / "out", PATH, flows, "duration=20 s", "measure-from=5 s")
    assert len(summary["flows"]) > 200
    assert all(flow["completed_s"] is not None for flow in summary["flows"])
    assert all(flow["received_bytes"] in (0, 50_000) for flow in summary["flows"])  # or between two samples
    carried = summary["totals"]["goodput_bits_per_s"]
    assert carried < 20e6
    sent = sum(flow["size_bytes"] for flow in summary["flows"] if flow["start_s"] > 5)
    assert carried * 15 == pytest.approx(8 * sent, rel=0.1)


def test_a_mesh_carries_what_its_links_carry(tmp_path: Path) -> None:
    summary = run(tmp_path / "out", scenario="mesh")
    loads = {port["port"]: port["utilisation"] for port in summary["ports"] if port["role"] != "access"}
    assert loads["a-d"] > 0.98
    assert loads["b-c"] > 0.98
    assert summary["flows"][1]["path_rtt_ms"] == 44.0  # over d, as it says
    assert [flow["switches"] for flow in summary["flows"]][1:4] == [["a", "d", "c"], ["b", "d"], ["d", "b"]]
    assert first_fault("summary", summary) is None
    report = (tmp_path / "out" / "report.html").read_text()
    assert "2 xcp (a - d - c)" in report
    assert "a-d (link a d forward)" in report


def test_a_queue_counts_where_data_leaves(tmp_path: Path) -> None:
    """The flow goes against the order in which the link names its switches."""
    links = "links={bottleneck: [{between: [a, b], rate: 10 Mbit/s, rtt: 40 ms, queue: 1 bdp}]}"
    flows = "flows=[{from: b, to: a, algorithm: cubic}]"
    out = tmp_path / "out"
    done = clarion(
        "geo", "--engine", "sim", "--out", str(out), "--set", "topology=graph", "--set", links, "--set", flows
    )
    assert done.returncode == 0, done.stderr
    ports = {port["port"]: port for port in json.loads((out / "summary.json").read_text())["ports"]}
    assert ports["b-a"]["carries_data"]
    assert ports["b-a"]["queue_mean_bdp"] > 0.3
    assert ports["a-b"]["queue_mean_bdp"] < 0.01
    mean = f"{100 * ports['b-a']['queue_mean_bdp']:.1f} %"
    assert mean in done.stdout


def test_refusals_take_one_line(tmp_path: Path) -> None:
    for setting, message in (
        ("restarts=[{at: 5 s, controller: true}]", "restarts[0].controller: engine sim has no controller"),
        (
            "links.bottleneck.hazards={both: {mtu: {size: 1400 B, icmp: true}}}",
            "links.bottleneck.hazards: mtu: below 1500 with icmp",
        ),
    ):
        done = clarion("geo", "--engine", "sim", "--out", str(tmp_path / "out"), "--set", setting)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert message in done.stderr
        assert "use --engine emu" in done.stderr
        assert not (tmp_path / "out").exists()


def test_a_stopped_run_keeps_what_it_has(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "clarion", "run", "geo", "--engine", "sim", "--out", str(out)]
    with subprocess.Popen(
        [*command, "--set", "duration=1000000 s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 60
        while not (out / "truth.csv").exists() or (out / "truth.csv").stat().st_size < 10_000:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 128 + signal.SIGINT
    summary = json.loads((out / "summary.json").read_text())
    assert summary["state"] == "interrupted"
    assert summary["totals"]["losses"]["data_wire"] > 0
    assert summary["totals"]["tags"]["all"]["precision"] == 1.0


def test_the_simulator_names_a_bad_field(program: str, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    for document, message in (
        ({}, "network: is missing"),
        ({"network": {"switches": []}, "duration_us": 1}, "must be a non-empty array"),
    ):
        config.write_text(json.dumps(document))
        done = subprocess.run([program, "--config", str(config)], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert message in done.stderr
