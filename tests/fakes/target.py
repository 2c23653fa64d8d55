# SPDX-License-Identifier: Apache-2.0
"""A switch in memory as a target of the P4Runtime agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clarion_base.faults import Code, Fault
from clarion_contract.target import (
    Change,
    Judged,
    Listener,
    Note,
    Present,
    Reset,
    SetEntry,
    SetFlood,
    TargetError,
    TargetFaultError,
)


class FakeTarget:
    """Carries out every batch, unless a test makes it refuse."""

    def __init__(self, name: str = "s1", ports: Sequence[int] = (1, 2, 3)) -> None:
        self.name = name
        self.chassis_id: str | None = f"test/{name}"
        self.measures_capacity = True
        self.wires: dict[int, Judged] = {}
        self.ports: Mapping[int, str] = {port: f"p{port}" for port in ports}
        self.batches: list[Sequence[Change]] = []
        self.frames: list[tuple[bytes, int | None]] = []
        self.wanted: Sequence[str] = ()
        self.refuse: TargetError | None = None  # every batch
        self.refused_changes: list[Change] = []  # and the batches that they are in
        self.atomic = True
        self.links_down: frozenset[int] = frozenset()
        self.listener: Listener | None = None
        self.forget()

    def forget(self) -> None:
        """Clears all state, as after a restart."""
        self.entries: dict[tuple[str, int], Mapping[str, int]] = {}
        self.flood: tuple[int, ...] | None = None
        self.note = ""
        self.cells: dict[tuple[str, int], int] = {}
        self.counted: dict[str, dict[int, tuple[int, int]]] = {"tx": {}, "queue_drops": {}}

    def listen(self, listener: Listener) -> None:
        self.listener = listener

    async def want(self, digests: Sequence[str], packets: bool) -> None:
        self.wanted = tuple(digests)

    def is_atomic(self, changes: Sequence[Change]) -> bool:
        return self.atomic or len(changes) <= 1

    def down(self) -> frozenset[int]:
        return self.links_down

    async def apply(self, changes: Sequence[Change]) -> None:
        if self.refuse is not None:
            raise self.refuse
        for position, change in enumerate(changes):
            if change in self.refused_changes:
                raise TargetFaultError(Fault(("changes", position, "value"), "no", Code.OUT_OF_RANGE))
        self.batches.append(changes)
        for change in changes:
            self._carry_out(change)

    async def present(self) -> Present:
        return Present(dict(self.entries), self.flood, self.note)

    async def registers(self, name: str, first: int, count: int) -> Sequence[int]:
        return [self.cells.get((name, index), 0) for index in range(first, first + count)]

    async def counters(self) -> Mapping[str, Mapping[int, tuple[int, int]]]:
        return self.counted

    async def inject(self, frame: bytes, port: int | None) -> None:
        self.frames.append((frame, port))

    async def judged(self) -> Mapping[int, Judged]:
        return self.wires

    def _carry_out(self, change: Change) -> None:
        match change:
            case Reset():
                self.forget()
            case Note(text=text):
                self.note = text
            case SetFlood(ports=ports):
                self.flood = ports
            case SetEntry(table=table, key=key, arguments=None):
                del self.entries[table, key]
            case SetEntry(table=table, key=key, arguments=arguments):
                assert arguments is not None
                self.entries[table, key] = arguments
