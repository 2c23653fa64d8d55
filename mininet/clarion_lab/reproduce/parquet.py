# SPDX-License-Identifier: Apache-2.0
"""Small Parquet files that say in their metadata what they are, and are replaced whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from clarion_base.errors import UserError


def write(path: Path, columns: Mapping[str, pa.Array], mark: str, notes: Mapping[str, str]) -> None:
    """Writes a table whose metadata are its mark and `notes`."""
    metadata = {mark: "1", **notes}
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new")
    pq.write_table(pa.table(dict(columns), metadata=metadata), temporary, compression="zstd")
    temporary.replace(path)


def read(path: Path, mark: str, what: str) -> tuple[pa.Table, dict[str, str]]:
    """The table and its notes; UserError if the file is not `what`, a table with this mark."""
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise UserError(f"{path}: not {what}: {' '.join(str(error).split())}") from error
    notes = {name.decode(): text.decode() for name, text in (table.schema.metadata or {}).items()}
    if notes.pop(mark, None) is None:
        raise UserError(f"{path}: not {what} of clarion reproduce")
    return table, notes
