# SPDX-License-Identifier: Apache-2.0
"""The part of nanomsg's protocol that simple_switch uses: whole messages over a Unix socket, one peer."""

from __future__ import annotations

import select
import socket
import time
from pathlib import Path

PAIR, SUBSCRIBE = 16, 33
_GREETING = b"\0SP\0%b\0\0"
_MESSAGE = b"\1"


class Channel:
    """One connection of a given protocol."""

    def __init__(self, path: Path, protocol: int, seconds: float) -> None:
        self.socket = _connected(path, seconds)
        self.socket.sendall(_GREETING % protocol.to_bytes(2, "big"))
        self.pending = b""
        self._fill(8, seconds)
        self.pending = self.pending[8:]

    def send(self, message: bytes) -> None:
        """Send one message."""
        self.socket.sendall(_MESSAGE + len(message).to_bytes(8, "big") + message)

    def receive(self, seconds: float) -> bytes | None:
        """Return the next message, or None if none comes in time."""
        if not self._fill(9, seconds):
            return None
        size = int.from_bytes(self.pending[1:9], "big")
        assert self._fill(9 + size, seconds), "a message cut short"
        message, self.pending = self.pending[9 : 9 + size], self.pending[9 + size :]
        return message

    def _fill(self, count: int, seconds: float) -> bool:
        while len(self.pending) < count:
            ready, _, _ = select.select([self.socket], [], [], seconds)
            data = self.socket.recv(1 << 16) if ready else b""
            if not data:
                return False
            self.pending += data
        return True

    def close(self) -> None:
        """End the connection."""
        self.socket.close()


def _connected(path: Path, seconds: float) -> socket.socket:
    """Return a connection to a socket that its owner may not have made yet."""
    end = time.monotonic() + seconds
    while True:
        attempt = socket.socket(socket.AF_UNIX)
        try:
            attempt.connect(str(path))
        except OSError:
            attempt.close()
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return attempt
