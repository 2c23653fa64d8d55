# SPDX-License-Identifier: Apache-2.0
"""Plays event vectors on units of the block: frames through AXI4-Stream, the rest through AXI4-Lite.

Every port has units of its own, and only the unit of an event is clocked. An event's time is on `now`;
waiting bytes beyond the block's own frames are on `queue_elsewhere`. A queue limit of 0 makes a drop. A
packet stays in the queue for the fewest clocks possible; where other packets join in between, the unit is
plugged: frames sent before the first event fill it up to a wire with ready low.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.block.bench import LEAVES, MIN_BYTES, Bench, Sent, Values
from conformance.block.model import UNLIMITED, XCP_NAMES
from conformance.harness import SHARES as SHARES_REPLY
from conformance.harness import SHOWN_BUCKETS, Configure, Copy, Dequeue, Enqueue, Event, Ingress, State
from conformance.reference import Config, classify

PORTS = 3
SHARES = tuple(name for name, _ in SHARES_REPLY)
PLUG = Sent(bytes(MIN_BYTES))
PASS_CLOCKS = 2000  # more than any frame needs
PLUG_CLOCKS = 60  # more than a plug needs up to the wire, and the next to move up
Answer = dict[str, Any]


@dataclass
class PortState:
    """The player's record of a port."""

    config: Config
    ingress_epoch: int = 0
    egress_epoch: int = 0
    joined: int = 0
    left: int = 0
    own: int = 0  # bytes in the queue
    plugs: int = 0  # frames to be ignored when they come out


