# SPDX-License-Identifier: Apache-2.0
"""nic/build.sh with a stand-in for Vivado, and nic/package.sh on its results."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import clarion_nic.build
from clarion_contract import boards
from clarion_contract.generate import function_model
from clarion_nic import manifest, package
from clarion_nic.driver.register_map import BLOCK_TYPES, BLOCK_VERSIONS
from unit.nic.machine import Machine, images
from unit.nic.test_dry_runs import shell

FUNCTIONS = [function.name for function in function_model.read().functions]
MET = "All user specified timing constraints are met."


@pytest.fixture
def builder(bare: Machine) -> Machine:
    """Return a machine that can build: every tool there, and a shell."""
    bare.builder()
    for program in ("vitis_hls", "make"):
        bare.program(program)
    shell(bare.folder / "shell")
    return bare


def results(machine: Machine, timing: str = MET) -> str:
    """Return sh that creates the result files of the shell's build."""
    folder = machine.folder / "shell/build/au55c_clarion_nic/open_nic_shell/open_nic_shell.runs/impl_1"
    return (
        f"mkdir -p {folder}; cd {folder}; echo bit > open_nic_shell.bit; echo mcs > open_nic_shell.mcs; "
        f"echo '{timing}' > open_nic_shell_timing_summary_routed.rpt"
    )


def words(machine: Machine, *more: str) -> list[str]:
    places = ["--shell", str(machine.folder / "shell"), "--out", str(machine.folder / "out")]
    return ["--board", "u55c", *places, "--allow-changes", *more]


def build(machine: Machine, *more: str) -> subprocess.CompletedProcess[str]:
    return machine.run("build", *words(machine, *more))


