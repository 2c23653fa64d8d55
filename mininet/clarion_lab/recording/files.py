# SPDX-License-Identifier: Apache-2.0
"""A run's directory: writing its files and reading them back."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from clarion_base.errors import UserError
from clarion_lab.recording.recording import Decision, FlowSample, LossRecord, PortSample, Recording

RUN_FORMAT = "clarion-summary"
BATCH_FORMAT = "clarion-batch"
VERSIONS = {RUN_FORMAT: 2, BATCH_FORMAT: 2}
SUMMARY = "summary.json"
UNFINISHED = "unfinished.json"  # until all runs are over: their directories, as a batch's summary lists them
FLOWS = "flows.parquet"
PORTS = "ports.parquet"
LOSSES = "losses.parquet"
INCIDENTS = "incidents.parquet"
JUDGED = "decisions.parquet"  # of the senders
ERROR_LOG = "error.log"
DECISIONS = "decisions.json"  # of the tuner
TRAFFIC = "iperf3"
_FILES = re.compile(
    r"(summary|unfinished)\.(json|new)|(flows|ports|losses|incidents|decisions)\.parquet|(throughput|window|queue|losses|overview)\.png"
    r"|report\.html|(switch|simulation)\.(json|log)|bmv2-s[0-9]+\.log|truth\.csv|error\.log|agent\.log|reductions\.(jsonl|log)|decisions\.(json|new)|proxy-[hr][0-9]+-(client|server)\.log|tunnel-[hr][0-9]+\.log"
)
_FOLDERS = {
    TRAFFIC: re.compile(r"flow-[0-9]+(-received|-bursts)?\.json"),
    "captures": re.compile(r"[^/]+\.pcapng"),
}

_TYPES = {int: pa.int64(), float: pa.float64(), str: pa.string(), bool: pa.bool_()}


def write(
    directory: Path, summary: dict[str, Any], recording: Recording, decisions: Sequence[Decision]
) -> None:
    """Writes the series, then the summary, so that a summary is never without its series."""
    directory.mkdir(parents=True, exist_ok=True)
    _write_table(directory / FLOWS, FlowSample, recording.flow_samples)
    _write_table(directory / PORTS, PortSample, recording.port_samples)
    _write_table(directory / LOSSES, LossRecord, recording.losses)
    _write_table(directory / INCIDENTS, LossRecord, recording.incidents)
    _write_table(directory / JUDGED, Decision, decisions)
    write_json(directory / SUMMARY, summary)


def is_result(path: Path) -> bool:
    """Whether this is a file of a run or a batch by its name, or a directory of a run with its own."""
    if path.is_symlink():
        return False
    if path.is_dir():
        names = _FOLDERS.get(path.name)
        return names is not None and all(names.fullmatch(inner.name) for inner in path.iterdir())
    return _FILES.fullmatch(path.name) is not None


def remove_results(directory: Path) -> None:
    """Removes the files of a run, whole or not, from its directory; others stay."""
    for path in sorted(directory.iterdir()) if directory.is_dir() else ():
        if is_result(path):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Writes a JSON file in one step: a reader sees the old file or the new one."""
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    temporary.replace(path)


def _write_table(path: Path, kind: Any, rows: Sequence[Any]) -> None:
    fields = list(kind._fields)
    hints = get_type_hints(kind)
    schema = pa.schema([(name, _TYPES[hints[name]]) for name in fields])
    columns = [
        pa.array([row[index] for row in rows], schema.field(index).type) for index in range(len(fields))
    ]
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), path)


def read_table(path: Path) -> dict[str, Any]:
    """The columns of a series as numpy arrays by name; empty if the file is not there."""
    if not path.exists():
        return {}
    table = pq.read_table(path)
    return {name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names}


def read_summary(directory: Path, name: str = SUMMARY) -> dict[str, Any]:
    """The summary of a run or of a batch, finished or not; UserError if the directory holds none."""
    path = directory / name
    try:
        document = json.loads(path.read_text())
    except OSError as error:
        raise UserError(f"{directory}: no {name} there; give the output directory of a run") from error
    except ValueError as error:
        raise UserError(f"{path}: not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") not in (RUN_FORMAT, BATCH_FORMAT):
        raise UserError(f"{path}: not a summary of clarion")
    wanted = VERSIONS[document["format"]]
    if document.get("version") != wanted:
        raise UserError(f"{path}: version {document.get('version')}, read is version {wanted}; run it again")
    return document
