# SPDX-License-Identifier: Apache-2.0
"""`clarion report`."""

from __future__ import annotations

import argparse
from pathlib import Path

from clarion_base import text_table
from clarion_lab.recording import files
from clarion_lab.results import plots, report, tables
from clarion_lab.run import batch


def add_options(parser: argparse.ArgumentParser) -> None:
    """The result and the form."""
    parser.add_argument("directory", type=Path)
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    parser.set_defaults(run=_report)


def _report(options: argparse.Namespace) -> int:
    summary = files.read_summary(options.directory)
    if options.markdown:
        rows = summary.get("rows") or [tables.row(summary["scenario"], summary)]
        print(text_table.markdown(rows, tables.COLUMNS))
        return 0
    if summary["format"] == files.BATCH_FORMAT:
        for run in summary["runs"]:
            plots.draw(options.directory / run["directory"])
            report.write(options.directory / run["directory"])
        batch.redraw(options.directory)
    else:
        plots.draw(options.directory)
        report.write(options.directory)
    print(options.directory / report.REPORT)
    return 0
