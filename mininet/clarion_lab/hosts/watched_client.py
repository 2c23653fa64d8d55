# SPDX-License-Identifier: Apache-2.0
"""Runs an application's client at its time, as a program of its own in a host's namespace, and watches the
file that it fills: when the first byte was there, and when the last.

The application is not changed for that: it only writes a file. Standard library only: it runs by its path.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)
FIRST_BYTE_POLL_S = 0.001
POLL_S = 0.005
STOP_S = 1.0  # for a client to end when it is told to


class _StoppedError(Exception):
    """SIGTERM has come."""


def _stop(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _StoppedError


def _die_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Watch:
    """What has come of a file so far; times are of CLOCK_MONOTONIC."""

    def __init__(self, path: Path, size: int) -> None:
        self._path = path
        self._size = size
        self.received_bytes = 0
        self.first_byte_ns: int | None = None
        self.last_byte_ns: int | None = None

    def look(self) -> None:
        """Notices what is new."""
        try:
            self.received_bytes = self._path.stat().st_size
        except FileNotFoundError:
            return
        now_ns = time.monotonic_ns()
        if self.received_bytes and self.first_byte_ns is None:
            self.first_byte_ns = now_ns
        if self.received_bytes >= self._size and self.last_byte_ns is None:
            self.last_byte_ns = now_ns


def run(command: list[str], watch: Watch, log: Path, at_ns: int) -> dict[str, int | str | None]:
    """Starts the command at its time and returns what came of it by its end, or by SIGTERM."""
    status: int | None = None
    ended_ns: int | None = None
    with log.open("wb") as output:
        try:
            time.sleep(max(0.0, (at_ns - time.monotonic_ns()) / 1e9))
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=log.parent,
                env={**os.environ, "HOME": str(log.parent), "LC_ALL": "C"},
                preexec_fn=_die_with_parent,
            )
        except _StoppedError:
            return {"received_bytes": 0}
        try:
            while child.poll() is None:
                watch.look()
                time.sleep(FIRST_BYTE_POLL_S if watch.first_byte_ns is None else POLL_S)
            ended_ns, status = time.monotonic_ns(), child.returncode
        except _StoppedError:
            _end(child)
    watch.look()
    told: dict[str, int | str | None] = {
        "received_bytes": watch.received_bytes,
        "first_byte_ns": watch.first_byte_ns,
        "last_byte_ns": watch.last_byte_ns,
        "ended_ns": ended_ns,
    }
    if status:
        told["error"] = last_line(log) or f"stopped with status {status}"
    return told


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(STOP_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def last_line(log: Path) -> str:
    """The last line that is not blank."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def main(arguments: list[str]) -> int:
    """One client, and what came of it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--at-ns", type=int, required=True, help="when to start, on CLOCK_MONOTONIC")
    parser.add_argument("--file", type=Path, required=True, help="that is filled")
    parser.add_argument("--bytes", type=int, required=True, help="it has in the end")
    parser.add_argument("--log", type=Path, required=True, help="for what the client says")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _stop)
    watch = Watch(options.file, options.bytes)
    try:
        told = run(options.command, watch, options.log, options.at_ns)
    except OSError as error:
        told = {"error": str(error)}
    print(json.dumps(told))
    return 1 if "error" in told else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
