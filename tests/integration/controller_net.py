# SPDX-License-Identifier: Apache-2.0
"""A controller process, switches of both kinds, and a REST client, for tests and benchmarks."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from clarion_base.paths import binary
from clarion_base.processes import die_with_parent
from clarion_contract import entries, pipeline
from clarion_contract.settings import PORT_TABLES, PortSettings
from clarion_lab.machine import bmv2_installation
from clarion_p4rt import table_entries
from clarion_p4rt.errors import SwitchError
from clarion_p4rt.session import Session
from fakes.ports import free_port
from integration.waiting import wait_until

CLARION = (sys.executable, "-m", "clarion")
PATIENCE_S = 60.0
Json = dict[str, Any]


def listens(address: str) -> bool:
    """Whether the address accepts connections."""
    host, _, port = address.rpartition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


class Process:
    """A command with its output in a file; it is killed when this process dies."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self.log = log
        with log.open("wb") as out:
            self.child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent if threading.current_thread() is threading.main_thread() else None,
            )

    def await_text(self, text: str) -> str:
        """Waits for the first line with this text, and returns it."""

        def found() -> bool:
            assert self.child.poll() is None, f"ended: {self.log.read_text()[-2000:]}"
            return any(text in line for line in self._lines())

        wait_until(found, f"{text!r} in {self.log}", PATIENCE_S)
        return next(line for line in self._lines() if text in line)

    def kill(self) -> None:
        """kill -9."""
        self.child.kill()
        self.child.wait()

    def stop(self) -> int:
        """Sends SIGTERM; returns the exit status."""
        if self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.kill()
        return self.child.returncode

    def _lines(self) -> list[str]:
        return [
            line
            for line in self.log.read_text(errors="replace").splitlines(keepends=True)
            if line[-1] == "\n"
        ]


class FarSide(Protocol):
    """Switches behind one P4Runtime address."""

    address: str
    devices: Sequence[int]

    def start(self) -> None:
        """Starts or restarts the server, at the same address each time."""

    def kill(self) -> None:
        """kill -9 of the P4Runtime server."""

    def stop(self) -> None:
        """Stops all processes and removes their files."""


class Embedded:
    """`clarion switch serve` with clarion-switch, whose switches have two ports wired to each other."""

    def __init__(
        self, directory: Path, switches: int = 1, *, watched: bool = False, xcp: bool = False
    ) -> None:
        """`watched`: clarion-switch is a child of the test, with its control socket at `control`. `xcp`: its
        configuration switches on XCP at the first port.
        """
        self.control = directory / "control.sock"
        self._watched = watched
        self._data_plane: Process | None = None
        self.devices: Sequence[int] = range(1, switches + 1)
        self.address = f"127.0.0.1:{free_port()}"
        self._directory = directory
        self._config = directory / "switches.json"
        config = {
            "switches": [
                {
                    "name": f"s{number}",
                    "ports": [
                        {
                            "name": "a",
                            "peer": f"s{number}:b",
                            "rate_bps": 100_000_000,
                            "xcp": {"enabled": xcp},
                        },
                        {"name": "b", "peer": f"s{number}:a", "rate_bps": 100_000_000},
                    ],
                }
                for number in self.devices
            ]
        }
        self._config.write_text(json.dumps(config))
        self._process: Process | None = None

    def start(self) -> None:
        source = ["--config", str(self._config)]
        if self._watched:
            options = [*source, "--control", str(self.control)]
            self._data_plane = Process([binary("clarion-switch"), *options], self._directory / "switch.log")
            self._data_plane.await_text("ready")
            source = ["--control", str(self.control)]
        # The files that a killed agent leaves in its temporary directory go with this directory.
        command = ["env", f"TMPDIR={self._directory}", *CLARION, "switch", "serve", *source]
        command += ["--listen", self.address]
        self._process = Process(command, self._directory / "agent.log")
        self._process.await_text("serving P4Runtime")

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()

    def kill_data_plane(self) -> None:
        """kill -9 of clarion-switch behind the agent, which restarts it."""
        assert self._process is not None
        pid = self._process.child.pid
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)

    def stop(self) -> None:
        for process in (self._process, self._data_plane):
            if process is not None:
                process.stop()


class Bmv2:
    """simple_switch_grpc, at first without a program; it has the interfaces given by port. `tls`: the
    authority of its clients, and its own certificate with the key.
    """

    devices: Sequence[int] = (1,)

    def __init__(
        self,
        directory: Path,
        interfaces: Mapping[int, str] | None = None,
        tls: tuple[Path, Path] | None = None,
    ) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self._directory = directory
        self._interfaces = interfaces or {}
        self._tls = tls
        self._process: Process | None = None

    def start(self) -> None:
        options = ["--no-p4", "--device-id", "1", "--thrift-port", str(free_port())]
        notices = self._directory / "bmv2.ipc"  # the default path is shared by all instances
        options += ["--notifications-addr", f"ipc://{notices}"]
        for port, name in self._interfaces.items():
            options += ["--interface", f"{port}@{name}"]
        target = ["--grpc-server-addr", self.address, "--cpu-port", "63"]
        if self._tls is not None:
            authority, own = map(str, self._tls)
            target += [
                "--grpc-server-ssl",
                "--grpc-server-with-client-auth",
                "--grpc-server-cacert",
                authority,
            ]
            target += ["--grpc-server-cert", own, "--grpc-server-key", own]
        command = [bmv2_installation.PROGRAM, *options, "--", *target]
        self._process = Process(command, self._directory / "bmv2.log")
        wait_until(lambda: listens(self.address), f"no listener at {self.address}", PATIENCE_S)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()  # it has no orderly shutdown


