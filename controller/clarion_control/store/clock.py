# SPDX-License-Identifier: Apache-2.0
"""Unix time in the unit of the store."""

from __future__ import annotations

import time


def now_us() -> int:
    """The present Unix time in microseconds."""
    return time.time_ns() // 1000
