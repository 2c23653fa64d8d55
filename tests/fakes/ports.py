# SPDX-License-Identifier: Apache-2.0
"""TCP ports for servers that have to be told theirs."""

from __future__ import annotations

import random
import socket
from pathlib import Path

EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
FIRST = 10_000


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
