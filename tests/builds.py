#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the C++ programs of tests before they run. As a script it builds all of SANITISED."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SANITISED = (
    "core/core-tests",
    *(f"hls/sim/bench/block-driver{size}" for size in ("", "-small", "-large", "-late")),
    "sim/sim_tests",
    "switch/clarion-switch",
    "tests/conformance/conformance-driver",
    "tests/fuzz/frame-fuzz",
    "tests/unit/cc/cc_test",
    "tests/unit/shim/shim_test",
)


def plain(program: str) -> Path:
    """A program as `make build` makes it."""
    return _build("cpp", [program])[0]


def sanitised(program: str) -> Path:
    """A program with AddressSanitizer and UndefinedBehaviorSanitizer."""
    assert program in SANITISED, f"{program}: not in SANITISED, from which all are built side by side"
    return _build("cpp-asan", [program])[0]


def _build(folder: str, programs: list[str]) -> list[Path]:
    tree = ROOT / "build" / folder
    tree.mkdir(parents=True, exist_ok=True)
    with (ROOT / "build" / f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other tests run beside this one
        if not (tree / "build.ninja").exists():
            option = f"-DCLARION_SANITIZE={'ON' if folder == 'cpp-asan' else 'OFF'}"
            _run("cmake", "-S", str(ROOT), "-B", str(tree), "-G", "Ninja", option)
        _run("cmake", "--build", str(tree), "--target", *(Path(program).name for program in programs))
    return [tree / program for program in programs]


def _run(*command: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout


if __name__ == "__main__":
    try:
        _build("cpp-asan", list(SANITISED))
    except AssertionError as error:
        sys.exit(str(error))
