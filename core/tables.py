#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The one source of the reciprocal table that every target's division starts from.

Entry i serves mantissas m with 2^31 + i*2^23 <= m < 2^31 + (i+1)*2^23 and is 2^47 over the middle of that
range, rounded to the nearest integer: 16 bits, within 2^-8.9 of 2^47/m (docs/datapath.md, "Division").

    tables.py cpp > reciprocal_table.hpp       tables.py p4       tables.py json
"""

from __future__ import annotations

import argparse
import json
import sys

INDEX_BITS = 8
MANTISSA_BITS = 32
SCALE_BITS = 47


def reciprocal_table() -> list[int]:
    """Return the 2^8 entries in index order."""
    step = 1 << (MANTISSA_BITS - 1 - INDEX_BITS)
    middles = [(1 << (MANTISSA_BITS - 1)) + i * step + step // 2 for i in range(1 << INDEX_BITS)]
    return [((1 << SCALE_BITS) + middle // 2) // middle for middle in middles]


def _rows(table: list[int], per_row: int = 12) -> list[str]:
    cells = [f"0x{entry:04x}" for entry in table]
    return [", ".join(cells[i : i + per_row]) for i in range(0, len(cells), per_row)]


def as_cpp(table: list[int]) -> str:
    """Return the C++ header."""
    rows = ",\n    ".join(_rows(table))
    return f"""\
// SPDX-License-Identifier: Apache-2.0
// Made by `tables.py cpp`; do not edit.
#pragma once

#include <cstdint>

namespace clarion {{

// clang-format off
constexpr std::uint16_t RECIPROCAL_TABLE[{len(table)}] = {{
    {rows}}};
// clang-format on

}}  // namespace clarion
"""


def as_p4(table: list[int]) -> str:
    """Return constant entries for a P4_16 table with the index as its exact key."""
    entries = "\n".join(f"    {i}: reciprocal(0x{entry:04x});" for i, entry in enumerate(table))
    return f"""\
// SPDX-License-Identifier: Apache-2.0
// Made by `tables.py p4`; do not edit. The entries of table `reciprocals` in division.p4.
const entries = {{
{entries}
}}
"""


def as_json(table: list[int]) -> str:
    """Return a JSON array."""
    return json.dumps(table) + "\n"


FORMATS = {"cpp": as_cpp, "p4": as_p4, "json": as_json}


def main() -> None:
    """Print the table in the format asked for."""
    parser = argparse.ArgumentParser(description="print the reciprocal table")
    parser.add_argument("format", choices=sorted(FORMATS))
    sys.stdout.write(FORMATS[parser.parse_args().format](reciprocal_table()))


if __name__ == "__main__":
    main()
