# SPDX-License-Identifier: Apache-2.0
"""What goes wrong between us and a switch, each as one line that names the switch and the entry."""

from __future__ import annotations

from clarion.errors import UserError


class SettingsError(UserError):
    """Settings that no switch may get, named as `SWITCH: ENTRY: VALUE: what would be right`."""

    def __init__(self, switch: str, entry: str, reason: str) -> None:
        super().__init__(f"{switch}: {entry}: {reason}")
        self.switch = switch
        self.entry = entry
        self.reason = reason


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
