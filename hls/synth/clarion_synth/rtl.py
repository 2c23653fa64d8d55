# SPDX-License-Identifier: Apache-2.0
"""The block's own tests with what an HLS tool has made of its functions, in the place of C++."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from clarion_base.paths import ROOT
from clarion_base.steps import StepError, Steps

WORK = ROOT / "build" / "hls" / "rtl"
PROGRAMS = (
    *("block-driver", "block-driver-small", "block-driver-large", "block-driver-late"),
    *("block-soak", "block-soak-small", "block-soak-late"),
)
TESTS = "tests/conformance/block"


def missing() -> str | None:
    """Return why it cannot be simulated, if there is a reason."""
    if shutil.which("verilator") is None:
        return "verilator is not on PATH (apt install verilator)"
    if not (ROOT / "build" / "ap_types" / "ap_int.h").exists():
        return "no integer headers of HLS tools (make build gets them)"
    return None


def play(steps: Steps, verilog: Path) -> str | None:
    """Run the tests; returns what is wrong, if anything."""
    if reason := missing():
        steps.note(f"the RTL is not simulated: {reason}")
        return None
    modules = sorted((*verilog.glob("*.sv"), *verilog.glob("*.v")))
    files = ";".join(map(str, modules)) if modules else f"{verilog}/*"
    options = ["-DCMAKE_BUILD_TYPE=Release", f"-DCLARION_FUNCTION_RTL={files}"]
    steps.run(["cmake", "-S", ROOT, "-B", WORK, "-G", "Ninja", *options])
    steps.run(["cmake", "--build", WORK, "--target", "circuits-tests"])
    try:
        steps.run([WORK / "hls" / "sim" / "circuits-tests", "--gtest_brief=1"], folder=verilog)
    except StepError:
        return "the tool's functions do not give what C++ gives"
    steps.run(["cmake", "--build", WORK, "--target", *PROGRAMS])
    configuration = ["--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml")]
    command = [sys.executable, "-m", "pytest", "-q", *configuration, str(ROOT / TESTS)]
    drivers = WORK / "hls" / "sim" / "bench"
    environment = {"CLARION_BLOCK_DRIVERS": str(drivers), "CLARION_BLOCK_DATA": str(verilog)}
    try:
        steps.run(command, folder=ROOT, environment=environment)
    except StepError:
        return "the RTL with the tool's functions does not do what the reference does"
    return None
