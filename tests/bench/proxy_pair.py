# SPDX-License-Identifier: Apache-2.0
"""Pairs of clarion-proxy for benchmarks, TCP programs at their ends, and namespaces around both."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from integration.proxy_net import Proxy, make_keys
from integration.switch_net import inside, run

PREFIX = "cbp"  # of the namespaces, so that integration tests can run beside
TUNNEL_PORT, SERVICE_PORT, FORWARDED_PORT = 4433, 5201, 7001
CHUNK_BYTES = 1 << 18


@dataclass(frozen=True)
class Place:
    """Where one end of a pair runs, and the address by which the other end reaches it."""

    netns: str
    address: str


@contextlib.contextmanager
def namespaces(*names: str) -> Iterator[list[str]]:
    """Network namespaces with loopback, and with nothing after."""
    made = [f"{PREFIX}-{name}" for name in names]
    for netns in made:
        run("ip", "netns", "del", netns, check=False)
    try:
        for netns in made:
            run("ip", "netns", "add", netns)
            run("ip", "-n", netns, "link", "set", "lo", "up")
        yield made
    finally:
        for netns in made:
            run("ip", "netns", "del", netns, check=False)


class Pair:
    """A client and a server with a tunnel; the client takes connections to `forwarded` for `service`."""

    def __init__(self, client: Place, server: Place, directory: Path, options: Sequence[str]) -> None:
        self.client_place, self.server_place = client, server
        self.forwarded = ("127.0.0.1", FORWARDED_PORT)
        self.service = (server.address, SERVICE_PORT)
        keys = directory / "keys"
        if not keys.exists():
            make_keys(directory, "ground", "ship")
        ends = [directory / role for role in ("server", "client")]
        for end in ends:
            end.mkdir(exist_ok=True)
        service = endpoint(server.address, SERVICE_PORT)
        self.server = Proxy(
            server.netns, ends[0], "server", "--listen", endpoint(server.address, TUNNEL_PORT),
            "--keys", str(keys), "--name", "ground", "--allow", service, *options,
        )  # fmt: skip
        self.client = Proxy(
            client.netns, ends[1], "client", "--peer", endpoint(server.address, TUNNEL_PORT),
            "--peer-name", "ground", "--keys", str(keys), "--name", "ship",
            "--forward", f"{endpoint(*self.forwarded)}={service}", *options,
        )  # fmt: skip

    def __enter__(self) -> Pair:
        return self

    def __exit__(self, *_: object) -> None:
        for proxy in (self.client, self.server):
            proxy.close()

    def listen(self, backlog: int = 4096) -> socket.socket:
        """The service's listener."""
        family = socket.AF_INET6 if ":" in self.server_place.address else socket.AF_INET
        with inside(self.server_place.netns):
            return socket.create_server(self.service, family=family, backlog=backlog)

    def dial(self) -> socket.socket:
        """A connection to the service, through the tunnel."""
        with inside(self.client_place.netns):
            return socket.create_connection(self.forwarded)


def endpoint(address: str, port: int) -> str:
    """As options have it."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def drain(connection: socket.socket) -> int:
    """Takes all up to the end; the bytes."""
    buffer, total = bytearray(CHUNK_BYTES), 0
    while count := connection.recv_into(buffer):
        total += count
    return total


def fill(connection: socket.socket, size_bytes: int) -> None:
    """Sends so many random bytes, and says that it was all."""
    chunk = memoryview(os.urandom(CHUNK_BYTES))
    for begin in range(0, size_bytes, CHUNK_BYTES):
        connection.sendall(chunk[: min(CHUNK_BYTES, size_bytes - begin)])
    connection.shutdown(socket.SHUT_WR)


def upload(pair: Pair, size_bytes: int) -> None:
    """Carries so many bytes from a TCP program to another, and returns when they are there."""
    with pair.listen() as listener, pair.dial() as source:
        sender = threading.Thread(target=fill, args=(source, size_bytes))
        sender.start()
        sink, _ = listener.accept()
        with sink:
            arrived = drain(sink)
        sender.join()
    if arrived != size_bytes:
        raise AssertionError(f"{arrived} of {size_bytes} bytes arrived")
