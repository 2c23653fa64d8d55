# SPDX-License-Identifier: Apache-2.0
"""Data over one TCP connection, as a program of its own in a host's namespace: so many bytes, or in bursts.

iperf3 ends a transfer over a control connection as soon as all bytes are written, and drops what is under way
then. Here the receiver says when the last byte came. Standard library only: it runs by its path.
"""

from __future__ import annotations

import argparse
import json
import signal
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

BLOCK = memoryview(bytes(1 << 20))
_TCP_NOTSENT_LOWAT = 25


class _StoppedError(Exception):
    """SIGTERM has come."""


def _stop(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _StoppedError


def receive(port: int) -> dict[str, int]:
    """Takes one connection to its end or to SIGTERM; the last byte came at that time, on CLOCK_MONOTONIC."""
    buffer = bytearray(len(BLOCK))
    received = last_ns = 0
    try:
        with socket.create_server(("", port)) as server:
            connection, _ = server.accept()
        with connection:
            while count := connection.recv_into(buffer):
                received += count
                last_ns = time.monotonic_ns()
    except (ConnectionError, _StoppedError):
        pass  # the sender was stopped: what came until then counts
    return {"received_bytes": received, "last_byte_ns": last_ns}


def connected(address: str, port: int, source_port: int, law: str) -> socket.socket:
    """A connection from that port under that congestion control."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, law.encode())
    connection.bind(("", source_port))
    connection.connect((address, port))
    return connection


def send(connection: socket.socket, size: int, at_ns: int) -> int:
    """Begins at `at_ns`, and returns when the receiver has closed: the bytes sent."""
    _sleep_until(at_ns)
    left = size
    while left:
        left -= connection.send(BLOCK[: min(left, len(BLOCK))])
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)
    return size


def send_bursts(
    connection: socket.socket, bursts: Sequence[tuple[int, int]], unsent_bytes: int, at_ns: int
) -> int:
    """Writes all that is taken in each burst, [from, to] in us since `at_ns`, then stays connected until
    SIGTERM: the bytes sent. What is written but not sent yet, at most `unsent_bytes`, still goes out when a
    burst is over.
    """
    connection.setsockopt(socket.IPPROTO_TCP, _TCP_NOTSENT_LOWAT, unsent_bytes)
    sent = 0
    try:
        for begin_us, end_us in bursts:
            _sleep_until(at_ns + begin_us * 1000)
            while (left_s := _left_s(at_ns + end_us * 1000)) > 0:
                connection.settimeout(left_s)
                try:
                    sent += connection.send(BLOCK)
                except TimeoutError:
                    break
        signal.pause()
    except _StoppedError:
        pass
    return sent


def _left_s(until_ns: int) -> float:
    return (until_ns - time.monotonic_ns()) / 1e9


def _sleep_until(at_ns: int) -> None:
    time.sleep(max(0.0, _left_s(at_ns)))


def main(arguments: list[str]) -> int:
    """One end, and its result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    ends = parser.add_subparsers(dest="end", required=True)
    receiver = ends.add_parser("receive")
    receiver.add_argument("--port", type=int, required=True)
    sender = ends.add_parser("send")
    sender.add_argument("--to", required=True)
    sender.add_argument("--law", required=True)
    for name in ("port", "source-port", "at-ns"):
        sender.add_argument(f"--{name}", type=int, required=True)
    what = sender.add_mutually_exclusive_group(required=True)
    what.add_argument("--bytes", type=int)
    what.add_argument("--bursts", type=Path, help="a file of JSON")
    sender.add_argument("--unsent-bytes", type=int, default=1 << 17, help="of bursts")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _stop)
    try:
        print(json.dumps(_receive_or_send(options)))
    except OSError as error:
        print(json.dumps({"error": str(error)}))
        return 1
    return 0


def _receive_or_send(options: argparse.Namespace) -> dict[str, int] | dict[str, float]:
    if options.end == "receive":
        return receive(options.port)
    at_ns: int = options.at_ns
    with connected(options.to, options.port, options.source_port, options.law) as connection:
        if options.bursts is None:
            sent = send(connection, options.bytes, at_ns)
        else:
            sent = send_bursts(
                connection, json.loads(options.bursts.read_text()), options.unsent_bytes, at_ns
            )
    return {"sent_bytes": sent, "seconds": -_left_s(at_ns)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
