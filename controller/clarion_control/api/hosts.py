# SPDX-License-Identifier: Apache-2.0
"""The names under which the controller may be addressed.

A page of another site can have its own name resolved to this machine (DNS rebinding), and would then be of
the same origin as the API behind it. What gives it away is its name in the header Host.
"""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from clarion_control.api.problems import Problem
from clarion_control.sources import parsed

LOCAL = "localhost"
SHOWN = 100  # characters of a name that is refused


class Hosts:
    """The allowed names, localhost among them; None for all."""

    def __init__(self, names: Collection[str] | None = None) -> None:
        self._names = None if names is None else {LOCAL, *(name.lower().rstrip(".") for name in names)}

    @classmethod
    def around(cls, listen: str, names: Collection[str], *, tls: bool) -> Hosts:
        """The given names, and the one that is listened at. With TLS of our own and none given all are right:
        with a name that is not in the certificate no browser goes on.
        """
        return cls(None if tls and not names else [listen, *names])

    def check(self, hosts: list[str]) -> None:
        """Problem unless the values of the header Host are one allowed name.

        Addresses are: nobody can have them point elsewhere, and health checks use them. A request without
        Host is of no browser.
        """
        if self._names is None or not hosts:
            return
        name = _name(hosts[0])
        if len(hosts) == 1 and name is not None and (name in self._names or parsed(name) is not None):
            return
        shown = (name or hosts[0])[:SHOWN]
        detail = f"{shown!r}: not a name of this controller; use its address, or start it with --host NAME"
        raise Problem("unknown-host", detail)


def _name(host: str) -> str | None:
    """The name without its port, in small letters; None if it cannot be read."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    return parts.hostname.rstrip(".") if parts.hostname and parts.netloc == host and "@" not in host else None
