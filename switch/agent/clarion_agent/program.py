# SPDX-License-Identifier: Apache-2.0
"""The P4Info of p4/: the tables, counters, registers and digests of the switch by id."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from finsy.proto import p4i
from google.protobuf import text_format

from clarion_base.errors import UserError
from clarion_base.paths import ROOT

P4INFO = "clarion.p4info.txtpb"
OBJECTS = ("tables", "actions", "counters", "registers", "digests", "controller_packet_metadata")


@dataclass(frozen=True)
class Field:
    """A key of a table, a parameter of an action, or a member of a digest."""

    id: int
    name: str
    bits: int


@dataclass(frozen=True)
class Action:
    """An action and its parameters in the order of their ids."""

    id: int
    name: str
    parameters: tuple[Field, ...]


@dataclass(frozen=True)
class Table:
    """A table with at most one key, which is exact."""

    id: int
    name: str
    key: Field | None
    entry_actions: frozenset[int]  # that entries may have
    default_actions: frozenset[int]  # that the default entry may have
    default: p4i.TableActionCall
    const_default: bool
    size: int


@dataclass(frozen=True)
class Array:
    """A counter or register array. Counters have no bits."""

    id: int
    name: str
    size: int
    bits: int = 0
    counts_packets: bool = False
    counts_bytes: bool = False


@dataclass(frozen=True)
class Digest:
    """A digest and its members in order."""

    id: int
    name: str
    members: tuple[Field, ...]


class Program:
    """The program by id, in the order of its P4Info."""

    def __init__(self, p4info: p4i.P4Info) -> None:
        self.p4info = p4info
        self.actions: Mapping[int, Action] = {each.preamble.id: _action(each) for each in p4info.actions}
        self.tables: Mapping[int, Table] = {each.preamble.id: _table(each) for each in p4info.tables}
        self.counters: Mapping[int, Array] = {each.preamble.id: _counter(each) for each in p4info.counters}
        self.registers: Mapping[int, Array] = {each.preamble.id: _register(each) for each in p4info.registers}
        self.digests: Mapping[int, Digest] = {
            each.preamble.id: _digest(each, p4info) for each in p4info.digests
        }
        headers = {each.preamble.name: each.metadata for each in p4info.controller_packet_metadata}
        self.packet_in = _fields(headers["packet_in"])
        self.packet_out = _fields(headers["packet_out"])
        preambles = [each.preamble for kind in OBJECTS for each in getattr(p4info, kind)]
        self.ids: Mapping[str, int] = {each.alias: each.id for each in preambles}
        self.packet_out_id = self.ids["packet_out"]
        self.forwarding_id = self.ids["l2_forward"]

    def difference(self, other: p4i.P4Info) -> str | None:
        """The first difference between another P4Info and ours; None if it is the same program."""
        for kind in OBJECTS:
            ours = {each.preamble.name: each for each in getattr(self.p4info, kind)}
            theirs = {each.preamble.name: each for each in getattr(other, kind)}
            for name in (*theirs, *ours):
                if ours.get(name) != theirs.get(name):
                    problem = "is missing" if name not in theirs else "is not this switch's"
                    return f"{kind[:-1]} {name}: {problem}"
        ours, theirs = _comparable(self.p4info), _comparable(other)
        return None if ours == theirs else "types, or kinds of objects, are not this switch's"


def load() -> Program:
    """The P4Info beside the P4 program; CLARION_P4_DIR moves it. UserError if it is missing."""
    path = Path(os.environ.get("CLARION_P4_DIR", ROOT / "p4")) / P4INFO
    try:
        text = path.read_text()
    except OSError as error:
        raise UserError(
            f"{path}: {error.strerror}; set CLARION_P4_DIR to the directory of the compiled program"
        ) from error
    try:
        return Program(text_format.Parse(text, p4i.P4Info()))
    except text_format.ParseError as error:
        raise UserError(f"{path}: not a P4Info: {error}") from error


def _comparable(p4info: p4i.P4Info) -> p4i.P4Info:
    """A copy without the fields that do not affect behaviour."""
    copy = p4i.P4Info()
    copy.CopyFrom(p4info)
    copy.ClearField("pkg_info")
    return copy


def _fields(fields: Iterable[Any]) -> tuple[Field, ...]:
    return tuple(Field(each.id, each.name, each.bitwidth) for each in fields)


def _action(action: p4i.Action) -> Action:
    return Action(action.preamble.id, action.preamble.alias, _fields(action.params))


def _table(table: p4i.Table) -> Table:
    keys = _fields(table.match_fields)
    actions = table.action_refs
    return Table(
        table.preamble.id,
        table.preamble.alias,
        keys[0] if keys else None,
        frozenset(each.id for each in actions if each.scope != p4i.ActionRef.DEFAULT_ONLY),
        frozenset(each.id for each in actions if each.scope != p4i.ActionRef.TABLE_ONLY),
        table.initial_default_action,
        table.const_default_action_id != 0,
        table.size,
    )


def _counter(counter: p4i.Counter) -> Array:
    unit = counter.spec.unit
    return Array(
        counter.preamble.id,
        counter.preamble.alias,
        counter.size,
        counts_packets=unit in (p4i.CounterSpec.PACKETS, p4i.CounterSpec.BOTH),
        counts_bytes=unit in (p4i.CounterSpec.BYTES, p4i.CounterSpec.BOTH),
    )


def _register(register: p4i.Register) -> Array:
    bits = register.type_spec.bitstring.bit.bitwidth
    return Array(register.preamble.id, register.preamble.alias, register.size, bits)


def _digest(digest: p4i.Digest, p4info: p4i.P4Info) -> Digest:
    members = p4info.type_info.structs[digest.type_spec.struct.name].members
    fields = (
        Field(position, member.name, member.type_spec.bitstring.bit.bitwidth)
        for position, member in enumerate(members, 1)
    )
    return Digest(digest.preamble.id, digest.preamble.alias, tuple(fields))
