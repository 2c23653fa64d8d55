# SPDX-License-Identifier: Apache-2.0
"""Whether clarion-hls-sim is there, and if not, why."""

from __future__ import annotations

import shutil

from clarion_base import paths


def missing() -> str:
    """Return why clarion-hls-sim cannot be run, or nothing."""
    if paths.find_binary("clarion-hls-sim") is not None:
        return ""
    if shutil.which("verilator") is None:
        return "clarion-hls-sim: not built, verilator is not installed (apt install verilator; make build)"
    return "clarion-hls-sim: not built (make build)"
