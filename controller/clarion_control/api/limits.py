# SPDX-License-Identifier: Apache-2.0
"""Rate limits by token and by address: moving windows in memory, one set per process."""

from __future__ import annotations

import ipaddress
import math
import time

from limits import RateLimitItemPerMinute
from limits.strategies import MovingWindowRateLimiter

from clarion_control.api.options import ApiOptions
from clarion_control.api.problems import Problem
from clarion_control.api.windows import WindowStorage

NETWORK_BITS = 64  # what one holder of IPv6 addresses has at the least


class RateLimits:
    """Refuses with 429 what comes too often."""

    def __init__(self, options: ApiOptions) -> None:
        self._windows = MovingWindowRateLimiter(WindowStorage())
        self._requests = RateLimitItemPerMinute(options.requests_per_minute, namespace="token")
        self._anonymous = RateLimitItemPerMinute(options.anonymous_per_minute, namespace="address")
        self._failures = RateLimitItemPerMinute(options.failures_per_minute, namespace="failures")

    def request(self, token: int) -> None:
        """Counts a request with a valid token."""
        self._take(self._requests, str(token), "requests with this token")

    def anonymous(self, address: str) -> None:
        """Counts a request that needs no token."""
        self._take(self._anonymous, _network(address), "requests without token from your address")

    def failed(self, address: str) -> None:
        """Counts a token that is not valid.

        Valid ones from the same address are not held up: a script with an old token, or anybody on the same
        machine, would shut all others out, and 256 bits are not guessed.
        """
        self._take(self._failures, _network(address), "invalid tokens from your address")

    def _take(self, item: RateLimitItemPerMinute, key: str, what: str) -> None:
        if not self._windows.hit(item, key):
            self._refuse(item, key, what)

    def _refuse(self, item: RateLimitItemPerMinute, key: str, what: str) -> None:
        opens = self._windows.get_window_stats(item, key).reset_time
        wait_s = max(1, math.ceil(opens - time.time()))
        detail = f"more than {item.amount} {what} in a minute; wait {wait_s} s"
        raise Problem("too-many-requests", detail, headers={"Retry-After": str(wait_s)})


def _network(address: str) -> str:
    """An IPv4 address, or the network that an IPv6 address belongs to: its owner has all of it."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.IPv6Network((parsed, NETWORK_BITS), strict=False))
    return str(parsed)
