# SPDX-License-Identifier: Apache-2.0
"""Two namespaces, a pair of proxies between them, and TCP programs at both ends, for their tests."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

from integration.switch_net import inside, run
from integration.waiting import PATIENCE_S, wait_until

ROOT = Path(__file__).resolve().parents[2]
PROXY = Path(os.environ.get("CLARION_PROXY_BIN", ROOT / "build/cargo/release/clarion-proxy"))
CLIENT, SERVER = "cpx-client", "cpx-server"
CLIENT_IP, SERVER_IP = "10.98.0.1", "10.98.0.2"
TUNNEL_PORT = 4433
FORWARDED_PORT = 7001
SERVICE_PORT = 5201
READY = "clarion-proxy ready"


class Ends:
    """The namespaces, joined by a pair of devices."""

    def __init__(self) -> None:
        self.clean()
        for netns in (CLIENT, SERVER):
            run("ip", "netns", "add", netns)
        run(
            "ip",
            "link",
            "add",
            "eth0",
            "netns",
            CLIENT,
            "type",
            "veth",
            "peer",
            "name",
            "eth0",
            "netns",
            SERVER,
        )
        for netns, address in ((CLIENT, CLIENT_IP), (SERVER, SERVER_IP)):
            for command in (f"addr add {address}/24 dev eth0", "link set lo up", "link set eth0 up"):
                run("ip", "-n", netns, *command.split())

    @staticmethod
    def clean() -> None:
        """Removes what is left of this or an earlier test."""
        for netns in (CLIENT, SERVER):
            run("ip", "netns", "del", netns, check=False)

    @contextlib.contextmanager
    def interrupted(self) -> Iterator[None]:
        """Nothing gets through between the namespaces, as in a fade: no device goes down."""
        rules = "table inet fade { chain in { type filter hook input priority 0; iifname eth0 drop; }; }"
        for netns in (CLIENT, SERVER):
            run("ip", "netns", "exec", netns, "nft", rules)
        try:
            yield
        finally:
            for netns in (CLIENT, SERVER):
                run("ip", "netns", "exec", netns, "nft", "delete table inet fade")


class Proxy:
    """A running clarion-proxy."""

    running: ClassVar[list[Proxy]] = []

    def __init__(self, netns: str, directory: Path, *arguments: str, wait: bool = True) -> None:
        self.log_path = directory / f"{netns}-{time.monotonic_ns()}.log"
        self.control = directory / f"{netns}.sock"
        with self.log_path.open("w") as log:
            self.process = subprocess.Popen(
                ["ip", "netns", "exec", netns, str(PROXY), *arguments, "--control", str(self.control)],
                stdout=log, stderr=log)  # fmt: skip
        self.running.append(self)
        if wait:
            self.wait_ready()

    @classmethod
    def end_all(cls) -> None:
        """Those that a failed test has left run."""
        while cls.running:
            proxy = cls.running.pop()
            if proxy.process.poll() is None:
                proxy.kill()

    def log(self) -> str:
        return self.log_path.read_text()

    def wait_ready(self) -> None:
        wait_until(lambda: READY in self.log() or self.process.poll() is not None, f"ready: {self.log()}")
        assert self.process.poll() is None, self.log()

    def kill(self) -> None:
        """As the kernel does to a program that takes too much memory."""
        self.process.kill()
        self.process.wait(PATIENCE_S)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(PATIENCE_S)


def make_keys(directory: Path, *names: str) -> Path:
    """A private CA with certificates of these names."""
    keys = directory / "keys"
    run(str(PROXY), "keys", "init", "--dir", str(keys))
    for name in names:
        run(str(PROXY), "keys", "issue", name, "--dir", str(keys))
    return keys


def start_server(keys: Path, directory: Path, *options: str, name: str = "ground") -> Proxy:
    allow = [] if "--allow" in options else ["--allow", f"{SERVER_IP}:*"]
    return Proxy(
        SERVER, directory, "server", "--listen", f"0.0.0.0:{TUNNEL_PORT}", "--keys", str(keys),
        "--name", name, *allow, *options,
    )  # fmt: skip


def start_client(keys: Path, directory: Path, *options: str, name: str = "ship", wait: bool = True) -> Proxy:
    return Proxy(
        CLIENT, directory, "client", "--peer", f"{SERVER_IP}:{TUNNEL_PORT}", "--peer-name", "ground",
        "--keys", str(keys), "--name", name,
        "--forward", f"127.0.0.1:{FORWARDED_PORT}={SERVER_IP}:{SERVICE_PORT}", *options, wait=wait,
    )  # fmt: skip


class Service:
    """A TCP server behind the server's proxy; each connection is handled in a thread of its own."""

    def __init__(self, handle: Callable[[socket.socket], None]) -> None:
        with inside(SERVER):
            self.listener = socket.create_server((SERVER_IP, SERVICE_PORT), backlog=1024)
        self.handle = handle
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection: socket.socket) -> None:
        connection.settimeout(PATIENCE_S)
        with connection, contextlib.suppress(OSError):
            self.handle(connection)

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def dial() -> socket.socket:
    """A connection through the tunnel."""
    with inside(CLIENT):
        made = socket.create_connection(("127.0.0.1", FORWARDED_PORT), timeout=PATIENCE_S)
    made.settimeout(PATIENCE_S)
    return made


def read_all(connection: socket.socket) -> bytes:
    """All up to the end; an error if the connection was torn."""
    pieces = []
    while piece := connection.recv(1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


def echo(connection: socket.socket) -> None:
    """Sends all back, and ends when the other end has."""
    while piece := connection.recv(1 << 16):
        connection.sendall(piece)
    connection.shutdown(socket.SHUT_WR)


def send_all(connection: socket.socket, payload: bytes) -> None:
    """Sends it, and says that it was all."""
    connection.sendall(payload)
    connection.shutdown(socket.SHUT_WR)
