# SPDX-License-Identifier: Apache-2.0
"""Benchmark of the tuner's capacity policy: a link that steps from 100 to 40 and back to 100 Mbit/s.

    python -m tests.bench.bench_tuner [--json FILE] [--runs 3] [--keep DIR]      (root)

The scenario `rate-steps`: five XCP flows of kernel TCP through the embedded switch, whose XCP is set to 100
Mbit/s throughout. Each run is under a controller of its own (`clarion controller serve`: store, P4Runtime
to the switch's agent, tuner), without and with the policy. Per phase: bits sent relative to the link's real
capacity, the 99th percentile of the queue's length over the samples (every 100 ms), and packets dropped by
the queue.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pyarrow.parquet as pq

from bench.figures import Json, summary, text
from integration.controller_net import CLARION, ServedController

SCENARIO = "rate-steps"
PORT = "s1-right"
PHASES = {  # seconds and the link's rate, as in the scenario
    "100 Mbit/s": (10.0, 20.0, 100e6),
    "40 Mbit/s": (20.0, 50.0, 40e6),
    "40 Mbit/s, from 5 s on": (25.0, 50.0, 40e6),
    "100 Mbit/s again": (50.0, 80.0, 100e6),
    "100 Mbit/s again, from 15 s on": (65.0, 80.0, 100e6),
}
VARIANTS: dict[str, list[str]] = {"without": [], "capacity": ["--tune", "capacity"]}


def one_run(directory: Path, options: Sequence[str], seed: int) -> Json:
    """The figures of one run by phase, and the number of the policy's decisions."""
    directory.mkdir(parents=True)
    out = directory / "out"
    with ServedController(directory) as controller:
        command = [*CLARION, "run", SCENARIO, "--out", str(out), "--seed", str(seed), "--json"]
        command += [*controller.run_options(), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"bench_tuner: {done.stderr.strip()}")
    decided = json.loads((out / "decisions.json").read_text())["decisions"]
    samples = pq.read_table(out / "ports.parquet", filters=[("port", "=", PORT)]).to_pydict()
    figures = {"decisions": float(len(decided))}
    for name, (begin_s, end_s, rate_bps) in PHASES.items():
        figures |= {
            f"{name}: {key}": value for key, value in phase(samples, begin_s, end_s, rate_bps).items()
        }
    unasked = json.loads((out / "summary.json").read_text())["totals"]["unasked_drop_packets"]
    return {"figures": figures, "unasked_drop_packets": unasked, "decided": decided}


def phase(samples: dict[str, list[Any]], begin_s: float, end_s: float, rate_bps: float) -> dict[str, float]:
    """One phase of one run."""
    times_s = np.array(samples["time_us"]) / 1e6
    inside = (times_s >= begin_s) & (times_s <= end_s)
    column = {key: np.array(samples[key])[inside] for key in ("tx_bytes", "queue_bytes", "drop_packets")}
    took_s = np.ptp(times_s[inside])
    return {
        "utilisation": float(np.ptp(column["tx_bytes"]) * 8 / took_s / rate_bps),
        "queue_p99_bytes": float(np.quantile(column["queue_bytes"], 0.99)),
        "queue_mean_bytes": float(column["queue_bytes"].mean()),
        "drops": float(np.ptp(column["drop_packets"])),
    }


def main() -> int:
    """Runs both variants in turn, so that a disturbance of the machine affects both."""
    parser = argparse.ArgumentParser(prog="tests.bench.bench_tuner", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="of each variant (default: 3)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the results of the runs there")
    arguments = parser.parse_args()
    runs: dict[str, list[Json]] = {name: [] for name in VARIANTS}
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="clarion-bench-") as passing:
        root = arguments.keep or Path(passing)
        for number in range(arguments.runs):
            for name, options in VARIANTS.items():
                runs[name].append(one_run(root / f"{name}-{number + 1}", options, seed=number + 1))
    report = {name: summary([run["figures"] for run in made]) for name, made in runs.items()}
    print(f"tuner: capacity policy on 100 -> 40 -> 100 Mbit/s, {arguments.runs} runs each")
    for name, figures in report.items():
        print(f" {name}, {figures['decisions']['median']:.0f} decisions")
        for when in PHASES:
            print(f"  {when}")
            print(text("  utilisation", figures[f"{when}: utilisation"], 100, "%"))
            print(text("  queue, 99th percentile", figures[f"{when}: queue_p99_bytes"], 1e-3, "kB"))
            print(text("  queue, mean", figures[f"{when}: queue_mean_bytes"], 1e-3, "kB"))
            print(text("  dropped by the queue", figures[f"{when}: drops"], 1, "pkts"))
    print(f" {time.monotonic() - began_s:.0f} s in all")
    if arguments.json:
        arguments.json.write_text(json.dumps({"summary": report, "runs": runs}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
