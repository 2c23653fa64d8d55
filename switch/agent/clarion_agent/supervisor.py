# SPDX-License-Identifier: Apache-2.0
"""A clarion-switch owned by the agent: started with it, restarted when it dies, stopped with it."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

from clarion_base import paths, processes, tasks
from clarion_base.errors import UserError
from clarion_switch import process

_log = logging.getLogger(__name__)

STOP_TIMEOUT_S = 5.0
RETRY_S = 0.5  # after a start that failed


def own_socket() -> Path:
    """The control socket of this agent's clarion-switch. Sockets of dead agents are removed."""
    directory = paths.run_root() / "agent"
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in directory.glob("*.sock"):
            if not Path("/proc", left.stem).exists():
                left.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"{directory}: {error.strerror}; run as root, or set CLARION_RUN_ROOT") from error
    return directory / f"{os.getpid()}.sock"


class Supervisor:
    """Runs clarion-switch while it is entered; UserError in its own words if it does not start."""

    def __init__(self, config: Path, control: Path) -> None:
        self._config = config
        self._control = control
        self._child: subprocess.Popen[bytes] | None = None
        self._keeper: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Supervisor:
        try:
            self._keeper = asyncio.create_task(self._keep(await self._start()), name="clarion-switch")
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._keeper is not None
        await tasks.end(self._keeper)
        await self._stop()

    async def _start(self) -> subprocess.Popen[bytes]:
        """Returns when the switch forwards."""
        # In the loop's thread: the process dies with the thread that starts it.
        self._child = child = process.start(self._config, self._control, stderr=subprocess.PIPE)
        await asyncio.to_thread(process.await_ready, child)
        return child

    async def _keep(self, child: subprocess.Popen[bytes]) -> None:
        while True:
            assert child.stderr is not None
            await asyncio.to_thread(_pass_on, child.stderr)
            status = await asyncio.to_thread(child.wait)
            _log.warning("clarion-switch stopped with status %d: starting it again", status)
            while True:
                try:
                    child = await self._start()
                    break
                except UserError as error:
                    _log.warning("%s", error)
                    await self._stop()
                    await asyncio.sleep(RETRY_S)

    async def _stop(self) -> None:
        if self._child is not None:
            await asyncio.to_thread(processes.stop, [self._child], STOP_TIMEOUT_S)


def _pass_on(errors: IO[bytes]) -> None:
    """Copies the switch's error output to ours, until it ends."""
    with errors:
        for line in errors:
            sys.stderr.write(line.decode(errors="replace"))
