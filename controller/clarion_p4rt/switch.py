# SPDX-License-Identifier: Apache-2.0
"""How a client reaches a switch, and where the switch forwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TlsFiles:
    """Paths of PEM files for mutual TLS to a switch."""

    ca: str
    certificate: str
    key: str


@dataclass(frozen=True)
class Switch:
    """The configured access to a switch. `uid` differs from that of an earlier one of the same name."""

    uid: int
    name: str
    address: str  # HOST:PORT of its P4Runtime server
    device_id: int
    ports: tuple[int, ...]  # the ports it has, ascending
    tls: TlsFiles | None = None
    added_us: int = 0
    port_names: Mapping[int, str] = field(default_factory=dict, hash=False)  # for people; some have none

    def port_title(self, port: int) -> str:
        """A port for people: its number, and its name if it has one."""
        name = self.port_names.get(port)
        return f"Port {port}" if name is None else f"Port {port} ({name})"


@dataclass(frozen=True)
class Forwarding:
    """Static forwarding of a switch: port by Ethernet address, and where unknown addresses are flooded."""

    addresses: Mapping[str, int]
    flood_ports: tuple[int, ...]
