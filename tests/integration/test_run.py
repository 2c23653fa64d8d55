# SPDX-License-Identifier: Apache-2.0
"""The command as a user runs it: small scenarios in real namespaces with the built programs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from clarion_base.paths import binary
from clarion_lab.machine.state import start_time
from clarion_lab.recording.files import read_table
from clarion_lab.scenario.validation import first_fault
from integration.undisturbed import undisturbed

pytestmark = [pytest.mark.root, pytest.mark.timeout(600)]
PROMISED = (
    "flows.parquet",
    "ports.parquet",
    "losses.parquet",
    "incidents.parquet",
    "decisions.parquet",
    "throughput.png",
    "window.png",
    "queue.png",
    "losses.png",
    "report.html",
)
CLARION = [sys.executable, "-m", "clarion"]


def clarion(*arguments: str, status: int = 0) -> str:
    done = subprocess.run([*CLARION, *arguments], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def summary(directory: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((directory / "summary.json").read_text())
    return document


def assert_tags_tell_the_causes(made: dict[str, Any]) -> None:
    """All losses by their causes; the tag of a flow's last one may not return before the end."""
    tags = made["totals"]["tags"]["all"]
    untold = tags["truth"] * (1 - tags["recall"])
    assert tags["precision"] >= 0.98
    assert untold <= max(len(made["flows"]), 0.02 * tags["truth"]) + 1e-6


def left_devices() -> list[str]:
    return [name for name in os.listdir("/sys/class/net") if name.startswith(("s1-", "s2-"))]


