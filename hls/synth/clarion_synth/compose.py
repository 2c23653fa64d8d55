# SPDX-License-Identifier: Apache-2.0
"""Units that bambu has made beside each other: each comes with the library it needs, under the same names."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from clarion.errors import UserError

MODULE = re.compile(r"^module (\w+)", re.MULTILINE)
TOP = re.compile(r"^_Z4unit")
CONTENTS = re.compile(r'"([^"/]+\.mem)"')


def renamed(text: str, source: str) -> str:
    """Return Verilog whose unit is bambu_SOURCE; its other modules and its files have that in front."""
    names = MODULE.findall(text)
    tops = [name for name in names if TOP.match(name)]
    if not tops:
        raise UserError(f"{source}: bambu wrote no module unit")
    unit = f"bambu_{source}"
    new = {name: f"{unit}_{name}" for name in names} | {tops[-1]: unit}
    words = re.compile(r"\b(" + "|".join(map(re.escape, new)) + r")\b")
    text = words.sub(lambda match: new[match[1]], text)
    return CONTENTS.sub(lambda match: f'"{unit}_{match[1]}"', text)


def take(made: Path, source: str, into: Path) -> Path:
    """Bring a unit and the contents of its memories from where bambu worked; return its Verilog."""
    text = (made / "unit.v").read_text(encoding="utf-8")
    for contents in made.glob("*.mem"):  # which the RTL looks for where it runs
        shutil.copy(contents, into / f"bambu_{source}_{contents.name}")
    path = into / f"bambu_{source}.v"
    path.write_text(renamed(text, source), encoding="utf-8")
    return path
