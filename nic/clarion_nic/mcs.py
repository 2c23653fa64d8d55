# SPDX-License-Identifier: Apache-2.0
"""The addresses that an MCS file (Intel HEX) writes."""

from __future__ import annotations

from pathlib import Path

from clarion_base.errors import UserError

DATA, END, SEGMENT, LINEAR = "00", "01", "02", "04"


def span(path: Path) -> tuple[int, int]:
    """Return the lowest address that the file fills, and the first behind the highest."""
    base, first, behind, ended = 0, None, 0, False
    try:
        with path.open(encoding="ascii") as lines:
            for line in lines:
                kind = line[7:9]
                if kind == DATA:
                    start = base + int(line[3:7], 16)
                    first = start if first is None else min(first, start)
                    behind = max(behind, start + int(line[1:3], 16))
                elif kind in (SEGMENT, LINEAR):
                    base = int(line[9:13], 16) << (4 if kind == SEGMENT else 16)
                elif kind == END:
                    ended = True
    except ValueError as error:
        raise UserError(f"{path.name}: not an MCS file: {error}") from error
    if first is None or not ended:
        raise UserError(f"{path.name}: not a whole MCS file: {'no end' if first is not None else 'no data'}")
    return first, behind
