# SPDX-License-Identifier: Apache-2.0
"""Options that several commands of the controller have."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

_UNITS_S = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
RUNNER_SOCKET = Path("/run/clarion/runner.sock")
RUNNER_RESULTS = Path("/var/lib/clarion-runner")
STORE_HELP = "a path (SQLite) or postgresql:// URL; default: $CLARION_STORE or /var/lib/clarion/controller.db"


def duration_s(text: str) -> float:
    """Seconds of a time such as 30m, 12h, 7d or 4w."""
    match = re.fullmatch(r"(\d{1,6})([mhdw])", text)
    if not match or int(match.group(1)) == 0:
        raise argparse.ArgumentTypeError(f"{text}: write a time such as 30m, 12h, 7d or 4w")
    return float(int(match.group(1)) * _UNITS_S[match.group(2)])
