# SPDX-License-Identifier: Apache-2.0
"""The units of clarion-proxy: systemd understands them, and the program has the options in them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNITS = sorted((ROOT / "hosts/proxy/systemd").glob("*.service"))
PROGRAM = ROOT / "build/cargo/release/clarion-proxy"
INSTALLED = "/usr/bin/clarion-proxy"

each_unit = pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)


def complaints(unit: Path, text: str, folder: Path) -> str:
    """What systemd-analyze says of a unit; the program need not be installed."""
    copy = folder / unit.name
    copy.write_text(text.replace(INSTALLED, shutil.which("true") or "/bin/true"))
    command = ["systemd-analyze", "verify", "--man=no", str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


def commands(unit: Path) -> list[list[str]]:
    """The calls of the program, without it."""
    found = re.findall(rf"^Exec\w+=[-+]*{INSTALLED} (.+)$", unit.read_text(), re.MULTILINE)
    assert found, f"{unit.name} does not call {INSTALLED}"
    return [line.split() for line in found]


def test_both_roles_have_a_unit() -> None:
    assert [path.name for path in UNITS] == ["clarion-proxy-client@.service", "clarion-proxy-server@.service"]


needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed (apt install systemd)"
)


@needs_systemd
@each_unit
def test_systemd_understands_a_unit(unit: Path, tmp_path: Path) -> None:
    text = unit.read_text()
    assert complaints(unit, text, tmp_path) == ""
    assert "Restrat" in complaints(unit, text.replace("Restart=", "Restrat="), tmp_path), "it would say so"


@pytest.mark.skipif(not PROGRAM.exists(), reason="clarion-proxy is not built (make build)")
@each_unit
def test_the_program_has_the_options_that_a_unit_uses(unit: Path) -> None:
    for command, *arguments in commands(unit):
        help_text = subprocess.run(
            [str(PROGRAM), command, "--help"], capture_output=True, text=True, timeout=60, check=True
        ).stdout
        for option in (argument for argument in arguments if argument.startswith("--")):
            assert re.search(rf"(?m)^\s+(-\w, )?{option}\b", help_text), f"{command} has no {option}"


@each_unit
def test_a_unit_runs_the_role_of_its_name(unit: Path) -> None:
    role = re.fullmatch(r"clarion-proxy-(\w+)@\.service", unit.name)
    assert role is not None
    assert commands(unit)[0] == [role[1], "--config", "/etc/clarion/proxy/%i.toml"]


@each_unit
def test_an_end_of_one_instance_leaves_the_sockets_of_the_others(unit: Path) -> None:
    text = unit.read_text()
    assert "\nRuntimeDirectory=clarion/proxy\n" in text
    assert "\nRuntimeDirectoryPreserve=yes\n" in text
