# SPDX-License-Identifier: Apache-2.0
"""Writes telemetry to the store, in a thread of its own, and deletes old records."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Sequence

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
TIDY_EVERY_S = 5.0
PAUSE_S = 0.05  # between two transactions that delete

Record = tuple[int, Interval | Drop]  # with the uid of the switch


class Recorder:
    """The queue of reports on their way to the store, and the thread that takes them there.

    `add` belongs to the event loop, and never waits for the store.
    """

    def __init__(self, store: Store, history_s: float) -> None:
        self._store = store
        self._history_us = int(history_s * 1e6)
        self._queue: deque[Record] = deque()
        self._in_hand = 0  # taken off the queue, and not in the store yet
        self._refused = 0  # by the queue, which was full
        self._unstorable = 0
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="telemetry recorder", daemon=True)

    def start(self) -> None:
        """Begins to write."""
        self._thread.start()

    async def close(self) -> None:
        """Writes the rest of the queue and ends."""
        self._closing.set()
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join)

    def add(self, uid: int, events: Sequence[Interval | Drop]) -> None:
        """Takes events of the switch with this uid, unless far too many wait already."""
        room = max(0, MAX_WAITING - self.waiting)
        self._refused += max(0, len(events) - room)
        self._queue.extend([(uid, event) for event in events[:room]])

    @property
    def waiting(self) -> int:
        """Reports that are not in the store yet."""
        return len(self._queue) + self._in_hand

    @property
    def lost(self) -> int:
        """Reports that will never be in the store."""
        return self._refused + self._unstorable

    # The thread.

    def _run(self) -> None:
        expired_s = tidied_s = -float("inf")
        while not self._closing.wait(FLUSH_S):
            self._flush()
            if time.monotonic() >= expired_s + EXPIRE_EVERY_S:
                self._expire(now_us() - self._history_us)
                expired_s = time.monotonic()
            if time.monotonic() >= tidied_s + TIDY_EVERY_S:
                self._tidy()
                tidied_s = time.monotonic()
        self._flush()
        if self._queue:
            LOG.warning("telemetry: %d reports are lost: the store has not taken them", len(self._queue))

    def _flush(self) -> None:
        """Writes what waits now; reports that the store does not take wait for the next time."""
        for _ in range(-(-len(self._queue) // BATCH)):
            batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
            self._in_hand = len(batch)
            try:
                self._append(batch)
            except UnstorableError as error:  # of a faulty switch; the reports of others must go on
                LOG.warning("telemetry: %s", error)
                self._keep_what_fits(batch)
            except UserError as error:
                LOG.warning("telemetry: %s", error)
                self._in_hand = 0
                self._queue.extendleft(reversed(batch))
                return
            self._in_hand = 0

    def _append(self, batch: Sequence[Record]) -> None:
        intervals = [(uid, event) for uid, event in batch if isinstance(event, Interval)]
        drops = [(uid, event) for uid, event in batch if isinstance(event, Drop)]
        self._store.append_now(telemetry.append, intervals, drops)

    def _keep_what_fits(self, batch: Sequence[Record]) -> None:
        """Of a batch that the store did not take, report by report: the rest is lost."""
        for record in batch:
            try:
                self._append([record])
            except UserError:
                self._unstorable += 1

    def _expire(self, before_us: int) -> None:
        try:
            self._store.append_now(decisions.expire, before_us)
            while self._store.append_now(telemetry.expire, before_us) and not self._closing.wait(PAUSE_S):
                self._flush()
        except UserError as error:
            LOG.warning("telemetry: %s", error)

    def _tidy(self) -> None:
        try:
            self._store.checkpoint()
        except UserError as error:
            LOG.warning("store: %s", error)
