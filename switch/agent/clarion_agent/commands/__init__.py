# SPDX-License-Identifier: Apache-2.0
"""The commands of the P4Runtime agent."""

from __future__ import annotations

from clarion_base.commands import Command

COMMANDS = (
    Command("switch", "P4Runtime in front of the embedded switch or an FPGA NIC", f"{__name__}.switch"),
)
