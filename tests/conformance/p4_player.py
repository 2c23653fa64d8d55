# SPDX-License-Identifier: Apache-2.0
"""Plays events on the compiled P4 program, in the interpreter, behind the interface of a driver.

A frame that joins one queue at once is forwarded by an entry for its address. Every other frame, with
copies or with a wait before its queue, is flooded: the copy for each port is recirculated at the time of
its `Enqueue`. The bytes waiting come from the events: the totals that the program keeps are set before it
reads them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clarion_contract.words import WORDS, taken_apart
from conformance.bmv2.layout import Json
from conformance.bmv2.switch import Copy as Waiting
from conformance.bmv2.switch import Frame, Recirculated, Switch
from conformance.harness import (
    BUCKETS,
    ENQUEUE_STRUCT,
    INGRESS_STRUCT,
    PORTS,
    SHARES_STRUCT,
    SHOWN_BUCKETS,
    SLOTS,
    STATE_STRUCT,
    Configure,
    Copy,
    Dequeue,
    Enqueue,
    Event,
    Ingress,
    Restart,
    State,
)
from conformance.reference import ACK, DATA, INITIAL_RTT, QUEUE_MAX, TAG, Config

PROGRAM = Path(
    os.environ.get("CLARION_P4_PROGRAM") or Path(__file__).resolve().parents[2] / "p4" / "clarion.json"
)
ETHERNET_BYTES = 14
FLOOD_GROUP, FLOOD_BASE = 1, 256
QUEUE_EPOCH = 1
SHARES = ("pos", "neg", "cp", "cp_shift", "cn", "cn_shift", "carry")
SHARES_2 = ("fair", "fair_shift", "lift", "lift_shift", "growth", "growth_shift", "bank")  # of generation 2
OWN_SUMS = ("own_input", "own_sum_x", "poor_sum_x", "limited", "max_rtt", "credit")
CREDIT_MAX = 30


@dataclass
class Slot:
    """A packet on its way: copies for every port before their queues, or the one that waits in a queue."""

    copies: dict[int, Waiting] = field(default_factory=dict)
    waiting: Waiting | None = None


@dataclass
class PortSettings:
    """The controller's state of a port."""

    config: Config = field(default_factory=Config)
    xcp_epoch: int = 0
    check_epoch: int = 0


def next_epoch(epoch: int) -> int:
    """Return the epoch after this one: 1 to 255, then 1 again."""
    return epoch % 255 + 1


