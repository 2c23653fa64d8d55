# SPDX-License-Identifier: Apache-2.0
"""Plays the same events on a target and on the reference, as batches of bytes that must be equal.

An event is a tuple; README.md lists them. A target answers a batch with the same bytes as
`ReferencePlayer`, so comparing is one `==`, and `explain` names the first difference.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from conformance.reference import ACK, ORDINARY, Check, Config, Packet, Router, Xcp

PORTS = 4
BUCKETS = 4096
SHOWN_BUCKETS = 64  # in the answer to `state`
SLOTS = 256


class Configure(NamedTuple):
    """Set the parameters of a port."""

    port: int
    config: Config


class Restart(NamedTuple):
    """Start again with a fresh data plane and empty slots."""


class Ingress(NamedTuple):
    """A frame comes in and is kept in a slot."""

    port: int
    slot: int
    now: int
    frame: bytes


class Copy(NamedTuple):
    """A slot is copied to another, as flooding does."""

    slot: int
    to: int


class Enqueue(NamedTuple):
    """A slot's packet arrives at an egress queue in which `queue` bytes wait."""

    port: int
    slot: int
    now: int
    queue: int


class Dequeue(NamedTuple):
    """A slot's packet leaves the queue, `queue` bytes stay behind."""

    port: int
    slot: int
    now: int
    queue: int


class State(NamedTuple):
    """All state of a port."""

    port: int


Event = Configure | Restart | Ingress | Copy | Enqueue | Dequeue | State

_CONFIGURE = struct.Struct("<cB?????QIIIIII")
_INGRESS = struct.Struct("<cBHQH")
_COPY = struct.Struct("<cHH")
_QUEUE = struct.Struct("<cBHQQ")
_STATE = struct.Struct("<cB")


def encode(events: Iterable[Event]) -> bytes:
    """Return the batch that a driver reads."""
    parts: list[bytes] = []
    for event in events:
        if isinstance(event, Ingress):
            parts.append(_INGRESS.pack(b"I", event.port, event.slot, event.now, len(event.frame)))
            parts.append(event.frame)
        elif isinstance(event, Enqueue):
            parts.append(_QUEUE.pack(b"Q", *event))
        elif isinstance(event, Dequeue):
            parts.append(_QUEUE.pack(b"D", *event))
        elif isinstance(event, Copy):
            parts.append(_COPY.pack(b"Y", *event))
        elif isinstance(event, State):
            parts.append(_STATE.pack(b"S", event.port))
        elif isinstance(event, Restart):
            parts.append(b"R")
        else:
            c = event.config
            flags = (c.xcp, c.stamp, c.check, c.edge, c.wire)
            numbers = (c.capacity, c.alpha, c.beta, c.gamma, c.min_interval, c.max_interval, c.generation)
            parts.append(_CONFIGURE.pack(b"C", event.port, *flags, *numbers))
    return b"".join(parts)


# Layout of the answers: (name, struct code) in order.
SHARES = [
    ("pos", "Q"),
    ("neg", "Q"),
    ("cp", "I"),
    ("cp_shift", "B"),
    ("cn", "I"),
    ("cn_shift", "B"),
    ("carry", "B"),
    ("fair", "I"),
    ("fair_shift", "B"),
    ("lift", "I"),
    ("lift_shift", "B"),
    ("growth", "I"),
    ("growth_shift", "B"),
    ("bank", "Q"),
]
INGRESS_REPLY = [
    ("format", "B"),
    ("at", "H"),
    ("bucket", "H"),
    ("link_seq", "H"),
    ("corrupt", "H"),
    ("congest", "H"),
    ("rtt", "I"),
    ("x", "I"),
    ("delta_throughput", "i"),
]
ENQUEUE_REPLY = [
    ("numbered", "B"),
    ("number", "H"),
    ("input", "Q"),
    ("sum_x", "Q"),
    ("sum_x_rtt", "Q"),
    ("persistent_queue", "Q"),
    ("least_queue", "Q"),
    ("intervals", "Q"),
    ("avg_rtt", "I"),
    *SHARES,
]


def _check_layout(name: str) -> list[tuple[str, str]]:
    counters = [(f"{name}_{counter}", "Q") for counter in ("lost", "late", "rebased")]
    slot = (("expected", "H"), ("total", "H"), ("based", "?"), ("far", "B"))
    return counters + [(f"{name}_{part}[{b}]", code) for b in range(SHOWN_BUCKETS) for part, code in slot]


