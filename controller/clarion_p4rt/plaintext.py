# SPDX-License-Identifier: Apache-2.0
"""Which addresses a switch may be reached at without TLS: those that never leave this machine."""

from __future__ import annotations

import asyncio
import socket

from clarion_base.addresses import UNIX, is_address, is_loopback

# gRPC would else ask the proxy of `http_proxy`, which is another machine.
CHANNEL_OPTIONS = (("grpc.enable_http_proxy", 0),)


async def local_target(address: str) -> str | None:
    """What gRPC is to dial for a HOST:PORT, or unix:PATH, of this machine; None for one of another. Of a name
    it is what the name stands for now, so that it stands for nothing else by the time that gRPC asks.
    """
    if address.startswith(UNIX):
        return address
    host, _, port = address.rpartition(":")
    if is_loopback(host):
        return address
    if is_address(host):
        return None
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return None
    if not all(is_loopback(str(end[0])) for *_, end in found):
        return None
    family, *_, end = found[0]
    return f"ipv6:[{end[0]}]:{port}" if family == socket.AF_INET6 else f"ipv4:{end[0]}:{port}"
