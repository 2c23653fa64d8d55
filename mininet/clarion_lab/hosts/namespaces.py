# SPDX-License-Identifier: Apache-2.0
"""Entering the network namespace of a process for a moment, to open a socket there."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def in_namespace(pid: int) -> Iterator[None]:
    """Sockets opened inside the block belong to the namespace."""
    here = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        there = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
        try:
            _enter(there)
        finally:
            os.close(there)
        try:
            yield
        finally:
            _enter(here)
    finally:
        os.close(here)


def _enter(descriptor: int) -> None:
    if _libc.setns(descriptor, _CLONE_NEWNET) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), "setns")
