# SPDX-License-Identifier: Apache-2.0
"""Counter and register arrays: one cell per port, or per port and bucket at port * 4096 + bucket."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

from finsy.proto import p4r
from grpc import StatusCode

from clarion_agent import values
from clarion_agent.program import Array, Program
from clarion_agent.status import Refused, invalid
from clarion_contract.target import Change, SetCounter, SetRegister, Target, TargetError

PORTS = 64  # cells per array, or blocks of cells
COUNTER_MAX = 2**63 - 1  # as in CounterData


class Arrays:
    """The arrays of one switch."""

    def __init__(self, program: Program, target: Target) -> None:
        self._program = program
        self._target = target

    def write_counter(self, kind: int, message: p4r.CounterEntry) -> list[Change]:
        """What the switch has to do for an update."""
        array = _find(self._program.counters, message.counter_id, "counter")
        _modify_only(kind, array.name)
        indices = self._indices(array, message.index.index if message.HasField("index") else None)
        if not message.HasField("data"):
            return []
        packets, size = message.data.packet_count, message.data.byte_count
        for what, number in (("packet_count", packets), ("byte_count", size)):
            if number < 0:
                raise Refused(StatusCode.OUT_OF_RANGE, f"{array.name}.{what}: {number}: is negative")
        if (packets and not array.counts_packets) or (size and not array.counts_bytes):
            raise invalid(f"{array.name}: counts {'packets' if array.counts_packets else 'bytes'} only")
        return [
            SetCounter(array.name, index, packets, size)
            for index in indices
            if self._has(array, index, packets or size)
        ]

    def write_register(self, kind: int, message: p4r.RegisterEntry) -> list[Change]:
        """What the switch has to do for an update."""
        array = _find(self._program.registers, message.register_id, "register")
        _modify_only(kind, array.name)
        index = message.index.index if message.HasField("index") else None
        name = array.name if index is None else f"{array.name}[{index}]"
        block = array.size // PORTS
        self._indices(array, index)
        if message.data.WhichOneof("data") != "bitstring":
            raise invalid(f"{name}: data: give a bitstring of {array.bits} bits")
        value = values.decode(message.data.bitstring, array.bits, name)
        if array.name in self._target.fixed_registers:
            raise Refused(StatusCode.UNIMPLEMENTED, f"{name}: the switch keeps it itself: read only")
        if index is not None:
            return [SetRegister(array.name, index, value)] if self._has(array, index, value) else []
        starts = range(0, array.size, block)
        return [
            SetRegister(array.name, start, value, block)
            for start in starts
            if start // block in self._target.ports
        ]

    async def read_counters(self, message: p4r.CounterEntry) -> AsyncIterator[p4r.Entity]:
        """The cells of one array, or of all."""
        index = message.index.index if message.HasField("index") else None
        if message.counter_id == 0:
            if index is not None:
                raise invalid("counter_entry: index without counter_id: name the counter")
            arrays = list(self._program.counters.values())
        else:
            arrays = [_find(self._program.counters, message.counter_id, "counter")]
        ranges = [self._indices(array, index) for array in arrays]
        present = await self._target.counters()
        for array, indices in zip(arrays, ranges, strict=True):
            cells = present.get(array.name)
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
        index = message.index.index if message.HasField("index") else None
        if message.register_id == 0:
            if index is not None:
                raise invalid("register_entry: index without register_id: name the register")
            arrays = list(self._program.registers.values())
        else:
            arrays = [_find(self._program.registers, message.register_id, "register")]
        for array in arrays:
            indices = self._indices(array, index)
            block = array.size // PORTS
            step = block if index is None and block > 1 else len(indices)
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
        try:
            return list(await self._target.registers(array.name, first, count))
        except TargetError as error:
            if error.gone:
                raise
            raise Refused(StatusCode.UNIMPLEMENTED, f"{array.name}: {error}") from error

    def _indices(self, array: Array, index: int | None) -> range:
        if index is None:
            return range(array.size)
        if not 0 <= index < array.size:
            raise Refused(
                StatusCode.OUT_OF_RANGE, f"{array.name}[{index}]: the array has cells 0 to {array.size - 1}"
            )
        return range(index, index + 1)

    def _has(self, array: Array, index: int, value: int) -> bool:
        """Whether the switch has the port of a cell. The others are zero and stay so."""
        port = index // (array.size // PORTS)
        if port not in self._target.ports and value:
            has = ", ".join(map(str, sorted(self._target.ports)))
            raise invalid(f"{array.name}[{index}]: the switch has no port {port}; it has {has}")
        return port in self._target.ports


def _find(arrays: Mapping[int, Array], wanted: int, kind: str) -> Array:
    array = arrays.get(wanted)
    if array is None:
        raise Refused(StatusCode.NOT_FOUND, f"{kind} {wanted}: there is none of that id")
    return array


def _modify_only(kind: int, name: str) -> None:
    if kind != p4r.Update.MODIFY:
        raise invalid(f"{name}: cells can be modified only, neither inserted nor deleted")
