# SPDX-License-Identifier: Apache-2.0
"""The HLS tool to use: the first one on PATH."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

VITIS = ("vitis-run", "vitis_hls", "v++")  # newest way first; the oldest installations have the second only
BAMBU = ("bambu",)
NONE = f"none of {', '.join((*VITIS, *BAMBU))} is on PATH"


@dataclass(frozen=True)
class Tool:
    """A program that synthesises."""

    name: str
    path: str

    @property
    def is_vitis(self) -> bool:
        """Whether bitstreams are made of its results, so that a missed target is a failure."""
        return self.name in VITIS


def find(names: tuple[str, ...] = VITIS + BAMBU) -> Tool | None:
    """Return the first of these programs that is on PATH."""
    for name in names:
        if path := shutil.which(name):
            return Tool(name, path)
    return None
