# SPDX-License-Identifier: Apache-2.0
"""The measures of all runs of an experiment: a small table, one row for each run, kept as Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from clarion_lab.reproduce import parquet

MARK = "clarion-experiment"


@dataclass(frozen=True)
class Row:
    """A run: where it stands in its series, and what it gave. NaN: the run does not have it."""

    series: str
    sender: str
    engine: str
    seed: int
    values: Mapping[str, float]
    measures: Mapping[str, float]


def write(path: Path, rows: Sequence[Row], notes: Mapping[str, str]) -> None:
    """Writes the rows in an order of their own, so that equal results make equal files; `notes` go into the
    file's metadata.
    """
    ordered = sorted(rows, key=_order)
    columns = _names(ordered, "values")
    measures = _names(ordered, "measures")
    table = {
        "series": pa.array([row.series for row in ordered], pa.string()),
        "sender": pa.array([row.sender for row in ordered], pa.string()),
        "engine": pa.array([row.engine for row in ordered], pa.string()),
        "seed": pa.array([row.seed for row in ordered], pa.int64()),
        **{f"at.{name}": _floats([row.values.get(name) for row in ordered]) for name in columns},
        **{name: _floats([row.measures.get(name) for row in ordered]) for name in measures},
    }
    parquet.write(path, table, MARK, notes)


def read(path: Path) -> tuple[list[Row], dict[str, str]]:
    """Rows and notes; UserError if the file is no such table."""
    table, notes = parquet.read(path, MARK, "a table of results")
    fixed = ("series", "sender", "engine", "seed")
    rows = []
    for entry in table.to_pylist():
        numbers = {name: value for name, value in entry.items() if name not in fixed and value is not None}
        values = {name[3:]: value for name, value in numbers.items() if name.startswith("at.")}
        measures = {name: value for name, value in numbers.items() if not name.startswith("at.")}
        rows.append(Row(**{name: entry[name] for name in fixed}, values=values, measures=measures))
    return rows, notes


def _order(row: Row) -> tuple[Any, ...]:
    return row.series, row.sender, row.engine, sorted(row.values.items()), row.seed


def _names(rows: Sequence[Row], field: str) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in getattr(row, field)))


def _floats(values: Sequence[float | None]) -> pa.Array:
    return pa.array(values, pa.float64())
