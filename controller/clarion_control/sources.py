# SPDX-License-Identifier: Apache-2.0
"""Addresses of clients, and what counts as one source of requests."""

from __future__ import annotations

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
NETWORK_BITS = 64  # what one holder of IPv6 addresses has at the least


def parsed(text: str) -> Address | None:
    """The address; IPv4 for one that is mapped into IPv6, None for what is no address."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def source(text: str) -> str:
    """An IPv4 address, or the network that an IPv6 address belongs to: its owner has all of it."""
    address = parsed(text)
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.IPv6Network((address, NETWORK_BITS), strict=False))
    return text if address is None else str(address)
