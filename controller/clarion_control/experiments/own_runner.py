# SPDX-License-Identifier: Apache-2.0
"""A runner of the controller's own, where none is set up: a process with the rights of this one."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from pathlib import Path

from clarion_control.experiments.child import CLARION


class OwnRunner:
    """`clarion runner` as a child process. It ends with its parent, and its run with it."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self._process: asyncio.subprocess.Process | None = None
        self._address = ""
        self._starting = asyncio.Lock()

    async def address(self) -> str:
        """Where it listens; it is started if there is none."""
        async with self._starting:
            if self._process is None or self._process.returncode is not None:
                await self._start()
        return self._address

    async def close(self) -> None:
        """Ends it, and its run."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            await self._process.wait()

    async def _start(self) -> None:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("")  # an address of the kernel's choice without a file (unix(7), autobind)
            listener.listen()
            self._address = listener.getsockname().decode()  # a zero byte and ASCII
            command = [*CLARION, "runner", "--results", str(self._results.absolute())]
            self._process = await asyncio.create_subprocess_exec(
                *("setpriv", "--pdeathsig", "TERM", "--", *command),
                *("--listener", str(listener.fileno())),
                pass_fds=(listener.fileno(),),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
