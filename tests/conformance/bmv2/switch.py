# SPDX-License-Identifier: Apache-2.0
"""A v1model switch: the compiled program between the two halves of simple_switch's traffic manager.

`ingress` returns the copies that wait for their ports; the caller decides when each leaves, by `egress`,
and sets time and queue depth. Left out: clones, resubmits, meters, priorities.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.bmv2 import layout as notes
from conformance.bmv2.actions import DROP_PORT, Actions
from conformance.bmv2.digests import member_names
from conformance.bmv2.expressions import Expressions, store_signed
from conformance.bmv2.layout import Json, Layout, UnsupportedError, Values
from conformance.bmv2.parsing import Parsing, look_ahead
from conformance.bmv2.tables import Pipelines, Table, run

STANDARD_FIELDS = (
    *("ingress_port", "egress_spec", "egress_port", "instance_type", "packet_length"),
    *("mcast_grp", "egress_rid", "ingress_global_timestamp", "egress_global_timestamp"),
)
# Those that BMv2 sets if the program has them.
OPTIONAL_FIELDS = ("parser_error", "enq_timestamp", "enq_qdepth", "deq_timedelta", "deq_qdepth")
NORMAL, REPLICATION, RECIRCULATED = 0, 5, 4  # instance types


@dataclass
class Copy:
    """A packet between ingress and egress."""

    port: int  # the egress port
    values: Values
    payload: bytes  # the frame behind the parsed headers
    enqueued_us: int

    def again(self) -> Copy:
        """Return an independent copy."""
        return Copy(self.port, self.values[:], self.payload, self.enqueued_us)


@dataclass
class Frame:
    """A packet that leaves the switch."""

    port: int
    data: bytes


@dataclass
class Recirculated:
    """A recirculated packet, for `ingress_again`."""

    values: Values
    data: bytes


class Switch:
    """One switch with its tables, registers and counters; digests are appended to `digests`."""

    def __init__(self, program: Path | Json, stale: int = 0) -> None:
        loaded: Json = json.loads(program.read_text()) if isinstance(program, Path) else program
        if loaded["meter_arrays"] or loaded["header_stacks"] or loaded["header_unions"]:
            raise UnsupportedError("meters, header stacks or header unions")
        self.layout = Layout(loaded)
        self._members = member_names()
        self.groups: dict[int, list[tuple[int, int]]] = {}  # (port, replica)
        self.digests: list[tuple[str, dict[str, int]]] = []
        self._arrays: dict[str, Json] = {array["name"]: array for array in loaded["register_arrays"]}
        self._counter_arrays: dict[str, Json] = {array["name"]: array for array in loaded["counter_arrays"]}
        self.registers: dict[str, list[int]] = {name: [] for name in self._arrays}
        self.counters: dict[str, list[list[int]]] = {name: [] for name in self._counter_arrays}
        self.tables: dict[str, Table] = {}
        self._compile(loaded)
        self._name_slots(loaded)
        self._fresh = self.layout.fresh(stale)
        self.reset()

    def _compile(self, program: Json) -> None:
        expressions = Expressions(self.layout)
        actions = Actions(program, expressions)
        pipelines = Pipelines(program, expressions)
        lines = Parsing(program, actions).source()
        for action in program["actions"]:
            lines += actions.source(action)
        self.source = "\n".join([*lines, *pipelines.source(), ""])
        space: dict[str, Any] = {"look_ahead": look_ahead, "store_signed": store_signed}
        space["from_bytes"] = lambda data: int.from_bytes(data, "big")
        for name, array in self._arrays.items():
            space[f"register_{array['id']}"] = self.registers[name]
        for name, array in self._counter_arrays.items():
            space[f"counter_{array['id']}"] = self.counters[name]
        for number, table in enumerate(pipelines.tables):
            space[f"table_{number}"] = table
            self.tables[table.name] = table
        exec(compile(self.source, "<program>", "exec"), space)
        functions = space | {name: space[node] for name, node in pipelines.nodes.items()}
        for table in pipelines.tables:
            table.link(functions)
        self._parse: Callable[[Values, bytes], int] = space["parse"]
        self._deparse: Callable[[Values], bytes] = space["deparse"]
        self._ingress, self._egress = (space.get(pipelines.first(name)) for name in ("ingress", "egress"))

    def _name_slots(self, program: Json) -> None:
        self.slot = {name: self.layout.standard(name) for name in STANDARD_FIELDS}
        present = filter(self.layout.has_standard, OPTIONAL_FIELDS)
        self.slot |= {name: self.layout.standard(name) for name in present}
        self._metadata = list(self.layout.metadata_slots())
        self._field_lists = {
            fields["id"]: [self.layout.field(*item["value"]).slot for item in fields["elements"]]
            for fields in program["field_lists"]
        }
        self._learn_lists = {
            fields["id"]: (fields["name"], [self.layout.field(*item["value"]) for item in fields["elements"]])
            for fields in program["learn_lists"]
        }

    def reset(self) -> None:
        """Set all registers and counters to 0 and forget the digests; tables and groups stay."""
        for name, array in self._arrays.items():
            self.registers[name][:] = [0] * array["size"]
        for name, array in self._counter_arrays.items():
            self.counters[name][:] = [[0, 0] for _ in range(array["size"])]
        self.digests.clear()

    def table(self, name: str) -> Table:
        """Return a table by the last part of its name."""
        found = [table for full, table in self.tables.items() if full.rsplit(".", 1)[-1] == name]
        if len(found) != 1:
            raise ValueError(f"table: {name} is the name of {len(found)} tables")
        return found[0]

    def ingress(self, port: int, frame: bytes, timestamp_us: int) -> list[Copy]:
        """Take a frame in; return the copies for the queues."""
        values, slot = self._fresh[:], self.slot
        values[slot["ingress_port"]] = port
        values[slot["ingress_global_timestamp"]] = timestamp_us & (1 << 48) - 1
        return self._take_in(values, frame, timestamp_us)

    def ingress_again(self, packet: Recirculated, timestamp_us: int) -> list[Copy]:
        """Take a recirculated packet in."""
        return self._take_in(packet.values, packet.data, timestamp_us)

    def _take_in(self, values: Values, frame: bytes, timestamp_us: int) -> list[Copy]:
        slot = self.slot
        values[notes.LENGTH] = values[notes.INGRESS_LENGTH] = values[slot["packet_length"]] = len(frame)
        payload = frame[self._parse(values, frame) :]
        self._tell(values, "parser_error", values[notes.PARSER_ERROR])
        run(self._ingress, values, notes.EXIT)
        values[notes.EXIT] = 0
        if values[notes.DIGEST]:
            self._send_digest(values)
        group, port = values[slot["mcast_grp"]], values[slot["egress_spec"]]
        if group:
            values[slot["instance_type"]] = REPLICATION
            return list(self._replicate(values, payload, group, timestamp_us))
        if port == DROP_PORT:
            return []
        values[slot["instance_type"]] = NORMAL
        return [Copy(port, values, payload, timestamp_us)]

    def _tell(self, values: Values, name: str, value: int) -> None:
        if name in self.slot:
            values[self.slot[name]] = value

    def _replicate(self, values: Values, payload: bytes, group: int, timestamp_us: int) -> Iterable[Copy]:
        for port, replica in self.groups.get(group, ()):
            copy = Copy(port, values[:], payload, timestamp_us)
            copy.values[self.slot["egress_rid"]] = replica
            copy.values[notes.DIGEST] = 0
            yield copy

    def _send_digest(self, values: Values) -> None:
        name, fields = self._learn_lists[values[notes.DIGEST]]
        names = self._members.get(name) or [field.name for field in fields]
        self.digests.append((name, dict(zip(names, (values[field.slot] for field in fields), strict=True))))

    def egress(
        self, copy: Copy, timestamp_us: int, enqueue_depth: int = 0, dequeue_depth: int = 0
    ) -> Frame | Recirculated | None:
        """Let a copy out of its queue; depths are in packets. None: the program drops it."""
        values, slot = copy.values, self.slot
        self._tell(values, "enq_timestamp", copy.enqueued_us & 0xFFFFFFFF)
        self._tell(values, "enq_qdepth", enqueue_depth & 0x7FFFF)
        values[slot["egress_global_timestamp"]] = timestamp_us & (1 << 48) - 1
        self._tell(values, "deq_timedelta", (timestamp_us - copy.enqueued_us) & 0xFFFFFFFF)
        self._tell(values, "deq_qdepth", dequeue_depth & 0x7FFFF)
        values[slot["egress_port"]] = copy.port
        values[slot["egress_spec"]] = (DROP_PORT + 1) & 0x1FF
        values[slot["packet_length"]] = values[notes.LENGTH]
        run(self._egress, values, notes.EXIT)
        if values[slot["egress_spec"]] == DROP_PORT:
            return None
        data = self._deparse(values) + copy.payload
        if values[notes.RECIRCULATE]:
            return self._recirculated(values, data)
        return Frame(copy.port, data)

    def forward(self, port: int, frame: bytes, timestamp_us: int) -> list[Frame]:
        """Take a frame all the way through empty queues; return the frames that leave."""
        waiting, left = self.ingress(port, frame, timestamp_us), []
        while waiting:
            packet = self.egress(waiting.pop(0), timestamp_us)
            if isinstance(packet, Recirculated):
                waiting += self.ingress_again(packet, timestamp_us)
            elif packet is not None:
                left.append(packet)
        return left

    def _recirculated(self, values: Values, data: bytes) -> Recirculated:
        fresh = self._fresh[:]
        for slot in self._field_lists[values[notes.RECIRCULATE]]:
            fresh[slot] = values[slot]
        fresh[self.slot["instance_type"]] = RECIRCULATED
        return Recirculated(fresh, data)
