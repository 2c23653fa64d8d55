# SPDX-License-Identifier: Apache-2.0
"""Which network devices have no link, as the kernel says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

DEVICES = Path("/sys/class/net")


def down(netdevs: Mapping[int, str]) -> frozenset[int]:
    """The ports whose network device has no link. One that is not of this network namespace counts as up."""
    return frozenset(port for port, name in netdevs.items() if not _has_link(name))


def _has_link(name: str) -> bool:
    try:
        return (DEVICES / name / "carrier").read_text().strip() != "0"
    except FileNotFoundError:
        return True
    except OSError:  # EINVAL: it is switched off
        return False
