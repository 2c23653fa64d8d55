# SPDX-License-Identifier: Apache-2.0
"""Where the moving windows of `limits` are kept.

The library's own storage in memory starts a thread or a task per request to forget old keys, and one of the
two never forgets them. This one forgets as it goes.
"""

from __future__ import annotations

import time
from bisect import bisect_right

from limits.storage import MovingWindowSupport, Storage

SWEEP_KEYS = 1000  # with more keys than that, those that are over are looked for
MAX_KEYS = 20_000  # the one that came first goes for one more: a flood from many addresses fills no memory


class WindowStorage(Storage, MovingWindowSupport):
    """The times of the hits of each key, oldest first; for one event loop."""

    STORAGE_SCHEME = None

    def __init__(self) -> None:
        super().__init__()
        self._hits: dict[str, list[float]] = {}
        self._over: dict[str, float] = {}  # when the last hit of a key leaves its window
        self._sweep_at = SWEEP_KEYS

    @property
    def base_exceptions(self) -> type[Exception] | tuple[type[Exception], ...]:
        """None of its own."""
        return ValueError

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Counts hits, unless they would be too many."""
        now = time.time()
        hits = self._current(key, now - expiry)
        if len(hits) + amount > limit:
            return False
        self._sweep(now)
        if key not in self._hits and len(self._hits) >= MAX_KEYS:
            self.clear(next(iter(self._hits)))
        self._hits.setdefault(key, hits).extend([now] * amount)
        self._over[key] = now + expiry
        return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """When the oldest hit was, and how many there are."""
        now = time.time()
        hits = self._current(key, now - expiry)
        return (hits[0] if hits else now), len(hits)

    def clear(self, key: str) -> None:
        """Forgets a key."""
        self._hits.pop(key, None)
        self._over.pop(key, None)

    def reset(self) -> int | None:
        """Forgets all keys."""
        count = len(self._hits)
        self._hits.clear()
        self._over.clear()
        return count

    def check(self) -> bool:
        """Memory is always there."""
        return True

    def get(self, key: str) -> int:
        """How many hits are remembered."""
        return len(self._hits.get(key, ()))

    def get_expiry(self, key: str) -> float:
        """When the last one will be forgotten."""
        return self._over.get(key, time.time())

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Not for moving windows."""
        raise NotImplementedError

    def _current(self, key: str, since: float) -> list[float]:
        hits = self._hits.get(key, [])
        del hits[: bisect_right(hits, since)]
        return hits

    def _sweep(self, now: float) -> None:
        if len(self._hits) < self._sweep_at:
            return
        for key in [key for key, over in self._over.items() if over <= now]:
            self.clear(key)
        self._sweep_at = max(SWEEP_KEYS, 2 * len(self._hits))  # so that sweeps stay rare
