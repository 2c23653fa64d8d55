# SPDX-License-Identifier: Apache-2.0
"""How often links do their periodic work."""

from __future__ import annotations

from dataclasses import dataclass

from clarion_contract.lldp import HELLO_EVERY_S


@dataclass
class Pace:
    """Periods shared by all links; a large fleet makes them longer."""

    compare_s: float = 10.0
    retry_s: float = 1.0  # at most, between two attempts to reach a switch
    counters_s: float = 2.0
    reports_s: float = 0.1  # for which a switch may collect reports
    hello_s: float = HELLO_EVERY_S  # at each port of a switch that does not speak LLDP by itself
