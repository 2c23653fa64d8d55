# SPDX-License-Identifier: Apache-2.0
"""The commands, units and configurations of docs/operations.md, as they stand there."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from clarion_base.paths import ROOT

TEXT = (ROOT / "docs/operations.md").read_text()

_FENCED = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"(?<=\n\n)((?: {4}.*\n)+)")


@dataclass(frozen=True)
class Block:
    """A block of code; `kind` is the word behind its fence, `sh` for one that is indented."""

    kind: str
    text: str


def _blocks() -> list[Block]:
    fenced = [Block(found[2], textwrap.dedent(found[3])) for found in _FENCED.finditer(TEXT)]
    rest = _FENCED.sub("", TEXT)
    return fenced + [Block("sh", textwrap.dedent(found[1])) for found in _INDENTED.finditer(rest)]


BLOCKS = _blocks()


used: set[Block] = set()


def block(beginning: str) -> str:
    """The only block that begins so, which counts as used from now on."""
    [found] = [each for each in BLOCKS if each.text.startswith(beginning)]
    used.add(found)
    return found.text


def unit(name: str) -> str:
    """The unit that follows its path, `/etc/systemd/system/NAME.service`, in the text."""
    found = re.search(
        rf"`/etc/systemd/system/{name}\.service`:\n\n```ini\n(.*?)^```$", TEXT, re.DOTALL | re.M
    )
    assert found is not None, f"no unit {name}"
    used.add(Block("ini", found[1]))
    return found[1]


def unit_of_the_switch() -> str:
    """ "The same with": the controller's, in which other lines take the place of those with the same keys."""
    same = unit("clarion-controller").replace("Clarion controller", "Clarion switch")
    for setting in re.findall(r"^\w+=(?:\\\n|.)*$", block("ExecStart="), re.MULTILINE):
        key = setting.partition("=")[0]
        same, replaced = re.subn(
            rf"^{key}=(?:\\\n|.)*$", setting.replace("\\", r"\\"), same, flags=re.MULTILINE
        )
        if not replaced:
            same = same.replace("\n[Install]", f"{setting}\n\n[Install]")
    return same
