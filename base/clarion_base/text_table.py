# SPDX-License-Identifier: Apache-2.0
"""Tables of text, for terminals and for documents."""

from __future__ import annotations

from collections.abc import Sequence

MISSING = "-"


def number(value: float | None, digits: int) -> str:
    """A number with so many digits, or a dash."""
    return MISSING if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    """A fraction as a percentage, or a dash."""
    return MISSING if value is None else f"{100 * value:.1f} %"


def plain(rows: Sequence[Sequence[str]], columns: Sequence[str]) -> str:
    """An aligned table: the first column to the left, numbers to the right."""
    widths = [max(len(line[index]) for line in (columns, *rows)) for index in range(len(columns))]

    def line(cells: Sequence[str]) -> str:
        first, *rest = (
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join((first, *rest)).rstrip()

    return "\n".join(
        [line(columns), "  ".join("-" * width for width in widths), *(line(cells) for cells in rows)]
    )


def markdown(rows: Sequence[Sequence[str]], columns: Sequence[str]) -> str:
    """The same table in Markdown."""
    rule = ["---", *("--:" for _ in columns[1:])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (columns, rule, *rows))
