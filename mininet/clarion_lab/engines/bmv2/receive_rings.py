# SPDX-License-Identifier: Apache-2.0
"""Packets that BMv2 lost before it saw them, because it was too slow to empty its receive rings.

The kernel counts them per packet socket, for the socket's holders only, and BMv2 does not read them. So the
sockets are copied out of its process.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import struct
from pathlib import Path

from clarion_base.errors import RunFailedError

_SYS_PIDFD_GETFD = 438  # the same number on every architecture
_SOL_PACKET, _PACKET_STATISTICS = 263, 6
_libc = ctypes.CDLL(None, use_errno=True)


class ReceiveRings:
    """The packet sockets of one process, and what they have lost."""

    def __init__(self, pid: int) -> None:
        """RunFailedError if this process may not look into that one."""
        self._sockets = {each.getsockname()[0]: each for each in _packet_sockets(pid)}
        self._drops = dict.fromkeys(self._sockets, 0)

    def drops(self) -> dict[str, int]:
        """Packets lost so far, by device."""
        for device, each in self._sockets.items():
            _, dropped = struct.unpack("II", each.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))
            self._drops[device] += dropped  # reading resets it
        return self._drops

    def close(self) -> None:
        """Gives the sockets back."""
        for each in self._sockets.values():
            each.close()
        self._sockets = {}


def _packet_sockets(pid: int) -> list[socket.socket]:
    found = []
    process = os.pidfd_open(pid)
    try:
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                if not os.readlink(entry).startswith("socket:"):
                    continue
                copy = socket.socket(fileno=_copy(process, int(entry.name)))
                if copy.family == socket.AF_PACKET:
                    found.append(copy)
                else:
                    copy.close()
    finally:
        os.close(process)
    return found


def _copy(process: int, number: int) -> int:
    copied = int(_libc.syscall(_SYS_PIDFD_GETFD, process, number, 0))
    if copied < 0:
        reason = os.strerror(ctypes.get_errno())
        raise RunFailedError(f"engine bmv2: cannot look at BMv2's sockets: {reason}; needs CAP_SYS_PTRACE")
    return copied
