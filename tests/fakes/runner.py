# SPDX-License-Identifier: Apache-2.0
"""A runner in this process, with a stand-in for the command that it runs; or, as a program, in one of its
own.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Collection, Sequence
from pathlib import Path
from typing import Any

from clarion import scenario_library
from clarion_control.experiments.client import RunnerClient
from clarion_control.experiments.runner import Runner
from fakes.clarion_command import command


@contextlib.asynccontextmanager
async def open_runner(
    results: Path,
    *,
    clarion: Sequence[str] | None = None,
    users: Collection[int] = (os.geteuid(),),
    at: Path | None = None,
    **options: Any,
) -> AsyncIterator[RunnerClient]:
    """A runner with its results there, and a client of it. `at` is its socket, a new one by default."""
    results.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="runner-") as directory,
        socket.socket(socket.AF_UNIX) as listener,
    ):
        path = at or Path(directory, "socket")  # not below tmp_path: an address has 107 bytes
        path.unlink(missing_ok=True)
        listener.bind(str(path))
        listener.listen()
        runner = Runner(results, scenario_library, users, clarion=clarion or command(), **options)
        await runner.serve(listener)
        try:
            yield RunnerClient(results, path)
        finally:
            await runner.close()


async def main(results: Path, at: Path) -> None:
    """Serves until it is killed."""
    async with open_runner(results, at=at):
        print("serves", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
