# SPDX-License-Identifier: Apache-2.0
"""The list of faults: `faults/*.yaml`, read and checked.

A fault is a piece of text that occurs once in one file, its replacement, and the tests that must then fail:
the arguments of pytest, or a shell command. `part` is the first folder of the file.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parent / "faults"
REQUIRED = ("id", "file", "find", "replace", "why", "tests")
OPTIONAL = ("build", "needs", "restore")
PYTEST = (".venv/bin/python", "-m", "pytest", "-q", "-x")


class CatalogueError(Exception):
    """The list of faults is invalid."""


@dataclass(frozen=True)
class Fault:
    """One planted fault."""

    id: str
    file: str
    find: str
    replace: str
    why: str
    tests: str  # command that must fail with the fault
    build: str = ""  # must succeed with it
    needs: tuple[str, ...] = ()  # programs on PATH, or root
    restore: str = ""  # cleans up after the fault: faulty programs may have left kernel state

    @property
    def part(self) -> str:
        """The part of the project that the file belongs to."""
        return self.file.split("/", 1)[0]

    def stale(self, root: Path) -> str:
        """Why the fault cannot be planted in a source tree, or nothing."""
        path = root / self.file
        if not path.is_file():
            return f"{self.file} does not exist"
        count = path.read_text(encoding="utf-8").count(self.find)
        return "" if count == 1 else f"{self.file} has its text {count} times"

    def lacks(self) -> list[str]:
        """Requirements of the tests that this machine lacks."""
        return [
            need for need in self.needs if not (os.geteuid() == 0 if need == "root" else shutil.which(need))
        ]


def load(folder: Path = FOLDER) -> list[Fault]:
    """Return all faults, in the order of the files, or fail with the first error and its place."""
    faults: list[Fault] = []
    for path in sorted(folder.glob("*.yaml")):
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
        faults += [_fault(path, number, entry) for number, entry in enumerate(entries)]
    seen: set[str] = set()
    for fault in faults:
        if fault.id in seen:
            raise CatalogueError(f"{fault.id}: two faults have this id")
        seen.add(fault.id)
    return faults


def _fault(path: Path, number: int, entry: Any) -> Fault:
    where = f"{path.name}: entry {number}"
    if not isinstance(entry, dict):
        raise CatalogueError(f"{where}: not a mapping")
    missing = [key for key in REQUIRED if key not in entry]
    unknown = [key for key in entry if key not in REQUIRED + OPTIONAL]
    if missing or unknown:
        raise CatalogueError(f"{where}: missing {missing}, unknown {unknown}")
    if entry["find"] == entry["replace"]:
        raise CatalogueError(f"{entry['id']}: replace is the same as find")
    tests = entry["tests"]
    command = shlex.join([*PYTEST, *tests]) if isinstance(tests, list) else tests
    return Fault(**{**entry, "tests": command, "needs": tuple(entry.get("needs", ()))})


def chosen(faults: Iterable[Fault], only: str) -> list[Fault]:
    """Return the faults with these ids or in these parts, which commas separate; all if none is named."""
    wanted = {name.strip() for name in only.split(",") if name.strip()}
    listed = list(faults)
    unknown = wanted - {fault.id for fault in listed} - {fault.part for fault in listed}
    if unknown:
        raise CatalogueError(f"{', '.join(sorted(unknown))}: neither a fault nor a part; see --list")
    return [fault for fault in listed if not wanted or {fault.id, fault.part} & wanted]