@pytest.fixture
def whole(builder: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return a machine for a whole build in this process, with invented Verilog of the functions."""
    verilog = builder.folder / "verilog"
    for board in boards.names():
        (verilog / board).mkdir(parents=True)
        for name in FUNCTIONS:
            (verilog / board / f"clarion_{name}.sv").write_text(f"module clarion_{name}; // of {board}\n")
            (verilog / board / f"made_{name}.v").touch()
    monkeypatch.setattr(clarion_nic.build, "FUNCTIONS", verilog)
    monkeypatch.setenv("PATH", str(builder.bin))
    return builder


def test_a_build_leaves_images_and_a_manifest(whole: Machine, capfd: pytest.CaptureFixture[str]) -> None:
    whole.builder(results(whole))
    old = whole.folder / "out/work/functions/old.v"
    old.parent.mkdir(parents=True)
    old.touch()
    assert (clarion_nic.build.main(words(whole)), capfd.readouterr().err) == (0, "")
    out = whole.folder / "out"
    made = manifest.read(out)  # with every hash checked
    assert made.board == "u55c"
    assert made.files.keys() == {"clarion-u55c-nic.bit", "clarion-u55c-nic.mcs", "registers.yaml"}
    assert {kind: int(number, 16) for kind, number in made.types.items()} == BLOCK_TYPES
    assert {kind: tuple(map(int, v.split("."))) for kind, v in made.versions.items()} == BLOCK_VERSIONS
    assert f"32'h{made.commit[:8]}" in (out / "work/clarion_build.vh").read_text()
    functions = {path.name for path in (out / "work/functions").iterdir()}
    assert functions == {f"clarion_{n}.sv" for n in FUNCTIONS} | {f"made_{n}.v" for n in FUNCTIONS}
    assert "// of u55c" in (out / "work/functions/clarion_grant.sv").read_text()


def test_a_build_goes_from_the_version_to_the_functions_to_the_shell(whole: Machine) -> None:
    whole.program("make", f"test ! -e {whole.folder}/out")
    whole.builder(f"test -e {whole.folder}/out/work/functions/clarion_grant.sv && {results(whole)}")
    assert clarion_nic.build.main(words(whole)) == 0
    calls = whole.calls()
    assert calls[:2] == ["vivado -version", "make hls-verilog BOARD=u55c"]
    assert calls[2].startswith("vivado -mode batch ")
    assert len(calls) == 3


@pytest.mark.parametrize("version", ["v2022.1", "v2022.1.2", "v2022.1_AR77022"])
def test_an_update_of_the_shells_vivado_is_the_same(
    whole: Machine, capfd: pytest.CaptureFixture[str], version: str
) -> None:
    whole.builder(results(whole), version)
    assert (clarion_nic.build.main(words(whole)), capfd.readouterr().err) == (0, "")


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("v2022.2", "version 2022.2"),
        ("v2021.2", "version 2021.2"),
        ("v2022.10", "version 2022.10"),
        ("of tomorrow", "of an unknown version"),
    ],
)
def test_another_vivado_is_refused_before_anything_is_made(builder: Machine, version: str, told: str) -> None:
    builder.builder(version=version)
    done = build(builder)
    needed = f"vivado: it is {told}, open-nic-shell needs 2022.1; source the settings64.sh of that"
    assert (done.returncode, done.stderr) == (1, f"build: {needed}\n")
    assert builder.calls() == ["vivado -version"]
    assert not (builder.folder / "out").exists()


def test_a_vivado_that_does_not_start(builder: Machine) -> None:
    builder.program("vivado", "echo no licence >&2; exit 1")
    done = build(builder)
    assert (done.returncode, done.stderr) == (1, "build: vivado: ended with status 1: no licence\n")
    assert not (builder.folder / "out").exists()


@pytest.mark.parametrize("timing", ["Timing constraints are not met.", ""], ids=["missed", "no word of it"])
def test_missed_timing_is_no_build(whole: Machine, capfd: pytest.CaptureFixture[str], timing: str) -> None:
    whole.builder(results(whole, timing))
    assert clarion_nic.build.main(words(whole)) == 1
    assert "timing is not met, so the images are not taken" in capfd.readouterr().err
    assert not (whole.folder / "out" / manifest.NAME).exists()


def test_a_shell_that_builds_nothing_without_an_error(
    whole: Machine, capfd: pytest.CaptureFixture[str]
) -> None:
    assert clarion_nic.build.main(words(whole)) == 1  # Vivado ends with 0, as after a failed run of it
    assert "open_nic_shell.bit: the shell's build did not make it" in capfd.readouterr().err


def test_vivado_fails(whole: Machine, capfd: pytest.CaptureFixture[str]) -> None:
    whole.builder("exit 3")
    assert clarion_nic.build.main(words(whole)) == 1
    assert capfd.readouterr().err == "build: vivado: ended with status 3\n"


def test_an_interrupt_is_one_line(builder: Machine) -> None:
    builder.program("make", "kill -INT $PPID")
    done = build(builder)
    assert (done.returncode, done.stderr) == (1, "build: interrupted\n")


def test_an_hls_tool_that_fails_leaves_nothing(builder: Machine) -> None:
    builder.program("make", "exit 2")
    done = build(builder)
    assert (done.returncode, done.stderr) == (1, "build: make: ended with status 2\n")
    assert not (builder.folder / "out").exists()


def test_a_function_that_the_hls_tool_did_not_make(whole: Machine, capfd: pytest.CaptureFixture[str]) -> None:
    (whole.folder / "verilog/u55c/clarion_control.sv").unlink()
    assert clarion_nic.build.main(words(whole)) == 1
    assert "clarion_control.sv: not found after make hls-verilog; see" in capfd.readouterr().err
    assert not (whole.folder / "out").exists()


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("vivado", "vivado: not found on PATH; install it and source its settings64.sh"),
        (
            "vitis_hls",
            "vitis-run or vitis_hls or v++ or bambu: not found on PATH; install Vitis HLS of any version",
        ),
    ],
)
def test_tools_are_looked_for_first(builder: Machine, program: str, told: str) -> None:
    (builder.bin / program).unlink()
    done = build(builder)
    assert done.returncode == 1
    assert told in done.stderr
    assert builder.calls() == []


@pytest.mark.parametrize("program", clarion_nic.build.HLS)
def test_any_hls_tool_will_do(builder: Machine, program: str) -> None:
    (builder.bin / "vitis_hls").unlink()
    builder.program(program)
    builder.program("make", "exit 2")
    assert build(builder).stderr == "build: make: ended with status 2\n"


def test_a_dry_run_needs_no_tools(bare: Machine) -> None:
    shell(bare.folder / "shell")
    done = build(bare, "--dry-run")
    assert done.returncode == 0
    assert "# missing: vivado: not found on PATH" in done.stdout
    assert "-tclargs -board au55c" in done.stdout


def test_a_folder_that_is_no_shell(bare: Machine) -> None:
    (bare.folder / "shell").mkdir()
    done = build(bare)
    assert (
        done.returncode,
        "no script/build.tcl in it; give a checkout of open-nic-shell" in done.stderr,
    ) == (1, True)


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--board", "u200", "invalid choice: 'u200'"),
        ("--mode", "router", "invalid choice: 'router'"),
        ("--buckets", "5000", "5000: a power of two from 4096 to 65536 is needed"),
        ("--buckets", "131072", "131072: a power of two"),
        ("--queue-beats", "many", "invalid number value: 'many'"),
        ("--jobs", "0", "invalid choice: 0"),
    ],
)
def test_options_out_of_range(builder: Machine, option: str, value: str, reason: str) -> None:
    done = build(builder, option, value)
    assert done.returncode == 2
    assert reason in done.stderr


def test_the_same_images_make_the_same_package(bare: Machine, tmp_path: Path) -> None:
    folder = images(bare.folder / "images")
    first, second = tmp_path / "1.tar.gz", tmp_path / "2.tar.gz"
    assert bare.run("package", folder, "--out", first).returncode == 0
    for path in folder.iterdir():
        path.touch()
    assert bare.run("package", folder, "--out", second).returncode == 0
    assert first.read_bytes() == second.read_bytes()
    with package.opened(first) as opened:
        assert manifest.read(opened) == manifest.read(folder)


def test_images_that_were_changed_are_not_packed(bare: Machine) -> None:
    folder = images(bare.folder / "images")
    (folder / "clarion-u55c-nic.bit").write_bytes(b"another")
    done = bare.run("package", folder)
    assert done.returncode == 1
    assert "not the file that was built (SHA-256)" in done.stderr
    assert not (bare.folder / "images.tar.gz").exists()


def test_boards_keep_clear_of_their_factory_image() -> None:
    for board in boards.all_boards():
        assert board.golden_address < board.user_address < board.flash_bytes
        assert board.part.startswith(f"xc{board.name}-")
        assert board.clock_hz == 250_000_000


def test_a_board_file_with_a_typing_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (boards.BOARDS / "u250.yaml").read_text().replace("user_address", "user_adress")
    (tmp_path / "u250.yaml").write_text(text)
    monkeypatch.setattr(boards, "BOARDS", tmp_path)
    with pytest.raises(Exception, match="user_address, user_adress: missing, or not a field of a board"):
        boards.load("u250")


def test_the_manifest_is_plain_json(tmp_path: Path) -> None:
    folder = images(tmp_path / "images")
    values = json.loads((folder / manifest.NAME).read_text())
    assert values["format"] == "clarion-nic 1"
    assert values["commit"] == manifest.read(folder).commit
