# SPDX-License-Identifier: Apache-2.0
"""How the dashboard is served."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """How pages show what goes on."""

    history_minutes: int = 10  # what a chart shows when its page is opened
    refresh_s: float = 1.0  # how often an open page is brought up to date
