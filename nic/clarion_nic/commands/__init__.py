# SPDX-License-Identifier: Apache-2.0
"""The commands of an FPGA NIC."""

from __future__ import annotations

from clarion_base.commands import Command

COMMANDS = (Command("nic", "look at an FPGA NIC, and set its ports", f"{__name__}.nic"),)
