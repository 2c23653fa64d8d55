# SPDX-License-Identifier: Apache-2.0
"""Benchmark of the executor: what a point costs beside the simulator.

    python -m tests.bench.bench_tasks [--json FILE] [--runs 1] [--points 10000] [--jobs 1]

Points of a small scenario that differ in their seeds, without plots: once with an empty store, once with all
in it. The overhead per point is the processor time of all processes, their start included, less what the
simulator takes by itself for such points, one after the other. Wall times are printed beside it.
"""

from __future__ import annotations

import contextlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.figures import parser, summary, text, write
from clarion_base import paths
from clarion_lab.engines.simulation import PROGRAM, simulation_config
from clarion_lab.scenario.documents import points
from clarion_lab.scenario.model import build
from clarion_lab.scenario.topology import plan
from clarion_lab.tasks.executor import execute
from clarion_lab.tasks.store import Store
from clarion_lab.tasks.task import Task

SAMPLE = 200  # runs of the simulator alone
GOAL_MS = 50.0
LINES = {
    "simulator_processor_ms": "the simulator alone, processor",
    "simulator_wall_ms": "the simulator alone, wall",
    "run_processor_ms": "run and kept, processor",
    "run_wall_ms": "run and kept, wall",
    "overhead_processor_ms": "beside the simulator, processor",
    "cached_processor_ms": "taken from the cache, processor",
}
DOCUMENT: dict[str, Any] = {
    "description": "One flow for two seconds.",
    "topology": "dumbbell",
    "algorithm": "cubic",
    "links": {"bottleneck": {"rate": "10 Mbit/s", "rtt": "20 ms", "queue": "1 bdp"}},
    "flows": [{"count": 1}],
    "duration": "2 s",
}


def tasks(count: int) -> list[Task]:
    """Points that differ in their seeds."""
    document = points("small", DOCUMENT)[0].document
    labels = {"point": "", "settings": {}, "repeat": 1}
    return [Task("small", {**document, "seed": seed}, "sim", labels) for seed in range(1, count + 1)]


def processor_s() -> float:
    """Of this process and of all that it has waited for."""
    kinds = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in kinds)


@contextlib.contextmanager
def timed(figures: dict[str, float], name: str, count: int) -> Iterator[None]:
    """Notes what a point takes inside, of `count`, in milliseconds."""
    begin_s, begin_processor_s = time.perf_counter(), processor_s()
    yield
    figures[f"{name}_processor_ms"] = (processor_s() - begin_processor_s) * 1e3 / count
    figures[f"{name}_wall_ms"] = (time.perf_counter() - begin_s) * 1e3 / count


def simulate(count: int) -> None:
    """Runs the simulator alone."""
    scenario = build("small", DOCUMENT)
    with tempfile.TemporaryDirectory() as directory:
        config = Path(directory, "simulation.json")
        config.write_text(json.dumps(simulation_config(scenario, plan(scenario), Path(directory))))
        for _ in range(count):
            command = [paths.binary(PROGRAM), "--config", str(config)]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def measure(count: int, jobs: int) -> dict[str, float]:
    """What a point takes: the simulator alone, all of a run, and one that is cached."""
    figures: dict[str, float] = {}
    with timed(figures, "simulator", min(count, SAMPLE)):
        simulate(min(count, SAMPLE))
    with tempfile.TemporaryDirectory() as directory:
        wanted, store = tasks(count), Store(Path(directory))
        for name in ("run", "cached"):
            with timed(figures, name, count):
                failures = execute(wanted, store, jobs=jobs)
            if failures:
                raise SystemExit(f"bench_tasks: {failures[0].reason}")
    figures["overhead_processor_ms"] = figures["run_processor_ms"] - figures["simulator_processor_ms"]
    return figures


def main() -> int:
    """Prints medians; the JSON has every run."""
    options = parser(__doc__, 1)
    options.add_argument("--points", type=int, default=10_000, metavar="N", help="(default 10000)")
    options.add_argument("--jobs", type=int, default=1, metavar="N", help="(default 1)")
    given = options.parse_args()
    rounds = [measure(given.points, given.jobs) for _ in range(given.runs)]
    figures = summary(rounds)
    print(f"executor, {given.points} points, {given.jobs} at once; per point")
    for name, what in LINES.items():
        goal = ("at most", GOAL_MS) if name == "overhead_processor_ms" else None
        print(text(what, figures[name], 1.0, "ms", goal))
    write(given.json, {"points": given.points, "jobs": given.jobs, "runs": rounds})
    return 0


if __name__ == "__main__":
    sys.exit(main())