class P4Player:
    """The P4 program on the interpreter."""

    def __init__(self, program: Path | Json = PROGRAM, stale: int = 0) -> None:
        self.switch = Switch(program, stale)
        self.switch.groups[FLOOD_GROUP] = [(FLOOD_BASE + port, port) for port in range(PORTS)]
        self.switch.table("clock").set_default("set_clock", 1, 0)  # time stamps are ticks
        self.meta = self._metadata()
        self.header = self.switch.layout.headers
        self._restart()

    def _metadata(self) -> dict[str, int]:
        """Return the slots of the program's metadata, whose names the compiler numbers."""
        slots = {}
        for header in self.switch.layout.headers.values():
            for field_ in header.fields:
                found = re.fullmatch(r"metadata_t\.(_(\w+?)\d+|(\w+))", field_.name)
                if found:
                    slots[found[2] or found[3]] = field_.slot
        return slots

    def _restart(self) -> None:
        self.switch.reset()
        self.ports = [PortSettings() for _ in range(PORTS)]
        self.slots = [Slot() for _ in range(SLOTS)]
        self.reports: dict[int, dict[str, int]] = {}
        for name in ("tag_port", "xcp_port", "stamp_port", "l2_forward"):
            self.switch.table(name).exact.clear()

    def play(self, events: Sequence[Event]) -> bytes:
        """Return the answer to a batch."""
        reply = bytearray()
        forwarded = meets_one_queue_at_once(events)
        for at, event in enumerate(events):
            if isinstance(event, Ingress):
                enqueue = events[at + 1] if forwarded[at] else None
                assert enqueue is None or isinstance(enqueue, Enqueue)
                reply += self._ingress(event, enqueue)
            elif isinstance(event, Enqueue):
                reply += self._enqueue(event)
            elif isinstance(event, Dequeue):
                reply += self._dequeue(event)
            elif isinstance(event, Copy):
                self.slots[event.to] = Slot(self.slots[event.slot].copies)
            elif isinstance(event, State):
                reply += self._state(event.port)
            elif isinstance(event, Restart):
                self._restart()
            else:
                self._configure(event)
        return bytes(reply)

    def _configure(self, event: Configure) -> None:
        port, config, state = event.port, event.config.limited(), self.ports[event.port]
        if config.xcp and not state.config.xcp:
            state.xcp_epoch = next_epoch(state.xcp_epoch)
        if config.check and not state.config.check:
            state.check_epoch = next_epoch(state.check_epoch)
        state.config = config
        gains = (config.alpha, config.beta, config.gamma)
        bounds = (config.min_interval, config.max_interval, config.generation)
        self._entry(
            config.xcp, "xcp_port", port, "set_xcp_port", config.capacity, *gains, *bounds, state.xcp_epoch
        )
        tag = (config.check, config.edge, config.wire, state.check_epoch or 1)
        self._entry(config.check or config.edge, "tag_port", port, "set_tag_port", *tag)
        self._entry(config.stamp, "stamp_port", port, "stamp")

    def _entry(self, present: bool, table: str, key: int, action: str, *data: int) -> None:
        if present:
            self.switch.table(table).add(key, action, *data)
        else:
            self.switch.table(table).remove(key)

    def _ingress(self, event: Ingress, enqueue: Enqueue | None) -> bytes:
        address = int.from_bytes(event.frame[:6], "big")
        by_entry = enqueue is not None and len(event.frame) >= ETHERNET_BYTES
        self._entry(by_entry, "l2_forward", address, "forward", enqueue.port if enqueue else 0)
        if enqueue is not None and by_entry:
            self._set_queue(enqueue.port, enqueue.queue)
        copies = self.switch.ingress(event.port, event.frame, event.now)
        if by_entry:
            self.slots[event.slot] = Slot(waiting=copies[0])
        else:
            self.slots[event.slot] = Slot({copy.port - FLOOD_BASE: copy for copy in copies})
        return self._ingress_reply(copies[0])

    def _set_queue(self, port: int, queue: int, mark: int = 0) -> None:
        self.switch.registers["accepted_bytes"][port] = mark + queue
        self.switch.registers["left_bytes"][port] = mark

    def _enqueue(self, event: Enqueue) -> bytes:
        slot = self.slots[event.slot]
        if slot.waiting is None or slot.copies:
            slot.waiting = self._come_in_again(slot.copies[event.port].again(), event)
        return self._enqueue_reply(slot.waiting)

    def _come_in_again(self, copy: Waiting, event: Enqueue) -> Waiting:
        packet = self.switch.egress(copy, event.now)
        assert isinstance(packet, Recirculated), "a flooded frame does not leave by its ingress port"
        self._set_queue(event.port, event.queue)
        (waiting,) = self.switch.ingress_again(packet, event.now)
        assert waiting.port == event.port
        return waiting

    def _dequeue(self, event: Dequeue) -> bytes:
        waiting = self.slots[event.slot].waiting
        assert waiting is not None
        assert waiting.port == event.port
        self._set_queue(event.port, event.queue, waiting.values[self.meta["accepted_mark"]])
        left = self.switch.egress(waiting.again(), event.now)
        assert isinstance(left, Frame)
        shares = SHARES_STRUCT.pack(*self._shares(event.port))
        return len(left.data).to_bytes(2, "little") + left.data + shares

    def _ingress_reply(self, copy: Waiting) -> bytes:
        def get(header: str, name: str) -> int:
            return int(copy.values[self.switch.layout.field(header, name).slot])

        tagged = get("tags", "$valid$")
        form = (DATA if get("xcp", "$valid$") else TAG) if tagged else ACK * get("ack", "$valid$")
        at = ETHERNET_BYTES + 4 * get("vlan", "$valid$")
        if get("ipv4", "$valid$"):
            at += 4 * get("ipv4", "ihl")
        else:
            at += 40
        tags = ("bucket", "link_seq", "corrupt", "congest")
        read = [get("tags", name) if form in (DATA, TAG) else 0 for name in tags]
        read += [get("xcp", name) if form == DATA else 0 for name in ("rtt", "x", "delta_throughput")]
        read[-3] *= 8  # the field has the high 29 bits
        read[-1] -= 2**32 if read[-1] >= 2**31 else 0
        return INGRESS_STRUCT.pack(form, at if form else 0, *read)

    def _enqueue_reply(self, copy: Waiting) -> bytes:
        self._read_digests()
        numbered = copy.values[self.meta["numbered"]]
        number = copy.values[self.meta["queue_seq"]] if numbered else 0
        return ENQUEUE_STRUCT.pack(
            numbered,
            number,
            *self._cells(copy.port, "input", "sum_x", "sum_x_rtt"),
            *self._queue_state(copy.port),
            *self._cells(copy.port, "intervals"),
            self._average_rtt(copy.port),
            *self._shares(copy.port),
        )

    def _cells(self, port: int, *names: str) -> list[int]:
        members: dict[str, int] = {}
        for name, cells in self.switch.registers.items():
            found = taken_apart(name, cells[port]) if name in WORDS else {name: cells[port]}
            if name in WORDS and "least_queue" in members:  # arrivals and departures have one each
                found["least_queue"] = min(found.get("least_queue", QUEUE_MAX), members["least_queue"])
            members |= found
        return [members[name] for name in names]

    def _shares(self, port: int) -> list[int]:
        return self._cells(port, *SHARES, *SHARES_2)

    def _started(self, port: int) -> bool:
        return self._cells(port, "xcp_epoch") != [0]

    def _queue_state(self, port: int) -> tuple[int, int]:
        persistent, least = self._cells(port, "persistent_queue", "least_queue")
        return persistent, least if self._started(port) else QUEUE_MAX

    def _own_flows(self, port: int) -> list[int]:
        *sums, limited, max_rtt, credit = self._cells(port, *OWN_SUMS)
        limited -= limited >> 39 << 40  # two's complement
        return [*sums, limited, max_rtt, credit if self._started(port) else CREDIT_MAX]

    def _average_rtt(self, port: int) -> int:
        return self._cells(port, "avg_rtt")[0] if self._started(port) else INITIAL_RTT

    def _read_digests(self) -> None:
        for name, report in self.switch.digests:
            if name == "interval_report_t":
                self.reports[report["port"]] = report
        self.switch.digests.clear()

    def _state(self, port: int) -> bytes:
        (intervals,) = self._cells(port, "intervals")
        report = self.reports[port] if intervals else {"elapsed": 0, "rate": 0, "phi": 0}
        phi = report["phi"] - (2**64 if report["phi"] >= 2**63 else 0)
        return STATE_STRUCT.pack(
            self._count("malformed", port),
            intervals,
            self._average_rtt(port),
            report["elapsed"],
            report["rate"],
            phi,
            *self._queue_state(port),
            *self._cells(port, "input", "sum_x", "sum_x_rtt"),
            *self._own_flows(port),
            *self._shares(port),
            *self._check("wire", port, self.ports[port].check_epoch),
            *self._check("queue", port, QUEUE_EPOCH),
            *self._numbers(port),
        )

    def _count(self, name: str, port: int) -> int:
        return self.switch.counters[name][port][0]

    def _check(self, name: str, port: int, epoch: int) -> list[int]:
        values = self._cells(port, f"{name}_lost")
        values += [self._count(f"{name}_late", port), self._count(f"{name}_rebased", port)]
        slots = self.switch.registers[f"{name}_slots"]
        for bucket in range(SHOWN_BUCKETS):
            slot = slots[port * BUCKETS + bucket]
            based = slot >> 32 & 0xFF == epoch and epoch != 0
            values += [slot >> 16 & 0xFFFF, slot & 0xFFFF, based, slot >> 40]
        return values

    def _numbers(self, port: int) -> list[int]:
        arrays = [self.switch.registers[name] for name in ("queue_numbers", "link_numbers")]
        return [array[port * BUCKETS + bucket] for bucket in range(SHOWN_BUCKETS) for array in arrays]


def meets_one_queue_at_once(events: Sequence[Event]) -> list[bool]:
    """Whether each event is an ingress followed by its only enqueue, at the same time."""
    result = [False] * len(events)
    owner: dict[int, int] = {}  # slot: number of the ingress that filled it
    for at, event in enumerate(events):
        if isinstance(event, Ingress):
            owner[event.slot] = at
            after = events[at + 1] if at + 1 < len(events) else None
            if isinstance(after, Enqueue):
                result[at] = (after.slot, after.now) == (event.slot, event.now)
        elif isinstance(event, (Enqueue, Copy)) and event.slot in owner:
            ingress = owner[event.slot]
            if isinstance(event, Copy):
                owner[event.to] = ingress
            if at != ingress + 1:
                result[ingress] = False
    return result
