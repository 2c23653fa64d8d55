# SPDX-License-Identifier: Apache-2.0
"""A setting of a port: its name and unit, what data planes hold, what is stable, its integer in a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stable:
    """What policy recommends: a range without its ends, or a value that follows another field's."""

    range: str  # in words; {} is the value that fits, by `rule`
    reason: str  # why, as it goes on after the range
    above: float | None = None
    below: float | None = None
    follows: str = ""
    rule: str = ""
    within: float = 0.0  # part of the value that fits

    def says(self, fits: str) -> str:
        """What is said of a value outside, where that would fit."""
        return f"must be {self.range.format(fits)}{self.reason}"


@dataclass(frozen=True)
class Argument:
    """The integer in the table's action and in an FPGA NIC's command.

    One unit is `numerator / denominator` of it.
    """

    name: str
    bits: int
    about: str
    numerator: int = 1
    denominator: int = 1
    is_nearest: bool = False  # rounded to nearest, halves up; else down
    least: int = 0
    core: str = ""  # its name in core/

    @property
    def most(self) -> int:
        """The largest integer of its width."""
        return (1 << self.bits) - 1

    def encode(self, value: float) -> int:
        """The integer of a value; what is outside becomes the nearest that is legal."""
        if self.is_nearest:
            integer = math.floor(value * self.numerator / self.denominator + 0.5)
        else:
            integer = math.floor(value) * self.numerator // self.denominator
        return min(max(integer, self.least), self.most)

    def decode(self, integer: int) -> Any:
        """A value of that integer: the shortest decimal fraction, or the least whole number."""
        if self.is_nearest:
            value = integer * self.denominator / self.numerator
            return next(short for n in range(1, 18) if self.encode(short := round(value, n)) == integer)
        return -(-integer * self.denominator // self.numerator)


@dataclass(frozen=True)
class Setting:
    """One setting; `kind` is "flag", "whole" or "real"."""

    name: str  # in JSON and in Python
    label: str
    kind: str
    about: str
    unit: str = ""
    default: Any = None  # None: has to be given, or is without value
    least: Any = 0
    most: Any = 1
    stable: Stable | None = None
    zero: str = ""  # what people write for 0, which is legal beside the range
    at_most: str = ""  # another field of the group
    table: str = ""
    argument: Argument | None = None

    @property
    def legal(self) -> str:
        """The range that a data plane holds, in words."""
        units = {"bit/s": " of bit/s", "us": " of microseconds", "B": " of bytes"}
        what = "a whole number" + units.get(self.unit, "") if self.kind == "whole" else "a number"
        word = f', or "{self.zero}"' if self.zero else ""
        return f"use {what} from {self.least} to {self.most}{word}"

    @property
    def description(self) -> str:
        """Meaning, unit and recommended range, as one sentence."""
        unit = f", in {self.unit}" if self.unit else ""
        recommended = f"; {self.stable.says(self.stable.rule)}" if self.stable else ""
        return f"{self.about[0].upper()}{self.about[1:]}{unit}{recommended}."

    def key(self, separator: str = "_") -> str:
        """The name without its unit, for values that carry one: min_interval, or min-interval."""
        suffix = {"bit/s": "_bps", "us": "_us", "B": "_bytes"}.get(self.unit, "")
        return self.name.removesuffix(suffix).replace("_", separator)

    def holds(self, value: object) -> bool:
        """Whether every data plane can hold the value."""
        types = int if self.kind == "whole" else (int, float)
        if not isinstance(value, types) or isinstance(value, bool):
            return False
        return self.least <= value <= self.most or (bool(self.zero) and value == 0)


@dataclass(frozen=True)
class Table:
    """A table whose entries are settings of a port, and the unit of an FPGA NIC that has them."""

    name: str
    action: str
    unit: str
    has_epoch: bool = False
