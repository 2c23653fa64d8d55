# SPDX-License-Identifier: Apache-2.0
"""The embedded switch as a process: start, statistics over its control socket, stop."""

from __future__ import annotations

import json
import select
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clarion_base import paths, processes
from clarion_base.errors import RunFailedError
from clarion_base.faults import Fault
from clarion_lab.machine import children
from clarion_lab.machine.state import RunState

READY_TIMEOUT_S = 15.0
UNASKED_DROPS = ("rx_kernel_drops", "rx_oversized", "tx_errors", "memory_drops")


class SwitchProcess:
    """One process of clarion-switch, or of a program that takes its place; it may hold many switches."""

    def __init__(
        self,
        state: RunState,
        config: dict[str, Any],
        directory: Path,
        program: str = "clarion-switch",
        options: Sequence[str] = (),
    ) -> None:
        self._program = program
        self._options = options
        self._state = state
        self._config = config
        self._directory = directory
        self._child: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._buffer = b""

    @property
    def pid(self) -> int:
        """The running process's id."""
        assert self._child is not None
        return self._child.pid

    def start(self) -> None:
        """Returns when the switch forwards; RunFailedError carries its own line if it does not."""
        config = self._directory / "switch.json"
        config.write_text(json.dumps(self._config, indent=1) + "\n")
        control = control_socket(self._state)
        with (self._directory / "switch.log").open("wb") as log:
            self._child = children.spawn(
                self._state,
                self._program,
                [
                    *(paths.binary(self._program), "--config", str(config), "--control", str(control)),
                    *self._options,
                ],
                stdout=subprocess.PIPE,
                stderr=log,
            )
        self._await_ready()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(5.0)
        self._socket.connect(str(control))

    def _await_ready(self) -> None:
        assert self._child is not None
        assert self._child.stdout is not None
        deadline = time.monotonic() + READY_TIMEOUT_S
        while select.select([self._child.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
            line = self._child.stdout.readline()
            if line.strip() == b"ready":
                return
            if not line:
                self._child.wait()
                raise RunFailedError(self._last_words())
        raise RunFailedError(f"{self._program}: not ready after {READY_TIMEOUT_S:g} s")

    def _last_words(self) -> str:
        said = processes.last_line((self._directory / "switch.log").read_text(errors="replace"))
        status = self._child.returncode if self._child else None
        return said or f"{self._program}: stopped with status {status}"

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        """One command of the control socket and its reply."""
        assert self._socket is not None
        try:
            self._socket.sendall(json.dumps({"cmd": command, **fields}).encode() + b"\n")
            while b"\n" not in self._buffer:
                chunk = self._socket.recv(1 << 20)
                if not chunk:
                    raise OSError("closed")
                self._buffer += chunk
        except OSError as error:
            raise RunFailedError(f"{self._program}: control socket: {error}") from error
        line, _, self._buffer = self._buffer.partition(b"\n")
        reply: dict[str, Any] = json.loads(line)
        if "fault" in reply:
            raise RunFailedError(f"{self._program}: {Fault.from_json(reply['fault'])}")
        return reply

    def check(self) -> None:
        """RunFailedError if the process has died."""
        if self._child is not None and self._child.poll() is not None:
            raise RunFailedError(self._last_words())

    def stop(self) -> None:
        """Stops it; its truth log is complete afterwards."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._child is not None:
            processes.stop([self._child])
            if self._child.stdout:
                self._child.stdout.close()


def control_socket(state: RunState) -> Path:
    """Where the process of a run takes commands."""
    return state.directory / "switch.sock"


def unasked_drops(port: dict[str, Any]) -> int:
    """What the process lost at a port, given its statistics, because the machine was too slow."""
    return sum(int(port[kind]) for kind in UNASKED_DROPS)
