# SPDX-License-Identifier: Apache-2.0
"""The open tools for RTL, from pytest: cocotb tests in Icarus Verilog, Verilator as a linter, Yosys."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

ROOT = Path(__file__).resolve().parents[2]
RTL = ROOT / "nic" / "rtl"
BUILD = ROOT / "build" / "rtl"

PACKAGE = RTL / "clarion_registers_pkg.sv"
FRONT_END = [
    PACKAGE,
    *(RTL / f"clarion_{name}.sv" for name in ("axil_channels", "identity", "mailbox", "axil")),
]


def needs(program: str, package: str) -> pytest.MarkDecorator:
    """Skip a test without the program."""
    return pytest.mark.skipif(
        shutil.which(program) is None, reason=f"{program} is not on PATH (apt install {package})"
    )


needs_icarus = needs("iverilog", "iverilog")
needs_verilator = needs("verilator", "verilator")
needs_yosys = needs("yosys", "yosys")


def _quoted(value: int | str) -> str:
    """A parameter's value as the tools take it."""
    return f'"{value}"' if isinstance(value, str) else str(value)


def synthesise(
    top: str, sources: Sequence[Path], passes: str, parameters: Mapping[str, int | str] | None = None
) -> None:
    """Run passes of Yosys over a module after `proc`; fail with the output of Yosys."""
    settings = [f"-set {name} {_quoted(value)}" for name, value in (parameters or {}).items()]
    read = [
        f"read_verilog -sv {' '.join(map(str, sources))}",
        *([f"chparam {' '.join(settings)} {top}"] if settings else []),
        f"hierarchy -check -top {top}",
        "proc",
    ]
    done = subprocess.run(
        ["yosys", "-q", "-p", "; ".join([*read, passes])], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def lint(top: str, sources: Sequence[Path], parameters: Mapping[str, int | str] | None = None) -> str:
    """Return Verilator's messages, with every warning on; empty if there are none."""
    options = [f"-G{name}={_quoted(value)}" for name, value in (parameters or {}).items()]
    command = ["verilator", "--lint-only", "-Wall", "--top-module", top, *options, *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr or "" if done.returncode else ""


def simulate(
    top: str,
    cases: str,
    sources: Sequence[Path],
    parameters: Mapping[str, int] | None = None,
    name: str = "",
    only: str | None = None,
) -> None:
    """Run every case of a module, e.g. `rtl.axil_cases`, or those whose names match the expression `only`.

    Fails with the end of the simulator's output.
    """
    directory = BUILD / (name or top)
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob("*.log"):
        old.unlink()
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
        results = runner.test(
            test_module=cases,
            hdl_toplevel=top,
            build_dir=directory,
            test_dir=directory,
            seed=1,
            test_filter=only,
            log_file=log,
        )
    except (SystemExit, RuntimeError) as error:
        output = log if log.exists() else directory / "build.log"
        told = [line for line in output.read_text().splitlines() if " INFO " not in line]
        pytest.fail("\n".join([f"{top}: {error}", *told[-60:]]), pytrace=False)
    ran, failed = get_results(results)
    assert ran > 0, f"{top}: no case ran"
    assert failed == 0, f"{top}: {failed} of {ran} cases failed, see {log}"
