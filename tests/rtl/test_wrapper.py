# SPDX-License-Identifier: Apache-2.0
"""The user box of the shell, simulated as a card and as a bump in the wire; errors of its elaboration."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rtl.simulation import PACKAGE, ROOT, RTL, needs_icarus, simulate

STUBS = Path(__file__).resolve().parent / "stubs"
BOX = ROOT / "nic" / "open_nic"
SOURCES = [PACKAGE, *sorted(set(RTL.glob("*.sv")) - {PACKAGE}), BOX / "clarion_250mhz.sv"]
UNITS = [STUBS / name for name in ("clarion_ingress.sv", "clarion_egress.sv", "generic_reset.sv")]


def need(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


# The shell's clocks are phase-aligned, 1:2. The other ratios show that the registers do not depend on that.
@needs_icarus
@pytest.mark.parametrize(("bump", "register_clock_ps"), [(0, 8000), (1, 8000), (0, 7300), (0, 3100)])
def test_frames_and_registers(bump: int, register_clock_ps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WRAPPER_REGISTER_CLOCK_PS", str(register_clock_ps))
    simulate(
        "clarion_250mhz",
        "rtl.wrapper_cases",
        [*SOURCES, *UNITS],
        parameters={"BUMP": bump},
        name=f"wrapper-{bump}-{register_clock_ps}",
    )


def verilate(*more: str) -> subprocess.CompletedProcess[str]:
    need("verilator")
    command = ["verilator", "--lint-only", "-Wall", "-Wno-PINCONNECTEMPTY", "--top-module", "box_250mhz"]
    includes = [f"-I{BOX / 'box_250mhz'}", f"-I{STUBS}"]
    sources = [str(path) for path in (*SOURCES, *UNITS, STUBS / "box_250mhz.sv")]
    return subprocess.run([*command, *includes, *more, *sources], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "options", [(), ("+define+CLARION_BUMP=1",), ("-GNUM_CMAC_PORT=1", "-GNUM_PHYS_FUNC=1")], ids=str
)
def test_lint_is_silent_inside_the_shells_box(options: tuple[str, ...]) -> None:
    done = verilate(*options)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            ("-GNUM_CMAC_PORT=3", "-GNUM_PHYS_FUNC=3"),
            "clarion_box: PORTS = 3: a card of the shell has 1 or 2",
        ),
        (("-GNUM_QDMA=2",), "NUM_QDMA = 2: build the shell with -num_qdma 1"),
        (("-GUSE_PHYS_FUNC=0",), "USE_PHYS_FUNC = 0: build the shell with -use_phys_func 1"),
        (("-GNUM_PHYS_FUNC=1",), "NUM_PHYS_FUNC = 1: a host function for each of the 2 ports is needed"),
        (
            ("+define+CLARION_BUMP=1", "-GNUM_CMAC_PORT=1", "-GNUM_PHYS_FUNC=1"),
            "clarion_box: PORTS = 1: a bump in the wire joins 2",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_parameters_stop_elaboration(options: tuple[str, ...], reason: str) -> None:
    done = verilate(*options)
    assert done.returncode != 0
    assert reason in done.stderr
    assert "box_250mhz.clarion_250mhz_inst" in done.stderr, "the instance is named"


@pytest.mark.parametrize(
    ("parameter", "reason"), [("DATA_BITS=256", "streams of 512"), ("USER_BITS=16", "take 48")]
)
def test_a_wrong_stream_width_stops_elaboration(parameter: str, reason: str) -> None:
    need("verilator")
    done = subprocess.run(
        ["verilator", "--lint-only", "-Wall", "--top-module", "clarion_box", f"-G{parameter}"]
        + [str(path) for path in (*SOURCES[:-1], *UNITS)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert reason in done.stderr


def test_yosys_finds_every_module() -> None:
    need("yosys")
    files = " ".join(str(path) for path in (*SOURCES, *UNITS))
    script = f"read_verilog -sv {files}; hierarchy -check -top clarion_250mhz; proc; check -assert"
    done = subprocess.run(["yosys", "-q", "-p", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
