# SPDX-License-Identifier: Apache-2.0
"""Drives block-driver: frames, clocks, registers and commands in; frames, decisions and answers out."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from clarion_nic.driver import register_map as registers
from conformance.harness import BatchProcess

MIN_BYTES, MAX_BYTES = 60, 9600
BEAT_BYTES = 64
UNTIL_QUIET = 900_000  # clocks
ANSWER_CLOCKS = 300_000  # at most, from a request to its answer: a second reset waits for the first

Values = dict[str, int]


class Damage(IntEnum):
    """Damage to a frame that is sent, in the order of block-driver."""

    NONE = 0
    HOLE = 1  # TKEEP leaves out a byte of the first beat
    HOLE_AT_END = 2  # TKEEP leaves out the first byte of the last beat
    EMPTY_END = 3  # a last beat without bytes follows
    SHORT_BEAT = 4  # the first beat, which is not the last, is not full
    NO_END = 5  # TLAST is missing


class Sent(NamedTuple):
    """A frame to be sent. The side-band states its size, and `number` as its source."""

    frame: bytes
    gap: int = 0  # clocks before it
    damage: Damage = Damage.NONE
    size: int | None = None  # the stated size, if not the true one
    number: int = 0

    @property
    def user(self) -> int:
        """The side-band: TUSER."""
        size = len(self.frame) if self.size is None else self.size
        return self.number << 16 | size


class Received(NamedTuple):
    """A frame that came out."""

    first_clock: int
    last_clock: int
    user: int
    damaged: bool
    frame: bytes


class Output(NamedTuple):
    """Frames and stalls at a port's streams, in and out, since the last call."""

    refused: int  # beats that the block did not take at once, since the start
    ended: list[int]  # clock of the last beat of each frame sent
    frames: list[Received]


class QueueEvent(NamedTuple):
    """A decision of a queue, with its time and the bytes waiting; or a frame that is sent."""

    kind: int
    clock: int
    now: int
    queue: int  # of a frame that is sent: its length


JOINS, DROPS, LEAVES, SENT = range(4)


class Until(IntEnum):
    """What a run waits for, in the order of block-driver."""

    CLOCKS = 0
    REST = 1
    DECIDED = 2
    OUT = 3
    ANSWERED = 4


class Reply(NamedTuple):
    """A beat of an answer to a scheduled command."""

    unit: int
    clock: int
    beat: int
    last: bool
    status: int
    words: tuple[int, ...]


_REPLY = struct.Struct("<BIB?B16I")
_EVENT = struct.Struct("<BIQQ")
_OUT = struct.Struct("<II6s?H")


def command(kind: str, operation: str, values: Values | None = None) -> list[int]:
    """Return the words of a command to an `ingress` or `egress` unit; fields not named are 0."""
    words = [registers.OPERATIONS[operation], *[0] * (registers.COMMAND_WORDS - 1)]
    given = dict(values or {})
    for field in registers.COMMANDS[kind].get(operation, ()):
        value = given.pop(field.name, 0)
        words[field.word] = value % 2**32
        if field.bits > 32:
            words[field.word + 1] = value >> 32
    assert not given, f"no such fields: {sorted(given)}"
    return words


def fields(kind: str, operation: str, words: Sequence[int]) -> Values:
    """Return the fields of an answer."""
    result = {}
    for beat in registers.REPLIES[kind].get(operation, ()):
        for field in beat:
            value = words[field.word]
            if field.bits > 32:
                value |= words[field.word + 1] << 32
            if field.signed and value >= 2 ** (field.bits - 1):
                value -= 2**field.bits
            result[field.name] = value
    return result


