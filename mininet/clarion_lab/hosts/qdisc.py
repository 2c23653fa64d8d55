# SPDX-License-Identifier: Apache-2.0
"""Packets that a host's own device has dropped, over rtnetlink: one socket per namespace.

Layouts: linux/rtnetlink.h (struct tcmsg), linux/gen_stats.h (struct gnet_stats_queue).
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

from clarion_lab.hosts.namespaces import in_namespace

_NETLINK_ROUTE = 0
_RTM_GETQDISC = 38
_NLM_F_REQUEST_DUMP = 0x301
_NLMSG_ERROR = 2
_NLMSG_DONE = 3
_TCA_STATS2 = 7
_TCA_STATS_QUEUE = 3
_ATTRIBUTE_MASK = 0x3FFF  # without the flag for nested attributes
_ROOT = 0xFFFFFFFF

_HEADER = struct.Struct("=IHHII")
_TCMSG = struct.Struct("=B3xiIII")  # family, index, handle, parent, info
_ATTRIBUTE = struct.Struct("=HH")
_QUEUE = struct.Struct("=IIIII")  # bytes and packets waiting, drops, requeues, overlimits


class DeviceDrops:
    """The drops of the root queueing disciplines in the namespace of a process, but for the loopback's."""

    def __init__(self, pid: int) -> None:
        with in_namespace(pid):
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_ROUTE)
        self._socket.settimeout(2.0)

    def total(self) -> int:
        """Packets dropped since the discipline was set."""
        request = _TCMSG.pack(socket.AF_UNSPEC, 0, 0, 0, 0)
        self._socket.send(
            _HEADER.pack(_HEADER.size + len(request), _RTM_GETQDISC, _NLM_F_REQUEST_DUMP, 0, 0) + request
        )
        drops = 0
        while True:
            data = self._socket.recv(1 << 16)
            for kind, message in messages(data):
                if kind in (_NLMSG_DONE, _NLMSG_ERROR):
                    return drops
                drops += root_drops(message)

    def close(self) -> None:
        """Closes the netlink socket."""
        self._socket.close()


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The netlink messages of a datagram: kind and content."""
    at = 0
    while at + _HEADER.size <= len(data):
        length, kind = _HEADER.unpack_from(data, at)[:2]
        if length < _HEADER.size:
            return
        yield kind, data[at + _HEADER.size : at + length]
        at += (length + 3) & ~3


def root_drops(message: bytes) -> int:
    """The drops that a message about a discipline reports, if it is a device's root."""
    if len(message) < _TCMSG.size:
        return 0
    _, index, _, parent, _ = _TCMSG.unpack_from(message)
    if parent != _ROOT or index == 1:
        return 0
    statistics = dict(_attributes(message[_TCMSG.size :])).get(_TCA_STATS2, b"")
    queue = dict(_attributes(statistics)).get(_TCA_STATS_QUEUE, b"")
    return int(_QUEUE.unpack_from(queue)[2]) if len(queue) >= _QUEUE.size else 0


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + _ATTRIBUTE.size <= len(data):
        size, kind = _ATTRIBUTE.unpack_from(data, at)
        if size < _ATTRIBUTE.size:
            return
        yield kind & _ATTRIBUTE_MASK, data[at + _ATTRIBUTE.size : at + size]
        at += (size + 3) & ~3
