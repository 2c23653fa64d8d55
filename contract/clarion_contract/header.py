# SPDX-License-Identifier: Apache-2.0
"""What the layout of a header is made of; header_layout.py has that of Clarion's."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """Some bits of a field."""

    name: str
    bits: int


@dataclass(frozen=True)
class Field:
    """A field at an offset in bytes, in network byte order; its parts from the high bits down."""

    name: str
    at: int
    bits: int
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Format:
    """A format; its fields follow the prefix."""

    code: int
    bytes: int
    fields: tuple[Field, ...]
