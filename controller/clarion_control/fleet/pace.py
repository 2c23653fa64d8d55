# SPDX-License-Identifier: Apache-2.0
"""How often links do their periodic work."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Pace:
    """Periods shared by all links; a large fleet makes them longer."""

    compare_s: float = 10.0
    counters_s: float = 2.0
    reports_s: float = 0.1  # for which a switch may collect reports
