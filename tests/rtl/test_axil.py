# SPDX-License-Identifier: Apache-2.0
"""The AXI4-Lite front end, in every make-up that a bitstream may have."""

from __future__ import annotations

import pytest

from rtl.simulation import FRONT_END, needs_icarus, simulate

MAKE_UPS = {
    "two_ports": {"BUILD": 0x12345678},
    "ingress_only": {"PORTS": 1, "HAS_EGRESS": 0, "BUCKETS": 65536},
    "egress_only": {"PORTS": 3, "HAS_INGRESS": 0, "QUEUE_BEATS": 1024, "CLOCK_HZ": 300000000},
    "window_full": {"PORTS": 7},
}


@needs_icarus
@pytest.mark.parametrize("name", MAKE_UPS)
def test_front_end(name: str) -> None:
    simulate("clarion_axil", "rtl.axil_cases", FRONT_END, MAKE_UPS[name], name=f"axil_{name}")
