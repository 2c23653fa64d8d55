# SPDX-License-Identifier: Apache-2.0
"""clarion-proxy against those who mean it ill: floods, readers that do not read, ends by kill -9."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from integration.proxy_net import (
    CLIENT,
    CLIENT_IP,
    PROXY,
    SERVER,
    SERVER_IP,
    SERVICE_PORT,
    TUNNEL_PORT,
    Ends,
    Proxy,
    Service,
    dial,
    echo,
    read_all,
    start_client,
    start_server,
)
from integration.switch_net import inside, run
from integration.waiting import PATIENCE_S, wait_until

pytestmark = pytest.mark.root

RESET_AT_ONCE = b"\1\0\0\0\0\0\0\0"  # SO_LINGER of 0 s
TUNNEL_LOCALLY = f"127.0.0.1:{TUNNEL_PORT}"


@pytest.fixture
def service(ends: Ends) -> Iterator[Service]:
    made = Service(echo)
    yield made
    made.close()


def status(proxy: Proxy) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(run(str(PROXY), "status", "--control", str(proxy.control), "--json"))
    return made


def is_up(proxy: Proxy) -> bool:
    """Whether it has one tunnel, and that one is up."""
    return [tunnel["state"] for tunnel in status(proxy)["tunnels"]] == ["up"]


def descriptors(proxy: Proxy) -> int:
    """Of the program itself: `ip netns exec` becomes it."""
    return len(list(Path(f"/proc/{proxy.process.pid}/fd").iterdir()))


def resident_bytes(proxy: Proxy) -> int:
    pages = int(Path(f"/proc/{proxy.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


def assert_carries() -> None:
    """An honest application is served."""
    payload = os.urandom(100_000)
    with dial() as connection:
        connection.sendall(payload)
        connection.shutdown(socket.SHUT_WR)
        assert read_all(connection) == payload


def call() -> socket.socket | None:
    """A connection through the tunnel; None if it was reset before it was noticed to be connected."""
    try:
        return dial()
    except ConnectionResetError:
        return None


@contextlib.contextmanager
def calls(count: int) -> Iterator[list[socket.socket | None]]:
    """As many of them at once."""
    made = [call() for _ in range(count)]
    yield made
    for connection in filter(None, made):
        connection.close()


@contextlib.contextmanager
def strangers(count: int) -> Iterator[list[socket.socket]]:
    """UDP sockets that no proxy knows."""
    with contextlib.ExitStack() as stack, inside(CLIENT):
        yield [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(count)]


def is_reset(connection: socket.socket | None) -> bool:
    if connection is None:
        return True
    try:
        connection.sendall(b"x")
        return connection.recv(1) != b"x"
    except (ConnectionResetError, BrokenPipeError):
        return True


def refusal(netns: str, *command: str) -> str:
    """The one line that a program says before it ends with status 1."""
    done = subprocess.run(
        ["ip", "netns", "exec", netns, *command],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    [line] = [line for line in done.stderr.splitlines() if line.startswith("clarion-proxy:")]
    return line


def traces(netns: str) -> str:
    """All that an interception changes."""
    routing = ("-4 rule", "-6 rule", "-4 route show table all", "-6 route show table 49575")
    shown = [run("ip", "-n", netns, *command.split(), check=False) for command in routing]
    return "\n".join([*shown, run("ip", "netns", "exec", netns, "nft", "list", "ruleset")])


def start_transparent(keys: Path, directory: Path) -> Proxy:
    taken = ("--transparent", "local", "--take", "192.0.2.0/24:*")
    return start_client(keys, directory, *taken)


# --- TCP ---


def test_connections_beyond_the_limit_are_reset_and_the_others_go_on(
    service: Service, keys: Path, tmp_path: Path
) -> None:
    server = start_server(keys, tmp_path)
    client = start_client(keys, tmp_path, "--max-connections", "20")
    with calls(100) as made:
        kept = [connection for connection in made if not is_reset(connection)]
        assert len(kept) == 20
        wait_until(lambda: status(client)["totals"]["openings_refused"] == {"too_many": 80}, "80 counted")
        assert status(client)["connections"] == 20
        assert not any(is_reset(connection) for connection in kept)
    for proxy in (client, server):
        wait_until(lambda proxy=proxy: status(proxy)["connections"] == 0, "all are over")  # type: ignore[misc]
    assert_carries()


def test_connections_that_are_reset_at_once_leave_nothing(
    service: Service, keys: Path, tmp_path: Path
) -> None:
    server, client = start_server(keys, tmp_path), start_client(keys, tmp_path)
    assert_carries()
    for proxy in (client, server):
        wait_until(lambda proxy=proxy: status(proxy)["totals"]["connections_finished"] == 1, "it is over")  # type: ignore[misc]
    before = descriptors(server), descriptors(client)
    for _ in range(1000):
        connection = dial()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_ONCE)
        connection.close()
    for proxy in (client, server):
        wait_until(lambda proxy=proxy: status(proxy)["connections"] == 0, "all are over")  # type: ignore[misc]
    wait_until(lambda: (descriptors(server), descriptors(client)) == before, "as many descriptors as before")
    assert_carries()


def test_connections_without_a_tunnel_wait_in_bounds(service: Service, keys: Path, tmp_path: Path) -> None:
    server = start_server(keys, tmp_path)
    client = start_client(keys, tmp_path, "--max-connections", "20", "--connect-timeout-s", "2")
    server.close()
    wait_until(lambda: not is_up(client), "the tunnel is down")
    with calls(50) as made:
        assert all(is_reset(connection) for connection in made), "at once, or when they have waited"
    assert status(client)["totals"]["openings_refused"] == {"too_many": 30}
    # What was tried as 0-RTT data ends with that try, the others when they have waited.
    wait_until(lambda: sum(status(client)["totals"]["connections_aborted"].values()) == 20, "all others")
    start_server(keys, tmp_path)
    wait_until(lambda: is_up(client), "a tunnel again")
    assert_carries()


def test_readers_that_read_nothing_are_reset_and_cost_no_more_than_the_buffer(
    ends: Ends, keys: Path, tmp_path: Path
) -> None:
    def serve(connection: socket.socket) -> None:
        if connection.recv(1) == b"e":
            echo(connection)
        while True:
            connection.sendall(bytes(1 << 16))

    service = Service(serve)
    limits = ("--buffer-mib", "4", "--stream-mib", "2", "--slow-reader-timeout-s", "2")
    server = start_server(keys, tmp_path, *limits)
    client = start_client(keys, tmp_path, *limits)
    before = resident_bytes(client), resident_bytes(server)
    with calls(20) as stuck, dial() as connection:
        for reader in filter(None, stuck):
            reader.sendall(b"s")
        connection.sendall(b"e")
        for _ in range(100):
            connection.sendall(b"still there")
            assert connection.recv(100) == b"still there"
        wait_until(lambda: status(client)["totals"]["connections_aborted"].get("slow_reader", 0) > 0, "reset")
        connection.sendall(b"and still there")
        assert connection.recv(100) == b"and still there"
    for proxy, resident in zip((client, server), before, strict=True):
        assert resident_bytes(proxy) < resident + (40 << 20)
    service.close()


def test_a_destination_that_never_answers_is_given_up(ends: Ends, keys: Path, tmp_path: Path) -> None:
    server = start_server(keys, tmp_path, "--connect-timeout-s", "1")
    start_client(keys, tmp_path)
    hole = f"type filter hook output priority 0; tcp dport {SERVICE_PORT} drop;"
    run("ip", "netns", "exec", SERVER, "nft", f"table inet hole {{ chain out {{ {hole} }}; }}")
    with calls(20) as made:
        assert all(is_reset(connection) for connection in made)
    wait_until(lambda: status(server)["totals"]["connections_aborted"] == {"unreachable": 20}, "counted")
    run("ip", "netns", "exec", SERVER, "nft", "delete table inet hole")
    service = Service(echo)
    assert_carries()
    service.close()


# --- UDP ---


def test_datagrams_of_strangers_disturb_no_tunnel(service: Service, keys: Path, tmp_path: Path) -> None:
    server = start_server(keys, tmp_path)
    start_client(keys, tmp_path)
    wait_until(lambda: is_up(server), "a tunnel")
    before = descriptors(server)
    generator = random.Random(7)
    with strangers(50) as senders, dial() as connection:
        for number in range(20_000):
            contents = generator.randbytes(generator.randrange(1, 1400))
            senders[number % 50].sendto(contents, (SERVER_IP, TUNNEL_PORT))
            if number % 1000 == 0:
                connection.sendall(b"x")
                assert connection.recv(1) == b"x"
    assert_carries()
    wait_until(lambda: descriptors(server) == before, "no sockets for strangers")
    assert is_up(server)


def test_handshakes_that_stop_half_way_are_given_up(service: Service, keys: Path, tmp_path: Path) -> None:
    server = start_server(keys, tmp_path, "--connect-timeout-s", "2")
    start_client(keys, tmp_path)
    wait_until(lambda: is_up(server), "a tunnel")
    before = descriptors(server)
    first_flights = [first_flight(keys, tmp_path / str(number)) for number in range(40)]
    with strangers(40) as senders:
        for sender, contents in zip(senders, first_flights, strict=True):
            sender.sendto(contents, (SERVER_IP, TUNNEL_PORT))
        wait_until(lambda: descriptors(server) > before, "sockets for those that come first")
        wait_until(
            lambda: status(server)["totals"]["handshakes_failed"] == {"no_answer": 16},
            "who was let in without a proof is given up, and the others had to prove themselves first",
        )
        wait_until(lambda: descriptors(server) == before, "their sockets are closed")
        wait_until(lambda: is_up(server), "the honest tunnel alone is left")
    assert_carries()


def first_flight(keys: Path, directory: Path) -> bytes:
    """What a client sends first, to a socket that only listens."""
    directory.mkdir()
    with strangers(1) as [listener]:
        listener.bind(("127.0.0.1", TUNNEL_PORT))
        listener.settimeout(PATIENCE_S)
        client = Proxy(
            CLIENT, directory, "client", "--peer", TUNNEL_LOCALLY, "--peer-name", "ground",
            "--keys", str(keys), "--name", "ship", "--forward", "127.0.0.1:7=192.0.2.1:7", wait=False,
        )  # fmt: skip
        contents = listener.recv(2000)
        client.kill()
    return contents


# --- those who only look ---


def test_who_looks_and_says_nothing_holds_up_nobody(service: Service, keys: Path, tmp_path: Path) -> None:
    server = start_server(keys, tmp_path)
    client = start_client(keys, tmp_path, "--metrics", "127.0.0.1:9464")
    with contextlib.ExitStack() as stack, inside(CLIENT):
        for _ in range(100):
            stack.enter_context(socket.create_connection(("127.0.0.1", 9464)))
            idle = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            idle.connect(str(client.control))
        half = stack.enter_context(socket.create_connection(("127.0.0.1", 9464)))
        half.sendall(b"GET /metrics HTTP/1.1\r\nHost: ")
        nonsense = stack.enter_context(socket.create_connection(("127.0.0.1", 9464)))
        nonsense.sendall(os.urandom(4096))
        asking = stack.enter_context(socket.create_connection(("127.0.0.1", 9464)))
        asking.settimeout(PATIENCE_S)
        asking.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert b"clarion_proxy_tunnels 1" in read_all(asking)
        assert is_up(client)
        wait_until(lambda: is_up(server), "its status is half a second old at most")
    assert_carries()


# --- names and rights ---


def test_a_server_of_another_name_is_one_line(ends: Ends, keys: Path, tmp_path: Path) -> None:
    server = start_server(keys, tmp_path)
    line = refusal(
        CLIENT, str(PROXY), "client", "--peer", f"{SERVER_IP}:{TUNNEL_PORT}", "--peer-name", "other",
        "--keys", str(keys), "--name", "ship", "--control", str(tmp_path / "c.sock"),
        "--forward", "127.0.0.1:7=192.0.2.1:7",
    )  # fmt: skip
    assert "has another name" in line
    assert "--peer-name" in line
    wait_until(lambda: status(server)["totals"]["handshakes_failed"] == {"closed_by_peer": 1}, "counted")


def test_without_the_right_to_intercept_it_is_one_line_and_nothing_is_left(
    ends: Ends, keys: Path, tmp_path: Path
) -> None:
    start_server(keys, tmp_path)
    before = traces(CLIENT)
    line = refusal(
        CLIENT, "setpriv", "--bounding-set", "-net_admin", "--inh-caps", "-net_admin",
        str(PROXY), "client", "--peer", f"{SERVER_IP}:{TUNNEL_PORT}", "--peer-name", "ground",
        "--keys", str(keys), "--name", "ship", "--control", str(tmp_path / "c.sock"),
        "--transparent", "local", "--take", "192.0.2.0/24:*",
    )  # fmt: skip
    assert "CAP_NET_ADMIN" in line
    assert traces(CLIENT) == before
    assert not (tmp_path / "c.sock").exists()


@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT", "lost tunnel"])
def test_no_end_leaves_rules_or_routes(how: str, ends: Ends, keys: Path, tmp_path: Path) -> None:
    before = traces(CLIENT)
    server = start_server(keys, tmp_path)
    client = start_transparent(keys, tmp_path)
    assert traces(CLIENT) != before
    if how == "lost tunnel":
        server.kill()
    client.process.send_signal(signal.SIGINT if how == "SIGINT" else signal.SIGTERM)
    assert client.process.wait(PATIENCE_S) == 0
    assert traces(CLIENT) == before
    assert not client.control.exists()


def test_what_kill_leaves_is_found_by_cleanup(service: Service, keys: Path, tmp_path: Path) -> None:
    before = traces(CLIENT)
    start_server(keys, tmp_path)
    client = start_transparent(keys, tmp_path)
    client.kill()
    ruleset = ("ip", "netns", "exec", CLIENT, "nft", "list", "ruleset")
    wait_until(lambda: not run(*ruleset), "the kernel takes the table away with its owner")
    with inside(CLIENT):
        direct = socket.create_connection((SERVER_IP, SERVICE_PORT), timeout=PATIENCE_S)
    direct.close()
    assert traces(CLIENT) != before, "rules and routes are left, without effect"
    said = run(str(PROXY), "cleanup").splitlines()
    assert any(f"took back rules and routes of dead proxy {client.process.pid}" in line for line in said), (
        said
    )
    assert traces(CLIENT) == before
    start_transparent(keys, tmp_path).close()
    assert traces(CLIENT) == before
    assert CLIENT_IP in run("ip", "-n", CLIENT, "addr")


# --- settings that are wrong while it runs ---


def test_a_reload_of_wrong_settings_changes_nothing(service: Service, keys: Path, tmp_path: Path) -> None:
    settings = tmp_path / "ground.toml"
    listen = f"0.0.0.0:{TUNNEL_PORT}"

    def write(allow: str, more: str = "") -> None:
        settings.write_text(f'{more}\n[server]\nlisten = "{listen}"\nallow = ["{allow}"]\n')

    write(f"{SERVER_IP}:*")
    own = ("--config", str(settings), "--keys", str(keys), "--name", "ground")
    server = Proxy(SERVER, tmp_path, "server", *own)
    start_client(keys, tmp_path)
    refusals = 0
    for contents in ("nothing", f"{SERVER_IP}:0", "192.0.2.1:1-"):
        write(contents)
        server.process.send_signal(signal.SIGHUP)
        refusals += 1
        wait_until(lambda count=refusals: server.log().count("settings as before: ") == count, "refused")  # type: ignore[misc]
        assert_carries()
    write("192.0.2.1:1")
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "settings read again" in server.log(), "taken")
    with calls(1) as [connection]:
        assert is_reset(connection), "in the tunnel that is up, too"
    wait_until(lambda: status(server)["totals"]["openings_refused"] == {"not_allowed": 1}, "counted")
    assert len(server.log().splitlines()) == 3 + refusals, server.log()
