# SPDX-License-Identifier: Apache-2.0
"""What is wrong with an input, as data: made where it is found, put into words where it is shown."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from clarion_base.errors import UserError

Path = tuple[str | int, ...]  # to a field in a document: names of members and indices of elements


class Code(str, enum.Enum):
    """The kinds of faults; the same words as in the answers of clarion-switch."""

    INVALID = "invalid"  # not of the field's type or form
    OUT_OF_RANGE = "out_of_range"
    UNKNOWN = "unknown"  # a field or a name that does not exist
    MISSING = "missing"
    NOT_FOUND = "not_found"  # an object that is not there
    ALREADY_EXISTS = "already_exists"
    CONFLICT = "conflict"  # with another field or with the present state
    UNSUPPORTED = "unsupported"  # by this engine, switch or card


@dataclass(frozen=True)
class Fault:
    """One fault of one field. `reason` says what would be right."""

    path: Path
    reason: str
    code: Code = Code.INVALID

    def below(self, *prefix: str | int) -> Fault:
        """The same fault, seen from a document that holds this one under `prefix`."""
        return Fault((*prefix, *self.path), self.reason, self.code)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Fault:
        """The fault in an answer of clarion-switch."""
        return cls(tuple(document["path"]), document["reason"], Code(document["code"]))

    def __str__(self) -> str:
        return f"{dotted(self.path)}: {self.reason}" if self.path else self.reason


class FaultError(UserError):
    """Input that is refused for one fault. `where` names the document, such as "scenario geo" or a switch."""

    def __init__(self, fault: Fault, where: str = "") -> None:
        super().__init__(f"{where}: {fault}" if where else str(fault))
        self.fault = fault
        self.where = where


class ScenarioError(FaultError):
    """A fault in a scenario."""

    def __init__(self, scenario: str, path: Path, reason: str, code: Code = Code.INVALID) -> None:
        super().__init__(Fault(path, reason, code), f"scenario {scenario}")


def dotted(path: Iterable[str | int]) -> str:
    """A path as people write it: flows[0].start."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def pointer(path: Iterable[str | int]) -> str:
    """A path as a JSON pointer (RFC 6901): /flows/0/start."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)
