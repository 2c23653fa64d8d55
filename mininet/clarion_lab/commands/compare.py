# SPDX-License-Identifier: Apache-2.0
"""`clarion compare`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from clarion_lab.results import compare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The two results and the form."""
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> int:
    entries = compare.compare(options.first, options.second)
    print(json.dumps(entries, indent=1) if options.json else compare.table(entries))
    return 0
