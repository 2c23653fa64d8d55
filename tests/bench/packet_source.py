# SPDX-License-Identifier: Apache-2.0
"""A cheap source of DATA frames at a constant rate.

Many frames per system call (sendmmsg, past the queueing disciplines), so that the source takes little of the
processors that the switch needs.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.frames import data, ipv4

FRAME_BYTES = 1514
FLOWS = 64  # buckets; one frame of each in turn
TICKS_PER_S = 1 << 28
RTT_TICKS = TICKS_PER_S // 80 * 8  # 100 ms, as the header can say it
CAPACITY_BPS = 1_000_000_000  # the sum of the rates that the flows state
X_TICKS = FRAME_BYTES * 8 * FLOWS * TICKS_PER_S // CAPACITY_BPS
WANTED_BYTES_PER_S = 10_000  # increase requested by every packet
LINK_SEQ_AT = 14 + 20 + 22  # behind Ethernet and IPv4
SOL_PACKET, PACKET_QDISC_BYPASS = 263, 20
SO_SNDBUFFORCE = 32
SEND_BUFFER_BYTES = 1 << 24
PAUSE_S = 0.001
EMPTY_AFTER_S = 0.5  # without an arrival: no frame is in flight any more

_libc = ctypes.CDLL(None, use_errno=True)


class _Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class _Header(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_void_p),
        ("name_length", ctypes.c_uint32),
        ("vectors", ctypes.POINTER(_Vector)),
        ("vector_count", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("control_length", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    )


class _Message(ctypes.Structure):
    _fields_ = (("header", _Header), ("sent", ctypes.c_uint))


def data_frame(bucket: int) -> bytes:
    """A full-sized frame with a DATA header, as a host sends it in the middle of a transfer."""
    header = data(rtt=RTT_TICKS, x=X_TICKS, delta=WANTED_BYTES_PER_S, bucket=bucket)
    return ipv4(header + bytes(FRAME_BYTES - 14 - 20 - len(header)))


class Frames:
    """One frame of each flow, contiguous in memory, and the message headers for sendmmsg."""

    def __init__(self) -> None:
        self.bytes = np.frombuffer(bytearray().join(map(data_frame, range(FLOWS))), np.uint8)
        self.bytes = self.bytes.reshape(FLOWS, FRAME_BYTES)
        start = self.bytes.ctypes.data
        self._vectors = (_Vector * FLOWS)(
            *(_Vector(start + flow * FRAME_BYTES, FRAME_BYTES) for flow in range(FLOWS))
        )
        self.messages = (_Message * FLOWS)(
            *(_Message(_Header(vectors=ctypes.pointer(each), vector_count=1)) for each in self._vectors)
        )

    def number_next(self, first: int, count: int) -> None:
        """Writes the next link number into the frames of these flows."""
        field = self.bytes[first : first + count, LINK_SEQ_AT : LINK_SEQ_AT + 2]
        field[:] = (np.ascontiguousarray(field).view(">u2") + 1).astype(">u2").view(np.uint8)


class Source:
    """Sends into one device; `delivered` counts the frames that have left the switch."""

    def __init__(self, device: str, delivered: Callable[[], int]) -> None:
        self.sent = 0
        self._delivered = delivered
        self._before = delivered()
        self._frames = Frames()
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._socket.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, SEND_BUFFER_BYTES)
        self._socket.bind((device, 0))

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    @property
    def delivered(self) -> int:
        """Frames that have left the switch since the source was made."""
        return self._delivered() - self._before

    @property
    def missing(self) -> int:
        """Frames in flight, and those lost since the start."""
        return self.sent - self.delivered

    def send(self, count: int) -> None:
        """Sends `count` frames, the flows in turn."""
        while count > 0:
            flow = self.sent % FLOWS
            batch = min(count, FLOWS - flow)
            message = ctypes.byref(self._frames.messages, flow * ctypes.sizeof(_Message))
            done = int(_libc.sendmmsg(self._socket.fileno(), message, batch, 0))
            if done < 0:
                error = ctypes.get_errno()
                if error != errno.ENOBUFS:  # the kernel's own queue into the switch is full: they are lost
                    raise OSError(error, f"sendmmsg: {os.strerror(error)}")
                self.sent += count
                return
            self._frames.number_next(flow, done)
            self.sent += done
            count -= done

    def offer(self, rate: float, seconds: float) -> float:
        """Sends `rate` frames/s, evenly but for the pause between two batches. Returns the seconds it took,
        which exceed `seconds` if the source cannot keep up.
        """
        begun_s, before = time.monotonic(), self.sent
        while (spent_s := time.monotonic() - begun_s) < seconds:
            self.send(int(rate * spent_s) - (self.sent - before))
            time.sleep(PAUSE_S)
        self.send(int(rate * seconds) - (self.sent - before))
        return time.monotonic() - begun_s

    def settle(self) -> int:
        """Waits until no frame is in flight; returns the number lost since the start."""
        seen, since = self.delivered, time.monotonic()
        while seen < self.sent and time.monotonic() < since + EMPTY_AFTER_S:
            time.sleep(0.01)
            if self.delivered > seen:
                seen, since = self.delivered, time.monotonic()
        return self.sent - seen