def start(out: Path, *settings: str) -> subprocess.Popen[str]:
    """A long run, returned once its flows deliver data."""
    run = subprocess.Popen(
        [*CLARION, "run", "smoke", "--set", "duration=60 s", "--out", str(out), *settings],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not list(out.glob("iperf3/flow-2.json")):
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    time.sleep(2.5)
    return run


class Law(NamedTuple):
    """Bounds on the results of a law in the scenario "smoke"."""

    limit: float  # goodput as a fraction of the physical limit, at least
    queue_bdp: float  # mean queue, at most
    mode: str | None  # of the sender; None: a law of the kernel
    never: tuple[str, ...] = ()  # reasons for which it does not reduce its window
    settings: tuple[str, ...] = ()  # besides those of the scenario


# Measured with seven busy processes per core: 0.99, 0.99, 0.86, 0.98; queues of 0.5, 0.05, 0.42, 0.56. Two
# FAST flows with the default of 50 packets each would fill the queue, which holds 40.
LAWS = {
    "cubic": Law(0.85, 0.8, None),
    "xcp": Law(0.93, 0.2, "xcp", ("congestion", "unexplained", "loss", "delay")),
    "boost": Law(0.75, 0.7, "tag", ("unexplained", "loss")),  # not for wire losses
    "fast": Law(
        0.87, 0.9, "plain", ("congestion", "unexplained", "delay"), ("params.fast_alpha_packets=10",)
    ),
}


@pytest.mark.parametrize("algorithm", LAWS)
def test_smoke_leaves_everything_it_promises(algorithm: str, tmp_path: Path) -> None:
    """20 Mbit/s with 0.1 % errors: about ten losses, so that even CUBIC gets most of the link."""
    law = LAWS[algorithm]
    settings = [part for setting in law.settings for part in ("--set", setting)]
    out, text = tmp_path, ""

    def run(attempt: int) -> dict[str, Any]:
        nonlocal out, text
        out = tmp_path / f"out-{attempt}"
        text = clarion("run", "smoke", "--set", f"algorithm={algorithm}", *settings, "--out", str(out))
        return summary(out)

    made = undisturbed(run)
    assert first_fault("summary", made) is None
    assert made["state"] == "complete"
    assert law.limit < made["totals"]["fraction_of_limit"] < 1.05, made["sampler"]
    (port,) = (port for port in made["ports"] if port["port"] == "s1-right")
    assert port["queue_mean_bdp"] < law.queue_bdp
    for flow in made["flows"]:
        state = flow["sender_state"]
        assert state.get("mode") == law.mode
        assert [reason for reason in law.never if state["reductions"][reason]] == []
    for name in PROMISED:
        assert (out / name).stat().st_size > 500, name
    page = (out / "report.html").read_text()
    assert "data:image/png;base64," in page
    words = re.sub(r"data:image/png;base64,[\w+/=]*", "", page)  # base64 may contain any word
    assert "http" not in words.replace("http-equiv", "")
    assert str(out / "report.html") in text
    # path round trip 2 + 20 + 2 ms
    assert made["flows"][0]["idle_rtt_ms"] == pytest.approx(24, rel=0.1)
    assert made["flows"][0]["receiver_limited"] == 0
    assert left_devices() == []


def test_tags_find_both_causes(tmp_path: Path) -> None:
    """Two CUBIC flows overflow a queue of six packets while the wire loses 0.5 %; the tags tell which."""
    settings = (
        "tag-plain-tcp=true",
        "links.bottleneck.queue=6 packets",
        "links.bottleneck.loss.forward.rate=0.5 %",
        "duration=8 s",
    )
    arguments = [part for setting in settings for part in ("--set", setting)]
    clarion("run", "smoke", *arguments, "--out", str(tmp_path / "out"))
    made = summary(tmp_path / "out")
    tags = made["totals"]["tags"]
    assert tags["wire"]["truth"] > 10
    assert tags["queue"]["truth"] > 5
    assert_tags_tell_the_causes(made)


def test_a_sized_flow_is_timed_to_its_completion(tmp_path: Path) -> None:
    flow = '[{"size": "2 MB"}]'
    clarion(
        "run", "smoke", "--set", f"flows={flow}", "--set", "duration=30 s", "--out", str(tmp_path / "out")
    )
    made = summary(tmp_path / "out")["flows"][0]
    assert made["completed_s"] is not None
    # 2 MB at 20 Mbit/s take at least 0.8 s
    assert 0.8 < made["completed_s"] < 10
    assert made["goodput_bits_per_s"] == pytest.approx(16e6 / made["completed_s"])


def test_a_sized_flow_that_runs_out_of_time_is_not_complete(tmp_path: Path) -> None:
    """100 MB do not fit through 20 Mbit/s in 3 s: the bytes delivered count, not the flow's size."""
    flow = '[{"size": "100 MB"}]'
    clarion("run", "smoke", "--set", f"flows={flow}", "--set", "duration=3 s", "--out", str(tmp_path / "out"))
    made = summary(tmp_path / "out")["flows"][0]
    assert made["completed_s"] is None
    assert 5e6 < made["goodput_bits_per_s"] < 20e6


def test_reverse_flows_and_a_parking_lot(tmp_path: Path) -> None:
    links = '[{"rate": "20 Mbit/s", "rtt": "10 ms"}, {"rate": "10 Mbit/s", "rtt": "10 ms"}]'
    flows = '[{"crosses": [1, 2]}, {"crosses": [2, 2], "direction": "reverse"}]'
    clarion(
        "run", "smoke", "--set", "topology=parking-lot", "--set", f"links.bottleneck={links}",
        "--set", f"flows={flows}", "--out", str(tmp_path / "out"),
    )  # fmt: skip
    made = summary(tmp_path / "out")
    assert [flow["sender"].split()[0] for flow in made["flows"]] == ["h1", "r2"]
    for flow in made["flows"]:
        assert flow["goodput_bits_per_s"] > 5e6
    assert made["totals"]["payload_ceiling_bits_per_s"] is None


def test_a_batch_has_points_repeats_and_intervals(tmp_path: Path) -> None:
    out = tmp_path / "out"
    clarion(
        "run", "smoke", "--sweep", "algorithm=cubic,reno", "--repeat", "2", "--seed", "7", "--out", str(out)
    )
    made = summary(out)
    assert [run["directory"] for run in made["runs"]] == [
        "cubic/run-1",
        "cubic/run-2",
        "reno/run-1",
        "reno/run-2",
    ]
    assert [run["seed"] for run in made["runs"]] == [7, 8, 7, 8]
    assert made["points"][0]["metrics"]["goodput_bits_per_s"]["n"] == 2
    assert (out / "report.html").exists()
    assert "goodput_bits_per_s" in clarion("compare", str(out), str(out))
    (out / "cubic" / "run-1" / "throughput.png").unlink()
    clarion("report", str(out))
    assert (out / "cubic" / "run-1" / "throughput.png").exists()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_leaves_readable_partial_results(
    number: signal.Signals, status: int, tmp_path: Path
) -> None:
    run = start(tmp_path / "out")
    run.send_signal(number)
    output, errors = run.communicate(timeout=120)
    assert run.returncode == status, errors
    made = summary(tmp_path / "out")
    assert first_fault("summary", made) is None
    assert made["state"] == "interrupted"
    assert 0 < made["measured_s"][1] < 60
    assert made["totals"]["goodput_bits_per_s"] > 1e6
    assert "report.html" in output
    assert left_devices() == []


def recorded(run: subprocess.Popen[str]) -> list[dict[str, Any]]:
    """The processes in the record of a run."""
    record = json.loads(Path(f"/run/clarion/run-{run.pid}/state.json").read_text())
    processes: list[dict[str, Any]] = record["processes"]
    return processes


def assert_nothing_is_left() -> None:
    """No device, no record, nothing attached or pinned, none of Clarion's laws in the kernel."""
    assert left_devices() == []
    assert list(Path("/run/clarion").glob("run-*")) == []
    listed = subprocess.run([binary("clarion-host"), "list", "--json"], capture_output=True, check=True)
    assert json.loads(listed.stdout) == []
    assert not Path("/sys/fs/bpf/clarion").exists()
    laws = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text()
    assert "clarion_" not in laws


@pytest.mark.parametrize("name", ["clarion-switch", "clarion-host stats"])
def test_a_run_whose_helper_dies_says_so(name: str, tmp_path: Path) -> None:
    run = start(tmp_path / "out", "--set", "algorithm=xcp")
    victim = next(process for process in recorded(run) if process["name"] == name)
    os.kill(victim["pid"], signal.SIGKILL)
    _, errors = run.communicate(timeout=120)
    assert run.returncode == 1
    said = [line for line in errors.splitlines() if line.startswith("clarion: ")]
    assert len(said) == 1
    assert said[0].startswith(f"clarion: {name}: ")
    assert "Traceback" not in errors
    assert summary(tmp_path / "out")["state"] == "failed"
    assert_nothing_is_left()


def test_cleanup_after_kill_9_leaves_nothing(tmp_path: Path) -> None:
    run = start(tmp_path / "out", "--set", "algorithm=xcp")
    processes = recorded(run)
    run.kill()
    run.communicate(timeout=120)
    clarion("cleanup")
    assert_nothing_is_left()
    for process in processes:
        assert start_time(process["pid"]) is None, process
    assert clarion("cleanup").strip() == "nothing to clean up"


def test_a_run_cleans_up_after_a_killed_one(tmp_path: Path) -> None:
    run = start(tmp_path / "out", "--set", "algorithm=xcp")
    run.kill()
    run.communicate(timeout=120)
    said = clarion("run", "smoke", "--out", str(tmp_path / "next"))
    assert said.count("clarion: cleaned up after an earlier run that was killed\n") == 1
    assert summary(tmp_path / "next")["state"] == "complete"
    assert_nothing_is_left()


def test_cleanup_leaves_a_living_run_alone(tmp_path: Path) -> None:
    run = start(tmp_path / "out")
    try:
        said = clarion("cleanup", status=2)
        assert said == "clarion: another clarion run is using this machine; wait for it or stop it\n"
        time.sleep(1.0)
        assert run.poll() is None
    finally:
        run.terminate()
        run.communicate(timeout=120)


def test_two_runs_at_once_are_refused(tmp_path: Path) -> None:
    run = start(tmp_path / "out")
    try:
        said = clarion("run", "smoke", "--out", str(tmp_path / "second"), status=2)
        assert said == "clarion: another clarion run is using this machine; wait for it or stop it\n"
        assert not (tmp_path / "second").exists()
    finally:
        run.terminate()
        run.communicate(timeout=120)


def test_every_reduction_is_judged_by_the_truth(tmp_path: Path) -> None:
    """CUBIC reduces for a policer, rightly, and for corruption, wrongly; marks and restarts are known."""
    hostile = ["--set", "duration=7 s", "--set", "measure-from=1 s", "--set", "tagging=false"]
    clarion("run", "hostile-policer", *hostile, "--out", str(tmp_path / "policer"))
    policer = summary(tmp_path / "policer")["totals"]
    assert policer["losses"]["data_policer"] > 0
    assert policer["decisions"]["recorded"]
    # A machine that stands still for longer than a round trip makes a timeout: one of some eight.
    assert policer["decisions"]["right"] > 4 * policer["decisions"]["wrong"]
    clarion("run", "hostile-corruption", *hostile, "--out", str(tmp_path / "corruption"))
    corruption = summary(tmp_path / "corruption")["totals"]
    assert corruption["decisions"]["wrong"] > 10
    assert corruption["decisions"]["right"] == 0
    marks = ["--set", "ecn=true", "--set", "links.bottleneck.hazards={both: {duplicate: 0.01}}"]
    # CUBIC may take its timeout back after the restart and send a whole window, 1.5 BDP, at once.
    marks += ["--set", "links.bottleneck.queue=4 bdp", "--set", "links.bottleneck.ecn-threshold=0.5 bdp"]
    restart = ["--set", "restarts=[{at: 3 s, switch: s1, for: 300 ms}]"]
    clarion("run", "hostile-policer", *hostile, *marks, *restart, "--out", str(tmp_path / "marks"))
    marked = summary(tmp_path / "marks")["totals"]
    assert marked["losses"]["data_queue"] == 0
    assert marked["losses"]["data_outage"] > 0
    assert marked["incidents"]["mark"] > 0
    assert marked["incidents"]["duplicate"] > 0
    assert marked["decisions"]["right"] > 0


def test_a_transfer_ends_with_its_last_byte_at_the_receiver(tmp_path: Path) -> None:
    """1.25 MB at 20 Mbit/s of frames: at least 0.52 s. The sender knows it a round trip later."""
    sized = ["--set", "flows=[{size: 1250 kB, algorithm: reno}]", "--set", "links.bottleneck.loss={}"]
    slow = ["--set", "links.bottleneck.rtt=200 ms", "--set", "links.bottleneck.rate=20 Mbit/s"]
    clarion("run", "smoke", *sized, *slow, "--set", "duration=10 s", "--out", str(tmp_path / "out"))
    (flow,) = summary(tmp_path / "out")["flows"]
    assert flow["iperf3"]["received_bytes"] == 1_250_000
    least_s = 1_250_000 / 1448 * 1514 * 8 / 20e6
    assert least_s < flow["completed_s"] < flow["iperf3"]["seconds"]
    assert flow["goodput_bits_per_s"] == pytest.approx(10e6 / flow["completed_s"], rel=0.001)


def test_bursts_and_datagrams_send_what_the_scenario_says(tmp_path: Path) -> None:
    """Two bursts of a second, and 2 s of 4 Mbit/s in packets of 1000 bytes: 1000 datagrams. Those that do not
    come are in the truth.
    """
    out = tmp_path / "out"
    bursts = "{bursts: {length: 1 s, gap: 1 s}}"
    datagrams = "{protocol: udp, rate: 4 Mbit/s, packet: 1000 B, start: 500 ms, stop: 2500 ms}"
    flows = f"flows=[{bursts}, {datagrams}]"
    clarion("run", "smoke", "--set", flows, "--set", "algorithm=xcp", "--out", str(out))
    made = summary(out)
    assert first_fault("summary", made) is None
    bursty, udp = made["flows"]
    assert udp["iperf3"]["sent_bytes"] == 1000 * 972
    assert udp["iperf3"]["received_bytes"] == (1000 - sum(udp["losses"].values())) * 972
    assert udp["goodput_bits_per_s"] > 0
    assert bursty["sender_state"]["mode"] == "xcp"
    series = read_table(out / "flows.parquet")
    times, delivered = (series[name][series["flow"] == 0] for name in ("time_us", "delivered_bytes"))
    silent = delivered[(times > 1_400_000) & (times < 1_900_000)]
    assert bursty["iperf3"]["received_bytes"] > silent[-1] == silent[0] > 0
