# SPDX-License-Identifier: Apache-2.0
"""Who came in, who did not and who was refused, on its way to the audit.

Requests only count here; a task writes. The first of a kind, a user and a source is written within a second,
what follows in the next minute as one record with its number. So a flood costs the store a few records a
minute, however many requests it has and from however many sources.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clarion_base import tasks
from clarion_base.errors import UserError
from clarion_control.model import Action, Actor, Role
from clarion_control.sources import source
from clarion_control.store import Store, audit
from clarion_control.store.clock import now_us

LOG = logging.getLogger(__name__)

WRITE_S = 0.5
GATHER_S = 60.0
STRANGERS = 20  # sources told apart in a minute for each action of nobody known; others are one
USERS = 1000  # pairs of user and source for each action of users
MAX_WAITING = 1000  # records, while the store does not take them; older ones are lost
KEPT_US = 90 * 86_400_000_000
EXPIRE_EVERY_S = 3600.0
OTHERS = "others"
STRANGER = Actor("unknown", Role.VIEWER)  # a name for the records, not a user

Entry = tuple[Actor, Action, Mapping[str, Any]]


@dataclass
class _Count:
    until_s: float  # the end of its minute
    circumstances: Mapping[str, Any] = field(default_factory=dict)  # of the first that is not written yet
    number: int = 0  # that are not written yet
    written: bool = False  # whether the first of the minute is


class Tally:
    """What happened and is not written yet: state in memory, with the time as an argument."""

    def __init__(self) -> None:
        self._counts: dict[Action, dict[tuple[Actor, str], _Count]] = {}

    def add(
        self, now_s: float, actor: Actor, action: Action, origin: str, circumstances: Mapping[str, Any]
    ) -> None:
        """Counts an act of an actor from a source."""
        counts = self._counts.setdefault(action, {})
        key = (actor, origin)
        if key not in counts and len(counts) >= (STRANGERS if actor is STRANGER else USERS):
            key = (actor, OTHERS)
        count = counts.setdefault(key, _Count(now_s + GATHER_S))
        if count.number == 0:
            count.circumstances = circumstances
        count.number += 1

    def take(self, now_s: float, *, everything: bool = False) -> list[Entry]:
        """The records that are to be written now."""
        entries: list[Entry] = []
        for action, counts in self._counts.items():
            for (actor, origin), count in list(counts.items()):
                over = now_s >= count.until_s
                if count.number and (over or everything or not count.written):
                    circumstances = {"source": origin, "count": count.number, **count.circumstances}
                    entries.append((actor, action, circumstances))
                    count.number, count.written = 0, True
                    if over:
                        count.until_s = now_s + GATHER_S  # it may go on
                elif over:
                    del counts[actor, origin]
        return entries


class AccessLog:
    """Accesses on their way to the audit of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tally = Tally()
        self._waiting: list[Entry] = []
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to write."""
        self._task = asyncio.create_task(self._run(), name="access log")

    async def close(self) -> None:
        """Writes the rest and ends."""
        if self._task is not None:
            await tasks.end(self._task)
            await self.flush(everything=True)

    def note(self, action: Action, address: str, actor: Actor = STRANGER, **circumstances: Any) -> None:
        """Counts an act from an address. No part of a token may be in the circumstances."""
        self._tally.add(time.monotonic(), actor, action, source(address), circumstances)

    async def flush(self, *, everything: bool = False) -> None:
        """Writes what is due; what the store does not take waits for the next time."""
        self._waiting += self._tally.take(time.monotonic(), everything=everything)
        entries = self._waiting[-MAX_WAITING:]
        self._waiting = []
        if entries:
            try:
                await self._store.append(audit.record_access, entries)
            except UserError as error:
                LOG.warning("audit of accesses: %s", error)
                self._waiting = entries + self._waiting

    async def _run(self) -> None:
        expired_s = -float("inf")
        while True:
            await asyncio.sleep(WRITE_S)
            await self.flush()
            if time.monotonic() >= expired_s + EXPIRE_EVERY_S:
                await self._expire(now_us() - KEPT_US)
                expired_s = time.monotonic()

    async def _expire(self, before_us: int) -> None:
        try:
            while await self._store.append(audit.expire_access, before_us):
                await asyncio.sleep(0.05)
        except UserError as error:
            LOG.warning("audit of accesses: %s", error)
