# SPDX-License-Identifier: Apache-2.0
"""Rate limits by token and by address: moving windows in memory, one set per process."""

from __future__ import annotations

import math
import time

from limits import RateLimitItemPerMinute
from limits.strategies import MovingWindowRateLimiter

from clarion_control.api.options import ApiOptions
from clarion_control.api.problems import Problem
from clarion_control.api.windows import WindowStorage
from clarion_control.sources import source


class RateLimits:
    """Refuses with 429 what comes too often."""

    def __init__(self, options: ApiOptions) -> None:
        self._requests = _Limit(options.requests_per_minute, "requests with this token")
        self._anonymous = _Limit(options.anonymous_per_minute, "requests without token from your address")
        self._failures = _Limit(options.failures_per_minute, "invalid tokens from your address")

    def request(self, token: int) -> None:
        """Counts a request with a valid token."""
        self._requests.take(str(token))

    def anonymous(self, address: str) -> None:
        """Counts a request that needs no token."""
        self._anonymous.take(source(address))

    def failed(self, address: str) -> None:
        """Counts a token that is not valid.

        Valid ones from the same address are not held up: a script with an old token, or anybody on the same
        machine, would shut all others out, and 256 bits are not guessed.
        """
        self._failures.take(source(address))


class _Limit:
    """What there may be of something in any minute, by key; keys of one limit push out none of another."""

    def __init__(self, per_minute: int, what: str) -> None:
        self._windows = MovingWindowRateLimiter(WindowStorage())
        self._item = RateLimitItemPerMinute(per_minute)
        self._what = what

    def take(self, key: str) -> None:
        if not self._windows.hit(self._item, key):
            self._refuse(key)

    def _refuse(self, key: str) -> None:
        opens = self._windows.get_window_stats(self._item, key).reset_time
        wait_s = max(1, math.ceil(opens - time.time()))
        detail = f"more than {self._item.amount} {self._what} in a minute; wait {wait_s} s"
        raise Problem("too-many-requests", detail, headers={"Retry-After": str(wait_s)})
