# SPDX-License-Identifier: Apache-2.0
"""What a block may be built with; hls/block/sizes.hpp refuses the rest."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def power_of_two(least: int, most: int) -> Callable[[str], int]:
    """The type of an option."""

    def parse(text: str) -> int:
        value = int(text)
        if not least <= value <= most or value & (value - 1):
            raise argparse.ArgumentTypeError(f"{value}: a power of two from {least} to {most} is needed")
        return value

    parse.__name__ = "number"
    return parse
