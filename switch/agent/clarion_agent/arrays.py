# SPDX-License-Identifier: Apache-2.0
"""Counter and register arrays: one cell per port, or per port and bucket at port * 4096 + bucket."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import NoReturn

from finsy.proto import p4r
from grpc import StatusCode

from clarion_agent import values
from clarion_agent.program import Array, Program
from clarion_agent.status import Refused, invalid
from clarion_contract.target import Counts, Target, TargetError
from clarion_contract.words import P4_ONLY, WORDS, put_together

PORTS = 64  # cells per array, or blocks of cells
COUNTER_MAX = 2**63 - 1  # as in CounterData
Cells = p4r.CounterEntry | p4r.RegisterEntry


class Arrays:
    """The arrays of one switch."""

    def __init__(self, program: Program, target: Target) -> None:
        self._program = program
        self._target = target

    def modify_counter(self, message: p4r.CounterEntry) -> None:
        """Without data, which changes nothing (section 9.3.2); else Refused."""
        array = _find(self._program.counters, message.counter_id, "counter")
        _indices(array, message)
        if message.HasField("data"):
            raise _read_only(array, "counters", "VERIFY_AND_COMMIT sets them to zero")

    def write_register(self, message: p4r.RegisterEntry) -> NoReturn:
        """Refused, whatever is written; what is wrong in it is said first."""
        array = _find(self._program.registers, message.register_id, "register")
        _indices(array, message)
        if message.data.WhichOneof("data") != "bitstring":
            raise invalid(f"{array.name}.data: use a bitstring of {array.bits} bits")
        values.decode(message.data.bitstring, array.bits, f"{array.name}.data")
        raise _read_only(array, "registers", "an entry with another epoch starts anew")

    def read_counters(self, message: p4r.CounterEntry, counts: Counts) -> Iterator[p4r.Entity]:
        """The cells of one array, or of all."""
        for array, indices in _selected(self._program.counters, message.counter_id, message, "counter"):
            cells = counts.get(array.name)
            if cells is None:
                if message.counter_id:
                    raise Refused(StatusCode.UNIMPLEMENTED, f"{array.name}: this switch does not count it")
                continue
            for each in indices:
                entity = p4r.Entity()
                entity.counter_entry.counter_id = array.id
                entity.counter_entry.index.index = each
                packets, size = cells.get(each, (0, 0))
                data = entity.counter_entry.data
                data.SetInParent()
                if array.counts_packets:
                    data.packet_count = min(packets, COUNTER_MAX)
                if array.counts_bytes:
                    data.byte_count = min(size, COUNTER_MAX)
                yield entity

    async def read_registers(self, message: p4r.RegisterEntry) -> AsyncIterator[p4r.Entity]:
        """The cells of one array, or of all."""
        for array, indices in _selected(self._program.registers, message.register_id, message, "register"):
            block = array.size // PORTS
            step = min(len(indices), block) if block > 1 else len(indices)
            for first in range(indices.start, indices.stop, step):
                for offset, value in enumerate(await self._cells(array, first, step)):
                    entity = p4r.Entity()
                    entity.register_entry.register_id = array.id
                    entity.register_entry.index.index = first + offset
                    entity.register_entry.data.bitstring = values.encode(value)
                    yield entity

    async def _cells(self, array: Array, first: int, count: int) -> list[int]:
        block = array.size // PORTS
        if block > 1 and first // block not in self._target.ports:
            return [0] * count
        members = WORDS.get(array.name, {array.name: 0})
        try:
            cells = {
                name: [0] * count if name in P4_ONLY else await self._target.registers(name, first, count)
                for name in members
            }
        except TargetError as error:
            if error.gone:
                raise
            raise Refused(StatusCode.UNIMPLEMENTED, f"{array.name}: {error}") from error
        if array.name not in WORDS:
            return list(cells[array.name])
        rows = (dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True))
        return [put_together(array.name, row) for row in rows]


def _selected(
    arrays: Mapping[int, Array], wanted: int, message: Cells, kind: str
) -> list[tuple[Array, range]]:
    """The arrays that a Read is of, each with its cells."""
    if wanted:
        array = _find(arrays, wanted, kind)
        return [(array, _indices(array, message))]
    if message.HasField("index"):
        raise invalid(f"{kind}_entry: index without {kind}_id: name the {kind}")
    return [(array, range(array.size)) for array in arrays.values()]


def _indices(array: Array, message: Cells) -> range:
    """One cell, or without an index all."""
    if not message.HasField("index"):
        return range(array.size)
    index = message.index.index
    if 0 <= index < array.size:
        return range(index, index + 1)
    code = StatusCode.INVALID_ARGUMENT if index < 0 else StatusCode.OUT_OF_RANGE
    raise Refused(code, f"{array.name}[{index}]: the array has cells 0 to {array.size - 1}")


def _find(arrays: Mapping[int, Array], wanted: int, kind: str) -> Array:
    array = arrays.get(wanted)
    if array is None:
        raise Refused(StatusCode.NOT_FOUND, f"{kind} {wanted}: there is none of that id")
    return array


def _read_only(array: Array, kind: str, instead: str) -> Refused:
    return Refused(StatusCode.UNIMPLEMENTED, f"{array.name}: {kind} can be read only; {instead}")
