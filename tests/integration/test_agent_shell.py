# SPDX-License-Identifier: Apache-2.0
"""p4runtime-shell, unmodified. It needs a protobuf older than ours, so it has an environment of its own."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from clarion_base.paths import ROOT
from fakes.p4runtime_messages import P4INFO
from integration.agent_net import MAC, SWITCH, switch_and_agent

pytestmark = pytest.mark.skipif(not SWITCH.exists(), reason=f"{SWITCH}: not built")

HERE = Path(__file__).parent
LOCK = HERE / "p4runtime-shell.lock"
INSTALL_TIMEOUT_S = 240
SESSION_TIMEOUT_S = 60


@pytest.fixture(scope="module")
def shell_python() -> Path:
    """The environment, made once under build/ for each state of the lock."""
    directory = ROOT / "build" / f"p4runtime-shell-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]}"
    python = directory / "bin/python"
    directory.parent.mkdir(exist_ok=True)
    with (directory.parent / "p4runtime-shell.making").open("w") as making:
        fcntl.flock(making, fcntl.LOCK_EX)
        if not (directory / "complete").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(directory)], check=True)
            install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            install += ["--retries=1", "--timeout=15", "--require-hashes", "-r", str(LOCK)]
            try:
                done = subprocess.run(
                    install, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False
                )
            except subprocess.TimeoutExpired:
                pytest.skip("p4runtime-shell: the package registry does not answer")
            if done.returncode:
                pytest.skip(f"p4runtime-shell cannot be installed: {done.stderr.strip().splitlines()[-1]}")
            (directory / "complete").touch()
    return python


def run(command: list[str], typed: str | None = None) -> str:
    """What a program of the shell's environment prints."""
    done = subprocess.run(
        command,
        env={**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"},
        input=typed,
        capture_output=True,
        text=True,
        timeout=SESSION_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    """What the shell takes for a compiled program."""
    made = tmp_path / "binary"
    made.write_bytes(b"anything")
    return made


def test_sessions_of_the_shell(shell_python: Path, binary: Path, tmp_path: Path) -> None:
    with switch_and_agent(tmp_path) as (switch, agent):
        session = [str(shell_python), str(HERE / "shell_session.py"), agent.address, str(P4INFO), str(binary)]
        assert run(session).splitlines()[-1] == "done"
        assert switch.entries()["flood"] == [1, 2]


def test_lines_typed_into_the_shell(shell_python: Path, binary: Path, tmp_path: Path) -> None:
    typed = """
        te = table_entry["l2_forward"](action="forward")
        te.match["dst_addr"] = "02:00:00:00:00:02"
        te.action["port"] = "2"
        te.insert()
        table_entry["l2_forward"].read(lambda each: print("found", each.action["port"].value))
        multicast_group_entry(1).add(257).add(258).insert()
        APIVersion()
        exit
    """
    with switch_and_agent(tmp_path) as (switch, agent):
        options = ["--grpc-addr", agent.address, "--device-id", "1", "--election-id", "0,1"]
        options += ["--config", f"{P4INFO},{binary}"]
        printed = run([str(shell_python), "-m", "p4runtime_sh", *options], textwrap.dedent(typed))
        assert "found b'\\x02'" in printed, printed
        assert "1.5.0" in printed, printed
        assert switch.entries()["flood"] == [1, 2]
        assert switch.entries()["addresses"] == [[MAC, 2]]
