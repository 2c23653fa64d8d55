# SPDX-License-Identifier: Apache-2.0
"""What the layout of a header is made of; header_layout.py has that of Clarion's."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """Some bits of a field of the header."""

    name: str
    bits: int
    shift: int  # of its lowest bit in the field

    @property
    def mask(self) -> int:
        """Its bits in the field."""
        return ((1 << self.bits) - 1) << self.shift


@dataclass(frozen=True)
class HeaderField:
    """A field of the header: its place in bytes, its width, and its parts from the high bits down."""

    name: str
    at: int
    bits: int
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Format:
    """A format of the header; its fields follow the prefix."""

    name: str
    code: int
    size: int
    fields: tuple[HeaderField, ...]
