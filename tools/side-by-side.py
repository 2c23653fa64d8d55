#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the parts of a test run side by side and prints the output of each in one piece.

    side-by-side.py NAME=COMMAND... [-- NAME=COMMAND...]...

``--`` begins another lane. Lanes run side by side, the parts of a lane one after the other. The first lane
gets the processors first, the others what it leaves: tests against the clock belong there. A part that fails
stops no other; the status is 1 if any did. Ctrl-C ends all of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

LOWER_PRIORITY = 10
PATIENCE_S = 30.0  # from an interrupt to a kill: time for tests to remove what they have made
SKIPPED = re.compile(r"^(SKIPPED \[(\d+)\] |[\w-]+: .*\bskipped: )")  # by pytest, by tools/lint.sh


@dataclass
class Part:
    """A command with a name, and what came of it."""

    name: str
    command: str
    status: int | None = None
    seconds: float = 0.0
    output: str = ""

    @property
    def outcome(self) -> str:
        """For a reader."""
        return {0: "passed", None: "did not run"}.get(self.status, f"FAILED, status {self.status}")


def lanes_of(words: list[str]) -> list[list[Part]]:
    """The lanes that the command line asks for."""
    lanes: list[list[Part]] = [[]]
    for word in words:
        name, is_part, command = word.partition("=")
        if word == "--":
            lanes.append([])
        elif is_part:
            lanes[-1].append(Part(name, command))
        else:
            sys.exit(f"side-by-side: {word}: use NAME=COMMAND")
    return lanes


async def run_lane(parts: list[Part], niceness: int) -> None:
    """Runs parts one after the other."""
    for part in parts:
        print(f"test: {part.name} runs", flush=True)
        await run(part, niceness)
        print(f"\ntest: {part.name}: {part.outcome}, {part.seconds:.0f} s\n{part.output}", flush=True)


async def run(part: Part, niceness: int) -> None:
    """Runs a part to its end, in a process group of its own; a cancellation interrupts and then kills it."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            ["nice", "-n", str(niceness), "bash", "-c", part.command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            await asyncio.to_thread(child.wait)
        finally:
            if child.returncode is None:
                await end(child)
            part.status, part.seconds = child.returncode, time.monotonic() - start
            output.seek(0)
            part.output = output.read().decode(errors="replace")


async def end(child: subprocess.Popen[bytes]) -> None:
    """Interrupts a part as Ctrl-C does, then kills what is left of it; at once if interrupted again."""
    signal_all(child, signal.SIGINT)
    try:
        await asyncio.to_thread(child.wait, PATIENCE_S)
    except subprocess.TimeoutExpired:
        pass
    finally:
        signal_all(child, signal.SIGKILL)
        child.wait()


def signal_all(child: subprocess.Popen[bytes], number: int) -> None:
    """Signals what still runs of a process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, number)


def summary(parts: list[Part]) -> str:
    """A line for every part, then all that was skipped, with its reason."""
    width = max(len(part.name) for part in parts)
    lines = [f"  {part.name:{width}} {part.seconds:6.0f} s  {part.outcome}" for part in parts]
    skipped = [line for part in parts for line in part.output.splitlines() if SKIPPED.match(line)]
    count = sum(int(found[2] or 1) for line in skipped if (found := SKIPPED.match(line)))
    return "\n".join(["test: summary", *lines, f"test: skipped: {count}", *(f"  {line}" for line in skipped)])


async def main(lanes: list[list[Part]]) -> int:
    """Runs all lanes; the exit status."""
    parts = [part for lane in lanes for part in lane]
    work = asyncio.gather(
        *(run_lane(lane, LOWER_PRIORITY * (at > 0)) for at, lane in enumerate(lanes)),
        return_exceptions=True,  # or it ends with the first lane that does, and the others are killed
    )
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, work.cancel)
    try:
        failures = [result for result in await work if result is not None]
    except asyncio.CancelledError:
        print("test: interrupted", file=sys.stderr)
        return 130
    if failures:
        raise failures[0]
    print(summary(parts))
    return int(any(part.status != 0 for part in parts))


if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parents[1])
    sys.exit(asyncio.run(main(lanes_of(sys.argv[1:]))))
