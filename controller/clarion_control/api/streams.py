# SPDX-License-Identifier: Apache-2.0
"""The event streams that are open: how many there may be, and ending them all when the server ends."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from clarion_control.api.options import ApiOptions
from clarion_control.api.problems import Problem

RETRY_S = "10"


class Streams:
    """Counts streams; their writers look at `closing`."""

    def __init__(self, options: ApiOptions) -> None:
        self.closing = asyncio.Event()
        self._total = options.streams
        self._per_token = options.streams_per_token
        self._open: Counter[int] = Counter()

    def check(self, token: int) -> None:
        """Problem if the token, or all tokens together, have too many streams already."""
        headers = {"Retry-After": RETRY_S}
        if self.closing.is_set():
            raise Problem("unavailable", "the controller is stopping", headers=headers)
        if self._open[token] >= self._per_token:
            detail = f"{self._per_token} event streams are open with this token; close one"
            raise Problem("too-many-requests", detail, headers=headers)
        if self._open.total() >= self._total:
            detail = f"{self._total} event streams are open; try again later"
            raise Problem("too-many-requests", detail, headers=headers)

    @contextmanager
    def opened(self, token: int) -> Iterator[None]:
        """While a stream is open."""
        self._open[token] += 1
        try:
            yield
        finally:
            self._open[token] -= 1
            if not self._open[token]:
                del self._open[token]

    def close(self) -> None:
        """Ends all streams at once, and lets no new one begin."""
        self.closing.set()
