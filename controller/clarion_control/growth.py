# SPDX-License-Identifier: Apache-2.0
"""How fast a total grows."""

from __future__ import annotations

from collections import deque


class Growth:
    """How fast a total grows, over the last ten seconds or so."""

    SPAN_US = 10_000_000

    def __init__(self) -> None:
        self._seen: deque[tuple[int, int]] = deque()

    def add(self, time_us: int, total: int) -> None:
        """Adds the total at a time; a repeated time is ignored."""
        if self._seen and total < self._seen[-1][1]:
            self._seen.clear()
        if not self._seen or time_us > self._seen[-1][0]:
            self._seen.append((time_us, total))
        while len(self._seen) > 2 and self._seen[1][0] <= time_us - self.SPAN_US:
            self._seen.popleft()

    @property
    def last_us(self) -> int | None:
        """The time of the newest total."""
        return self._seen[-1][0] if self._seen else None

    def per_second(self) -> float | None:
        """None until there are two totals to compare."""
        if len(self._seen) < 2:
            return None
        (first_us, first), (last_us, last) = self._seen[0], self._seen[-1]
        return (last - first) * 1e6 / (last_us - first_us)
