# SPDX-License-Identifier: Apache-2.0
"""Runs every benchmark: its lines on the terminal, its JSON into a directory.

Each benchmark is a program of its own that takes ``--json FILE``, repeats itself, and reports medians and
spread.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

BENCHMARKS = {
    "core": [str(ROOT / "build/cpp/core/bench-core")],
    "switch": [sys.executable, str(HERE / "bench_switch.py")],
    "agent": [sys.executable, str(HERE / "bench_agent.py")],
    "p4": [sys.executable, str(HERE / "bench_p4.py")],
    "controller": [sys.executable, str(HERE / "bench_controller.py")],
    "tuner": [sys.executable, str(HERE / "bench_tuner.py")],
}


def main() -> int:
    """Returns 0 if every chosen benchmark ran to its end."""
    parser = argparse.ArgumentParser(prog="tests.bench", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build/bench", help="directory of the JSON files")
    parser.add_argument("only", nargs="*", help=f"benchmarks: {', '.join(BENCHMARKS)} (default: all)")
    arguments = parser.parse_args()
    unknown = set(arguments.only) - set(BENCHMARKS)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: no such benchmark; there are {', '.join(BENCHMARKS)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    failed = [name for name in arguments.only or BENCHMARKS if not run(name, arguments.out)]
    if failed:
        print(f"bench: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def run(name: str, out: Path) -> bool:
    """Runs one benchmark; true if it ended well."""
    done = subprocess.run([*BENCHMARKS[name], "--json", str(out / f"{name}.json")], check=False)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
