# SPDX-License-Identifier: Apache-2.0
"""The layout of a packet: one flat list holds its fields, valid bits and the target's own notes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
Values = list[Any]  # integers; the value of a variable-length field is bytes

# The target's notes on a packet, in front of its fields.
NOTES = ("length", "ingress_length", "parser_error", "digest", "recirculate", "exit")
LENGTH, INGRESS_LENGTH, PARSER_ERROR, DIGEST, RECIRCULATE, EXIT = range(len(NOTES))


class UnsupportedError(Exception):
    """The program uses something that this interpreter does not support; the text names it."""


@dataclass(frozen=True)
class Field:
    """A field; `width` is None if its length varies."""

    slot: int
    name: str
    width: int | None
    signed: bool = False


@dataclass(frozen=True)
class Header:
    """A header or a struct of metadata."""

    name: str
    metadata: bool
    valid: Field
    fields: tuple[Field, ...]

    @property
    def fixed_bytes(self) -> int:
        """The length without the field of variable length."""
        return sum(field.width or 0 for field in self.fields) // 8

    @property
    def varying(self) -> Field | None:
        """The field of variable length, if there is one."""
        return next((field for field in self.fields if field.width is None), None)


class Layout:
    """The headers of a program."""

    def __init__(self, program: Json) -> None:
        types = {kind["name"]: kind for kind in program["header_types"]}
        self.longest = {kind["name"]: kind.get("max_length") for kind in program["header_types"]}
        self.type_of = {header["name"]: header["header_type"] for header in program["headers"]}
        self.size = len(NOTES)
        self.headers: dict[str, Header] = {}
        for header in program["headers"]:
            fields = [self._field(*field) for field in types[header["header_type"]]["fields"]]
            valid = self._field("$valid$", 1)
            name = header["name"]
            self.headers[name] = Header(name, header["metadata"], valid, tuple(fields))
        self.aliases = {name: tuple(target) for name, target in program["field_aliases"]}

    def _field(self, name: str, width: int | str, signed: bool = False) -> Field:
        self.size += 1
        return Field(self.size - 1, name, None if width == "*" else int(width), signed)

    def field(self, header: str, name: str) -> Field:
        """Return a field of the program."""
        if name == "$valid$":
            return self.headers[header].valid
        return next(field for field in self.headers[header].fields if field.name == name)

    def standard(self, name: str) -> int:
        """Return the slot of a field of v1model's standard metadata, or of its alias in the program."""
        return self.field(*self.aliases.get(f"standard_metadata.{name}", ("standard_metadata", name))).slot

    def has_standard(self, name: str) -> bool:
        """Whether the program has a field of v1model's standard metadata."""
        header, found = self.aliases.get(f"standard_metadata.{name}", ("standard_metadata", name))
        return any(field.name == found for field in self.headers[header].fields)

    def fresh(self, stale: int) -> Values:
        """Return a packet before the parser: metadata is 0, header fields hold the bits of `stale`.

        BMv2 leaves the values of an earlier packet in them; no program may depend on that.
        """
        values: Values = [0] * self.size
        for header in self.headers.values():
            for field in header.fields:
                if field.width is None:
                    values[field.slot] = b""
                elif not header.metadata:
                    values[field.slot] = stale & ((1 << field.width) - 1)
        return values

    def metadata_slots(self) -> Iterator[int]:
        """Yield the slots that are 0 in a recirculated packet."""
        for header in self.headers.values():
            if header.metadata:
                yield from (field.slot for field in header.fields)
