# SPDX-License-Identifier: Apache-2.0
"""Sizes as core/ and hls/block declare them: constants, and how many bits a structure has."""

from __future__ import annotations

import re
from pathlib import Path

from clarion_base.errors import UserError
from clarion_synth.targets import ROOT

FOLDERS = (ROOT / "core", ROOT / "hls" / "block")
CONSTANT = re.compile(r"constexpr unsigned (\w+) = ([^;]+);")
STRUCTURE = re.compile(r"^struct (\w+) \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
ALIAS = re.compile(r"^using (\w+) = ([^;]+);", re.MULTILINE)
FIELD = re.compile(r"^  ([\w:<> *+]+?) (\w+)(?: = [^;]+|\{\})?;", re.MULTILINE)
INTEGER = re.compile(r"std::u?int(\d+)_t")
ARBITRARY = re.compile(r"ap_uint<(.+)>")
ENUMERATION = re.compile(r"enum class (\w+) : std::uint(\d+)_t")


class Declarations:
    """What the headers say."""

    def __init__(self, folders: tuple[Path, ...] = FOLDERS) -> None:
        texts = [
            path.read_text(encoding="utf-8") for folder in folders for path in sorted(folder.glob("*.hpp"))
        ]
        text = "\n".join(re.sub(r"\s*//[^\n]*", "", each) for each in texts)
        self._constants = dict(CONSTANT.findall(text))
        self._structures = dict(STRUCTURE.findall(text))
        self._aliases = dict(ALIAS.findall(text))
        self._enumerations = {name: int(bits) for name, bits in ENUMERATION.findall(text)}

    def constant(self, expression: str) -> int:
        """Return the value of a constant, or of a product or quotient of such."""
        value, operator = 1, "*"
        for word in expression.split():
            if word in "*/":
                operator = word
                continue
            factor = int(word) if word.isdigit() else self._named(word)
            value = value * factor if operator == "*" else value // factor
        return value

    def bits(self, kind: str) -> int:
        """Return the bits of a type; a flag is one."""
        if kind == "bool":
            return 1
        if match := INTEGER.fullmatch(kind):
            return int(match[1])
        if match := ARBITRARY.fullmatch(kind):
            return self.constant(match[1])
        if kind in self._aliases:
            return self.bits(self._aliases[kind])
        if kind in self._enumerations:
            return self._enumerations[kind]
        if kind in self._structures:
            return sum(self.bits(field) for field, _ in FIELD.findall(self._structures[kind]))
        raise UserError(f"{kind}: no type of core/ or hls/block")

    def _named(self, name: str) -> int:
        if name not in self._constants:
            raise UserError(f"{name}: no constant of core/ or hls/block")
        return self.constant(self._constants[name])
