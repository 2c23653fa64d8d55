#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the P4 program and writes what is kept beside it: clarion.json for BMv2, clarion.p4info.txtpb.

What p4c says of the source's place (files, lines, its own version) is left out of the JSON, and every
element is a line of its own, so that a change shows as the lines it touches.

    build.py                  compiles again
    build.py --into FOLDER    leaves the kept files alone
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from slim import slim

HERE = Path(__file__).resolve().parent
KEPT = ("clarion.json", "clarion.p4info.txtpb")
COMPILER = "p4c-bm2-ss"
# Would compute again what the source keeps in a variable.
WITHOUT = ("--excludeMidendPasses", "P4::LocalCopyPropagation")


def without_places(node: Any) -> Any:
    """Return the JSON without what names source files."""
    if isinstance(node, dict):
        return {key: without_places(value) for key, value in node.items() if key != "source_info"}
    return [without_places(value) for value in node] if isinstance(node, list) else node


def one_line_each(program: dict[str, Any]) -> str:
    """Return JSON text with a line for every element of a top-level list, and of a long list in one."""
    return (
        "{\n "
        + ",\n ".join(f"{json.dumps(key)}: {_lines(value, 1)}" for key, value in program.items())
        + "\n}\n"
    )


def _lines(value: Any, depth: int) -> str:
    text = json.dumps(value)
    if len(text) <= 200:
        return text
    indent = "\n" + " " * (depth + 1)
    if isinstance(value, list):
        return f"[{indent}" + f",{indent}".join(_lines(element, depth + 1) for element in value) + "]"
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{json.dumps(key)}: {_lines(inner, depth + 1)}" for key, inner in value.items())
            + "}"
        )
    return text


def compile_to(folder: Path) -> None:
    """Compile into a folder; CalledProcessError carries what p4c said."""
    program, info = (folder / name for name in KEPT)
    command = [
        COMPILER,
        "--Werror",
        *WITHOUT,
        "--p4runtime-files",
        str(info),
        "-o",
        str(program),
        "clarion.p4",
    ]
    subprocess.run(command, cwd=HERE, check=True, capture_output=True, text=True)
    compiled = slim(without_places(json.loads(program.read_text())))
    compiled["program"] = "clarion.p4"
    compiled["__meta__"].pop("compiler", None)
    program.write_text(one_line_each(compiled))


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="compile the P4 program")
    parser.add_argument(
        "--into", type=Path, default=HERE, metavar="FOLDER", help="default: beside the source"
    )
    arguments = parser.parse_args()
    if shutil.which(COMPILER) is None:
        print(f"{COMPILER}: not found; docs/p4.md says how to install it", file=sys.stderr)
        return 2
    try:
        compile_to(arguments.into.resolve())
    except subprocess.CalledProcessError as error:
        print(error.stderr, end="", file=sys.stderr)
        return int(error.returncode)
    return 0


if __name__ == "__main__":
    sys.exit(main())