class BlockPlayer:
    """A driver that plays events one by one."""

    def __init__(self, bench: Bench, plugged: tuple[int, ...] = ()) -> None:
        bench.fresh(PORTS, bump=False)
        self.bench = bench
        self.ports = [PortState(Config()) for _ in range(PORTS)]
        self.slots: dict[int, bytes] = {}
        self.leaving: dict[int, list[int]] = {port: [] for port in range(PORTS)}  # events
        self.plugged = plugged
        self.shown = list(range(SHOWN_BUCKETS))  # buckets in the answer to a `State`
        for port in plugged:
            self._plug(port)

    def play(self, events: list[Event]) -> list[Answer]:
        """Return the block's answer to each event, with the frames as on the wire."""
        answers: list[Answer] = []
        for number, event in enumerate(events):
            answer: Answer = {}
            if isinstance(event, Configure):
                self._configure(event)
            elif isinstance(event, Ingress):
                self._ingress(event)
            elif isinstance(event, Copy):
                self.slots[event.to] = self.slots[event.slot]
            elif isinstance(event, Enqueue):
                answer = self._enqueue(event, departure_of(events, number))
            elif isinstance(event, Dequeue):
                self._dequeue(event)
                self.leaving[event.port].append(number)
                answer = {name: self._read(event.port)[name] for name in SHARES}
            elif isinstance(event, State):
                answer = self._state(event.port)
            answers.append(answer)
        for port in range(PORTS):
            self._collect(port, answers)
        return answers

    # --- Parameters and state -------------------------------------------------------------------------

    def _ask(self, unit: int, operation: str, values: Values | None = None) -> Values:
        self.bench.units_on(unit)
        status, answer = self.bench.ask(unit, operation, values)
        assert status == 0
        return answer

    def _buckets(self, unit: int) -> dict[int, Values]:
        self.bench.units_on(unit)
        every = [("read_bucket", {"bucket": b}) for b in self.shown]
        slots = [slot for _, slot in self.bench.ask_all(unit, every)]
        return dict(zip(self.shown, slots, strict=True))

    def _configure(self, event: Configure) -> None:
        port, state, config = event.port, self.ports[event.port], event.config.limited()
        state.ingress_epoch += config.check and not state.config.check
        state.egress_epoch += config.xcp and not state.config.xcp
        state.config = config
        tag = {name: int(getattr(config, name)) for name in ("check", "edge", "wire")}
        self._ask(port, "configure", {**tag, "epoch": state.ingress_epoch})
        self._configure_egress(port, UNLIMITED)

    def _configure_egress(self, port: int, queue_limit: int) -> None:
        state = self.ports[port]
        values = {name: int(getattr(state.config, name)) for name in ("xcp", "stamp", *XCP_NAMES)}
        values |= {"epoch": state.egress_epoch, "queue_limit": queue_limit}
        self._ask(PORTS + port, "configure", values)

    def _read(self, port: int) -> Values:
        return self._ask(PORTS + port, "read")

    def _state(self, port: int) -> Answer:
        wire = self._ask(port, "read")
        answer: Answer = {f"wire_{name}": wire[name] for name in ("lost", "late", "rebased")}
        answer["malformed"] = wire["malformed"]
        answer |= self._read(port)
        epoch = self.ports[port].ingress_epoch
        for b, slot in self._buckets(port).items():
            answer |= {f"wire_expected[{b}]": slot["expected"], f"wire_total[{b}]": slot["total"]}
            answer |= {f"wire_based[{b}]": slot["epoch"] == epoch > 0, f"wire_far[{b}]": slot["far"]}
        for b, slot in self._buckets(PORTS + port).items():
            answer |= {f"{name}[{b}]": slot[name] for name in slot}
            answer[f"queue_based[{b}]"] = slot["queue_epoch"]
        return answer

    # --- Packets --------------------------------------------------------------------------------------

    def _ingress(self, event: Ingress) -> None:
        bench = self.bench
        bench.wires(now=event.now)
        bench.units_on(event.port)
        bench.send(event.port, Sent(event.frame))
        bench.run_until_out(event.port, PASS_CLOCKS, host=True)
        (received,) = bench.output(event.port, host=True).frames
        self.slots[event.slot] = received.frame

    def _enqueue(self, event: Enqueue, departure: Dequeue | None) -> Answer:
        port, bench, state = event.port, self.bench, self.ports[event.port]
        frame = self.slots[event.slot]
        if departure is None:
            self._configure_egress(port, 0)
        number = self._number(port, frame)
        self._set_queue(port, event.queue)
        bench.wires(now=event.now)
        bench.units_on(PORTS + port)
        bench.send(port, Sent(frame), host=True)
        bench.run_until_decided(port, PASS_CLOCKS)
        told = bench.log(port)[-1]
        seen = (told.queue, told.now)
        assert seen == (event.queue, event.now), f"queue and time at a join: {seen}, not {event}"
        assert (told.kind == 0) == (departure is not None)
        if departure is None:
            self._configure_egress(port, UNLIMITED)
        else:
            state.own += len(frame)
            if port not in self.plugged:
                self._set_queue(port, departure.queue + len(frame))
        answer: Answer = {**self._read(port)}  # before its departure
        return {**answer, "numbered": self._number(port, frame) != number, "number": number}

    # Waiting bytes, the unit's own included.
    def _set_queue(self, port: int, queue: int) -> None:
        elsewhere = queue - self.ports[port].own
        if elsewhere < 0:
            assert not self.ports[port].config.xcp, "fewer bytes than the unit itself holds"
        self.bench.elsewhere(port, max(elsewhere, 0))

    def _number(self, port: int, frame: bytes) -> int:
        packet, _ = classify(frame, 253)
        if "bucket" not in packet.fields:
            return 0
        return self._ask(PORTS + port, "read_bucket", {"bucket": packet.fields["bucket"] % 4096})[
            "queue_next"
        ]

    def _left(self, port: int) -> int:
        return sum(event.kind == LEAVES for event in self.bench.log(port))

    def _dequeue(self, event: Dequeue) -> None:
        port, bench, state = event.port, self.bench, self.ports[event.port]
        frame = self.slots[event.slot]
        bench.units_on(PORTS + port)
        if port in self.plugged:
            self._let_one_out(port, event.queue + len(frame))
        else:
            bench.run_until_out(port, PASS_CLOCKS)
            state.own -= len(frame)
        state.left += 1
        assert self._left(port) == state.left
        (*_, left) = (told for told in bench.log(port) if told.kind == LEAVES)
        assert left.queue == event.queue

    # --- A plugged unit -------------------------------------------------------------------------------

    def _plug(self, port: int) -> None:
        bench, state = self.bench, self.ports[port]
        bench.units_on(PORTS + port)
        bench.shut(port)
        while state.plugs == self._left(port):
            assert state.plugs < 100
            bench.send(port, PLUG, host=True)
            bench.run(PLUG_CLOCKS)
            state.plugs += 1
        bench.take_beat(port)
        bench.run(PLUG_CLOCKS)
        state.left = state.plugs
        state.own = (state.plugs - 1) * MIN_BYTES  # one is taken
        assert self._left(port) == state.left

    # Each departed plug makes room, also for dropped packets.
    def _let_one_out(self, port: int, queue: int) -> None:
        state = self.ports[port]
        while self._left(port) == state.left:
            state.own -= MIN_BYTES
            self._set_queue(port, queue)
            assert self.bench.take_beat(port)
            self.bench.run(PLUG_CLOCKS)

    def _collect(self, port: int, answers: list[Answer]) -> None:
        state = self.ports[port]
        self.bench.flow(port)
        self.bench.units_on(PORTS + port)
        self.bench.settle()
        frames = self.bench.output(port).frames[state.plugs :]
        assert len(frames) == len(self.leaving[port])
        for number, received in zip(self.leaving[port], frames, strict=True):
            assert not received.damaged
            answers[number]["frame"] = received.frame.hex()


def departure_of(events: list[Event], at: int) -> Dequeue | None:
    """Return the dequeue of a packet that is enqueued; None: it is dropped."""
    event = events[at]
    assert isinstance(event, Enqueue)
    for later in events[at + 1 :]:
        if isinstance(later, Ingress | Enqueue) and later.slot == event.slot:
            return None
        if isinstance(later, Dequeue) and later.slot == event.slot:
            return later
    return None
