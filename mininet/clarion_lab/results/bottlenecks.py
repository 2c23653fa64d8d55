# SPDX-License-Identifier: Apache-2.0
"""Which ports of a summary are those whose queues count."""

from __future__ import annotations

from typing import Any


def bottlenecks(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The ports between switches by which data of flows leaves; a summary that does not tell is of a chain,
    where these lead forward.
    """
    return [
        port
        for port in summary["ports"]
        if port["role"] != "access" and port.get("carries_data", port["role"].endswith("forward"))
    ]
