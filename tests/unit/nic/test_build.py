# SPDX-License-Identifier: Apache-2.0
"""nic/build.sh with a stand-in for Vivado, and nic/package.sh on its results."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import pytest

import clarion_nic.build
from clarion_contract import boards
from clarion_nic import manifest, package
from clarion_nic.driver.register_map import BLOCK_TYPES, BLOCK_VERSIONS
from unit.nic.machine import Machine, images
from unit.nic.test_dry_runs import shell

MET = "All user specified timing constraints are met."


@pytest.fixture
def builder(bare: Machine) -> Machine:
    """Return a machine that can build: every tool there, and a shell."""
    for program in ("vivado", "vitis_hls", "make"):
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
    """Return a machine for a whole build in this process, with invented HLS units."""
    units = builder.folder / "ip"
    units.mkdir()
    for unit in ("clarion_ingress", "clarion_egress"):
        with zipfile.ZipFile(units / f"{unit}.zip", "w") as archive:
            archive.writestr("component.xml", "<component/>")
    monkeypatch.setattr(clarion_nic.build, "IPS", units)
    monkeypatch.setenv("PATH", str(builder.bin))
    return builder


def test_a_build_leaves_images_and_a_manifest(whole: Machine, capfd: pytest.CaptureFixture[str]) -> None:
    whole.program("vivado", results(whole))
    assert (clarion_nic.build.main(words(whole)), capfd.readouterr().err) == (0, "")
    out = whole.folder / "out"
    made = manifest.read(out)  # with every hash checked
    assert made.board == "u55c"
    assert made.files.keys() == {"clarion-u55c-nic.bit", "clarion-u55c-nic.mcs", "registers.yaml"}
    assert {kind: int(number, 16) for kind, number in made.types.items()} == BLOCK_TYPES
    assert {kind: tuple(map(int, v.split("."))) for kind, v in made.versions.items()} == BLOCK_VERSIONS
    assert f"32'h{made.commit[:8]}" in (out / "work/clarion_build.vh").read_text()
    assert (out / "work/ip_repo/clarion_egress/component.xml").is_file()


@pytest.mark.parametrize("timing", ["Timing constraints are not met.", ""], ids=["missed", "no word of it"])
def test_missed_timing_is_no_build(whole: Machine, capfd: pytest.CaptureFixture[str], timing: str) -> None:
    whole.program("vivado", results(whole, timing))
    assert clarion_nic.build.main(words(whole)) == 1
    assert "timing is not met, so the images are not taken" in capfd.readouterr().err
    assert not (whole.folder / "out" / manifest.NAME).exists()


def test_a_shell_that_builds_nothing_without_an_error(
    whole: Machine, capfd: pytest.CaptureFixture[str]
) -> None:
    assert clarion_nic.build.main(words(whole)) == 1  # Vivado ends with 0, as after a failed run of it
    assert "open_nic_shell.bit: the shell's build did not make it" in capfd.readouterr().err


def test_vivado_fails(whole: Machine, capfd: pytest.CaptureFixture[str]) -> None:
    whole.program("vivado", "exit 3")
    assert clarion_nic.build.main(words(whole)) == 1
    assert capfd.readouterr().err == "build: vivado: ended with status 3\n"


def test_an_interrupt_is_one_line(builder: Machine) -> None:
    builder.program("make", "kill -INT $PPID")
    done = build(builder)
    assert (done.returncode, done.stderr) == (1, "build: interrupted\n")


def test_no_units_from_hls(whole: Machine, capfd: pytest.CaptureFixture[str]) -> None:
    (whole.folder / "ip/clarion_egress.zip").unlink()
    assert clarion_nic.build.main(words(whole)) == 1
    assert "clarion_egress.zip: not found after make hls-ip" in capfd.readouterr().err


@pytest.mark.parametrize("program", ["vivado", "vitis_hls"])
def test_tools_are_looked_for_first(builder: Machine, program: str) -> None:
    (builder.bin / program).unlink()
    done = build(builder)
    assert done.returncode == 1
    assert f"{program}: not found on PATH; install Vivado" in done.stderr
    assert builder.calls() == []


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