STATE_REPLY = [
    ("malformed", "Q"),
    ("intervals", "Q"),
    ("avg_rtt", "I"),
    ("elapsed", "I"),
    ("rate", "Q"),
    ("phi", "q"),
    ("persistent_queue", "Q"),
    ("least_queue", "Q"),
    ("input", "Q"),
    ("sum_x", "Q"),
    ("sum_x_rtt", "Q"),
    ("own_input", "Q"),
    ("own_sum_x", "Q"),
    ("poor_sum_x", "Q"),
    ("limited", "q"),
    ("max_rtt", "I"),
    ("credit", "B"),
    *SHARES,
    *_check_layout("wire"),
    *_check_layout("queue"),
    *((f"{name}_next[{b}]", "H") for b in range(SHOWN_BUCKETS) for name in ("queue", "link")),
]


def _struct_of(layout: list[tuple[str, str]]) -> struct.Struct:
    return struct.Struct("<" + "".join(code for _, code in layout))


SHARES_STRUCT, INGRESS_STRUCT = _struct_of(SHARES), _struct_of(INGRESS_REPLY)
ENQUEUE_STRUCT, STATE_STRUCT = _struct_of(ENQUEUE_REPLY), _struct_of(STATE_REPLY)


def _shares(xcp: Xcp) -> tuple[int, ...]:
    return xcp.pos, xcp.neg, *xcp.cp, *xcp.cn, xcp.carry, *xcp.fair, *xcp.lift, *xcp.growth, xcp.bank


def _check_state(check: Check) -> list[int]:
    values = [check.lost, check.late, check.rebased]
    for b in range(SHOWN_BUCKETS):
        based = b in check.expected
        expected = check.expected[b] if based else check.remembered.get(b, 0)
        values += [expected, check.total.get(b, 0), based, check.far.get(b, 0)]
    return values


class ReferencePlayer:
    """The reference behind the interface of a driver."""

    def __init__(self, protocol: int = 253) -> None:
        self.protocol = protocol
        self.router = Router(PORTS, BUCKETS, protocol)
        self.slots: list[Packet] = [Packet(b"")] * SLOTS

    def play(self, events: Iterable[Event]) -> bytes:
        """Return the answer to a batch."""
        router, slots, reply = self.router, self.slots, bytearray()
        for event in events:
            if isinstance(event, Ingress):
                slots[event.slot] = packet = router.ingress(event.port, event.frame)
                reply += self._ingress_reply(packet)
            elif isinstance(event, Enqueue):
                packet = slots[event.slot]
                router.enqueue(event.port, event.now, event.queue, packet)
                reply += self._enqueue_reply(packet, router.ports[event.port].xcp)
            elif isinstance(event, Dequeue):
                packet = slots[event.slot]
                packet.frame = router.dequeue(event.port, event.queue, packet)
                reply += len(packet.frame).to_bytes(2, "little") + packet.frame
                reply += SHARES_STRUCT.pack(*_shares(router.ports[event.port].xcp))
            elif isinstance(event, Copy):
                slots[event.to] = slots[event.slot].copy()
            elif isinstance(event, State):
                reply += self._state_reply(event.port)
            elif isinstance(event, Restart):
                self.__init__(self.protocol)  # type: ignore[misc]
                router, slots = self.router, self.slots
            else:
                router.configure(event.port, event.config)
        return bytes(reply)

    @staticmethod
    def _ingress_reply(packet: Packet) -> bytes:
        if packet.format in (ORDINARY, ACK):
            return INGRESS_STRUCT.pack(packet.format, packet.at, *[0] * 7)
        get = packet.fields.get
        tags = [packet.fields[name] for name in ("bucket", "link_seq", "corrupt", "congest")]
        wishes = [get(name, 0) for name in ("rtt", "x", "delta_throughput")]
        return INGRESS_STRUCT.pack(packet.format, packet.at, *tags, *wishes)

    @staticmethod
    def _enqueue_reply(packet: Packet, xcp: Xcp) -> bytes:
        return ENQUEUE_STRUCT.pack(
            packet.number is not None,
            packet.number or 0,
            xcp.input,
            xcp.sum_x,
            xcp.sum_x_rtt,
            xcp.persistent_queue,
            xcp.least_queue,
            xcp.intervals,
            xcp.avg_rtt,
            *_shares(xcp),
        )

    def _state_reply(self, index: int) -> bytes:
        port = self.router.ports[index]
        xcp = port.xcp
        numbers = [
            numbering.next.get(b, 0)
            for b in range(SHOWN_BUCKETS)
            for numbering in (port.queue_numbers, port.link_numbers)
        ]
        return STATE_STRUCT.pack(
            port.malformed,
            xcp.intervals,
            xcp.avg_rtt,
            xcp.elapsed,
            xcp.rate,
            xcp.phi,
            xcp.persistent_queue,
            xcp.least_queue,
            xcp.input,
            xcp.sum_x,
            xcp.sum_x_rtt,
            xcp.own_input,
            xcp.own_sum_x,
            xcp.poor_sum_x,
            xcp.limited,
            xcp.max_rtt,
            xcp.credit,
            *_shares(xcp),
            *_check_state(port.wire),
            *_check_state(port.queue),
            *numbers,
        )


