# SPDX-License-Identifier: Apache-2.0
"""Where `clarion switch serve` listens: in the clear only for this machine, and at paths of sockets."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.p4runtime_messages import XCP, insert, table_entry
from integration.agent_net import (
    DEADLINE_S,
    DOCUMENT,
    SWITCH,
    AgentProcess,
    Client,
    end,
    json_file,
)
from integration.controller_net import ServedController

pytestmark = pytest.mark.skipif(not SWITCH.exists(), reason=f"{SWITCH}: not built")


def refusal(directory: Path, *options: str) -> str:
    command = [sys.executable, "-m", "clarion", "switch", "serve", "--config"]
    command += [str(json_file(directory, DOCUMENT)), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]", "192.0.2.1", "switch1.example.org"])
def test_others_could_reprogram_the_switch(tmp_path: Path, host: str) -> None:
    listen = ["--listen", f"{host}:0"]
    assert refusal(tmp_path, *listen) == (
        f"clarion: --listen: {host}: others could reprogram the switch, and read what is sent in the clear; "
        "give --tls-certificate, --tls-key and --tls-client-ca (`clarion keys` makes them), or --insecure\n"
    )
    assert refusal(tmp_path, *listen, "--tls-certificate", "/any.pem") == (
        f"clarion: --listen: {host}: any client could reprogram the switch; give --tls-client-ca, too "
        "(`clarion keys` makes it), or --insecure\n"
    )


def test_whoever_wants_it_so_says_so(tmp_path: Path) -> None:
    config = str(json_file(tmp_path, DOCUMENT))
    agent = AgentProcess("--config", config, "--listen", "0.0.0.0:0", "--insecure")
    try:
        assert agent.address.startswith("0.0.0.0:")
        with Client(agent.address.replace("0.0.0.0", "127.0.0.1")) as client:
            client.primary()
    finally:
        assert end(agent.process)[0] == 0


def test_a_socket_is_its_owners(tmp_path: Path) -> None:
    path = tmp_path / "p4runtime.sock"
    config = str(json_file(tmp_path, DOCUMENT))
    agent = AgentProcess("--config", config, "--listen", f"unix:{path}")
    try:
        assert agent.address == f"unix:{path}"
        assert path.stat().st_mode & 0o777 == 0o600
        with Client(agent.address) as client:
            client.primary().write(insert(table_entry("xcp_port", 2, "set_xcp_port", XCP)))
        with ServedController(tmp_path) as controller, controller.api() as api:
            api.add("s1", agent.address, 1, (1, 2, 3))
            api.await_sync("s1")
        assert refusal(tmp_path, "--listen", agent.address) == (
            f"clarion: --listen: {path}: another process serves there; stop it, or choose another path\n"
        )
        with Client(agent.address) as client:  # the refused one has left it alone
            client.primary(2)
    finally:
        assert end(agent.process)[0] == 0
    assert not path.exists()


def test_the_socket_of_a_killed_agent_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "p4runtime.sock"
    config = str(json_file(tmp_path, DOCUMENT))
    killed = AgentProcess("--config", config, "--listen", f"unix:{path}")
    end(killed.process, signal.SIGKILL)
    assert path.is_socket()
    agent = AgentProcess("--config", config, "--listen", f"unix:{path}")
    try:
        with Client(agent.address) as client:
            client.primary()
    finally:
        assert end(agent.process)[0] == 0


def test_a_path_that_cannot_be(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("precious")
    assert refusal(tmp_path, "--listen", f"unix:{file}") == (
        f"clarion: --listen: {file}: is there already, and no socket; choose another path\n"
    )
    assert file.read_text() == "precious"
    for wrong in ("unix:relative", f"unix:/{'x' * 120}"):
        assert "write unix:/PATH, at most 107 bytes" in refusal(tmp_path, "--listen", wrong)
    assert "cannot listen there" in refusal(tmp_path, "--listen", f"unix:{tmp_path}/none/p4.sock")
