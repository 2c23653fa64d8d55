# SPDX-License-Identifier: Apache-2.0
"""A thousand TCP connections at once through one tunnel over a limited link: shares, and memory.

    .venv/bin/python tests/bench/proxy_many.py --json out/proxy-many.json

As root. All are connected before any of them sends; then each sends the same amount. Goodputs are those of
the receivers between the first moment at which every connection has had a byte and the first at which one
has all: Jain's index, and the slowest and the fastest beside the mean. Memory is what a proxy's resident
set has grown by since before the first connection, per connection: connected and idle, and the most while
they send.
"""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.figures import Json, need_root, parser, summary, text, write
from bench.proxy_pair import CHUNK_BYTES, Pair
from bench.proxy_path import Direction, LongPath, long_path
from bench.quantities import resident_mib
from clarion_lab.results.metrics import jain
from integration.waiting import wait_until

LINK = Direction(100_000_000)
CLEAN = LongPath(100_000, LINK, LINK)
SATELLITE = LongPath(540_000, Direction(10_000_000, 0.002), Direction(150_000_000, 0.012))  # as s1-1
JUDGED = ("--law", "boost", "--set", "boost_loss=2")  # without a router that tells causes
CASES = {  # path, and options of both proxies
    "clean, boost": (CLEAN, JUDGED),
    "clean, cubic": (CLEAN, ("--law", "cubic")),
    "satellite, boost": (SATELLITE, JUDGED),
}
POLL_S = 0.05
PATIENCE_S = 300


class Receiver:
    """Takes what arrives on all connections, in one thread, and notes the bytes of each at two instants."""

    def __init__(self, connections: Sequence[socket.socket], size_bytes: int) -> None:
        self.received = [0] * len(connections)
        self.size_bytes = size_bytes
        self.begin: tuple[float, list[int]] | None = None  # every connection has had a byte
        self.end: tuple[float, list[int]] | None = None  # one connection has all
        self.interval_s = 0.0
        self._selector = selectors.DefaultSelector()
        for number, connection in enumerate(connections):
            connection.setblocking(False)
            self._selector.register(connection, selectors.EVENT_READ, (number, connection))
        self._waiting = len(connections)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        buffer = bytearray(CHUNK_BYTES)
        while self._selector.get_map():
            for key, _ in self._selector.select():
                number, connection = key.data
                count = connection.recv_into(buffer)
                if count:
                    self._note(number, count)
                else:
                    self._selector.unregister(connection)

    def _note(self, number: int, count: int) -> None:
        self._waiting -= self.received[number] == 0
        self.received[number] += count
        if self.begin is None and not self._waiting:
            self.begin = time.monotonic(), list(self.received)
        if self.end is None and self.received[number] == self.size_bytes:
            self.end = time.monotonic(), list(self.received)

    @property
    def is_done(self) -> bool:
        """Whether all connections have ended."""
        return not self._thread.is_alive()

    def goodputs_bps(self) -> list[float]:
        """Of each connection in the interval in which all have begun and none has ended."""
        if self.begin is None or self.end is None or self.end[0] <= self.begin[0]:
            raise AssertionError("no connection was left when the last began: send more on each")
        self.interval_s = self.end[0] - self.begin[0]
        return [
            8 * (late - early) / self.interval_s
            for early, late in zip(self.begin[1], self.end[1], strict=True)
        ]


def send_all(connections: Sequence[socket.socket], size_bytes: int) -> None:
    """Sends so many bytes on each of them, as they take them, and ends each."""
    chunk = memoryview(os.urandom(CHUNK_BYTES))
    left = dict.fromkeys(connections, size_bytes)
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            connection.setblocking(False)
            selector.register(connection, selectors.EVENT_WRITE, connection)
        while left:
            for key, _ in selector.select():
                connection = key.data
                left[connection] -= connection.send(chunk[: left[connection]])
                if not left[connection]:
                    connection.shutdown(socket.SHUT_WR)
                    selector.unregister(connection)
                    del left[connection]


