# SPDX-License-Identifier: Apache-2.0
"""Whose request it is, and over what: from `Forwarded` or `X-Forwarded-For` of proxies that are trusted.

uvicorn's own middleware reads no `Forwarded` (RFC 7239), and a client behind a proxy that sets only that one
could make up the other.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import Scope

from clarion_base.errors import UserError
from clarion_control.sources import Address, parsed

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_PAIR = re.compile(
    r"""\s*(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+)=
    (?:(?P<value>[!#$%&'*+.^_`|~0-9A-Za-z-]+)|"(?P<quoted>(?:[^"\\]|\\.)*)")\s*(?P<end>[,;]|$)""",
    re.VERBOSE,
)
_SCHEMES = ("http", "https")


@dataclass(frozen=True)
class Hop:
    """What a proxy said of the request that it got."""

    address: Address | None  # None: hidden, or not readable
    scheme: str | None = None


class Proxies:
    """The proxies that are trusted, by address or network."""

    def __init__(self, networks: Sequence[Network] = ()) -> None:
        self._networks = networks

    def apply(self, scope: Scope) -> None:
        """Sets client and scheme of a request that came through a trusted proxy to those of its client."""
        peer = parsed(scope["client"][0]) if scope.get("client") else None
        if peer is None or not self._trusts(peer):
            return
        headers = Headers(scope=scope)
        told = (_forwarded(headers.getlist("forwarded")), _x_forwarded(headers.getlist("x-forwarded-for")))
        clients = [self._client(peer, hops) for hops in told if hops]
        if len({address for address, _ in clients}) == 1:
            # Of two that differ one is made up: a proxy sets one header, and passes on the other as it came.
            scope["client"] = (str(clients[0][0]), 0)
        said = {scheme for _, scheme in clients} | {_scheme(headers.getlist("x-forwarded-proto"))}
        if len(said := said - {None}) == 1:
            (scheme,) = said
            scope["scheme"] = str(scheme).replace("http", "ws") if scope["type"] == "websocket" else scheme

    def _client(self, peer: Address, hops: Sequence[Hop]) -> tuple[Address, str | None]:
        """The nearest address that is not a trusted proxy's, and how its request came: each proxy appends
        what it got, and what is further left may be made up.
        """
        address, scheme = peer, None
        for hop in reversed(hops):
            if not self._trusts(address):
                break
            scheme = hop.scheme or scheme
            if hop.address is None:
                break
            address = hop.address
        return address, scheme

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """The values of --trusted-proxy: addresses, or networks such as 10.1.0.0/16."""
    return tuple(_network(text) for text in texts)


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        hint = "write an address, or a network such as 10.1.0.0/16 without bits behind its prefix"
        raise UserError(f"--trusted-proxy: {text}: {hint}") from None


def _forwarded(lines: Sequence[str]) -> list[Hop]:
    """The elements of RFC 7239, section 4; one hop that is hidden if they cannot be read."""
    hops: list[Hop] = []
    pairs: dict[str, str] = {}
    text = ",".join(lines)
    place = 0
    while place < len(text):
        found = _PAIR.match(text, place)
        if found is None:
            return [Hop(None)]
        pairs[found["name"].lower()] = re.sub(r"\\(.)", r"\1", (found["quoted"] or found["value"] or ""))
        place = found.end()
        if found["end"] != ";":
            hops.append(Hop(_node(pairs.get("for", "")), _scheme([pairs.get("proto", "")])))
            pairs = {}
    return hops


def _x_forwarded(lines: Sequence[str]) -> list[Hop]:
    return [Hop(_node(text)) for line in lines for text in line.split(",")]


def _node(text: str) -> Address | None:
    """An address, with or without a port: 192.0.2.1:80, [2001:db8::1]:80, 2001:db8::1."""
    text = text.strip()
    bracketed = re.fullmatch(r"\[([^]]*)\](?::\w+)?", text)
    if bracketed is not None:
        return parsed(bracketed[1])
    return parsed(text.partition(":")[0] if text.count(":") == 1 else text)


def _scheme(lines: Sequence[str]) -> str | None:
    """The scheme that the last proxy states."""
    stated = ",".join(lines).rpartition(",")[2].strip().lower()
    return stated if stated in _SCHEMES else None
