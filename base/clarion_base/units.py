# SPDX-License-Identifier: Apache-2.0
"""Quantities with units, as scenario files write them: "100 Mbit/s", "550 ms", "7.1 MB", "1 bdp", "0.1 %".

Every parser takes the text and raises ValueError with a reason that names the legal units. Rates come back in
bit/s, times in microseconds, sizes in bytes, all integers; fractions as floats in [0, 1].
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

RATE_UNITS = {"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9}
TIME_UNITS = {"us": 1, "ms": 10**3, "s": 10**6, "min": 60 * 10**6}
SIZE_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
PACKET_UNITS = ("packet", "packets")
UNITS = {  # by kind of quantity, as scenario.schema.json names them
    "rate": tuple(RATE_UNITS),
    "time": tuple(TIME_UNITS),
    "size": tuple(SIZE_UNITS),
    "queue": (*SIZE_UNITS, "packets", "bdp"),
}
_MAX_DIGITS = 15  # before the point: beyond anything meant, and small enough to count with

_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*(\S*)")


@dataclass(frozen=True)
class QueueLimit:
    """A queue limit as written: in bytes, in full-size packets, or in bandwidth-delay products."""

    amount: float
    unit: Literal["bytes", "packets", "bdp"]

    def in_bytes(self, bdp_bytes: float, packet_bytes: int) -> int:
        """The limit in bytes, given one bandwidth-delay product and one full-size frame, both in bytes."""
        return round(
            self.amount * {"bytes": 1.0, "packets": float(packet_bytes), "bdp": bdp_bytes}[self.unit]
        )


def _split(text: object, legal: str) -> tuple[Decimal, str]:
    match = _QUANTITY.fullmatch(str(text).strip())
    if match is None:
        raise ValueError(f'"{text}": not a quantity; write a number and a unit ({legal})')
    number = Decimal(match[1])
    if number.adjusted() >= _MAX_DIGITS:
        raise ValueError(f'"{text}": too large')
    return number, match[2]


def _scaled(text: object, units: dict[str, int]) -> int:
    legal = ", ".join(units)
    number, unit = _split(text, legal)
    if unit not in units:
        raise ValueError(f'"{text}": {"unknown" if unit else "missing"} unit; use {legal}')
    return int((number * units[unit]).to_integral_value())


def parse_rate(text: object) -> int:
    """A rate in bit/s."""
    return _scaled(text, RATE_UNITS)


def parse_time(text: object) -> int:
    """A time in microseconds."""
    return _scaled(text, TIME_UNITS)


def parse_size(text: object) -> int:
    """A size in bytes; kB is 1000 bytes, KiB 1024."""
    return _scaled(text, SIZE_UNITS)


def parse_queue(text: object) -> QueueLimit:
    """A queue limit: a size, a number of packets, or a multiple of the bandwidth-delay product."""
    legal = ", ".join(UNITS["queue"])
    number, unit = _split(text, legal)
    if unit in PACKET_UNITS:
        return QueueLimit(float(number), "packets")
    if unit == "bdp":
        return QueueLimit(float(number), "bdp")
    if unit not in SIZE_UNITS:
        raise ValueError(f'"{text}": {"unknown" if unit else "missing"} unit; use {legal}')
    return QueueLimit(float(number * SIZE_UNITS[unit]), "bytes")


def parse_fraction(text: object) -> float:
    """A probability in [0, 1], as a number or as a percentage ("0.1 %")."""
    number, unit = _split(text, "none or %")
    if unit not in ("", "%"):
        raise ValueError(f'"{text}": unknown unit; use none or %')
    value = float(number) / (100 if unit == "%" else 1)
    if value > 1:
        raise ValueError(f'"{text}": beyond 1; a fraction lies between 0 and 1 (or 0 % and 100 %)')
    return value


def format_rate(bits_per_s: float) -> str:
    """A rate for people, in the largest unit that keeps it above one."""
    for unit, scale in reversed(RATE_UNITS.items()):
        if abs(bits_per_s) >= scale:
            return f"{bits_per_s / scale:.4g} {unit}"
    return f"{bits_per_s:.4g} bit/s"


def format_size(size_bytes: float) -> str:
    """A size for people, in decimal units."""
    for unit in ("GB", "MB", "kB"):
        if abs(size_bytes) >= SIZE_UNITS[unit]:
            return f"{size_bytes / SIZE_UNITS[unit]:.4g} {unit}"
    return f"{size_bytes:.4g} B"


def format_time(microseconds: int) -> str:
    """A time span for people: "550 ms"."""
    for unit, scale in (("s", 10**6), ("ms", 10**3)):
        if microseconds >= scale:
            return f"{microseconds / scale:.4g} {unit}"
    return f"{microseconds} us"
