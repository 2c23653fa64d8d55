# SPDX-License-Identifier: Apache-2.0
"""clarion-proxy between two namespaces: what TCP programs at its ends see, whatever happens between them."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.proxy_net import (
    FORWARDED_PORT,
    SERVICE_PORT,
    Ends,
    Proxy,
    Service,
    dial,
    echo,
    make_keys,
    read_all,
    send_all,
    start_client,
    start_server,
)
from integration.waiting import PATIENCE_S, wait_until

pytestmark = pytest.mark.root


@pytest.fixture
def server(ends: Ends, keys: Path, tmp_path: Path) -> Iterator[Proxy]:
    made = start_server(keys, tmp_path)
    yield made
    made.close()


@pytest.fixture
def client(server: Proxy, keys: Path, tmp_path: Path) -> Iterator[Proxy]:
    made = start_client(keys, tmp_path)
    yield made
    made.close()


class Torn:
    """Notes how connections of a service end: by an error, or as if all were well."""

    def __init__(self) -> None:
        self.errors: list[int | None] = []
        self.ends: list[int] = []
        self.received = 0

    def __call__(self, connection: socket.socket) -> None:
        try:
            while piece := connection.recv(1 << 16):
                self.received += len(piece)
            self.ends.append(self.received)
        except OSError as error:
            self.errors.append(error.errno)


def how_it_ends(connection: socket.socket) -> int | None:
    """The error that a reader sees; None: an end as if all were well."""
    try:
        read_all(connection)
    except OSError as error:
        return error.errno
    return None


def how_it_goes_on(connection: socket.socket) -> int | None:
    """The same if more is sent: a silent tunnel would ask for its peer after 15 s only."""
    try:
        connection.sendall(b"more")
    except ConnectionResetError as error:
        return error.errno
    return how_it_ends(connection)


def how_a_call_ends() -> int | None:
    """The same of a new connection, whose reset may be there before it is noticed to be connected."""
    try:
        with dial() as connection:
            return how_it_ends(connection)
    except ConnectionResetError as error:
        return error.errno


def test_carries_both_directions_and_their_ends(client: Proxy) -> None:
    service = Service(echo)
    payload = os.urandom(5_000_000)
    with dial() as connection:
        sender = threading.Thread(target=send_all, args=(connection, payload))
        sender.start()
        assert read_all(connection) == payload
        sender.join(PATIENCE_S)
    service.close()


def test_a_half_closed_connection_goes_on_the_other_way(client: Proxy) -> None:
    def answer_later(connection: socket.socket) -> None:
        request = read_all(connection)
        connection.sendall(hashlib.sha256(request).digest())

    service = Service(answer_later)
    payload = os.urandom(1_000_000)
    with dial() as connection:
        connection.sendall(payload)
        connection.shutdown(socket.SHUT_WR)
        assert read_all(connection) == hashlib.sha256(payload).digest()
    service.close()


def test_a_reset_of_the_client_reaches_the_service(client: Proxy) -> None:
    torn = Torn()
    service = Service(torn)
    connection = dial()
    connection.sendall(b"x" * 100_000)
    wait_until(lambda: torn.received > 0, "bytes at the service")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()
    wait_until(lambda: bool(torn.errors), f"an error at the service, not {torn.ends}")
    assert torn.errors == [errno.ECONNRESET]
    service.close()


def test_a_reset_of_the_service_reaches_the_client(client: Proxy) -> None:
    def reset(connection: socket.socket) -> None:
        connection.recv(1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    service = Service(reset)
    with dial() as connection:
        connection.sendall(b"x")
        assert how_it_ends(connection) == errno.ECONNRESET
    service.close()


def test_a_port_where_nobody_listens_is_an_error(client: Proxy) -> None:
    assert how_a_call_ends() == errno.ECONNRESET


def test_a_destination_off_the_list_is_an_error(ends: Ends, keys: Path, tmp_path: Path) -> None:
    torn = Torn()
    service = Service(torn)
    server = start_server(keys, tmp_path, "--allow", f"10.98.0.2:{SERVICE_PORT + 1}")
    client = start_client(keys, tmp_path)
    assert how_a_call_ends() == errno.ECONNRESET
    client.close()
    server.close()
    service.close()
    assert (torn.errors, torn.ends) == ([], []), "the service was never reached"


@pytest.mark.parametrize("victim", ["client", "server"])
def test_a_killed_proxy_leaves_no_end_that_looks_well(
    victim: str, ends: Ends, keys: Path, tmp_path: Path
) -> None:
    """One connection in mid-transfer in each direction, one idle."""
    torn = Torn()

    def serve(connection: socket.socket) -> None:
        kind = connection.recv(1)
        if kind == b"d":
            while True:
                connection.sendall(bytes(1 << 16))
        torn(connection)

    service = Service(serve)
    server = start_server(keys, tmp_path)
    client = start_client(keys, tmp_path)
    up, down, idle = dial(), dial(), dial()
    for connection, kind in ((up, b"u"), (down, b"d"), (idle, b"i")):
        connection.sendall(kind)
    up.sendall(bytes(300_000))
    down.recv(1 << 16)
    wait_until(lambda: torn.received >= 300_000, "the upload has begun")
    (client if victim == "client" else server).kill()
    for connection in (down, idle, up):
        assert how_it_ends(connection) == errno.ECONNRESET
        connection.close()
    wait_until(lambda: len(torn.errors) == 2, f"errors at the service: {torn.errors}, ends: {torn.ends}", 60)
    assert torn.ends == []
    for proxy in (client, server):
        proxy.close()
    service.close()


def test_a_restarted_server_is_found_again(ends: Ends, keys: Path, tmp_path: Path) -> None:
    service = Service(echo)
    server = start_server(keys, tmp_path)
    client = start_client(keys, tmp_path)
    with dial() as connection:
        connection.sendall(b"before")
        assert connection.recv(6) == b"before"
        server.kill()
        server = start_server(keys, tmp_path)
        assert how_it_goes_on(connection) == errno.ECONNRESET
    with dial() as connection:
        connection.sendall(b"after")
        connection.shutdown(socket.SHUT_WR)
        assert read_all(connection) == b"after"
    client.close()
    server.close()
    service.close()


@pytest.mark.parametrize("outage_s", [1, 10])
def test_nothing_is_lost_in_an_outage(outage_s: int, ends: Ends, client: Proxy) -> None:
    digests = []

    def take(connection: socket.socket) -> None:
        digests.append(hashlib.sha256(read_all(connection)).hexdigest())
        connection.sendall(b"done")

    service = Service(take)
    payload = os.urandom(20_000_000)
    with dial() as connection:
        sender = threading.Thread(target=send_all, args=(connection, payload))
        with ends.interrupted():
            sender.start()
            time.sleep(outage_s)  # the length of the outage is what is tried
            assert digests == []
        connection.settimeout(60)
        assert connection.recv(4) == b"done"
        sender.join(PATIENCE_S)
    assert digests == [hashlib.sha256(payload).hexdigest()]
    service.close()


def test_a_thousand_connections_at_once(client: Proxy) -> None:
    service = Service(echo)
    connections = [dial() for _ in range(1000)]
    for number, connection in enumerate(connections):
        connection.sendall(number.to_bytes(4, "big") * 1000)
        connection.shutdown(socket.SHUT_WR)
    for number, connection in enumerate(connections):
        assert read_all(connection) == number.to_bytes(4, "big") * 1000
        connection.close()
    service.close()


def test_urgent_data_stays_where_it_is(client: Proxy) -> None:
    service = Service(echo)
    with dial() as connection:
        connection.sendall(b"before ")
        connection.send(b"!", socket.MSG_OOB)
        connection.sendall(b" after")
        connection.shutdown(socket.SHUT_WR)
        assert read_all(connection) == b"before ! after"
    service.close()


def fill(connection: socket.socket) -> int:
    """Sends until nothing more is taken; returns how many bytes were."""
    sent = 0
    try:
        while sent < 1 << 30:
            sent += connection.send(bytes(1 << 16))
    except BlockingIOError:
        pass
    return sent


def test_a_slow_reader_holds_up_nobody(client: Proxy) -> None:
    release = threading.Event()

    def serve(connection: socket.socket) -> None:
        if connection.recv(1) == b"s":
            release.wait(PATIENCE_S)
        else:
            echo(connection)

    service = Service(serve)
    stuck = [dial() for _ in range(8)]
    for connection in stuck:
        connection.sendall(b"s")
        connection.setblocking(False)
        assert fill(connection) < 600 << 20, "it takes what the limits say, and no more"
    with dial() as connection:
        payload = os.urandom(3_000_000)
        sender = threading.Thread(target=send_all, args=(connection, b"f" + payload))
        sender.start()
        assert read_all(connection) == payload
        sender.join(PATIENCE_S)
    release.set()
    for connection in stuck:
        connection.close()
    service.close()


def test_a_foreign_certificate_is_refused_at_both_ends(server: Proxy, keys: Path, tmp_path: Path) -> None:
    foreign = make_keys(tmp_path, "ship", "ground")
    client = start_client(foreign, tmp_path, wait=False)
    assert client.process.wait(PATIENCE_S) == 1
    lines = [line for line in client.log().splitlines() if line.startswith("clarion-proxy:")]
    assert len(lines) == 1, client.log()
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    for name, source in (("ca.pem", keys), ("ship.pem", foreign), ("ship.key", foreign)):
        (mixed / name).write_bytes((source / name).read_bytes())
    client = start_client(mixed, tmp_path, wait=False)
    assert client.process.wait(PATIENCE_S) == 1
    assert sum(line.startswith("clarion-proxy:") for line in client.log().splitlines()) == 1, client.log()
    assert server.process.poll() is None


def test_a_server_that_does_not_answer_is_one_line(ends: Ends, keys: Path, tmp_path: Path) -> None:
    client = start_client(keys, tmp_path, wait=False)
    assert client.process.wait(60) == 1
    [line] = [line for line in client.log().splitlines() if line.startswith("clarion-proxy:")]
    assert "10.98.0.2:4433" in line, line


def test_a_port_in_use_is_one_line(server: Proxy, client: Proxy, keys: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "second"
    elsewhere.mkdir()
    second = start_client(keys, elsewhere, wait=False)
    assert second.process.wait(PATIENCE_S) == 1
    assert f"127.0.0.1:{FORWARDED_PORT}" in second.log().splitlines()[-1]
    other = start_server_unready(keys, elsewhere)
    assert other.process.wait(PATIENCE_S) == 1
    assert "0.0.0.0:4433" in other.log().splitlines()[-1]


def start_server_unready(keys: Path, directory: Path) -> Proxy:
    return Proxy(
        "cpx-server", directory, "server", "--listen", "0.0.0.0:4433", "--keys", str(keys),
        "--name", "ground", "--allow", "10.98.0.2:*", wait=False,
    )  # fmt: skip
