# SPDX-License-Identifier: Apache-2.0
"""The stream of `clarion-host decisions`: every reduction of every TCP socket, and why."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from clarion_base import paths, processes
from clarion_base.errors import RunFailedError, UserError
from clarion_lab.machine import children
from clarion_lab.machine.state import RunState
from clarion_lab.recording.recording import Reduction

STREAM = "reductions.jsonl"
LOG = "reductions.log"
START_TIMEOUT_S = 10.0


class DecisionStream:
    """The command during a run. Where the host agent lacks it, the run goes on without."""

    def __init__(self, state: RunState, directory: Path) -> None:
        self._state = state
        self._file = directory / STREAM
        self._log = directory / LOG
        self._child: subprocess.Popen[bytes] | None = None
        self.fault = ""

    def start(self, pids: Iterable[int]) -> None:
        """Starts the stream into a file of the results, for the network namespaces of these processes."""
        self._file.write_bytes(b"")
        try:
            program = paths.binary("clarion-host")
        except UserError as error:
            self.fault = str(error)
            return
        command = [program, "decisions"]
        for pid in pids:
            command += ["--netns", f"pid:{pid}"]
        with self._file.open("wb") as out, self._log.open("wb") as log:
            self._child = children.spawn(
                self._state, "clarion-host decisions", command, stdout=out, stderr=log
            )
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._file.stat().st_size and self._child.poll() is None:  # its first line: it watches
            if time.monotonic() > deadline:
                raise RunFailedError("clarion-host decisions: does not start to watch")
            time.sleep(0.01)

    def stop(self) -> None:
        """Ends the stream; `fault` says why there was none."""
        child, self._child = self._child, None
        if child is None:
            return
        status = child.poll()
        processes.stop([child])
        if status is not None:
            said = [line for line in self._log.read_text(errors="replace").splitlines() if line]
            self.fault = said[0] if said else f"clarion-host decisions: stopped with status {status}"

    def reductions(self, zero_us: int, cookies: Mapping[int, int]) -> list[Reduction] | None:
        """The reductions of the run's flows, known by their sockets' cookies; None if there was no stream.
        `zero_us` is the run's start on CLOCK_MONOTONIC.
        """
        if self.fault:
            return None
        with self._file.open() as lines:
            return list(read(lines, zero_us, cookies))


def read(lines: Iterable[str], zero_us: int, cookies: Mapping[int, int]) -> Iterator[Reduction]:
    """The reductions in the stream's lines; a torn last line, remarks and other sockets are skipped."""
    for line in lines:
        if not line.endswith("\n"):
            return
        record: dict[str, Any] = json.loads(line)
        if record.get("cookie") in cookies:
            yield Reduction(
                record["time_ns"] // 1000 - zero_us,
                cookies[record["cookie"]],
                record["law"],
                record["reason"],
                record["cwnd_before"],
                record["cwnd_after"],
            )