class Bench:
    """A block in a process of its own: ports with units of their own, or a bump between ports 0 and 1.

    Units count as in the register window: the ingress units of all ports, then the egress units.
    """

    def __init__(
        self,
        binary: Path,
        ports: int = 2,
        bump: bool = True,
        folder: Path | None = None,
    ) -> None:
        self.process = BatchProcess(binary, folder)
        self.batch = bytearray()
        self.fresh(ports, bump)

    def fresh(self, ports: int, bump: bool) -> None:
        """Take another block, as after power-on."""
        self.ports = ports
        self.clock = 0
        self.wire = {"now": 0, "now_step": 0, "protocol": 253}
        self.times: list[tuple[int, int, int]] = [(0, 0, 0)]  # from clock: now and its step
        self.logs: list[list[QueueEvent]] = [[] for _ in range(ports)]
        self.requests = [0] * (2 * ports)
        self.blocks: list[int] = []  # offsets of register blocks found so far
        self.batch += struct.pack("<cB?", b"N", ports, bump)

    # --- What goes in ---------------------------------------------------------------------------------

    def wires(self, **values: int) -> None:
        """Set `now`, `now_step` (ticks per clock), `protocol`; wires not named keep their values."""
        self.wire.update(values)
        self.times.append((self.clock, self.wire["now"], self.wire["now_step"]))
        self.batch += struct.pack("<cQQB", b"W", *self.wire.values())

    def elsewhere(self, port: int, queue: int) -> None:
        """Set a port's `queue_elsewhere`: bytes queued outside the block."""
        self.batch += struct.pack("<cB", b"E", port) + queue.to_bytes(5, "little")

    def units_on(self, *units: int) -> None:
        """Clock only these units; all, if none is named."""
        mask = sum(1 << unit for unit in units) if units else 2**32 - 1
        self.batch += struct.pack("<cI", b"U", mask)

    def send(self, port: int, sent: Sent, host: bool = False) -> None:
        """Queue a frame in front of a port, at its wire or at its host."""
        self.batch += struct.pack("<cB?I", b"T", port, host, sent.gap)
        self.batch += sent.user.to_bytes(6, "little")
        self.batch += struct.pack("<BH", sent.damage, len(sent.frame)) + sent.frame

    def idle(self, port: int, seed: int, off: int, on: int, host: bool = False) -> None:
        """Insert idle clocks between beats: chances in 256 per clock to stop, and to go on."""
        self.batch += struct.pack("<cB?IHH", b"I", port, host, seed, off, on)

    def stall(self, port: int, seed: int, off: int, on: int, host: bool = False) -> None:
        """Deassert ready at random, with the same chances as `idle`."""
        self.batch += struct.pack("<cB??IHH", b"K", port, host, True, seed, off, on)

    def shut(self, port: int, host: bool = False) -> None:
        """Hold ready low."""
        self.batch += struct.pack("<cB??IHH", b"K", port, host, False, 0, 0, 256)

    def flow(self, port: int, host: bool = False) -> None:
        """Hold ready high."""
        self.stall(port, 0, 0, 256, host)

    def schedule(self, unit: int, clock: int, words: list[int]) -> None:
        """Give a command `clock` clocks from now, bypassing the registers."""
        self.batch += struct.pack("<cBI16I", b"X", unit, clock, *words)

    # --- What comes out -------------------------------------------------------------------------------

    def run(self, clocks: int) -> None:
        """Run for a number of clocks."""
        self._run(Until.CLOCKS, 0, clocks)

    def run_until_decided(self, port: int, most: int) -> None:
        """Run until a port's queue decides about a packet, `most` clocks at most."""
        self._run(Until.DECIDED, port, most)

    def run_until_out(self, port: int, most: int, host: bool = False) -> None:
        """Run until another frame has come out at a port's wire or host, `most` clocks at most."""
        self._run(Until.OUT, port + self.ports * host, most)

    def settle(self, most: int = UNTIL_QUIET) -> int:
        """Run until nothing moves; return the number of clocks."""
        return self._run(Until.REST, 0, most)

    def _run(self, until: Until, of: int, clocks: int) -> int:
        self._put_run(until, of, clocks)
        return self._passed(self._flush())

    def _put_run(self, until: Until, of: int, clocks: int) -> None:
        self.batch += struct.pack("<cBBI", b"R", until, of, clocks)

    def _passed(self, answer: bytes) -> int:
        before, passed = struct.unpack("<II", answer)
        self.clock = before + passed
        self.wire["now"] += passed * self.wire["now_step"]
        return int(passed)

    def now_at(self, clock: int) -> int:
        """Return the value of `now` in a clock."""
        for start, now, step in reversed(self.times):
            if start <= clock:
                return now + (clock - start) * step
        raise ValueError(clock)

    def ticks_between(self, before: int, clock: int) -> int:
        """Return by how much time has passed from one clock to another, as the block sees it.

        Time that goes back does not count, and a jump is of 32 bits at most.
        """
        ticks, at = 0, before
        for start in sorted({start for start, _, _ in self.times if before < start <= clock}):
            ticks += self.now_at(start - 1) - self.now_at(at)
            ticks += min(max(self.now_at(start) - self.now_at(start - 1), 0), 2**32 - 1)
            at = start
        return ticks + self.now_at(clock) - self.now_at(at)

    def take_beat(self, port: int) -> bool:
        """Run one clock, in which a beat that is pending at the shut wire of a port is taken."""
        self.batch += struct.pack("<cB", b"B", port)
        answer = self._flush()
        self._passed(answer[1:])
        return answer[0] != 0

    def output(self, port: int, host: bool = False) -> Output:
        """Return frames and stalls at a port since the last call."""
        self.batch += struct.pack("<cB?", b"O", port, host)
        answer = self._flush()
        refused, count = struct.unpack_from("<II", answer)
        ended = list(struct.unpack_from(f"<{count}I", answer, 8))
        at = 12 + 4 * count
        frames = []
        for _ in range(int.from_bytes(answer[at - 4 : at], "little")):
            first, last, user, damaged, length = _OUT.unpack_from(answer, at)
            at += _OUT.size + length
            frame = answer[at - length : at]
            frames.append(Received(first, last, int.from_bytes(user, "little"), damaged, frame))
        return Output(refused, ended, frames)

    def log(self, port: int) -> list[QueueEvent]:
        """Return the decisions of a port's queue since the start, and what it has sent."""
        self.batch += struct.pack("<cB", b"L", port)
        self.logs[port] += [QueueEvent(*event) for event in _EVENT.iter_unpack(self._flush()[4:])]
        return self.logs[port]

    def replies(self) -> list[Reply]:
        """Return the beats of answers to scheduled commands since the last call."""
        self.batch += b"Y"
        return [
            Reply(unit, clock, beat, last, status, tuple(words))
            for unit, clock, beat, last, status, *words in _REPLY.iter_unpack(self._flush()[4:])
        ]

    def parse(self, frame: bytes, protocol: int = 253) -> tuple[int, ...]:
        """Return the result of the parser alone: format, malformed, at, then the fields it reads."""
        self.batch += struct.pack("<cBH", b"P", protocol, len(frame)) + frame
        return struct.unpack("<B?HHHHHIIi", self._flush())

    # --- Registers ------------------------------------------------------------------------------------

    def write(self, offset: int, value: int) -> bool:
        """Write a register; False: refused."""
        self._put(offset, value)
        return self._flush() != b"\0"

    def _put(self, offset: int, value: int) -> None:
        self.batch += struct.pack("<cII", b"A", offset, value)

    def read(self, *offsets: int) -> list[int]:
        """Read registers, all of which must exist."""
        for offset in offsets:
            self.batch += struct.pack("<cI", b"G", offset)
        answers = list(struct.iter_unpack("<?I", self._flush()))
        assert all(ok for ok, _ in answers), f"no register: {offsets}"
        return [value for _, value in answers]

    def block_of(self, unit: int) -> int:
        """Return where a unit's registers start, by walking."""
        while len(self.blocks) <= unit:
            last = self.blocks[-1] if self.blocks else 0
            (after,) = self.read(last + registers.HEADER["next"].offset)
            assert after, f"no unit {unit}"
            self.blocks.append(after)
        return self.blocks[unit]

    def ask(self, unit: int, operation: str, values: Values | None = None) -> tuple[int, Values]:
        """Carry out a command through the mailbox; return the status and the answer's fields."""
        ((status, answer),) = self.ask_all(unit, [(operation, values)])
        return status, answer

    def ask_all(self, unit: int, commands: Sequence[tuple[str, Values | None]]) -> list[tuple[int, Values]]:
        """Carry out one command after the other."""
        block = self.block_of(unit)
        for operation, values in commands:
            self._put_command(unit, block, operation, values)
            self._put_run(Until.ANSWERED, unit, ANSWER_CLOCKS)
            self._put_readings(unit, block, operation)
        answer, at = self._flush(), 0
        results: list[tuple[int, Values]] = []
        for operation, _ in commands:
            at += registers.COMMAND_WORDS + 1
            assert b"\0" not in answer[at - registers.COMMAND_WORDS - 1 : at], "refused"
            self._passed(answer[at : at + 8])
            size = 5 * (2 + self._words(unit, operation))
            readings = [value for _, value in struct.iter_unpack("<?I", answer[at + 8 : at + 8 + size])]
            at += 8 + size
            assert readings[0] == self.requests[unit] - len(commands) + len(results) + 1, "no answer yet"
            results.append((readings[1], fields(self._kind(unit), operation, readings[2:])))
        return results

    def _kind(self, unit: int) -> str:
        return "ingress" if unit < self.ports else "egress"

    def _words(self, unit: int, operation: str) -> int:
        return len(registers.REPLIES[self._kind(unit)].get(operation, ())) * registers.BEAT_WORDS

    def _put_command(self, unit: int, block: int, operation: str, values: Values | None) -> None:
        self.requests[unit] += 1
        for number, word in enumerate(command(self._kind(unit), operation, values)):
            self._put(block + registers.COMMAND_OFFSET + 4 * number, word)
        self._put(block + registers.MAILBOX["request"].offset, self.requests[unit])

    def _put_readings(self, unit: int, block: int, operation: str) -> None:
        reply = block + registers.REPLY_OFFSET
        offsets = [block + registers.MAILBOX[name].offset for name in ("done", "status")]
        offsets += [reply + 4 * word for word in range(self._words(unit, operation))]
        for offset in offsets:
            self.batch += struct.pack("<cI", b"G", offset)

    # --- The process ----------------------------------------------------------------------------------

    def _flush(self) -> bytes:
        batch, self.batch = bytes(self.batch), bytearray()
        self.process.hand_over(batch)
        return self.process.receive()

    def close(self) -> None:
        """End the process; a report of a sanitiser is an error."""
        self.process.close()