class Memory:
    """Resident memory of both proxies: before, now, and the most since it was looked at."""

    def __init__(self, pair: Pair) -> None:
        self._pids = {"client": pair.client.process.pid, "server": pair.server.process.pid}
        self._before_mib = self._now_mib()
        self.most_mib = dict(self._before_mib)

    def _now_mib(self) -> dict[str, float]:
        return {end: resident_mib(pid) for end, pid in self._pids.items()}

    def look(self) -> None:
        """Notes what there is now."""
        for end, mib in self._now_mib().items():
            self.most_mib[end] = max(self.most_mib[end], mib)

    def grown_kib(self, connections: int) -> dict[str, float]:
        """The most of each end less what it had before, by connection."""
        return {end: 1024 * (mib - self._before_mib[end]) / connections for end, mib in self.most_mib.items()}


@contextlib.contextmanager
def connected(pair: Pair, count: int) -> Iterator[tuple[list[socket.socket], list[socket.socket]]]:
    """So many connections through the tunnel: the ends that send, and those that receive."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(pair.listen())
        dialled = [stack.enter_context(pair.dial()) for _ in range(count)]
        accepted = [stack.enter_context(listener.accept()[0]) for _ in range(count)]
        yield dialled, accepted


def one_run(case: str, count: int, size_bytes: int) -> dict[str, float]:
    """All connections of one tunnel, from connecting to the last byte."""
    path, options = CASES[case]
    with (
        tempfile.TemporaryDirectory() as directory,
        long_path(path, Path(directory)) as (client, server),
        Pair(client, server, Path(directory), [*options, "--header", "off"]) as pair,
    ):
        memory = Memory(pair)
        with connected(pair, count) as (dialled, accepted):
            memory.look()
            idle_kib = memory.grown_kib(count)
            receiver = Receiver(accepted, size_bytes)
            threading.Thread(target=send_all, args=(dialled, size_bytes), daemon=True).start()
            wait_until(watched(receiver, memory), "all bytes of all connections", PATIENCE_S)
    return figures(receiver, idle_kib, memory.grown_kib(count))


def watched(receiver: Receiver, memory: Memory) -> Callable[[], bool]:
    """Whether all has arrived, looking at the memory each time."""

    def is_done() -> bool:
        memory.look()
        return receiver.is_done

    return is_done


def figures(receiver: Receiver, idle_kib: dict[str, float], busy_kib: dict[str, float]) -> dict[str, float]:
    """Of one run."""
    if set(receiver.received) != {receiver.size_bytes}:
        raise AssertionError("bytes are missing")
    goodputs = receiver.goodputs_bps()
    mean_bps = sum(goodputs) / len(goodputs)
    return {
        "jain": jain(goodputs) or 0.0,
        "slowest_of_mean": min(goodputs) / mean_bps,
        "fastest_of_mean": max(goodputs) / mean_bps,
        "interval_s": receiver.interval_s,
        "all_mbps": sum(goodputs) / 1e6,
        **{f"{end}_idle_kib": kib for end, kib in idle_kib.items()},
        **{f"{end}_busy_kib": kib for end, kib in busy_kib.items()},
    }


LINES = {  # by figure: what it is called, its scale and its unit
    "jain": ("Jain's index", 100, "%"),
    "slowest_of_mean": ("slowest, of the mean", 100, "%"),
    "fastest_of_mean": ("fastest, of the mean", 100, "%"),
    "interval_s": ("interval in which all send", 1, "s"),
    "all_mbps": ("all together", 1, "Mbit/s"),
    "client_idle_kib": ("client, idle, per connection", 1, "KiB"),
    "server_idle_kib": ("server, idle, per connection", 1, "KiB"),
    "client_busy_kib": ("client, busy, per connection", 1, "KiB"),
    "server_busy_kib": ("server, busy, per connection", 1, "KiB"),
}


def main() -> int:
    """Prints the table; writes the JSON."""
    options = parser(__doc__, 3)
    options.add_argument("--connections", type=int, default=1000)
    options.add_argument("--kbytes", type=int, default=500, help="of each, 10^3 bytes (default 500)")
    given = options.parse_args()
    need_root("proxy_many")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    runs: dict[str, list[dict[str, float]]] = {case: [] for case in CASES}
    for _ in range(given.runs):
        for case in CASES:
            runs[case].append(one_run(case, given.connections, given.kbytes * 1000))
    result: Json = {case: summary(each) for case, each in runs.items()}
    print(f"median of {given.runs} runs (least .. most), {given.connections} connections")
    for case, found in result.items():
        for name, (what, scale, unit) in LINES.items():
            print(text(f"{case}: {what}", found[name], scale, unit))
    write(given.json, {"each": runs, "figures": result})
    return 0


if __name__ == "__main__":
    sys.exit(main())
