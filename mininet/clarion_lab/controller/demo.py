# SPDX-License-Identifier: Apache-2.0
"""The controller beside `clarion demo`, and of scenarios that restart theirs: it sees the switches of every
run; its dashboard shows them live.
"""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from clarion_base import processes
from clarion_base.errors import RunFailedError

HOST = "127.0.0.1"
PORT = 8080
START_TIMEOUT_S = 60.0
TOKEN = "demo"
SERVING = re.compile(r"(https?://[^/ ]+).*^sign in: (\S+)", re.DOTALL | re.MULTILINE)
CLARION = (sys.executable, "-m", "clarion")


class DemoController:
    """A controller process with a store of its own; both are gone when the demo ends, however it ends."""

    def __init__(self) -> None:
        self.url = ""
        self.sign_in = ""
        self._listen = ""
        self._stack = contextlib.ExitStack()
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def token_file(self) -> Path:
        """The file with the token that runs show to the controller."""
        return self._directory / "token"

    def __enter__(self) -> DemoController:
        with contextlib.ExitStack() as stack:
            self._directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="clarion-demo-")))
            self._create_token()
            stack.callback(self._stop)
            self._start()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def _store(self) -> str:
        return str(self._directory / "controller.sqlite")

    def _create_token(self) -> None:
        command = [*CLARION, "token", "create", TOKEN, "--role", "admin", "--store", self._store]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise RunFailedError(processes.last_line(made.stderr) or "clarion token: failed")
        self.token_file.touch(0o600)
        self.token_file.write_text(made.stdout.strip() + "\n")

    def _start(self) -> None:
        self._listen = f"{HOST}:{PORT if _is_free(PORT) else 0}"
        path = self._directory / "controller.log"
        self._child = self._spawn()
        found = processes.await_output(self._child, "the controller", SERVING, START_TIMEOUT_S, path)
        self.url, self.sign_in = found.groups()
        self._listen = self.url.partition("://")[2]

    def _spawn(self) -> subprocess.Popen[bytes]:
        command = [*CLARION, "controller", "serve", "--listen", self._listen, "--store", self._store]
        command += ["--sign-in-link", TOKEN]
        with (self._directory / "controller.log").open("ab") as log:
            return processes.background(command, stdout=subprocess.PIPE, stderr=log)

    def restart(self) -> None:
        """Kills it and starts it again at its address; returns before it serves."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
        self._child = self._spawn()

    def _stop(self) -> None:
        if self._child is not None:
            processes.stop([self._child])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
