# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks: their lines on the terminal, their JSON into a directory.

Each benchmark is a program of its own that takes ``--json FILE``, repeats itself, and reports medians and
spread.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Benchmark:
    """A program, its measurement, and its duration on a machine with two CPUs."""

    what: str
    duration_s: int
    command: tuple[str, ...]


def python(name: str) -> tuple[str, ...]:
    """The command of a benchmark in Python."""
    return sys.executable, str(HERE / name)


BENCHMARKS = {
    "core": Benchmark("packets/s of the data-plane core", 2, (str(ROOT / "build/cpp/core/bench-core"),)),
    "switch": Benchmark("TCP and delay through the switch", 62, python("bench_switch.py")),
    "agent": Benchmark("P4Runtime writes and reports of the agent", 66, python("bench_agent.py")),
    "p4": Benchmark("BMv2 beside the embedded switch", 380, python("bench_p4.py")),
    "controller": Benchmark("the controller's API, digests, recovery", 550, python("bench_controller.py")),
    "sim": Benchmark("packets/s of the simulator, beside ns-3", 400, python("bench_sim.py")),
    "tasks": Benchmark("what a point of a sweep costs beside it", 480, python("bench_tasks.py")),
    "tuner": Benchmark("capacity set, tuned, told, measured on a link", 1080, python("bench_tuner.py")),
    "proxy-cpu": Benchmark("the proxies' processor time beside noq's example", 150, python("proxy_cpu.py")),
    "proxy-many": Benchmark("1,000 connections in one tunnel: shares, memory", 390, python("proxy_many.py")),
    "proxy-first-byte": Benchmark("small HTTP answers over 540 ms", 280, python("proxy_first_byte.py")),
}


def main() -> int:
    """Returns 0 if every chosen benchmark ran to its end."""
    parser = argparse.ArgumentParser(prog="tests.bench", description="Run the benchmarks.")
    parser.add_argument("--out", type=Path, default=ROOT / "build/bench", help="directory of the JSON files")
    parser.add_argument(
        "--only", type=chosen, default=list(BENCHMARKS), metavar="NAME,NAME", help="default: all"
    )
    parser.add_argument("--list", action="store_true", help="names, measurements and durations")
    arguments = parser.parse_args()
    if arguments.list:
        print(
            "\n".join(
                f"{name:16} {about(each.duration_s):>7}  {each.what}" for name, each in BENCHMARKS.items()
            )
        )
        return 0
    arguments.out.mkdir(parents=True, exist_ok=True)
    failed = run_all(arguments.only, arguments.out)
    if failed:
        print(f"bench: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def chosen(names: str) -> list[str]:
    """The benchmarks of a list with commas; of an empty one all."""
    found = names.split(",") if names else list(BENCHMARKS)
    if unknown := set(found) - set(BENCHMARKS):
        reason = f"{', '.join(sorted(unknown))}: no such benchmark; there are {', '.join(BENCHMARKS)}"
        raise argparse.ArgumentTypeError(reason)
    return found


def run_all(names: list[str], out: Path) -> list[str]:
    """Runs benchmarks one by one, with a line before each; returns those that failed."""
    failed = []
    for number, name in enumerate(names, 1):
        left_s = sum(BENCHMARKS[later].duration_s for later in names[number - 1 :])
        print(f"bench: {name}, {number} of {len(names)}; {about(left_s)} left", flush=True)
        if not run(name, out):
            failed.append(name)
    return failed


def about(seconds: float) -> str:
    """A duration in seconds or minutes."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def run(name: str, out: Path) -> bool:
    """Runs one benchmark; true if it ended well."""
    start = time.monotonic()
    done = subprocess.run([*BENCHMARKS[name].command, "--json", str(out / f"{name}.json")], check=False)
    print(f"bench: {name} took {about(time.monotonic() - start)}", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
