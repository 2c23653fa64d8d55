#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the contract, and register map and functions of the FPGA block, in every language that needs them.

python -m clarion_contract.generate          write all files
python -m clarion_contract.generate cpp      print one of them
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from clarion_base.paths import ROOT
from clarion_contract.generate import (
    contract_cpp,
    contract_docs,
    contract_header,
    contract_model,
    function_cpp,
    function_dpi,
    function_model,
    register_model,
)
from clarion_contract.generate.contract_docs import page
from clarion_contract.generate.contract_model import Contract
from clarion_contract.generate.contract_python import as_python as settings_as_python
from clarion_contract.generate.contract_schema import as_schema
from clarion_contract.generate.document import DocumentError
from clarion_contract.generate.function_model import Functions
from clarion_contract.generate.function_sv import as_package
from clarion_contract.generate.register_cpp import as_cpp
from clarion_contract.generate.register_docs import as_docs
from clarion_contract.generate.register_model import RegisterMap
from clarion_contract.generate.register_python import as_python
from clarion_contract.generate.register_sv import as_sv

SOURCE = ROOT / "contract" / "registers.yaml"

OF_CONTRACT: dict[str, tuple[Callable[[Contract], str], str]] = {
    "settings": (settings_as_python, "contract/clarion_contract/settings.py"),
    "header": (contract_header.as_python, "contract/clarion_contract/header_layout.py"),
    "header-lua": (
        page("observe/wireshark/clarion.lua", {"header": contract_header.as_lua}, contract_docs.LUA),
        "observe/wireshark/clarion.lua",
    ),
    "core": (contract_cpp.as_config, "core/xcp_config.hpp"),
    "core-settings": (contract_cpp.as_settings, "core/xcp_settings.hpp"),
    "block-sim": (contract_cpp.as_places, "hls/sim/xcp_command.hpp"),
    "header-docs": (
        page("docs/wire-format.md", {"header": contract_docs.layout, "header parts": contract_docs.parts}),
        "docs/wire-format.md",
    ),
    "p4-docs": (page("docs/p4.md", {"tables": contract_docs.tables}), "docs/p4.md"),
    "rest-docs": (page("docs/rest.md", {"settings": contract_docs.settings}), "docs/rest.md"),
    "scenario-docs": (page("docs/scenarios.md", {"xcp": contract_docs.scenario}), "docs/scenarios.md"),
    "schema": (as_schema, "mininet/clarion_lab/scenario/schema/xcp.schema.json"),
}
OF_MAP: dict[str, tuple[Callable[[RegisterMap], str], str]] = {
    "cpp": (as_cpp, "hls/sim/register_map.hpp"),
    "sv": (as_sv, "nic/rtl/clarion_registers_pkg.sv"),
    "python": (as_python, "nic/clarion_nic/driver/register_map.py"),
    "docs": (as_docs, "docs/registers.md"),
}
OF_FUNCTIONS: dict[str, tuple[Callable[[Functions], str], str]] = {
    "functions-sv": (as_package, "hls/rtl/clarion_block_pkg.sv"),
    "functions": (function_cpp.as_ports, "hls/functions/ports.hpp"),
    "functions-packing": (function_cpp.as_packing, "hls/functions/packing.hpp"),
    "functions-sim-sv": (function_dpi.as_modules, "hls/sim/functions/clarion_functions_dpi.sv"),
    "functions-sim": (function_dpi.as_calls, "hls/sim/functions/functions_dpi.cpp"),
}
FORMS = (*OF_CONTRACT.items(), *OF_MAP.items(), *OF_FUNCTIONS.items())
FILES = {name: file for name, (_, file) in FORMS}


def texts(
    contract_file: Path = contract_model.SOURCE,
    map_file: Path = SOURCE,
    functions_file: Path = function_model.SOURCE,
) -> dict[str, str]:
    """Return what is generated, by the name of its form."""
    contract = contract_model.read(contract_file)
    regmap = register_model.read(map_file, contract)
    functions = function_model.read(functions_file)
    made = {name: write(contract) for name, (write, _) in OF_CONTRACT.items()}
    made |= {name: write(regmap) for name, (write, _) in OF_MAP.items()}
    return made | {name: write(functions) for name, (write, _) in OF_FUNCTIONS.items()}


def main() -> int:
    """Print one form, or write all of them."""
    parser = argparse.ArgumentParser(description="write the contract in every language")
    parser.add_argument("format", nargs="?", choices=list(FILES), help="print this one, write nothing")
    parser.add_argument("--contract", type=Path, default=contract_model.SOURCE, metavar="FILE")
    parser.add_argument("--map", type=Path, default=SOURCE, metavar="FILE", help="instead of registers.yaml")
    parser.add_argument("--functions", type=Path, default=function_model.SOURCE, metavar="FILE")
    options = parser.parse_args()
    try:
        made = texts(options.contract, options.map, options.functions)
    except DocumentError as error:
        print(f"generate: {error}", file=sys.stderr)
        return 1
    if options.format:
        sys.stdout.write(made[options.format])
        return 0
    for name, text in made.items():
        (ROOT / FILES[name]).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
