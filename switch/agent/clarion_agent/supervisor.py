# SPDX-License-Identifier: Apache-2.0
"""A clarion-switch process of our own: started, started again when it dies, stopped with us."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from pathlib import Path

from clarion_base import paths
from clarion_base.errors import UserError
from clarion_base.processes import die_with_parent, last_line

_log = logging.getLogger(__name__)

READY_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 5.0
RETRY_S = 1.0  # after a start that failed


def own_socket() -> Path:
    """Where a clarion-switch of this process takes commands. What killed processes left there is removed."""
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
        self._command = [
            paths.binary("clarion-switch"), "--config", str(config), "--control", str(control),
        ]  # fmt: skip
        self._child: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """The running process's id."""
        assert self._child is not None
        return self._child.pid

    async def __aenter__(self) -> Supervisor:
        try:
            await self._start()
        except BaseException:
            await self._stop()
            raise
        self._keeper = asyncio.create_task(self._keep(), name="clarion-switch")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeper
        await self._stop()

    async def _start(self) -> None:
        """Returns when the switch forwards."""
        self._child = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us
            preexec_fn=die_with_parent,
        )
        assert self._child.stdout is not None
        assert self._child.stderr is not None
        try:
            said = await asyncio.wait_for(self._child.stdout.readline(), READY_TIMEOUT_S)
        except asyncio.TimeoutError:
            raise UserError(f"clarion-switch: not ready after {READY_TIMEOUT_S:g} s") from None
        if said.strip() != b"ready":
            words = last_line((await self._child.stderr.read()).decode(errors="replace"))
            status = await self._child.wait()
            raise UserError(words or f"clarion-switch: stopped with status {status}")

    async def _keep(self) -> None:
        while True:
            assert self._child is not None
            assert self._child.stderr is not None
            async for line in self._child.stderr:  # until it ends
                sys.stderr.write(line.decode(errors="replace"))
            status = await self._child.wait()
            _log.warning("clarion-switch stopped with status %d: starting it again", status)
            while True:
                try:
                    await self._start()
                    break
                except UserError as error:
                    _log.warning("%s", error)
                    await self._stop()
                    await asyncio.sleep(RETRY_S)

    async def _stop(self) -> None:
        child = self._child
        if child is None or child.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            child.terminate()
        try:
            await asyncio.wait_for(child.wait(), STOP_TIMEOUT_S)
        except asyncio.TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.wait()
