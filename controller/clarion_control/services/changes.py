# SPDX-License-Identifier: Apache-2.0
"""Changes under way: each is finished once begun, and may be awaited until the switch has confirmed it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from clarion_control.errors import ApplyPending
from clarion_control.fleet.goal import FORWARDING, LinkClosedError
from clarion_control.fleet.link import Link

T = TypeVar("T")


class Changes:
    """The changes of one controller; `close` waits for those under way."""

    def __init__(self, apply_timeout_s: float) -> None:
        self._apply_timeout_s = apply_timeout_s
        self._tasks: set[asyncio.Task[Any]] = set()

    async def finish(self, change: Coroutine[Any, Any, T]) -> T:
        """Carries a change through even if its caller is cancelled: store and memory must not differ."""
        task = asyncio.create_task(change)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return await asyncio.shield(task)

    async def applied(self, link: Link, port: int, version: int) -> None:
        """Waits until the switch has confirmed a version of a port or of FORWARDING; ApplyPending if that
        takes too long.
        """
        try:
            await asyncio.wait_for(link.applied(port, version), self._apply_timeout_s)
        except (asyncio.TimeoutError, LinkClosedError):
            raise ApplyPending(link.switch.name, None if port == FORWARDING else port) from None

    async def close(self) -> None:
        """Waits for the changes under way."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log it when the caller has gone
