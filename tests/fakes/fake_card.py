# SPDX-License-Identifier: Apache-2.0
"""A card with the Clarion block, as a file: a thread plays the hardware's side of the mailboxes.

It handles no packets; a test sets what the units have counted.
"""

from __future__ import annotations

import mmap
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from clarion_nic.driver import register_map as registers

ALL_ONES = 0xFFFF_FFFF
NO_LIMIT = (1 << 40) - 1
LOOK_S = 0.0002
CLOCK_HZ = 250_000_000

Key = tuple[str, int]  # kind of unit and port


class FakeCard:
    """Carries out commands while it is entered, unless a test makes it refuse or stay silent."""

    def __init__(self, path: Path, ports: int = 2, *, buckets: int = 4096) -> None:
        self.path = path
        self.configured: list[tuple[Key, Mapping[str, int]]] = []  # by commands, in order
        self.silent: set[Key] = set()  # units that do not answer
        self.refuse: dict[Key, str] = {}  # the status of the next `configure` of a unit
        path.write_bytes(bytes(registers.WINDOW_BYTES))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        self._words = memoryview(self._map).cast("I")
        self._ports = ports
        self._buckets = buckets
        self._at: dict[Key, int] = {}
        self._ended = threading.Event()
        self._lock = threading.Lock()  # between the hardware and the test
        self._thread = threading.Thread(target=self._run, name="fake card")
        self.power_on()

    def __enter__(self) -> FakeCard:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        assert self.failure is None, self.failure

    # Called by a test.

    def power_on(self) -> None:
        """Resets the card: all state is cleared."""
        with self._lock:
            self.failure: Exception | None = None
            self.gone = False
            for word in range(len(self._words)):
                self._words[word] = 0
            self._lay_out()
            self.state: dict[Key, dict[str, int]] = {key: _counted(key[0]) for key in self._at}
            self.configuration: dict[Key, dict[str, int]] = {key: _off(key[0]) for key in self._at}
            self.bucket: dict[tuple[Key, int], dict[str, int]] = {}
            self._started = time.monotonic()

    def pull(self) -> None:
        """Takes the card out: all reads are ones."""
        with self._lock:
            self.gone = True
            for word in range(len(self._words)):
                self._words[word] = ALL_ONES

    def poke(self, offset: int, value: int) -> None:
        """Writes a register as only the hardware can."""
        with self._lock:
            self._words[offset // 4] = value

    def peek(self, offset: int) -> int:
        """Reads a register."""
        return self._words[offset // 4]

    def set(self, kind: str, port: int, **values: int) -> None:
        """Sets counters of a unit, all at once."""
        with self._lock:
            self.state[kind, port].update(values)

    def offset(self, kind: str, port: int) -> int:
        """The offset of a unit's block."""
        return self._at[kind, port]

    # The hardware.

    def _lay_out(self) -> None:
        """Ingress and egress units; in another order than on the real card: software must not rely on it."""
        keys = [(kind, port) for port in range(self._ports) for kind in ("egress", "ingress")]
        places = [0, *(registers.STRIDE_BYTES * (2 + at) for at in range(len(keys)))]
        self._at = dict(zip(keys, places[1:], strict=True))
        for index, (kind, port) in enumerate([("clarion", ALL_ONES), *keys]):
            following = places[index + 1] if index < len(keys) else 0
            major, minor = registers.BLOCK_VERSIONS[kind]
            words = (registers.BLOCK_TYPES[kind], major << 16 | minor, following, port)
            for word, value in enumerate(words):
                self._words[places[index] // 4 + word] = value
        constants = {
            "ports": self._ports,
            "buckets": self._buckets,
            "queue_beats": 4096,
            "clock_hz": CLOCK_HZ,
            "build": 0x1A2B3C4D,
            "protocol": 253,
        }
        for name, value in constants.items():
            self._words[registers.REGISTERS["clarion"][name].offset // 4] = value

    def _run(self) -> None:
        try:
            while not self._ended.wait(LOOK_S):
                with self._lock:
                    if not self.gone:
                        self._tick()
        except Exception as error:
            self.failure = error

    def _tick(self) -> None:
        ticks = int((time.monotonic() - self._started) * (1 << 28))
        for name, value in (("now_low", ticks & ALL_ONES), ("now_high", ticks >> 32)):
            self._words[registers.REGISTERS["clarion"][name].offset // 4] = value
        for key, offset in self._at.items():
            request = self._words[(offset + registers.MAILBOX["request"].offset) // 4]
            if request == self._words[(offset + registers.MAILBOX["done"].offset) // 4] or key in self.silent:
                continue
            status = self._carry_out(key, offset)
            self._words[(offset + registers.MAILBOX["status"].offset) // 4] = registers.STATUS[status]
            self._words[(offset + registers.MAILBOX["done"].offset) // 4] = request

    def _carry_out(self, key: Key, offset: int) -> str:
        kind = key[0]
        place = (offset + registers.COMMAND_OFFSET) // 4
        command = self._words[place : place + registers.COMMAND_WORDS].tolist()
        operation = next((name for name, code in registers.OPERATIONS.items() if code == command[0]), None)
        if operation is None:
            return "unknown_operation"
        given = {
            field.name: command[field.word] | (command[field.word + 1] << 32 if field.bits > 32 else 0)
            for field in registers.COMMANDS[kind][operation]
        }
        if any(given[field.name] > field.limit for field in registers.COMMANDS[kind][operation]):
            return "out_of_range"
        if operation == "configure" and key in self.refuse:
            return self.refuse.pop(key)
        if operation == "configure":
            self.configuration[key] = given
            self.configured.append((key, given))
        elif operation == "reset":
            self.configuration[key] = _off(kind)
            self.state[key] = _counted(kind)
            self.configured.append((key, {}))
        self._reply(offset, kind, operation, self._found(key, operation, given))
        return "ok"

    def _found(self, key: Key, operation: str, given: Mapping[str, int]) -> Mapping[str, int]:
        if operation == "read":
            return {**self.state[key], **self.configuration[key]}
        if operation == "read_bucket":
            return self.bucket.get((key, given["bucket"]), {})
        return {}

    def _reply(self, offset: int, kind: str, operation: str, values: Mapping[str, int]) -> None:
        place = (offset + registers.REPLY_OFFSET) // 4
        for beat in registers.REPLIES[kind].get(operation, ()):
            for field in beat:
                value = values.get(field.name, 0) & ((1 << field.bits) - 1)
                self._words[place + field.word] = value & ALL_ONES
                if field.bits > 32:
                    self._words[place + field.word + 1] = value >> 32


def _off(kind: str) -> dict[str, int]:
    values = {field.name: 0 for field in registers.COMMANDS[kind]["configure"]}
    return {**values, **({"queue_limit": NO_LIMIT} if kind == "egress" else {})}


def _counted(kind: str) -> dict[str, int]:
    names = {field.name for beat in registers.REPLIES[kind]["read"] for field in beat}
    return dict.fromkeys(names - {field.name for field in registers.COMMANDS[kind]["configure"]}, 0)
