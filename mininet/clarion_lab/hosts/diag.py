# SPDX-License-Identifier: Apache-2.0
"""TCP socket state over inet_diag: one netlink socket per namespace, one exact look-up per flow and sample.

An exact look-up costs microseconds; a dump would walk the kernel's whole connection table each time. Layouts:
linux/inet_diag.h and struct tcp_info of linux/tcp.h, which only ever grow at the end.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace

from clarion_lab.hosts.namespaces import in_namespace

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_NLM_F_DUMP = 0x300
_NLMSG_ERROR = 2
_NLMSG_DONE = 3
_INET_DIAG_INFO = 2
_NO_COOKIE = 0xFFFFFFFF

_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBBI")  # family, protocol, extensions, padding, states
_ATTRIBUTE = struct.Struct("=HH")
_MESSAGE_BYTES = 72  # struct inet_diag_msg
_STATE_OFFSET = 1  # in struct inet_diag_msg
_LISTEN = 10
_OPEN = 0xFFFFFFFF & ~(1 << 6 | 1 << 7 | 1 << _LISTEN)  # all states but time-wait, close, listen
_PORTS = struct.Struct("!HH")  # local, remote
_PORTS_OFFSET, _REMOTE_OFFSET = 4, 24  # in struct inet_diag_msg
_MESSAGE_ID_BYTES = 48  # struct inet_diag_sockid
_DUMP_BYTES = 1 << 17  # the kernel's messages of a dump are shorter
_COOKIE = struct.Struct("=Q")
_COOKIE_OFFSET = 44
# mss, unacked, sacked, lost, rtt, rttvar, ssthresh, cwnd, retransmits, pacing, bytes acked and
# received, notsent, min_rtt, delivery, three limits
_INFO = struct.Struct("=16xI4xIII32xIIII16xIQ8xQQ8xII8xQQQQ")
assert _INFO.size == 192  # up to tcpi_sndbuf_limited


@dataclass(frozen=True)
class SocketState:
    """What a sample keeps of struct tcp_info, and the socket's cookie."""

    cookie: int
    mss_bytes: int
    unacked_packets: int
    sacked_packets: int
    lost_packets: int
    srtt_us: int
    rttvar_us: int
    ssthresh_packets: int
    cwnd_packets: int
    retransmits: int
    pacing_bytes_per_s: int
    bytes_acked: int
    bytes_received: int  # in order
    notsent_bytes: int
    min_rtt_us: int
    delivery_bytes_per_s: int
    busy_us: int
    rwnd_limited_us: int
    sndbuf_limited_us: int
    remote_address: str = ""  # of connections that a dump found

    @property
    def delivered_bytes(self) -> int:
        """Payload that the receiver has acknowledged, in order or selectively, each byte once."""
        return self.bytes_acked + self.sacked_packets * self.mss_bytes

    @property
    def moved_bytes(self) -> int:
        """Payload that has gone, in both directions."""
        return self.bytes_acked + self.bytes_received


# Of a flow whose connection says nothing of its path.
NOTHING = SocketState(0, *_INFO.unpack(bytes(_INFO.size)))


class NamespaceDiag:
    """A netlink socket that lives in the network namespace of a process."""

    def __init__(self, pid: int) -> None:
        with in_namespace(pid):
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG)
        self._socket.settimeout(2.0)

    def query(self, source: str, sport: int, destination: str, dport: int) -> SocketState | None:
        """The state of one connection; None if there is none (not yet open, or gone)."""
        self._socket.send(_request(source, sport, destination, dport))
        return _parse(self._socket.recv(4096))

    def by_port(self) -> dict[tuple[str, int], SocketState]:
        """All connections, each by ("local", port) and by ("remote", port); of several the one that has moved
        most. A dump: for connections whose other port nobody knows.
        """
        found: dict[tuple[str, int], SocketState] = {}
        for family in (socket.AF_INET, socket.AF_INET6):  # which a program that takes both may have
            for message in self._dump(family):
                state = _parse(message)
                if state is None:
                    continue
                state = replace(state, remote_address=_remote_address(message))
                local, remote = _PORTS.unpack_from(message, _HEADER.size + _PORTS_OFFSET)
                for key in (("local", local), ("remote", remote)):
                    if key not in found or state.moved_bytes > found[key].moved_bytes:
                        found[key] = state
        return found

    def _dump(self, family: int) -> Iterator[bytes]:
        """Messages of all connections."""
        self._socket.send(_dump_request(family))
        while True:
            answer = self._socket.recv(_DUMP_BYTES)
            while len(answer) >= _HEADER.size:
                length, kind = _HEADER.unpack_from(answer)[:2]
                if kind in (_NLMSG_DONE, _NLMSG_ERROR):
                    return
                yield answer[:length]
                answer = answer[(length + 3) & ~3 :]

    def close(self) -> None:
        """Closes the netlink socket."""
        self._socket.close()


def _request(source: str, sport: int, destination: str, dport: int) -> bytes:
    family = socket.AF_INET6 if ":" in source else socket.AF_INET
    addresses = [socket.inet_pton(family, address).ljust(16, b"\0") for address in (source, destination)]
    body = _REQUEST.pack(family, socket.IPPROTO_TCP, 1 << (_INET_DIAG_INFO - 1), 0, 0xFFFFFFFF)
    body += struct.pack("!HH", sport, dport) + b"".join(addresses)
    body += struct.pack("=III", 0, _NO_COOKIE, _NO_COOKIE)
    return _HEADER.pack(_HEADER.size + len(body), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 0, 0) + body


def _remote_address(message: bytes) -> str:
    family = message[_HEADER.size]
    (raw,) = struct.unpack_from("16s", message, _HEADER.size + _REMOTE_OFFSET)
    if family == socket.AF_INET:
        return str(ipaddress.IPv4Address(raw[:4]))
    address = ipaddress.IPv6Address(raw)
    return str(address.ipv4_mapped or address)


def _dump_request(family: int) -> bytes:
    body = _REQUEST.pack(family, socket.IPPROTO_TCP, 1 << (_INET_DIAG_INFO - 1), 0, _OPEN)
    body += bytes(_MESSAGE_ID_BYTES)
    flags = _NLM_F_REQUEST | _NLM_F_DUMP
    return _HEADER.pack(_HEADER.size + len(body), _SOCK_DIAG_BY_FAMILY, flags, 0, 0) + body


def _parse(message: bytes) -> SocketState | None:
    length, kind = _HEADER.unpack_from(message)[:2]
    if kind == _NLMSG_ERROR or message[_HEADER.size + _STATE_OFFSET] == _LISTEN:
        return None  # where a connection is gone, the kernel answers with its listener
    offset = _HEADER.size + _MESSAGE_BYTES
    while offset + _ATTRIBUTE.size <= length:
        size, attribute = _ATTRIBUTE.unpack_from(message, offset)
        if attribute == _INET_DIAG_INFO and size - _ATTRIBUTE.size >= _INFO.size:
            (cookie,) = _COOKIE.unpack_from(message, _HEADER.size + _COOKIE_OFFSET)
            return SocketState(cookie, *_INFO.unpack_from(message, offset + _ATTRIBUTE.size))
        offset += (size + 3) & ~3
    return None
