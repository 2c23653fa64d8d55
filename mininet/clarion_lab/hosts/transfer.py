# SPDX-License-Identifier: Apache-2.0
"""A transfer of a given size over one TCP connection, as a program of its own in a host's namespace.

iperf3 ends a transfer over a control connection as soon as all bytes are written, and drops what is under way
then. Here the receiver says when the last byte came. Standard library only: it runs by its path.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import time

BLOCK_BYTES = 1 << 20


def receive(port: int) -> dict[str, int]:
    """Takes one connection to its end; the time is that of the last byte, on CLOCK_MONOTONIC."""
    buffer = bytearray(BLOCK_BYTES)
    received = last_ns = 0
    with socket.create_server(("", port)) as server:
        connection, _ = server.accept()
    with connection:
        try:
            while count := connection.recv_into(buffer):
                received += count
                last_ns = time.monotonic_ns()
        except ConnectionError:
            pass  # the sender was stopped: what came until then counts
    return {"received_bytes": received, "last_byte_ns": last_ns}


def send(address: str, port: int, source_port: int, law: str, size: int, at_ns: int) -> dict[str, float]:
    """Connects, begins at `at_ns`, and returns when the receiver has closed."""
    block = memoryview(bytes(BLOCK_BYTES))
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, law.encode())
        connection.bind(("", source_port))
        connection.connect((address, port))
        time.sleep(max(0.0, (at_ns - time.monotonic_ns()) / 1e9))
        left = size
        while left:
            left -= connection.send(block[: min(left, BLOCK_BYTES)])
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)
    return {"sent_bytes": size, "seconds": (time.monotonic_ns() - at_ns) / 1e9}


def main(arguments: list[str]) -> int:
    """One end, and its result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    ends = parser.add_subparsers(dest="end", required=True)
    receiver = ends.add_parser("receive")
    receiver.add_argument("--port", type=int, required=True)
    sender = ends.add_parser("send")
    sender.add_argument("--to", required=True)
    sender.add_argument("--law", required=True)
    for name in ("--port", "--source-port", "--bytes", "--at-ns"):
        sender.add_argument(name, type=int, required=True)
    options = parser.parse_args(arguments)
    try:
        result: object = (
            receive(options.port)
            if options.end == "receive"
            else send(
                options.to, options.port, options.source_port, options.law, options.bytes, options.at_ns
            )
        )
    except OSError as error:
        print(json.dumps({"error": str(error)}))
        return 1
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
