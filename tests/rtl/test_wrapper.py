# SPDX-License-Identifier: Apache-2.0
"""The user box of the shell, simulated as a card and as a bump in the wire; errors of its elaboration."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from clarion_contract.generate import function_model
from rtl.simulation import PACKAGE, ROOT, RTL, needs_icarus, simulate

STUBS = Path(__file__).resolve().parent / "stubs"
BOX = ROOT / "nic" / "open_nic"
RESET = STUBS / "generic_reset.sv"
SOURCES = [PACKAGE, *sorted(set(RTL.glob("*.sv")) - {PACKAGE}), BOX / "clarion_250mhz.sv"]

# What is in the place of the units: stand-ins, which Icarus can read, or the units themselves. Their
# functions, which an HLS tool makes, are C++ for Verilator and empty for Yosys.
BLOCK = ROOT / "hls" / "rtl"
PACKAGES = [BLOCK / f"clarion_{name}_pkg.sv" for name in ("sizes", "block")]
STAND_INS = [STUBS / f"clarion_{way}.sv" for way in ("ingress", "egress")]
UNITS = [*PACKAGES, *sorted(set(BLOCK.glob("*.sv")) - {*PACKAGES})]
FUNCTIONS = ROOT / "hls" / "sim" / "functions" / "clarion_functions_dpi.sv"
CALLS = FUNCTIONS.with_name("functions_dpi.cpp")
AP_TYPES = ROOT / "build" / "ap_types"
either = pytest.mark.parametrize(
    "units", [pytest.param(STAND_INS, id="stand-ins"), pytest.param([*UNITS, FUNCTIONS], id="units")]
)


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
        [*SOURCES, *STAND_INS, RESET],
        parameters={"BUMP": bump, "BUCKETS": 65536, "QUEUE_BEATS": 16384},
        name=f"wrapper-{bump}-{register_clock_ps}",
    )


@pytest.mark.slow
@pytest.mark.parametrize("bump", [0, 1])
def test_frames_and_commands_through_the_units(bump: int, tmp_path: Path) -> None:
    need("verilator")
    if not (AP_TYPES / "ap_int.h").exists():
        pytest.skip("no integer headers of HLS tools (make build gets them)")
    flags = f"-I{ROOT} -isystem {AP_TYPES} -O0"
    build = ["--binary", "-j", "2", "--assert", "-Wno-lint", "-Mdir", tmp_path, "-CFLAGS", flags]
    modules = [*SOURCES[:-1], *UNITS, FUNCTIONS, Path(__file__).with_name("box_bench.sv")]
    words = ["verilator", *build, f"-GBUMP={bump}", "--top-module", "box_bench", *modules, CALLS]
    for command in (words, [tmp_path / "Vbox_bench"]):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    assert "box_bench: done" in done.stdout


def verilate(top: str, sources: Sequence[Path], *more: str) -> subprocess.CompletedProcess[str]:
    need("verilator")
    # An output that nothing is connected to is left open on purpose.
    command = ["verilator", "--lint-only", "-Wall", "-Wno-PINCONNECTEMPTY", "--top-module", top, *more]
    includes = [f"-I{BOX / 'box_250mhz'}", f"-I{STUBS}"]
    return subprocess.run(
        [*command, *includes, *map(str, sources)], capture_output=True, text=True, check=False
    )


def in_the_shell(units: Sequence[Path], *more: str) -> subprocess.CompletedProcess[str]:
    """Lint the plug-in inside the shell's box."""
    return verilate("box_250mhz", [*SOURCES, *units, RESET, STUBS / "box_250mhz.sv"], *more)


@either
@pytest.mark.parametrize(
    "options", [(), ("+define+CLARION_BUMP=1",), ("-GNUM_CMAC_PORT=1", "-GNUM_PHYS_FUNC=1")], ids=str
)
def test_lint_is_silent_inside_the_shells_box(options: tuple[str, ...], units: Sequence[Path]) -> None:
    done = in_the_shell(units, *options)
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
    done = in_the_shell(STAND_INS, *options)
    assert done.returncode != 0
    assert reason in done.stderr
    assert "box_250mhz.clarion_250mhz_inst" in done.stderr, "the instance is named"


@pytest.mark.parametrize(
    ("parameter", "reason"), [("DATA_BITS=256", "streams of 512"), ("USER_BITS=16", "take 48")]
)
def test_a_wrong_stream_width_stops_elaboration(parameter: str, reason: str) -> None:
    done = verilate("clarion_box", [*SOURCES[:-1], *STAND_INS], f"-G{parameter}")
    assert done.returncode != 0
    assert reason in done.stderr


@pytest.mark.parametrize(
    ("parameter", "modules"),
    [
        *((f"BUCKETS={size}", ("ingress", "egress")) for size in (0, 1, 3, 4095, 131072)),
        *((f"QUEUE_BEATS={size}", ("egress",)) for size in (0, 128, 300, 131072)),
    ],
)
def test_sizes_that_a_unit_cannot_have_stop_elaboration(parameter: str, modules: tuple[str, ...]) -> None:
    done = verilate("clarion_box", [*SOURCES[:-1], *UNITS, FUNCTIONS], f"-G{parameter}")
    assert done.returncode != 0
    name = parameter.partition("=")[0]
    for module in modules:
        assert f"clarion_{module}: {name}: a power of two is needed" in done.stderr
        assert f"clarion_box.units[0].{module}\n" in done.stderr, "the instance is named"


@pytest.mark.parametrize(
    "parameters", [("BUCKETS=2", "QUEUE_BEATS=256"), ("BUCKETS=65536", "QUEUE_BEATS=65536")]
)
def test_sizes_at_the_ends_of_their_ranges(parameters: tuple[str, ...]) -> None:
    options = [f"-G{parameter}" for parameter in parameters]
    done = verilate("clarion_box", [*SOURCES[:-1], *UNITS, FUNCTIONS], *options)
    assert (done.returncode, done.stderr) == (0, "")


def empty(path: Path) -> str:
    """Return a module's parameters and ports as one that Yosys takes as given."""
    text = path.read_text()
    at = text.index("module ")
    return f"(* blackbox *)\n{text[at : text.index(');', at)]});\nendmodule\n"


def empty_functions() -> str:
    return "".join(
        f"(* blackbox *) module clarion_{each.name} #(parameter logic [31:0] LATENCY = {each.latency}) (\n"
        f"    input wire clk_i, input wire valid_i,\n"
        f"    input wire [{function_model.width(each.arguments) - 1}:0] arguments_i,\n"
        f"    output wire [{function_model.width(each.results) - 1}:0] results_o\n);\nendmodule\n"
        for each in function_model.read().functions
    )


@pytest.mark.parametrize("units", ["stand-ins", "units"])
def test_yosys_finds_every_module(units: str, tmp_path: Path) -> None:
    need("yosys")
    modules = STAND_INS
    if units == "units":
        memory = BLOCK / "clarion_ram.sv"  # empty: Yosys would take a minute for the zeros in it
        given = tmp_path / "given.sv"
        given.write_text(empty(memory) + empty_functions())
        modules = [*(path for path in UNITS if path != memory), given]
    files = " ".join(map(str, (*SOURCES, *modules, RESET)))
    script = f"read_verilog -sv {files}; hierarchy -check -top clarion_250mhz; proc; check -assert"
    quiet = ["-q", "-w", "Replacing memory"]  # of a few words with registers, as it should
    done = subprocess.run(["yosys", *quiet, "-p", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
