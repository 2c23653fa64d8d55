# SPDX-License-Identifier: Apache-2.0
"""A connected UDP socket that asks the shim for headers, as clarion-proxy does: by the pinned map `asks`."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from dataclasses import dataclass

from integration.host_net import PINS, Host, inside
from integration.waiting import PATIENCE_S

SYS_BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
BPF_MAP_UPDATE_ELEM, BPF_MAP_DELETE_ELEM, BPF_OBJ_GET = 2, 3, 7
BPF_F_LOCK = 4
SO_COOKIE, SO_NETNS_COOKIE = 57, 71
NONE, ECHO, REQUEST = range(3)  # enum flow_carries

_libc = ctypes.CDLL(None, use_errno=True)


def bpf(command: int, attributes: bytes) -> int:
    """bpf(2); `attributes` is the beginning of its union."""
    buffer = ctypes.create_string_buffer(attributes.ljust(128, b"\0"))
    result: int = _libc.syscall(SYS_BPF, command, buffer, 128)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def update(map_fd: int, key: bytes, value: bytes, flags: int) -> None:
    keys, values = ctypes.create_string_buffer(key), ctypes.create_string_buffer(value)
    bpf(
        BPF_MAP_UPDATE_ELEM,
        struct.pack("IIQQQ", map_fd, 0, ctypes.addressof(keys), ctypes.addressof(values), flags),
    )


def open_map(name: str) -> int:
    path = ctypes.create_string_buffer(str(PINS / name).encode())
    return bpf(BPF_OBJ_GET, struct.pack("QII", ctypes.addressof(path), 0, 0))


@dataclass
class Request:
    """`struct flow_request` of hosts/bpf/flow.h."""

    wanted: bool = False
    rtt: int = 0
    x: int = 0
    delta_throughput: int = 0
    full_len: int = 0

    def encode(self) -> bytes:
        numbers = (self.rtt, self.x, self.delta_throughput, self.full_len)
        return struct.pack("BBBBIIiI", self.wanted, 0, 0, 0, *numbers)


class HeaderSocket:
    """A UDP socket of a host, mostly connected to another, and what it asks for."""

    def __init__(
        self, host: Host, peer: Host | None, family: int, ports: tuple[int, int], tags: bool = True
    ) -> None:
        with inside(host.netns):
            self.socket = socket.socket(family, socket.SOCK_DGRAM)
        self.socket.bind((host.address(family), ports[0]))
        if peer is not None:
            self.socket.connect((peer.address(family), ports[1]))
        self.socket.settimeout(PATIENCE_S)
        self.cookies = [self._option(option) for option in (SO_NETNS_COOKIE, SO_COOKIE)]
        self.tags = tags
        self.guard = b""  # the beginning of what the peer sends
        self.request = Request()
        self._map = -1

    def ask(self, carries: int, request: Request | None = None) -> None:
        """What the datagrams from now on carry."""
        if self._map < 0:
            self._map = open_map("asks")
        self.request = request or self.request
        wishes = struct.pack("20sBB10x", self.request.encode(), carries, self.tags)
        mask = b"\xff" * len(self.guard)
        value = struct.pack("QQ32s8s8s8x", *self.cookies, wishes, self.guard, mask)
        update(self._map, struct.pack("i", self.socket.fileno()), value, BPF_F_LOCK)

    def _option(self, option: int) -> int:
        (value,) = struct.unpack("Q", self.socket.getsockopt(socket.SOL_SOCKET, option, 8))
        assert isinstance(value, int)
        return value

    def send(self, carries: int, payload: bytes) -> None:
        self.ask(carries)
        self.socket.send(payload)

    def close(self) -> None:
        self.socket.close()
        if self._map >= 0:
            os.close(self._map)
