# SPDX-License-Identifier: Apache-2.0
"""Writes telemetry to the store, in batches, and deletes old records."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from clarion_base.errors import UserError
from clarion_control.errors import UnstorableError
from clarion_control.model import Drop, Interval
from clarion_control.store import Store, decisions, telemetry
from clarion_control.store.clock import now_us

LOG = logging.getLogger(__name__)

FLUSH_S = 0.5
BATCH = 1000  # reports in one transaction: a change of settings waits no longer than for that
MAX_WAITING = 200_000  # reports; what comes while the store is that far behind is lost
EXPIRE_EVERY_S = 60.0


class Recorder:
    """The queue of reports on their way to the store."""

    def __init__(self, store: Store, history_s: float) -> None:
        self.lost = 0
        self._store = store
        self._history_us = int(history_s * 1e6)
        self._intervals: list[tuple[int, Interval]] = []
        self._drops: list[tuple[int, Drop]] = []
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to write."""
        self._task = asyncio.create_task(self._run(), name="telemetry recorder")

    async def close(self) -> None:
        """Writes the rest of the queue and ends."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            await self.flush()

    def add(self, uid: int, event: Interval | Drop) -> None:
        """Takes an event of the switch with this uid, unless far too many wait already."""
        if self.waiting >= MAX_WAITING:
            self.lost += 1
            return
        if type(event) is Interval:
            self._intervals.append((uid, event))
        else:
            assert isinstance(event, Drop)
            self._drops.append((uid, event))

    @property
    def waiting(self) -> int:
        """Reports that are not in the store yet."""
        return len(self._intervals) + len(self._drops)

    async def flush(self) -> None:
        """Writes the queue; reports that the store does not take wait for the next time."""
        for _ in range(-(-self.waiting // BATCH)):
            intervals, drops = self._intervals[:BATCH], self._drops[:BATCH]
            del self._intervals[:BATCH], self._drops[:BATCH]
            try:
                await self._store.append(telemetry.append, intervals, drops)
            except UnstorableError as error:  # of a faulty switch; the reports of others must go on
                LOG.warning("telemetry: %s", error)
                await self._keep_what_fits(intervals, drops)
            except UserError as error:
                LOG.warning("telemetry: %s", error)
                self._intervals[:0], self._drops[:0] = intervals, drops
                return

    async def _keep_what_fits(
        self, intervals: list[tuple[int, Interval]], drops: list[tuple[int, Drop]]
    ) -> None:
        """Of a batch that the store did not take, report by report: the rest is lost."""
        for one in intervals:
            await self._keep([one], [])
        for other in drops:
            await self._keep([], [other])

    async def _keep(self, intervals: list[tuple[int, Interval]], drops: list[tuple[int, Drop]]) -> None:
        try:
            await self._store.append(telemetry.append, intervals, drops)
        except UserError:
            self.lost += 1

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        expired = -float("inf")
        while True:
            await asyncio.sleep(FLUSH_S)
            await self.flush()
            if loop.time() >= expired + EXPIRE_EVERY_S:
                await self._expire(now_us() - self._history_us)
                expired = loop.time()

    async def _expire(self, before_us: int) -> None:
        try:
            await self._store.append(decisions.expire, before_us)
            while await self._store.append(telemetry.expire, before_us):
                await asyncio.sleep(0.05)
        except UserError as error:
            LOG.warning("telemetry: %s", error)
