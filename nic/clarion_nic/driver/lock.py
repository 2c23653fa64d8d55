# SPDX-License-Identifier: Apache-2.0
"""Mutual exclusion of programs that use a card: a mailbox serves one request after the other."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from clarion_base import paths
from clarion_base.errors import UserError
from clarion_nic.driver.errors import CardError, CardGone

TIMEOUT_S = 5.0  # a transaction of the agent takes milliseconds
RETRY_S = 0.001


def record(device: Path, suffix: str) -> Path:
    """A file of ours about a device, whatever path leads to it. That about a simulated card of a run stands
    beside its registers, and goes with the run's record.
    """
    real = Path(device).resolve()
    if paths.run_root().resolve() in real.parents:
        return real.with_name(real.name + suffix)
    key = hashlib.sha256(str(real).encode()).hexdigest()[:16]
    return paths.run_root() / "nic" / f"{key}{suffix}"


class CardLock:
    """Held by one thread of one process; the same thread may take it again."""

    def __init__(self, card: str, device: Path) -> None:
        self.path = record(device, ".lock")
        self._card = card
        self._thread = threading.RLock()  # flock does not tell our own threads apart
        self._depth = 0
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("a+")
        except OSError as error:
            remedy = "; run as root" if isinstance(error, PermissionError) else ""
            raise UserError(f"{self.path}: {error.strerror}{remedy}") from error

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Holds the lock; CardError if another program keeps it for too long."""
        with self._thread:
            if self._depth == 0:
                self._take()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Closes the lock's file."""
        self._file.close()

    def _take(self) -> None:
        if self._file.closed:
            raise CardGone(self._card, "is not open any more")
        end = time.monotonic() + TIMEOUT_S
        while True:
            try:
                return fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= end:
                    held = f"another program has held {self.path} for {TIMEOUT_S:g} s"
                    raise CardError(self._card, f"{held}; wait for it or stop it") from None
            time.sleep(RETRY_S)
