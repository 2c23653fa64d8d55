# SPDX-License-Identifier: Apache-2.0
"""Waiting for what other processes and the kernel do."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 20.0  # for expected events, on a busy machine too


def wait_until(condition: Callable[[], bool], what: str = "", seconds: float = PATIENCE_S) -> None:
    """Polls until the condition holds; fails with `what` at the deadline."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what or f"not within {seconds} s"
        time.sleep(0.01)
