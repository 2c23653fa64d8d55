# SPDX-License-Identifier: Apache-2.0
"""Where things are: built programs, shipped scenarios and experiments, the directory of running ones."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from clarion_base.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "mininet" / "scenarios"
EXPERIMENTS = ROOT / "mininet" / "experiments"

_BUILT = {
    "clarion-switch": ("CLARION_SWITCH_BIN", "build/cpp/switch/clarion-switch"),
    "clarion-sim": ("CLARION_SIM_BIN", "build/cpp/sim/clarion-sim"),
    "clarion-hls-sim": ("CLARION_HLS_SIM_BIN", "build/cpp/hls/sim/clarion-hls-sim"),
    "clarion-host": ("CLARION_HOST_BIN", "build/cargo/release/clarion-host"),
    "clarion-proxy": ("CLARION_PROXY_BIN", "build/cargo/release/clarion-proxy"),
}


def run_root() -> Path:
    """The directory of the records of running experiments; CLARION_RUN_ROOT moves it."""
    return Path(os.environ.get("CLARION_RUN_ROOT", "/run/clarion"))


def find_binary(name: str) -> Path | None:
    """A built program: named by its variable, else in build/, else on the PATH; None if nowhere."""
    variable, built = _BUILT[name]
    named = os.environ.get(variable)
    if named:
        return Path(named) if os.access(named, os.X_OK) else None
    if os.access(ROOT / built, os.X_OK):
        return ROOT / built
    found = shutil.which(name)
    return Path(found) if found else None


def binary(name: str) -> str:
    """The path of a built program; UserError says how to get it."""
    path = find_binary(name)
    if path is None:
        variable = _BUILT[name][0]
        raise UserError(f"{name}: not found; run `make build`, or set {variable} to the program")
    return str(path)
