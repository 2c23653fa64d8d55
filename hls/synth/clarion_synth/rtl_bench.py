# SPDX-License-Identifier: Apache-2.0
"""The block's RTL on the bench of its C simulation, with Verilator: hls/sim/rtl, and the tests of it."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from clarion_base.steps import StepError, Steps
from clarion_synth import c_simulation, logged
from clarion_synth.c_simulation import SIM
from clarion_synth.targets import ROOT

WORK = ROOT / "build" / "hls" / "rtl"
RTL = ROOT / "nic" / "rtl"
FRONT_END = ("registers_pkg", "axil_channels", "identity", "mailbox", "axil")
BENCH = ("bench/block_driver", "bench/bench", "bench/pcap", "bench/traffic", "register_file", "rtl/rtl_units")
# What C simulation puts in the place of an HLS tool's modules.
STAND_IN_MODULES = tuple(SIM / "rtl" / f"clarion_{way}.sv" for way in ("ingress", "egress"))
STAND_IN = SIM / "rtl" / "c_units.cpp"
DRIVER = "rtl-driver"
BUCKETS = 4096  # of the vectors
TESTS = "tests/rtl/test_block.py"


def missing(buckets: int = BUCKETS) -> str | None:
    """Return why it cannot be simulated, if there is a reason."""
    if buckets != BUCKETS:
        return f"its tests are for {BUCKETS} buckets"
    if shutil.which("verilator") is None:
        return "verilator is not on PATH (apt install verilator)"
    if not (c_simulation.AP_TYPES / "ap_int.h").exists():
        return "no integer headers of HLS tools (make build gets them)"
    return None


def build(steps: Steps, folder: Path, modules: Iterable[Path], sources: Sequence[Path] = ()) -> Path:
    """Build the driver around these modules, with more C++ if they call it; return it."""
    if not steps.dry_run:
        folder.mkdir(parents=True, exist_ok=True)
    logged.run(
        steps,
        [
            *("verilator", "--cc", "--exe", "--build", "-j", "2", "--hierarchical", "--no-timing"),
            *("-Wno-lint", "-Wno-fatal"),
            *("-O3", "--top-module", "rtl_bench", "-CFLAGS", shlex.join(c_simulation.flags())),
            *("--Mdir", str(folder / "obj"), "-o", DRIVER),
            *(str(RTL / f"clarion_{name}.sv") for name in FRONT_END),
            str(SIM / "rtl" / "rtl_bench.sv"),
            *map(str, modules),
            *(str(SIM / f"{name}.cpp") for name in BENCH),
            *map(str, sources),
        ],
        folder / "verilator.log",
    )
    return folder / "obj" / DRIVER


def command(driver: Path, data: Path, slow: int = 1) -> tuple[list[str], dict[str, str]]:
    """Return the command that runs the tests of the block's RTL, from anywhere, and its environment.

    `data` is where the RTL finds what it reads; RTL that is `slow` may take so many times as many clocks, and
    its clocks are printed only.
    """
    configuration = ["--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml")]
    words = [sys.executable, "-m", "pytest", "-q", "-s", *configuration, str(ROOT / TESTS)]
    environment = {"CLARION_RTL_DRIVER": str(driver), "CLARION_RTL_DATA": str(data)}
    if slow > 1:
        environment["CLARION_RTL_SLOW"] = str(slow)
    return words, environment


def play(steps: Steps, driver: Path, data: Path) -> str | None:
    """Run the tests of RTL that holds its numbers; returns what is wrong, if anything."""
    words, environment = command(driver, data)
    try:
        steps.run(words, folder=ROOT, environment=environment)
    except StepError:
        return "the RTL does not do what C simulation does"
    return None
