# SPDX-License-Identifier: Apache-2.0
"""A long path between two namespaces, of one clarion-switch, for the proxies' benchmarks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.proxy_pair import Place, namespaces
from integration.switch_net import inside, run, switch

CLIENT_IP, SERVER_IP = "10.97.0.1", "10.97.0.2"
FRAME_BYTES = 1514
BUFFER_BYTES = 1 << 26  # of TCP from end to end, so that it is no limit


@dataclass(frozen=True)
class Direction:
    """What happens to packets on their way to one end."""

    rate_bps: int
    loss: float = 0.0  # share of the packets


@dataclass(frozen=True)
class LongPath:
    """A round trip, half of it in each direction, and queues of one bandwidth-delay product."""

    rtt_us: int
    to_client: Direction
    to_server: Direction

    def port(self, name: str, direction: Direction) -> dict[str, Any]:
        """The switch's port towards an end."""
        return {
            "name": name,
            "netdev": name,
            "rate_bps": direction.rate_bps,
            "delay_us": self.rtt_us // 2,
            "queue_bytes": max(direction.rate_bps * self.rtt_us // 8_000_000, 10 * FRAME_BYTES),
            "loss": {"model": "packet", "rate": direction.loss},
        }


@contextlib.contextmanager
def long_path(path: LongPath, directory: Path) -> Iterator[tuple[Place, Place]]:
    """The client's and the server's place at the ends of such a path."""
    with namespaces("client", "server", "switch") as (client, server, middle):
        for netns, address, netdev in ((client, CLIENT_IP, "client"), (server, SERVER_IP, "server")):
            connect(netns, address, netdev, middle)
        ports = [path.port("client", path.to_client), path.port("server", path.to_server)]
        document = {"switches": [{"name": "s1", "ports": ports}]}
        with switch(directory, document, netns=middle):
            introduce(client)
            yield Place(client, CLIENT_IP), Place(server, SERVER_IP)


def introduce(client: str) -> None:
    """Lets both ends learn each other's address on the link, which takes a round trip of its own."""
    run("ip", "netns", "exec", client, "ping", "-c", "1", "-w", "20", SERVER_IP)


def connect(netns: str, address: str, netdev: str, middle: str) -> None:
    """Joins a namespace to the switch's, by frames of Ethernet's size."""
    run(*f"ip link add {netdev} netns {middle} type veth peer name eth0 netns {netns}".split())
    for command in (f"addr add {address}/24 dev eth0", "link set eth0 up"):
        run("ip", "-n", netns, *command.split())
    run("ip", "-n", middle, "link", "set", netdev, "up")
    run(*f"ip netns exec {netns} ethtool -K eth0 tx off tso off gso off gro off".split())
    with inside(netns):
        for buffers in ("tcp_rmem", "tcp_wmem"):
            Path(f"/proc/sys/net/ipv4/{buffers}").write_text(f"4096 131072 {BUFFER_BYTES}")
