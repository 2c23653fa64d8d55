# SPDX-License-Identifier: Apache-2.0
"""Runs cocotb tests of one module in Icarus Verilog, from pytest."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from cocotb_tools.runner import get_runner

ROOT = Path(__file__).resolve().parents[2]
RTL = ROOT / "nic" / "rtl"
BUILD = ROOT / "build" / "rtl"

PACKAGE = RTL / "clarion_registers_pkg.sv"
FRONT_END = [
    PACKAGE,
    *(RTL / f"clarion_{name}.sv" for name in ("axil_channels", "identity", "mailbox", "axil")),
]

needs_icarus = pytest.mark.skipif(
    shutil.which("iverilog") is None, reason="iverilog is not on PATH (apt install iverilog)"
)


def simulate(
    top: str,
    cases: str,
    sources: Sequence[Path],
    parameters: Mapping[str, int] | None = None,
    name: str = "",
) -> None:
    """Run every case of a module, e.g. `rtl.axil_cases`; fail with the end of the simulator's output."""
    directory = BUILD / (name or top)
    directory.mkdir(parents=True, exist_ok=True)
    log = directory / "cases.log"
    runner = get_runner("icarus")
    try:
        runner.build(
            sources=sources,
            hdl_toplevel=top,
            parameters=parameters or {},
            build_dir=directory,
            build_args=["-g2012"],
            always=True,
            timescale=("1ns", "1ps"),
            log_file=directory / "build.log",
        )
        runner.test(
            test_module=cases,
            hdl_toplevel=top,
            build_dir=directory,
            test_dir=directory,
            seed=1,
            log_file=log,
            results_xml=str(directory / "results.xml"),
        )
    except (SystemExit, RuntimeError) as error:
        output = log.read_text().splitlines() if log.exists() else [f"see {directory}/build.log"]
        pytest.fail("\n".join([f"{top}: {error}", *output[-60:]]), pytrace=False)
