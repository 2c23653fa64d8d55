# SPDX-License-Identifier: Apache-2.0
"""What each sender is known for, on simulated paths: the signature by which a reader tells it from Reno."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clarion_lab.recording import files
from clarion_lab.results.bottlenecks import bottlenecks
from clarion_lab.scenario.frames import frame_bytes

FRAME_BITS = 8 * frame_bytes("none")


@dataclass(frozen=True)
class Run:
    """A finished simulation."""

    summary: dict[str, Any]
    flows: dict[str, Any]

    @property
    def goodput_mbit_per_s(self) -> float:
        return float(self.summary["totals"]["goodput_bits_per_s"]) / 1e6

    def queue_packets(self, rate_bps: float, rtt_s: float) -> float:
        """Mean queue before the bottleneck in the measured window."""
        mean_bdp = max(float(port["queue_mean_bdp"]) for port in bottlenecks(self.summary))
        return mean_bdp * rate_bps * rtt_s / FRAME_BITS

    def window(self, flow: int = 0) -> tuple[Any, Any]:
        """Seconds and packets."""
        of_flow = self.flows["flow"] == flow
        return self.flows["time_us"][of_flow] / 1e6, self.flows["cwnd_packets"][of_flow]


def simulate(
    tmp_path: Path,
    sender: str,
    link: str,
    *settings: str,
    rtt_ms: float = 100,
    seconds: int = 30,
    measured_from: int = 10,
) -> Run:
    """One flow, if the settings say nothing else, over a bottleneck of that rate and queue."""
    out = tmp_path / f"{sender}-{abs(hash((link, settings, rtt_ms))):x}"
    command = [sys.executable, "-m", "clarion", "run", "geo", "--engine", "sim", "--out", str(out)]
    for setting in (
        f"links={{access: {{rtt: 1 ms}}, bottleneck: {{rtt: {rtt_ms - 1} ms, {link}}}}}",
        f"algorithm={sender}",
        "flows=[{count: 1}]",
        f"duration={seconds} s",
        f"measure-from={measured_from} s",
        *settings,
    ):
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return Run(files.read_summary(out), files.read_table(out / files.FLOWS))


def lossy(rate: str, share: float, queue: str = "1 bdp") -> str:
    return f"rate: {rate}, queue: {queue}, loss: {{forward: {{model: packet, rate: {share}}}}}"


def clean(rate: str, queue: str = "1 bdp") -> str:
    return f"rate: {rate}, queue: {queue}"


@pytest.mark.parametrize(("alpha", "beta"), [(2, 4), (20, 24)])
def test_vegas_keeps_its_packets_queued(tmp_path: Path, alpha: int, beta: int) -> None:
    params = (f"params.vegas_alpha_packets={alpha}", f"params.vegas_beta_packets={beta}")
    run = simulate(tmp_path, "vegas", clean("20 Mbit/s"), *params, rtt_ms=40)
    assert 0.75 * alpha <= run.queue_packets(20e6, 0.04) <= beta + 1  # it counts them by rtt / base too high
    assert run.goodput_mbit_per_s > 18


def test_hyblas_rate_does_not_depend_on_the_round_trip(tmp_path: Path) -> None:
    """At one loss rate Reno's falls as 1 / RTT; the path is far wider than either needs."""
    rates = {
        sender: [
            simulate(
                tmp_path, sender, lossy("200 Mbit/s", 0.002), rtt_ms=rtt, seconds=120, measured_from=20
            ).goodput_mbit_per_s
            for rtt in (50, 200)
        ]
        for sender in ("hybla", "reno")
    }
    assert 0.6 < rates["hybla"][1] / rates["hybla"][0] < 1.6
    assert rates["reno"][1] / rates["reno"][0] < 0.35


def test_htcp_grows_faster_the_longer_ago_the_last_loss_is(tmp_path: Path) -> None:
    """A first loss by an overflow, and a pipe so long that the next one is far."""
    run = simulate(tmp_path, "htcp", clean("500 Mbit/s"), rtt_ms=100, seconds=40)
    times, window = run.window()
    falls = np.flatnonzero(np.diff(window) < -0.1 * window[:-1])
    lowest = falls[0] + int(np.argmin(window[falls[0] : falls[0] + 30]))
    began = times[lowest]

    def growth(since: float, until: float) -> float:
        first, last = np.searchsorted(times, [began + since, began + until])
        return float(window[last] - window[first]) / (until - since)

    assert growth(4, 5) > 2 * growth(2, 3) > 4 * growth(0, 1) > 0


def test_compounds_delay_window_fills_a_path_and_stands_with_gamma_packets_queued(tmp_path: Path) -> None:
    """Random losses keep Reno's part below what the path holds; the buffer would hold four times that."""
    link = lossy("20 Mbit/s", 0.0001, "4 bdp")
    bdp_packets = 20e6 * 0.1 / FRAME_BITS
    reno = simulate(tmp_path, "reno", link, seconds=120, measured_from=20)
    windows = {}
    for gamma in (10, 100):
        params = (f"params.ctcp_gamma_packets={gamma}", "params.ctcp_lambda_q16=0")
        run = simulate(tmp_path, "ctcp", link, *params, seconds=120, measured_from=20)
        assert run.goodput_mbit_per_s > 1.1 * reno.goodput_mbit_per_s
        windows[gamma] = float(np.percentile(run.window()[1], 70))
    assert 0.95 * bdp_packets < windows[10] < 1.2 * bdp_packets
    assert 35 < windows[100] - windows[10] < 135


@pytest.mark.parametrize("sender", ["westwood", "westwood-plus"])
def test_a_loss_leaves_westwood_what_the_path_holds_and_reno_half(tmp_path: Path, sender: str) -> None:
    """With a buffer of a quarter of the bandwidth-delay product, half is far less than the path holds."""
    small = clean("50 Mbit/s", "0.25 bdp")
    left = {}
    for name in ("reno", sender):
        times, window = simulate(tmp_path, name, small, seconds=60, measured_from=20).window()
        settled = int(np.searchsorted(times, 20))  # slow start has overshot
        fall = settled + int(np.flatnonzero(np.diff(window[settled:]) < -50)[0])
        left[name] = int(np.max(window[fall + 2 : fall + 8]))  # once recovery is over
    bdp_packets = 50e6 * 0.1 / FRAME_BITS
    assert left["reno"] < 0.75 * bdp_packets
    assert 0.9 * bdp_packets < left[sender] < 1.15 * bdp_packets
