# SPDX-License-Identifier: Apache-2.0
"""Unix time as the store keeps it."""

from __future__ import annotations

import time


def now_us() -> int:
    """Now, in microseconds."""
    return time.time_ns() // 1000
