# SPDX-License-Identifier: Apache-2.0
"""The queue of reports between the session that receives them and their reader."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from clarion_contract.telemetry import Report
from clarion_p4rt.errors import Entity, SwitchError

MAX_WAITING = 200_000


class Inbox:
    """A queue of reports that ends: with an error, or without."""

    def __init__(self, switch: str) -> None:
        self._switch = switch
        self._waiting: asyncio.Queue[Report | None] = asyncio.Queue()  # None: no more will come
        self._ended = False
        self._error: Exception | None = None

    def put(self, report: Report) -> None:
        """Appends a report. Too many unread ones end the inbox; later ones are dropped."""
        if self._ended:
            return
        if self._waiting.qsize() >= MAX_WAITING:
            reason = f"{MAX_WAITING} reports are unread; iterate over reports()"
            self.end(SwitchError(self._switch, Entity("reports"), "RESOURCE_EXHAUSTED", reason))
            return
        self._waiting.put_nowait(report)

    def end(self, error: Exception | None = None) -> None:
        """No more reports; readers get those that wait, then the error."""
        if not self._ended:
            self._ended, self._error = True, error
            self._waiting.put_nowait(None)

    async def read(self) -> AsyncIterator[Report]:
        """The reports in the order of their arrival."""
        while True:
            report = await self._waiting.get()
            if report is None:
                self._waiting.put_nowait(None)  # for the next reader
                if self._error is not None:
                    raise self._error
                return
            yield report
