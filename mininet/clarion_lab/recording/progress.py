# SPDX-License-Identifier: Apache-2.0
"""The live progress line, and the request to stop (Ctrl-C, SIGTERM) that the run asks for between its
steps.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TextIO

from clarion_base.errors import Interrupted
from clarion_base.units import format_rate
from clarion_lab.recording.recording import Recording

PLAIN_INTERVAL_S = 5.0
_stop_signal = 0


class Progress:
    """One line that is rewritten on a terminal, a line every few seconds elsewhere; `quiet` prints
    nothing. `said` gets every line, printed or not.
    """

    def __init__(
        self,
        title: str,
        quiet: bool = False,
        stream: TextIO = sys.stderr,
        said: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._title = title
        self._said = said
        self._quiet = quiet
        self._stream = stream
        self._terminal = stream.isatty()
        self._last_s = 0.0
        self._width = 0

    def step(self, text: str) -> None:
        """Names what the run is doing before and after the measured part."""
        self._show(text, True)

    def at(self, now_us: int, duration_us: int, recording: Recording) -> None:
        """Where the run is and how fast data moved over the last second."""
        now_s = time.monotonic()
        if now_s - self._last_s < (0.2 if self._terminal else PLAIN_INTERVAL_S):
            return
        rate = format_rate(recent_bits_per_s(recording, now_us))
        self._show(f"{max(now_us, 0) / 1e6:5.1f} / {duration_us / 1e6:g} s   {rate}", False)

    def count(self, done: int, total: int) -> None:
        """How many of some runs are over."""
        now_s = time.monotonic()
        if done == total or now_s - self._last_s >= (0.2 if self._terminal else PLAIN_INTERVAL_S):
            self._show(f"{done} of {total} runs", False)

    def done(self) -> None:
        """Clears the line."""
        if self._terminal and not self._quiet:
            self._write("\r" + " " * self._width + "\r")

    def check(self) -> None:
        """Raises Interrupted after SIGINT or SIGTERM."""
        if _stop_signal:
            raise Interrupted(_stop_signal)

    def _show(self, text: str, step: bool) -> None:
        self._last_s = 0.0 if step else time.monotonic()
        line = f"{self._title}: {text}"
        self._said(line)
        if self._quiet:
            return
        if self._terminal:
            self._write("\r" + line.ljust(self._width))
            self._width = max(self._width, len(line))
        else:
            self._write(line + "\n")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except BrokenPipeError:  # its reader was killed: who stops the run says so by a signal
            self._quiet = True


def recent_bits_per_s(recording: Recording, now_us: int, window_us: int = 1_000_000) -> float:
    """Goodput of all flows together over the last second."""
    newest: dict[int, tuple[int, int]] = {}
    oldest: dict[int, tuple[int, int]] = {}
    for sample in reversed(recording.flow_samples):
        if sample.time_us < now_us - window_us:
            break
        newest.setdefault(sample.flow, (sample.time_us, sample.delivered_bytes))
        oldest[sample.flow] = sample.time_us, sample.delivered_bytes
    total = 0.0
    for flow, (late_us, late_bytes) in newest.items():
        early_us, early_bytes = oldest[flow]
        if late_us > early_us:
            total += (late_bytes - early_bytes) * 8e6 / (late_us - early_us)
    return total


def request_stop() -> None:
    """Stops a run inside `stoppable` as SIGTERM does."""
    global _stop_signal
    _stop_signal = signal.SIGTERM


@contextmanager
def stoppable() -> Iterator[None]:
    """While inside, SIGINT and SIGTERM stop the run at its next `check` instead of killing it."""
    global _stop_signal
    _stop_signal = 0

    def ask(number: int, _: FrameType | None) -> None:
        global _stop_signal
        _stop_signal = number

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
