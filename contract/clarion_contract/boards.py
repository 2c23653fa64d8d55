# SPDX-License-Identifier: Apache-2.0
"""The cards that can be built for: one file each in nic/boards."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import yaml

from clarion_base.errors import UserError
from clarion_base.paths import ROOT

BOARDS = ROOT / "nic" / "boards"


@dataclass(frozen=True)
class Board:
    """One card: what the tools call it, and where its flash holds what."""

    name: str
    title: str
    shell_board: str
    part: str
    clock_hz: int
    slr: str
    jtag_device: str
    flash_part: str
    flash_bytes: int
    golden_address: int
    user_address: int
    factory_ids: tuple[str, ...]


def names() -> list[str]:
    """Return the names that --board takes."""
    return sorted(path.stem for path in BOARDS.glob("*.yaml"))


def load(name: str) -> Board:
    """Return the board of a name."""
    path = BOARDS / f"{name}.yaml"
    if not path.is_file():
        raise UserError(f"board {name}: unknown; one of {', '.join(names())} is")
    values: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    wanted = {field.name for field in fields(Board)} - {"name"}
    if set(values) != wanted:
        odd = ", ".join(sorted(set(values) ^ wanted))
        raise UserError(f"{path.name}: {odd}: missing, or not a field of a board")
    values["factory_ids"] = tuple(values["factory_ids"])
    return Board(name=name, **values)


def all_boards() -> list[Board]:
    """Return every board."""
    return [load(name) for name in names()]
