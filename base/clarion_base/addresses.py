# SPDX-License-Identifier: Apache-2.0
"""Addresses at which only this machine listens, or is listened to."""

from __future__ import annotations

import ipaddress

UNIX = "unix:"  # gRPC's scheme for the path of a socket


def is_loopback(host: str) -> bool:
    """Whether a host, in brackets or not, is an address of the loopback device, or `localhost` (RFC 6761)."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def is_address(host: str) -> bool:
    """Whether a host, in brackets or not, is an IP address and not a name."""
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