class DriverError(Exception):
    """The driver died; the text is its error output."""


class BatchProcess:
    """A process that answers batches of bytes; batches.hpp is its side."""

    def __init__(self, binary: Path, folder: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [binary], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def hand_over(self, batch: bytes) -> None:
        """Send a batch; the answer can be fetched later."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(len(batch).to_bytes(4, "little") + batch)
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self._death() from None

    def receive(self) -> bytes:
        """Return the answer to the oldest batch not yet answered."""
        assert self.process.stdout is not None
        size = self.process.stdout.read(4)
        reply = self.process.stdout.read(int.from_bytes(size, "little")) if len(size) == 4 else b""
        if len(size) < 4 or len(reply) < int.from_bytes(size, "little"):
            raise self._death()
        return reply

    def close(self) -> None:
        """End the process; a report of a sanitiser is an error."""
        _, errors = self.process.communicate()
        if self.process.returncode != 0:
            raise DriverError(errors.decode(errors="replace"))

    def _death(self) -> DriverError:
        _, errors = self.process.communicate()
        return DriverError(f"status {self.process.returncode}: {errors.decode(errors='replace')}")


class Driver(BatchProcess):
    """A target that plays batches of events."""

    def send(self, events: Iterable[Event]) -> None:
        """Hand over a batch; the answer can be fetched later."""
        self.hand_over(encode(events))

    def play(self, events: Iterable[Event]) -> bytes:
        """Return the answer to a batch."""
        self.send(events)
        return self.receive()


def decode(events: Iterable[Event], reply: bytes) -> list[tuple[Event, dict[str, Any]]]:
    """Return each event with its part of an answer by name."""
    at = 0
    result: list[tuple[Event, dict[str, Any]]] = []

    def take(layout: list[tuple[str, str]], form: struct.Struct) -> dict[str, Any]:
        nonlocal at
        values = form.unpack_from(reply, at)
        at += form.size
        return dict(zip((name for name, _ in layout), values, strict=True))

    for event in events:
        answer: dict[str, Any] = {}
        if isinstance(event, Ingress):
            answer = take(INGRESS_REPLY, INGRESS_STRUCT)
        elif isinstance(event, Enqueue):
            answer = take(ENQUEUE_REPLY, ENQUEUE_STRUCT)
        elif isinstance(event, Dequeue):
            length = int.from_bytes(reply[at : at + 2], "little")
            frame = reply[at + 2 : at + 2 + length]
            at += 2 + length
            answer = {"frame": frame.hex(), **take(SHARES, SHARES_STRUCT)}
        elif isinstance(event, State):
            answer = take(STATE_REPLY, STATE_STRUCT)
        result.append((event, answer))
    return result


def explain(events: list[Event], got: bytes, expected: bytes) -> str:
    """Return the first difference between two answers in words."""
    answers = zip(decode(events, got), decode(events, expected), strict=True)
    for number, ((event, a), (_, b)) in enumerate(answers):
        different = {name: (a[name], b[name]) for name in b if a[name] != b[name]}
        if different:
            return f"event {number}, {event}: (target, reference) differ in {different}"
    return "no difference"
