# SPDX-License-Identifier: Apache-2.0
"""p4runtime-shell, unmodified. It needs a protobuf older than ours, so it has an environment of its own."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from clarion_base.paths import ROOT
from fakes.p4runtime_messages import P4INFO
from integration.agent_net import SWITCH, switch_and_agent

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


def test_a_session_of_the_shell(shell_python: Path, tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"anything")
    with switch_and_agent(tmp_path) as (switch, agent):
        done = subprocess.run(
            [str(shell_python), str(HERE / "shell_session.py"), agent.address, str(P4INFO), str(binary)],
            env={**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"},
            capture_output=True,
            text=True,
            timeout=SESSION_TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.splitlines()[-1] == "done"
        assert switch.entries()["flood"] == [1, 2]
