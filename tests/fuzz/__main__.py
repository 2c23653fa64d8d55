# SPDX-License-Identifier: Apache-2.0
"""Frames that fit and frames that do not, through core, switch, shim and P4 program: `make fuzz`.

The P4 program runs in an interpreter and gets a hundredth of the frames of the others. Every target prints
how many frames of each kind it took, and what it changed. A failure prints the frame and a command that shows
it again; the status is then 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from builds import plain, sanitised
from fuzz import p4
from fuzz.stream import ROUND_FRAMES

PROGRAM = "tests/fuzz/frame-fuzz"
SANITISED = ("core", "edits", "shim", "switch")
TARGETS = (*SANITISED, "p4")
P4_SHARE = 100


def run_sanitised(program: Path, target: str, options: argparse.Namespace) -> str | None:
    """Return the line of a target in C++ and C; None: it failed."""
    wanted = ("--count", options.count) if options.round is None else ("--round", options.round)
    command = [program, target, "--seed", options.seed, *wanted]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def run_p4(program: Path, options: argparse.Namespace) -> str | None:
    """Return the line of the P4 program; None: it failed."""
    try:
        return json.dumps(p4.play(program, options.count // P4_SHARE, options.seed, options.round))
    except p4.PropertyError as error:
        print(error, file=sys.stderr)
        return None


def chosen(text: str) -> list[str]:
    """The targets that a user names; all if there is no name."""
    names = [name for name in text.split(",") if name] or list(TARGETS)
    unknown = [name for name in names if name not in TARGETS]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"no such target: {', '.join(unknown)}; there are {', '.join(TARGETS)}"
        )
    return names


def positive(text: str) -> int:
    """A number of frames or targets."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"a whole number above 0 is needed, not {text}")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the status of the command."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--count", type=positive, default=1_000_000, help="frames per target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--round", type=int, help=f"only this one, of {ROUND_FRAMES} frames")
    parser.add_argument("--only", type=chosen, default=",".join(TARGETS), help="targets, with commas between")
    parser.add_argument("--jobs", type=positive, default=os.cpu_count(), help="targets that run side by side")
    options = parser.parse_args(arguments)
    try:
        program, generator = sanitised(PROGRAM), plain(PROGRAM)
    except AssertionError as error:  # the compiler's own words
        print(error, file=sys.stderr)
        return 1
    print(f"fuzz: seed {options.seed}, {', '.join(options.only)}", flush=True)
    failed = []
    with ThreadPoolExecutor(options.jobs) as pool:
        runs = {
            target: pool.submit(run_p4, generator, options)
            if target == "p4"
            else pool.submit(run_sanitised, program, target, options)
            for target in options.only
        }
        for target, run in runs.items():
            line = run.result()
            print(line or f"fuzz: {target}: FAILED", flush=True)
            failed += [] if line else [target]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
