# SPDX-License-Identifier: Apache-2.0
"""Every command of the scripts, for every board and mode, against the recordings in expected/.
CLARION_RECORD=1 writes them again after an intended change.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from clarion_contract import boards
from clarion_nic.manifest import MODES
from unit.nic.machine import Machine, images

EXPECTED = Path(__file__).resolve().parent / "expected"
BOARDS = boards.names()
WAYS = ("volatile", "write", "check", "golden")


def hold(machine: Machine, name: str, text: str) -> None:
    """Compare with the recording."""
    text = machine.told(text)
    path = EXPECTED / f"{name}.txt"
    if os.environ.get("CLARION_RECORD"):
        path.write_text(text)
    assert text == path.read_text()
    assert machine.calls() == [], "a dry run calls nothing"


def shell(folder: Path) -> Path:
    """Return a folder that looks like the shell's."""
    (folder / "plugin/p2p").mkdir(parents=True)
    (folder / "script/board_settings").mkdir(parents=True)
    (folder / "script/build.tcl").touch()
    for board in boards.all_boards():
        (folder / f"script/board_settings/{board.shell_board}.tcl").touch()
    return folder


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("board", BOARDS)
def test_build(bare: Machine, board: str, mode: str) -> None:
    for program in ("vivado", "vitis-run", "make"):
        bare.program(program)
    open_nic = shell(bare.folder / "shell")
    out = bare.folder / "out"
    given = ["--board", board, "--shell", str(open_nic), "--mode", mode, "--out", str(out), "--dry-run"]
    done = bare.run("build", *given)
    assert (done.returncode, done.stderr) == (0, "")
    commit = re.search(r'"commit": "([0-9a-f]{40})"', done.stdout)  # the tree's own
    assert commit
    text = done.stdout.replace(commit[1], "COMMIT").replace(commit[1][:8], "COMMIT8")
    text = re.sub(r'"changed": (true|false)', '"changed": CHANGED', text)
    hold(bare, f"build-{board}-{mode}", re.sub(r"# next: .*\n", "", text))
    assert not out.exists(), "a dry run writes nothing"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("board", BOARDS)
def test_flash(machine: Machine, board: str, mode: str) -> None:
    package = images(machine.folder / "package", board, mode)
    done = machine.flash(package, "--dry-run", board=board)
    assert (done.returncode, done.stderr) == (0, "")
    hold(machine, f"flash-{board}-{mode}", done.stdout)
    assert (machine.function() / "remove").read_text() == ""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("board", BOARDS)
def test_flash_otherwise(machine: Machine, board: str, way: str) -> None:
    package = images(machine.folder / "package", board)
    cable = ["--hw-server", "lab7:3121", "--cable", "21320514G01H"]
    done = machine.flash(package, f"--{way}", *cable, "--dry-run", board=board)
    assert (done.returncode, done.stderr) == (0, "")
    hold(machine, f"flash-{board}-{way}", done.stdout)


@pytest.mark.parametrize("board", BOARDS)
def test_package(bare: Machine, board: str) -> None:
    folder = images(bare.folder / f"{board}-nic", board)
    done = bare.run("package", folder, "--dry-run")
    assert (done.returncode, done.stderr) == (0, "")
    hold(bare, f"package-{board}", done.stdout)


def test_no_recording_is_left_over() -> None:
    builds = {
        f"{script}-{board}-{mode}" for script in ("build", "flash") for board in BOARDS for mode in MODES
    }
    others = {f"flash-{board}-{way}" for board in BOARDS for way in WAYS}
    packages = {f"package-{board}" for board in BOARDS}
    assert {path.stem for path in EXPECTED.iterdir()} == builds | others | packages
