# SPDX-License-Identifier: Apache-2.0
"""Tasks of asyncio."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any


async def end(task: asyncio.Task[Any]) -> None:
    """Cancels a task and waits for its end; raises what it failed with."""
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
