# SPDX-License-Identifier: Apache-2.0
"""Command-line types for the build sizes of the FPGA block; hls/rtl checks the sizes again."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def power_of_two(least: int, most: int) -> Callable[[str], int]:
    """An argparse type for a power of two in a range."""

    def parse(text: str) -> int:
        value = int(text)
        if not least <= value <= most or value & (value - 1):
            raise argparse.ArgumentTypeError(f"{value}: a power of two from {least} to {most} is needed")
        return value

    parse.__name__ = "number"  # argparse: "invalid number value: 'x'"
    return parse
