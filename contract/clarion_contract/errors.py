# SPDX-License-Identifier: Apache-2.0
"""Settings that are refused before a switch hears of them."""

from __future__ import annotations

from clarion_base.errors import UserError


class SettingsError(UserError):
    """Settings that no switch may get, named as `SWITCH: ENTRY: VALUE: what would be right`."""

    def __init__(self, switch: str, entry: str, reason: str) -> None:
        super().__init__(f"{switch}: {entry}: {reason}")
        self.switch = switch
        self.entry = entry
        self.reason = reason
