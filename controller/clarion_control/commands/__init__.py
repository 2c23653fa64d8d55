# SPDX-License-Identifier: Apache-2.0
"""The commands of the controller."""

from __future__ import annotations

from clarion_base.commands import Command

COMMANDS = (
    Command("controller", "one controller for all switches", f"{__name__}.controller"),
    Command("keys", "TLS between controllers and switches", f"{__name__}.keys"),
    Command("token", "who may use the controller", f"{__name__}.token"),
)
