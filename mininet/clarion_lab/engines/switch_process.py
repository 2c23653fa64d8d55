# SPDX-License-Identifier: Apache-2.0
"""clarion-switch as a part of a run: its files in the run's directories, and its end with the run."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clarion_base import processes
from clarion_lab.machine.state import RunState
from clarion_switch import process
from clarion_switch.client import Client

UNASKED_DROPS = ("rx_kernel_drops", "rx_oversized", "tx_errors", "memory_drops")


class SwitchProcess:
    """One process of clarion-switch, or of a program that takes its place; it may hold many switches."""

    def __init__(
        self,
        state: RunState,
        config: dict[str, Any],
        directory: Path,
        program: str = process.PROGRAM,
        options: Sequence[str] = (),
        cpu: int | None = None,
    ) -> None:
        self._program = program
        self._options = options
        self._cpu = cpu
        self._state = state
        self._config = config
        self._directory = directory
        self._log = directory / "switch.log"
        self._child: subprocess.Popen[bytes] | None = None
        self._client: Client | None = None

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
        with self._log.open("wb") as log:
            self._child = process.start(config, control, log, self._program, self._options, self._cpu)
        self._state.process(self._program, self._child.pid)
        process.await_ready(self._child, self._program, self._log)
        self._client = Client(control, self._program)

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        """One command of the control socket and its reply."""
        assert self._client is not None
        return self._client.ask(command, **fields)

    def check(self) -> None:
        """RunFailedError if the process has died."""
        if self._child is not None and self._child.poll() is not None:
            raise processes.ended(self._child, self._program, self._log)

    def stop(self) -> None:
        """Stops it; its truth log is complete afterwards."""
        if self._client is not None:
            self._client.close()
            self._client = None
        if self._child is not None:
            processes.stop([self._child])


def control_socket(state: RunState) -> Path:
    """Where the process of a run takes commands."""
    return state.directory / "switch.sock"


def unasked_drops(port: dict[str, Any]) -> int:
    """What the process lost at a port, given its statistics, because the machine was too slow."""
    return sum(int(port[kind]) for kind in UNASKED_DROPS)
