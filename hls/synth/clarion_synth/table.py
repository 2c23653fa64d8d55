# SPDX-License-Identifier: Apache-2.0
"""The table that is printed: which number, what was wanted, what there is, what limits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One number. Without `wanted` it is only shown; without `got` the tool did not report it."""

    number: str
    wanted: float | None
    got: float | None
    limit: str = ""

    @property
    def missed(self) -> bool:
        """Whether it is more than wanted, or wanted and not known."""
        return self.wanted is not None and (self.got is None or self.got > self.wanted)


def text(rows: Sequence[Row]) -> str:
    """Return the table."""
    cells = [("number", "wanted", "got", "", "what limits it")]
    for row in rows:
        mark = "MISSED" if row.missed else "" if row.wanted is None else "ok"
        cells.append((row.number, _figure(row.wanted), _figure(row.got), mark, row.limit))
    widths = [max(len(row[column]) for row in cells) for column in range(5)]
    return "\n".join(_line(row, widths) for row in cells)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    name, wanted, got, mark, limit = row
    figures = f"{wanted:>{widths[1]}}  {got:>{widths[2]}}"
    return f"{name:<{widths[0]}}  {figures}  {mark:<{widths[3]}}  {limit}".rstrip()


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) and not value.is_integer() else f"{value:.0f}"
