# SPDX-License-Identifier: Apache-2.0
"""Benchmark of how XCP learns what a link carries: one that steps from 100 to 40 and back to 100 Mbit/s.

    python -m tests.bench.bench_tuner [--json FILE] [--runs 3] [--keep DIR] [--generation 1]      (root)
                                      [--only VARIANT,...] [--also NAME=DIR]

The scenario `rate-steps`: five XCP flows of kernel TCP through the embedded switch.

    without   its XCP is set to 100 Mbit/s throughout
    capacity  the same under a controller of its own (`clarion controller serve`: store, P4Runtime to the
              switch's agent, tuner) with the policy of that name, which takes what the switch reports
    told      XCP is told every step with the step
    measured  its ports measure

Per phase: bits sent relative to the link's real capacity, the 99th percentile of the queue's length over the
samples (every 100 ms), and packets dropped by the queue. And per round trip after a step: in which one the
link is used to 95 %, from which one on the mean queue stays below 5 % of a bandwidth-delay product for five,
and the utilisation and mean queue of each. `--also` adds runs that were kept, also by another version.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
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
CONTROLLED = {"without": [], "capacity": ["--tune", "capacity"]}  # under a controller
VARIANTS: dict[str, list[str]] = {
    **CONTROLLED,
    "told": ["--set", "xcp.capacity=told"],
    "measured": ["--set", "xcp.capacity=measured"],
}
STEPS = {"down": (20.0, 40e6), "up": (50.0, 100e6)}  # seconds, and the rate from then on
ROUND_TRIP_S = 0.1
ROUND_TRIPS = 250  # after a step
SHOWN = 16  # of them, one by one
CALM = 5  # round trips


def one_run(directory: Path, variant: str, generation: int, seed: int) -> Json:
    """The figures of a new run."""
    directory.mkdir(parents=True)
    out = directory / "out"
    command = [*CLARION, "run", SCENARIO, "--out", str(out), "--seed", str(seed), "--json"]
    command += ["--set", f"xcp.generation={generation}", *VARIANTS[variant]]
    with contextlib.ExitStack() as stack:
        if variant in CONTROLLED:
            command += stack.enter_context(ServedController(directory)).run_options()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"bench_tuner: {done.stderr.strip()}")
    return figures_of(out)


def figures_of(out: Path) -> Json:
    """The figures of a run by phase and by round trip, and the number of the policy's decisions."""
    recorded = out / "decisions.json"  # only of a run with a controller
    decided = json.loads(recorded.read_text())["decisions"] if recorded.exists() else []
    samples = pq.read_table(out / "ports.parquet", filters=[("port", "=", PORT)]).to_pydict()
    figures = {"decisions": float(len(decided))}
    for name, (begin_s, end_s, rate_bps) in PHASES.items():
        figures |= {
            f"{name}: {key}": value for key, value in phase(samples, begin_s, end_s, rate_bps).items()
        }
    rounds = {name: round_trips(samples, *step) for name, step in STEPS.items()}
    figures["up: round trips to 95 %"] = first(rounds["up"]["utilisation"] >= 0.95)
    figures["up: utilisation from then on"] = float(rounds["up"]["utilisation"][10:].mean())
    figures["down: round trips to a short queue"] = first(calm(rounds["down"]["queue"] < 0.05))
    figures["down: longest queue"] = float(rounds["down"]["queue"].max())
    unasked = json.loads((out / "summary.json").read_text())["totals"]["unasked_drop_packets"]
    shown = {name: {key: each[:SHOWN].tolist() for key, each in run.items()} for name, run in rounds.items()}
    return {"figures": figures, "rounds": shown, "unasked_drop_packets": unasked, "decided": decided}


def round_trips(samples: dict[str, list[Any]], at_s: float, rate_bps: float) -> dict[str, Any]:
    """Of each round trip after a step: the utilisation, and the mean queue as a part of the BDP."""
    times_s = np.array(samples["time_us"]) / 1e6
    edges_s = at_s + ROUND_TRIP_S * np.arange(ROUND_TRIPS + 1)
    sent, waited = (
        np.diff(np.interp(edges_s, times_s, np.array(samples[key]))) for key in ("tx_bytes", "queue_byte_us")
    )
    bdp_bytes = rate_bps / 8 * ROUND_TRIP_S
    return {"utilisation": sent / bdp_bytes, "queue": waited / (ROUND_TRIP_S * 1e6) / bdp_bytes}


def first(reached: Any) -> float:
    """The number of the first round trip, from 1, in which it is reached; beyond the last if in none."""
    return float(np.argmax(reached) + 1) if reached.any() else float(len(reached) + 1)


def calm(holds: Any) -> Any:
    """Whether it holds in each round trip and in those that follow it."""
    return np.array([holds[at : at + CALM].all() for at in range(len(holds) - CALM + 1)])


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
    parser.add_argument("--generation", type=int, default=1, choices=(1, 2), help="of XCP (default: 1)")
    parser.add_argument("--only", default=",".join(VARIANTS), metavar="VARIANT,...")
    parser.add_argument(
        "--also", action="append", default=[], metavar="NAME=DIR", help="kept runs, as DIR/*/out"
    )
    arguments = parser.parse_args()
    runs: dict[str, list[Json]] = {name: [] for name in VARIANTS if name in arguments.only.split(",")}
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="clarion-bench-") as passing:
        root = arguments.keep or Path(passing)
        for number in range(arguments.runs):
            for name, made in runs.items():
                made.append(one_run(root / f"{name}-{number + 1}", name, arguments.generation, number + 1))
    for also in arguments.also:
        name, _, folder = also.partition("=")
        runs[name] = [figures_of(out) for out in sorted(Path(folder).glob("*/out"))]
    report = {name: summary([run["figures"] for run in made]) for name, made in runs.items()}
    print(
        f"capacity on 100 -> 40 -> 100 Mbit/s, generation {arguments.generation}, {arguments.runs} runs each"
    )
    for name, figures in report.items():
        print(f" {name}, {figures['decisions']['median']:.0f} decisions")
        for when in PHASES:
            print(f"  {when}")
            print(text("  utilisation", figures[f"{when}: utilisation"], 100, "%"))
            print(text("  queue, 99th percentile", figures[f"{when}: queue_p99_bytes"], 1e-3, "kB"))
            print(text("  queue, mean", figures[f"{when}: queue_mean_bytes"], 1e-3, "kB"))
            print(text("  dropped by the queue", figures[f"{when}: drops"], 1, "pkts"))
        print(text(" up: used to 95 % in", figures["up: round trips to 95 %"], 1, "RTT"))
        print(text(" up: from the 11th on", figures["up: utilisation from then on"], 100, "%"))
        print(text(" down: queue below 5 % from", figures["down: round trips to a short queue"], 1, "RTT"))
        print(text(" down: longest queue", figures["down: longest queue"], 100, "% BDP"))
        for step in STEPS:
            for key in ("utilisation", "queue"):
                each = np.median([run["rounds"][step][key] for run in runs[name]], axis=0)
                print(f" {step}: {key} by round trip, %:", *(f"{100 * value:.0f}" for value in each))
    print(f" {time.monotonic() - began_s:.0f} s in all")
    if arguments.json:
        arguments.json.write_text(json.dumps({"summary": report, "runs": runs}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
