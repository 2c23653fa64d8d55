# SPDX-License-Identifier: Apache-2.0
"""The encrypted tunnels that a scenario puts under its applications, one for each pair of hosts."""

from __future__ import annotations

PORT = 1194  # UDP, at both ends
KINDS = ("none", "openvpn")
_SECOND_NUMBER = {"1": "129", "2": "130"}  # of a host's address, and of its end of the tunnel


def inner_address(address: str) -> str:
    """The address of a host inside its tunnel, by that outside."""
    first, second, *others = address.split(".")
    return ".".join([first, _SECOND_NUMBER[second], *others])
