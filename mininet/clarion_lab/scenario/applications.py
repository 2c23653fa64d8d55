# SPDX-License-Identifier: Apache-2.0
"""Applications in a scenario: unmodified programs that move a file over TCP, and which end calls which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clarion_base.faults import Code
from clarion_lab.scenario.fields import refused

BULK = "bulk"  # no application: iperf3, or what sends a transfer
TRANSFERS = {"ftp": ("put", "get"), "http": ("get",)}  # what each does; the first is the default
CONFLICTS = ("bursts", "arrivals", "stop")


@dataclass(frozen=True)
class Application:
    """An application's client and server; `put`: the client sends the file, else it fetches it."""

    name: str
    put: bool

    @property
    def transfer(self) -> str:
        """As a scenario has it."""
        return "put" if self.put else "get"


def parse_application(group: Mapping[str, Any]) -> Application | None:
    """That of a group of flows; None: no file is moved. FaultError names the key."""
    name = group.get("application", BULK)
    if name == BULK:
        if "transfer" in group:
            raise refused(("transfer",), f"only with application: {' or '.join(TRANSFERS)}")
        return None
    if group.get("protocol") == "udp":
        raise refused(("application",), "not with protocol: udp; it has TCP connections", Code.CONFLICT)
    for key in CONFLICTS:
        if key in group:
            raise refused(
                (key,), f"not with application: {name}; it moves one file of that size", Code.CONFLICT
            )
    if "size" not in group:
        raise refused(("size",), f"missing; {name} moves a file of a size", Code.MISSING)
    transfer = group.get("transfer", TRANSFERS[name][0])
    if transfer not in TRANSFERS[name]:
        reason = f"{transfer}: {name} has {' and '.join(TRANSFERS[name])} only; use application: ftp"
        raise refused(("transfer",), reason, Code.UNSUPPORTED)
    return Application(name, transfer == "put")
