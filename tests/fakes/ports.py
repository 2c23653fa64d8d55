# SPDX-License-Identifier: Apache-2.0
"""Ports for servers that have to be told theirs, and whether these are there yet."""

from __future__ import annotations

import random
import socket
import time
from pathlib import Path

EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
FIRST = 10_000
PATIENCE_S = 20
READY = {"tcp": "0A", "udp": "07"}  # TCP_LISTEN and TCP_CLOSE, which the kernel shows of a bound UDP socket


def free_port() -> int:
    """A TCP port of 127.0.0.1 that is free at the time of the call.

    It is below those that the kernel gives to connections and to binds without a number: of those one has
    been taken by another test before the server that was told it had come to listen.
    """
    ephemeral = int(EPHEMERAL.read_text().split()[0])
    chosen = random.SystemRandom()
    while True:
        port = chosen.randrange(FIRST, ephemeral)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


def wait_for_server(port: int, protocol: str) -> None:
    """Until an IPv4 socket ("tcp" or "udp") of this machine takes what comes to the port."""
    deadline = time.monotonic() + PATIENCE_S
    while not _takes(port, protocol):
        assert time.monotonic() < deadline, f"nothing takes {protocol} port {port}"
        time.sleep(0.02)


def _takes(port: int, protocol: str) -> bool:
    sockets = (line.split() for line in Path(f"/proc/net/{protocol}").read_text().splitlines()[1:])
    return any(row[1].endswith(f":{port:04X}") and row[3] == READY[protocol] for row in sockets)
