# SPDX-License-Identifier: Apache-2.0
"""Time to the first and the last byte of a small HTTP answer over a satellite link, idle and busy.

    .venv/bin/python tests/bench/proxy_first_byte.py --json out/proxy-first-byte.json

As root. The path of s1-1, answers on its fast direction, no Clarion router. Plain TCP is CUBIC and knows
nothing of earlier connections; of the proxies the tunnel is up, as it always is. Times count from before
the connection is made. *First* is the first connection of all, *idle* those that follow, *beside bulk*
those while another connection has been taking an endless answer for BULK_AGE_S. Each connection has one
request, and one follows the other.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.figures import Json, need_root, parser, summary, text, write
from bench.proxy_pair import CHUNK_BYTES, SERVICE_PORT, Pair, Place, drain
from bench.proxy_path import Direction, LongPath, long_path
from integration.switch_net import inside

PATH = LongPath(540_000, Direction(150_000_000, 0.012), Direction(10_000_000, 0.002))
ANSWER_BYTES = 100_000
BULK_AGE_S = 15
REQUESTS = 5  # idle, and as many beside the bulk transfer
CARRIERS = {  # by name: options of the proxies, None without
    "plain TCP": None,
    "proxy, cubic": ("--law", "cubic"),
    "proxy, boost": ("--law", "boost", "--set", "boost_loss=2"),
}
ENDLESS = "/endless"
HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"


@dataclass(frozen=True)
class Answer:
    """Times of one request, seconds from before its connection was made."""

    first_byte_s: float
    last_byte_s: float


def serve(connection: socket.socket) -> None:
    """Answers one request: with so many bytes as its path says, or without end."""
    with connection, contextlib.suppress(OSError):
        request = b""
        while b"\r\n\r\n" not in request:
            if not (piece := connection.recv(4096)):
                return
            request += piece
        path = request.split()[1].decode()
        if path == ENDLESS:
            connection.sendall(HEAD + b"\r\n")
            while True:
                connection.sendall(bytes(CHUNK_BYTES))
        size_bytes = int(path.removeprefix("/"))
        connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % size_bytes + bytes(size_bytes))


@contextlib.contextmanager
def service(place: Place) -> Iterator[None]:
    """The HTTP server; what it sends by TCP is driven by CUBIC."""
    with inside(place.netns):
        listener = socket.create_server((place.address, SERVICE_PORT))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def ask(dial: Callable[[], socket.socket], path: str) -> tuple[socket.socket, float]:
    """A connection that has sent its request; when it was begun."""
    began_s = time.monotonic()
    connection = dial()
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: service\r\nConnection: close\r\n\r\n".encode())
    return connection, began_s


def get(dial: Callable[[], socket.socket]) -> Answer:
    """One small answer."""
    connection, began_s = ask(dial, f"/{ANSWER_BYTES}")
    with connection:
        first = connection.recv(1)
        first_byte_s = time.monotonic() - began_s
        if len(first) + drain(connection) < ANSWER_BYTES:
            raise AssertionError("an answer was cut off")
    return Answer(first_byte_s, time.monotonic() - began_s)


@contextlib.contextmanager
def bulk(dial: Callable[[], socket.socket]) -> Iterator[list[int]]:
    """Takes an endless answer meanwhile; how many bytes of it have arrived."""
    connection, _ = ask(dial, ENDLESS)
    arrived = [0]

    def take() -> None:
        with contextlib.suppress(OSError):
            while count := len(connection.recv(CHUNK_BYTES)):
                arrived[0] += count

    taker = threading.Thread(target=take)
    taker.start()
    try:
        yield arrived
    finally:
        connection.shutdown(socket.SHUT_RDWR)
        taker.join()
        connection.close()


@contextlib.contextmanager
def dialler(
    options: tuple[str, ...] | None, client: Place, server: Place, directory: Path
) -> Iterator[Callable[[], socket.socket]]:
    """What connects to the service: by itself, or through proxies with these options."""

    def direct() -> socket.socket:
        with inside(client.netns):
            return socket.create_connection((server.address, SERVICE_PORT))

    if options is None:
        yield direct
        return
    with Pair(client, server, directory, [*options, "--header", "off"]) as pair:
        yield pair.dial


def one_run(options: tuple[str, ...] | None) -> tuple[dict[str, list[Answer]], float]:
    """All requests of one carrier by what else is on the link, and the bulk transfer's goodput, Mbit/s."""
    with (
        tempfile.TemporaryDirectory() as directory,
        long_path(PATH, Path(directory)) as (client, server),
        service(server),
        dialler(options, client, server, Path(directory)) as dial,
    ):
        for place in (client, server):
            with inside(place.netns):
                Path("/proc/sys/net/ipv4/tcp_no_metrics_save").write_text("1")
        first = [get(dial)]
        idle = [get(dial) for _ in range(REQUESTS)]
        with bulk(dial) as arrived:
            time.sleep(BULK_AGE_S)
            begun_s, before = time.monotonic(), arrived[0]
            beside = [get(dial) for _ in range(REQUESTS)]
            goodput_mbps = 8e-6 * (arrived[0] - before) / (time.monotonic() - begun_s)
    return {"first": first, "idle": idle, "beside bulk": beside}, goodput_mbps


def measure(count: int) -> Json:
    """Repeats, one carrier after the other in each."""
    answers: dict[str, list[dict[str, float]]] = {}
    goodputs: dict[str, list[dict[str, float]]] = {}
    for _ in range(count):
        for name, options in CARRIERS.items():
            run, goodput_mbps = one_run(options)
            goodputs.setdefault(name, []).append({"goodput_mbps": goodput_mbps})
            for what, each in run.items():
                answers.setdefault(f"{name}, {what}", []).extend(vars(answer) for answer in each)
    return {
        "runs": count,
        "each": answers,
        "figures": {name: summary(each) for name, each in answers.items()},
        "bulk": {name: summary(each)["goodput_mbps"] for name, each in goodputs.items()},
    }


def main() -> int:
    """Prints the table; writes the JSON."""
    given = parser(__doc__, 3).parse_args()
    need_root("proxy_first_byte")
    result = measure(given.runs)
    print(f"{ANSWER_BYTES / 1e3:.0f} kB; median of all requests in {given.runs} runs (least .. most)")
    for name, each in result["figures"].items():
        print(text(f"{name}: first byte", each["first_byte_s"], 1e3, "ms"))
        print(text(f"{name}: last byte", each["last_byte_s"], 1e3, "ms"))
    for name, goodput in result["bulk"].items():
        print(text(f"{name}: bulk", goodput, 1, "Mbit/s"))
    write(given.json, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
