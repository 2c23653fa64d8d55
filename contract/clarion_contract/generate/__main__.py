#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the register map of the FPGA block in every language that needs it, from registers.yaml.

python -m clarion_contract.generate          write all files
python -m clarion_contract.generate cpp      print one of them: cpp, sv, python or docs
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from clarion_base.paths import ROOT
from clarion_contract.generate.register_cpp import as_cpp
from clarion_contract.generate.register_docs import as_docs
from clarion_contract.generate.register_model import MapError, RegisterMap, read
from clarion_contract.generate.register_python import as_python
from clarion_contract.generate.register_sv import as_sv

SOURCE = ROOT / "contract" / "registers.yaml"

FORMATS: dict[str, tuple[Callable[[RegisterMap], str], str]] = {
    "cpp": (as_cpp, "hls/block/register_map.hpp"),
    "sv": (as_sv, "nic/rtl/clarion_registers_pkg.sv"),
    "python": (as_python, "nic/clarion_nic/driver/register_map.py"),
    "docs": (as_docs, "docs/registers.md"),
}


def main() -> int:
    """Print one form, or write all of them."""
    parser = argparse.ArgumentParser(description="write the register map in every language")
    parser.add_argument("format", nargs="?", choices=list(FORMATS), help="print this one, write nothing")
    parser.add_argument("--map", type=Path, default=SOURCE, metavar="FILE", help="instead of registers.yaml")
    options = parser.parse_args()
    try:
        regmap = read(options.map)
        texts = {name: write(regmap) for name, (write, _) in FORMATS.items()}
    except MapError as error:
        print(f"generate: {error}", file=sys.stderr)
        return 1
    if options.format:
        sys.stdout.write(texts[options.format])
        return 0
    for name, (_, file) in FORMATS.items():
        (ROOT / file).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / file).write_text(texts[name], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