@contextlib.contextmanager
def running(side: FarSide) -> Iterator[None]:
    """The far side, running; stopped in any case."""
    try:
        side.start()
        yield
    finally:
        side.stop()


def settings_on(address: str, device: int, ports: Sequence[int]) -> dict[int, PortSettings]:
    """The settings on a switch, read without the controller; {} while they cannot be read."""

    async def read() -> dict[int, PortSettings]:
        session = Session("check", address, device, pipeline.load(), insecure=True)
        await session.connect()
        try:
            read = await session.read("port tables", table_entries.all_of(PORT_TABLES))
            return entries.port_settings(ports, table_entries.decoded(read))
        except SwitchError:
            return {}
        finally:
            await session.close()

    return asyncio.run(read())


class ServedController:
    """`clarion controller serve` on a store of its own, with an admin's token; after a kill it starts again
    at another port.
    """

    def __init__(
        self, directory: Path, store: str | None = None, *options: str, dashboard: bool = False
    ) -> None:
        if not dashboard:
            options = ("--no-dashboard", *options)
        self.store = store or str(directory / "controller.db")
        self._directory = directory
        self._options = options
        self._process: Process | None = None
        self._starts = 0
        self.url = ""
        self.token = ""

    def start(self) -> None:
        self._starts += 1
        command = [
            *CLARION, "controller", "serve", "--store", self.store, "--listen", "127.0.0.1:0",
            "--no-experiments", "--requests-per-minute", "100000000", *self._options,
        ]  # fmt: skip
        self._process = Process(command, self._directory / f"controller-{self._starts}.log")
        line = self._process.await_text("API at")
        self.url = next(word for word in line.split() if word.startswith("http"))
        if not self.token:
            self.token = create_token(self.store, "test")

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()

    def stop(self) -> int:
        return 0 if self._process is None else self._process.stop()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.child.pid

    @property
    def log(self) -> str:
        assert self._process is not None
        return self._process.log.read_text()

    def api(self) -> Api:
        """A client with a connection of its own."""
        return Api(self.url, self.token)

    def run_options(self) -> list[str]:
        """Options that put a `clarion run` under this controller."""
        token_file = self._directory / "token"
        token_file.write_text(self.token)
        return ["--controller", self.url, "--token-file", str(token_file)]

    def __enter__(self) -> ServedController:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def create_token(store: str, name: str, role: str = "admin", prefix: Sequence[str] = ()) -> str:
    """Creates a token by the command line, as a user would."""
    done = subprocess.run(
        [*prefix, *CLARION, "token", "create", name, "--role", role, "--store", store],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    )
    return done.stdout.strip()


class Api:
    """REST over one persistent connection, reopened after an error."""

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE_S)
        self._headers = {"Authorization": f"Bearer {token}"}

    def __enter__(self) -> Api:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def ask(self, method: str, path: str, body: Json | None = None, **headers: str) -> tuple[int, Any]:
        """Status and document; OSError or HTTPException if the controller has gone."""
        sent = dict(self._headers, **headers)
        text = None
        if body is not None:
            kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
            sent["Content-Type"] = kind
            text = json.dumps(body)
        try:
            self._connection.request(method, path, text, sent)
            reply = self._connection.getresponse()
            read = reply.read()
        except BaseException:
            self._connection.close()
            raise
        return reply.status, json.loads(read) if read else None

    def get(self, path: str) -> Any:
        """The document of a successful GET."""
        status, document = self.ask("GET", path)
        assert status == 200, (path, status, document)
        return document

    def add(self, name: str, address: str, device: int, ports: Sequence[int] = (1, 2)) -> None:
        """Adds a switch."""
        body = {"name": name, "address": address, "device_id": device, "ports": list(ports)}
        status, document = self.ask("POST", "/v1/switches", body)
        assert status == 201, document

    def in_sync(self, name: str) -> bool:
        """Whether the controller reports the switch as in sync."""
        document = self.get(f"/v1/switches/{name}")
        return bool(document["status"]["state"] == "in-sync")

    def await_sync(self, *names: str) -> None:
        """Waits until all named switches are in sync."""
        for name in names:
            wait_until(lambda name=name: self.in_sync(name), f"{name} in sync", PATIENCE_S)  # type: ignore[misc]
