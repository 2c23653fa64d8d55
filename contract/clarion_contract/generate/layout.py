# SPDX-License-Identifier: Apache-2.0
"""The formatters of the languages: generated files are laid out by the tools of `make lint`."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path

from clarion_base.paths import ROOT


def python(text: str) -> str:
    """Return Python source as `ruff format` lays it out."""
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", "generated.py", "-"]
    return _run(command, text)


def cpp(text: str) -> str:
    """Return C++ source as clang-format lays it out."""
    formatter = Path(sys.executable).with_name("clang-format")
    return _run([str(formatter), f"--assume-filename={ROOT / 'generated.hpp'}"], text)


def source(value: object) -> str:
    """Return the Python expression of a value; of a dataclass without what it has by default."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {source(each)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple) and any(map(is_dataclass, value)):
        return "(" + "".join(f"{source(each)}, " for each in value) + ")"
    if not is_dataclass(value):
        return repr(value)
    given = ((field, getattr(value, field.name)) for field in fields(value))
    members = (f"{field.name}={source(each)}" for field, each in given if each != field.default)
    return f"{type(value).__name__}({', '.join(members)})"


def _run(command: list[str], text: str) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout
