# SPDX-License-Identifier: Apache-2.0
"""Traffic and commands through a bump in the wire, compared with the models of its four units."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from typing import NamedTuple

from clarion_nic.driver import register_map as registers
from conformance.block.bench import (
    DROPS,
    LEAVES,
    SENT,
    Bench,
    QueueEvent,
    Received,
    Reply,
    Sent,
    Values,
    command,
    fields,
)
from conformance.block.model import BYTE_TICKS_LATE, EgressModel, IngressModel, told
from conformance.reference import Packet

PORTS = 2


class Given(NamedTuple):
    """A command to a unit, and its answer."""

    operation: str
    values: Values
    clock: int = 0
    status: int = 0
    answer: Values | None = None


class Scenario:
    """A bump from power-on: `phase` after `phase` of traffic."""

    def __init__(self, bench: Bench, buckets: int = 4096) -> None:
        bench.fresh(PORTS, bump=True)
        self.bench, self.buckets = bench, buckets
        self.ingress = [IngressModel(buckets) for _ in range(PORTS)]
        self.egress = [EgressModel(buckets) for _ in range(PORTS)]
        self.told = [0] * PORTS  # frames and errored frames at each ingress unit, since its reset
        self.seen = [0] * PORTS  # events of each log
        self.waited = [0] * PORTS  # clock of each egress unit that time has come to
        self.given: dict[int, list[Given]] = defaultdict(list)
        self.packets = self.beats = self.drops = self.states = 0

    def give(self, clock: int, unit: int, operation: str, values: Values | None = None) -> None:
        """Schedule a command, for an ingress unit behind a read, which gives its place among the frames."""
        kind = "ingress" if unit < PORTS else "egress"
        if kind == "ingress" and operation != "read":
            self.give(clock, unit, "read")
        self.bench.schedule(unit, clock, command(kind, operation, values))
        self.given[unit].append(Given(operation, values or {}))

    def phase(self, streams: list[list[Sent]]) -> None:
        """Send a stream into each port, let everything come out, and compare."""
        for port, stream in enumerate(streams):
            for sent in stream:
                self.bench.send(port, sent)
        self.bench.settle()
        answered = self._answers()
        outputs = [self.bench.output(port) for port in range(PORTS)]
        for port, stream in enumerate(streams):
            assert outputs[port].refused == 0, "a beat was not taken at once"
            out = 1 - port
            packets = self._replay_ingress(port, stream, answered[port])
            self._replay_egress(out, deque(packets), answered[PORTS + out], outputs[out].frames)

    # --- Answers --------------------------------------------------------------------------------------

    def _answers(self) -> dict[int, list[Given]]:
        beats: dict[int, deque[Reply]] = defaultdict(deque)
        for reply in self.bench.replies():
            beats[reply.unit].append(reply)
        answered = {
            unit: [self._answer(unit, given, beats[unit]) for given in self.given[unit]]
            for unit in range(2 * PORTS)
        }
        assert not any(beats.values())
        self.given.clear()
        return answered

    @staticmethod
    def _answer(unit: int, given: Given, beats: deque[Reply]) -> Given:
        kind = "ingress" if unit < PORTS else "egress"
        count = len(registers.REPLIES[kind].get(given.operation, ())) or 1
        replies = [beats.popleft() for _ in range(count)]
        assert [reply.beat for reply in replies] == list(range(count))
        assert [reply.last for reply in replies] == [False] * (count - 1) + [True]
        words = [word for reply in replies for word in reply.words]
        answer = fields(kind, given.operation, words)
        return given._replace(clock=replies[0].clock, status=replies[-1].status, answer=answer)

    def _check(self, given: Given, read: Callable[[], Values], read_bucket: Callable[[int], Values]) -> None:
        if given.operation == "read":
            expected = read()
        elif given.operation == "read_bucket":
            expected = read_bucket(given.values["bucket"])
        else:
            return
        got = given.answer
        assert got is not None
        assert given.status == 0
        self.states += 1
        different = {name: (got[name], expected[name]) for name in got if got[name] != expected[name]}
        assert not different, f"(block, reference) differ after a {given.operation} in {different}"

    # --- Ingress ------------------------------------------------------------------------------------

    def _replay_ingress(self, port: int, stream: list[Sent], commands: list[Given]) -> list[Packet]:
        model = self.ingress[port]
        ends = deque(told(stream))
        packets: list[Packet] = []

        def take(count: int) -> None:
            while ends and self.told[port] < count:
                sent = ends.popleft()
                self.told[port] += 1
                if sent is None:
                    model.count["errored"] += 1
                else:
                    packets.append(model.packet(sent.frame))

        for given in commands:
            assert given.answer is not None
            if given.operation == "read":
                take(given.answer["rx_packets"] + given.answer["errored"])
            elif given.operation == "configure":
                assert given.status == 0
                model.configure(given.values)
            elif given.operation == "reset":
                model.reset()
                self.told[port] = 0
            self._check(given, model.read, model.read_bucket)
        take(self.told[port] + len(ends))
        return packets

    # --- Egress -------------------------------------------------------------------------------------

    def _replay_egress(
        self, port: int, packets: deque[Packet], commands: list[Given], left: list[Received]
    ) -> None:
        model, bench = self.egress[port], self.bench
        log = bench.log(port)
        events, self.seen[port] = log[self.seen[port] :], len(log)
        # What is in the log of one clock is in its order, and time passes behind what is sent.
        timeline: list[tuple[int, int, QueueEvent | Given | None]] = []
        timeline += [(event.clock, 0 if event.kind == SENT else 2, event) for event in events]
        timeline += [(given.clock - BYTE_TICKS_LATE, 1, None) for given in commands]
        timeline += [(given.clock, 2, given) for given in commands]
        timeline.sort(key=lambda entry: entry[:2])
        expected: list[bytes] = []
        lengths: deque[int] = deque()
        for clock, order, what in timeline:
            self._wait(port, clock - (order == 0))
            if what is None:
                model.tell_byte_ticks()
            elif isinstance(what, Given):
                self._command_egress(model, what)
            elif what.kind == SENT:
                assert lengths, "a frame is sent that has not left"
                assert what.queue == lengths.popleft(), "the length of a frame that is sent"
                model.sent(what.queue)
            elif what.kind == LEAVES:
                expected.append(model.leaves(what))
                lengths.append(len(expected[-1]))
            else:
                assert what.now <= bench.now_at(clock)
                assert packets, "a packet joins that has not come"
                model.joins(what, packets.popleft())
                self.drops += what.kind == DROPS
        assert not packets, "packets that never reached the queue"
        assert not model.waiting, "packets that never left"
        self._compare(expected, left)

    def _wait(self, port: int, clock: int) -> None:
        """Let time pass to the end of a clock."""
        if clock > self.waited[port]:
            self.egress[port].wait(self.bench.ticks_between(self.waited[port], clock))
            self.waited[port] = clock

    def _command_egress(self, model: EgressModel, given: Given) -> None:
        if given.operation == "configure":
            assert given.status == 0
            model.configure(given.values)
        elif given.operation == "reset":
            model.reset()
        elif given.operation == "read" and given.answer is not None:
            model.allow_overflow(given.answer["overflow"])
        self._check(given, model.read, model.read_bucket)

    def _compare(self, expected: list[bytes], left: list[Received]) -> None:
        assert len(expected) == len(left)
        for number, (frame, got) in enumerate(zip(expected, left, strict=True)):
            assert got.frame == frame, f"frame {number}: {got.frame.hex()} is not {frame.hex()}"
            assert not got.damaged
            assert got.user & 0xFFFF in (0, len(frame))
            self.beats += -(-len(frame) // 64)
        self.packets += len(left)
