# SPDX-License-Identifier: Apache-2.0
"""simple_switch_grpc as a process, and as a switch of Mininet."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clarion_base import processes
from clarion_base.errors import RunFailedError
from clarion_lab.engines.bmv2 import devices
from clarion_lab.engines.mininet_nodes import Switch
from clarion_lab.machine import children
from clarion_lab.machine.bmv2_installation import PROGRAM
from clarion_lab.machine.state import RunState

READY_TIMEOUT_S = 20.0


class Bmv2Process:
    """One simple_switch_grpc without a program, reachable over P4Runtime and Thrift on this machine."""

    def __init__(self, state: RunState, name: str, device_id: int, directory: Path) -> None:
        self.name = name
        self.device_id = device_id
        self.grpc_port, self.thrift_port = free_ports(2)
        self._state = state
        self._log = directory / f"bmv2-{name}.log"
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The running process's id."""
        assert self._child is not None
        return self._child.pid

    def spawn(self, ports: Mapping[int, str]) -> None:
        """Starts it on devices by port number; it is ready when `await_ready` returns."""
        notifications = self._state.directory / f"{self.name}.ipc"  # its default name is one for all
        options = [
            *("--no-p4", "--device-id", str(self.device_id), "--thrift-port", str(self.thrift_port)),
            *("--notifications-addr", f"ipc://{notifications}", "--log-console", "--log-level", "error"),
            *(text for number, device in ports.items() for text in ("-i", f"{number}@{device}")),
            *("--", "--grpc-server-addr", f"127.0.0.1:{self.grpc_port}"),
        ]
        with self._log.open("wb") as log:
            self._child = children.spawn(
                self._state,
                f"{PROGRAM} {self.name}",
                [PROGRAM, *options],
                stdout=log,
                stderr=subprocess.STDOUT,
                prepare=processes.punctual_switch,
            )

    def await_ready(self) -> None:
        """Returns when both services take connections; RunFailedError quotes the process if it died."""
        deadline = time.monotonic() + READY_TIMEOUT_S
        for port in (self.grpc_port, self.thrift_port):
            while not _listens(port):
                self.check()
                if time.monotonic() > deadline:
                    raise RunFailedError(f"{PROGRAM} {self.name}: not ready after {READY_TIMEOUT_S:g} s")
                time.sleep(0.02)

    def check(self) -> None:
        """RunFailedError if it has died."""
        status = self._child.poll() if self._child is not None else None
        if status is not None:
            said = processes.last_line(self._log.read_text(errors="replace"))
            raise RunFailedError(f"{PROGRAM} {self.name}: {said or f'stopped with status {status}'}")

    def stop(self) -> None:
        """Stops it, in bounded time."""
        if self._child is not None:
            processes.stop([self._child])


class Bmv2Switch(Switch):  # type: ignore[misc]
    """A simple_switch_grpc in the namespace of the runner; its ports are its devices, in their order."""

    def __init__(self, name: str, process: Bmv2Process, ports: list[str], **params: Any) -> None:
        super().__init__(name, **params)
        self.process = process
        self._ports = ports

    def start(self, controllers: list[Any]) -> None:
        """Prepares the devices and starts the process; program, entries and rates come when all run."""
        devices.prepare(self._ports)
        self.process.spawn(dict(enumerate(self._ports, 1)))

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803 - Mininet's name
        """Stops the process and removes its devices."""
        self.process.stop()
        super().stop(deleteIntfs)


def free_ports(count: int) -> list[int]:
    """TCP ports of this machine that nothing listens on."""
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in held:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in held]


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
