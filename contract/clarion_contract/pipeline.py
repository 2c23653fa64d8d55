# SPDX-License-Identifier: Apache-2.0
"""The compiled P4 program: where it is, and what it says of itself."""

from __future__ import annotations

import os
from pathlib import Path

from finsy import P4Schema

from clarion_base.errors import UserError
from clarion_base.paths import ROOT

P4INFO = "clarion.p4info.txtpb"
PROGRAM = "clarion.json"


def directory() -> Path:
    """The directory of the compiled program; CLARION_P4_DIR moves it."""
    return Path(os.environ.get("CLARION_P4_DIR", ROOT / "p4"))


def load() -> P4Schema:
    """The P4Info together with the program for BMv2; UserError if one is missing."""
    p4info, program = directory() / P4INFO, directory() / PROGRAM
    for path in (p4info, program):
        if not path.is_file():
            raise UserError(f"{path}: not found; set CLARION_P4_DIR to the directory of the compiled program")
    return P4Schema(p4info, program.read_bytes())
