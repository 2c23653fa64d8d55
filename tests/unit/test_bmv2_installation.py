# SPDX-License-Identifier: Apache-2.0
"""BMv2 as it may be installed: absent, broken, or built without a library."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from clarion_base.errors import UserError
from clarion_lab.engines.bmv2.engine import Bmv2Engine
from clarion_lab.machine import bmv2_installation, doctor
from clarion_lab.machine.bmv2_installation import LIBRARIES, PROGRAM
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import build
from clarion_lab.scenario.topology import plan
from conformance.bmv2 import simple_switch
from conformance.p4_player import PROGRAM as PROGRAM_JSON

Install = Callable[[str, str], None]
# Accepts the two connections of nanomsg and keeps running.
SWITCH = """
import os, pathlib, socket, sys, time
here = pathlib.Path(__file__).parent
(here / "pid").write_text(str(os.getpid()))
addresses = [word.removeprefix("ipc://") for word in sys.argv if word.startswith("ipc://")]
listeners = [socket.create_server(address, family=socket.AF_UNIX) for address in addresses]
connections = []
for listener in listeners:
    connections.append(listener.accept()[0])
    connections[-1].sendall(bytes(8))
time.sleep(60)
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a shell script on a PATH that is otherwise empty."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def write(name: str, script: str) -> None:
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)

    return write


def help_of(*options: str) -> str:
    return f"echo 'Usage: SWITCH_NAME [options] --help {' '.join(options)}'"


def refusal() -> str:
    """The refusal of a run on engine bmv2."""
    document = documents.read(documents.locate("smoke"))
    rate = ("links.bottleneck.rate", "10 Mbit/s")
    scenario = build("smoke", documents.points("smoke", document, [rate])[0].document)
    with pytest.raises(UserError) as refused:
        Bmv2Engine().check_switches(scenario, plan(scenario))
    return str(refused.value)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (help_of("--thrift-port"), "built without nanomsg; docs/p4.md says how to build it"),
        (help_of(), "built without nanomsg and Thrift; docs/p4.md says how to build it"),
        ("echo libpi.so: not there >&2; exit 127", "does not start: libpi.so: not there"),
        (None, "not found; p4lang's packages for Debian and Ubuntu have it: docs/p4.md"),
    ],
)
def test_a_switch_that_is_of_no_use_is_refused_in_one_line(
    install: Install, script: str | None, reason: str
) -> None:
    if script is not None:
        install(PROGRAM, script)
        install("simple_switch", script)
    assert bmv2_installation.fault() == reason
    assert refusal() == f"engine bmv2: {PROGRAM}: {reason}"
    (finding,) = [finding for finding in doctor.examine() if finding.name == PROGRAM]
    assert finding.line == f"optional {PROGRAM}: for engine bmv2; {reason}"
    assert simple_switch.missing() == f"simple_switch: {reason}"


def test_a_switch_with_all_libraries_is_taken(install: Install) -> None:
    install(PROGRAM, help_of(*LIBRARIES))
    assert bmv2_installation.fault() is None


def test_a_command_line_without_its_module_is_missed(install: Install) -> None:
    install("simple_switch", help_of(*LIBRARIES))
    install("simple_switch_CLI", "echo \"ModuleNotFoundError: No module named 'thrift'\" >&2; exit 1")
    assert simple_switch.missing() == (
        "simple_switch_CLI: does not start: ModuleNotFoundError: No module named 'thrift'"
    )


def test_no_switch_is_left_when_its_command_line_does_not_start(install: Install, tmp_path: Path) -> None:
    (tmp_path / "switch.py").write_text(SWITCH)
    install("simple_switch", f'exec {sys.executable} {tmp_path}/switch.py "$@"')
    install("simple_switch_CLI", "exit 1")
    with pytest.raises(AssertionError, match="simple_switch_CLI fell silent"):
        simple_switch.SimpleSwitch(PROGRAM_JSON, tmp_path)
    process_id = int((tmp_path / "pid").read_text())
    assert not Path(f"/proc/{process_id}").exists()
