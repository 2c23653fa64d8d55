# SPDX-License-Identifier: Apache-2.0
"""A thread that does its work again and again, and can be held between two pieces of it."""

from __future__ import annotations

import threading

PATIENCE_S = 50.0  # for the piece under way


class HeldThread(threading.Thread):
    """It is held at first. Subclasses have `work`, one piece that ends by itself."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._go = threading.Event()
        self._idle = threading.Event()
        self._ended = False

    def work(self) -> None:
        """One piece of the work."""
        raise NotImplementedError

    def run(self) -> None:
        """Until `end`."""
        while not self._ended:
            if not self._go.is_set():
                self._idle.set()
                self._go.wait()
                continue
            self.work()

    def resume(self) -> None:
        """Works."""
        self._idle.clear()
        self._go.set()

    def hold(self) -> None:
        """Works no more; `await_idle` waits for the piece under way."""
        self._go.clear()

    def await_idle(self) -> None:
        """Until no piece is under way."""
        assert self._idle.wait(PATIENCE_S)

    def end(self) -> None:
        """Ends the thread."""
        self._ended = True
        self._go.set()
        if self.is_alive():
            self.join(PATIENCE_S)
