# SPDX-License-Identifier: Apache-2.0
"""The devices that clarion-host is attached to, as it lists them itself."""

from __future__ import annotations

import json

from clarion_base import processes


def attachments(program: str) -> set[tuple[str, str]]:
    """(namespace, device) of everything that clarion-host is attached to; RunFailedError quotes it."""
    entries = json.loads(processes.run_all([("list", [program, "list", "--json"])])[0])
    return {(entry["netns"], entry["device"]) for entry in entries}
