# SPDX-License-Identifier: Apache-2.0
"""Failures between a P4Runtime client and a switch."""

from __future__ import annotations

from clarion_base.errors import UserError


class SwitchError(UserError):
    """A switch that does not answer, or refuses.

    `code` is the name of a gRPC status, such as "UNAVAILABLE"; `entry` what failed, such as "xcp_port[3]".
    """

    def __init__(self, switch: str, entry: str, code: str, message: str) -> None:
        super().__init__(f"{switch}: {entry}: {message}")
        self.switch = switch
        self.entry = entry
        self.code = code
        self.message = message
