# SPDX-License-Identifier: Apache-2.0
"""As much of Thrift's binary protocol as BMv2's runtime service speaks, with calls in flight side by side.

Written out here because BMv2 installs its generated Python modules where no Python looks for them, and
because a sample of a switch is some twenty calls, which would each wait for the one before.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

_VERSION = 0x80010000
_CALL, _REPLY = 1, 2
_STOP, _BOOL, _BYTE, _DOUBLE, _I16, _I32, _I64, _STRING, _STRUCT, _LIST = 0, 2, 3, 4, 6, 8, 10, 11, 12, 15
_FIXED = {_BOOL: ">b", _BYTE: ">b", _DOUBLE: ">d", _I16: ">h", _I32: ">i", _I64: ">q"}
TIMEOUT_S = 5.0


class ThriftError(Exception):
    """The service refused a call, or does not answer."""


class Wide(int):
    """An argument of 64 bits; other numbers have 32."""


class Call(NamedTuple):
    """A method of a service and its arguments, numbered from 1 in this order."""

    service: str
    method: str
    arguments: tuple[int | str, ...]


class ThriftClient:
    """A connection to a multiplexed Thrift service."""

    def __init__(self, port: int) -> None:
        """Connects to that TCP port of this machine; OSError if nothing listens."""
        self._socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream = self._socket.makefile("rb")

    def close(self) -> None:
        """Ends the connection."""
        self._stream.close()
        self._socket.close()

    def send(self, calls: Sequence[Call]) -> None:
        """Sends calls, whose answers `receive` returns in the same order."""
        self._socket.sendall(b"".join(encode(call) for call in calls))

    def receive(self, calls: Sequence[Call]) -> list[Any]:
        """The results: numbers, lists, structs as dict by field number, None for nothing."""
        return [self._result(call) for call in calls]

    def call(self, *calls: Call) -> list[Any]:
        """Sends calls and returns their results."""
        self.send(calls)
        return self.receive(calls)

    def _result(self, call: Call) -> Any:
        header = self._number(_I32) & 0xFFFFFFFF
        self._take(self._number(_I32))  # the method's name
        self._number(_I32)  # its sequence number
        fields = self._value(_STRUCT)
        if header != _VERSION | _REPLY:
            said = fields.get(1, b"").decode(errors="replace")
            raise ThriftError(f"{call.method}{call.arguments}: {said}")
        if any(number != 0 for number in fields):
            raise ThriftError(f"{call.method}{call.arguments}: refused")
        return fields.get(0)

    def _take(self, length: int) -> bytes:
        taken = self._stream.read(length)
        if len(taken) < length:
            raise OSError("connection closed")
        return taken

    def _number(self, kind: int) -> Any:
        form = _FIXED[kind]
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _value(self, kind: int) -> Any:
        if kind in _FIXED:
            return self._number(kind)
        if kind == _STRING:
            return self._take(self._number(_I32))
        if kind == _STRUCT:
            fields = {}
            while (inner := self._number(_BYTE)) != _STOP:
                number = self._number(_I16)
                fields[number] = self._value(inner)
            return fields
        if kind == _LIST:
            return self._list()
        raise ThriftError(f"a value of type {kind}, which BMv2's service does not use")

    def _list(self) -> list[Any]:
        inner, count = self._number(_BYTE), self._number(_I32)
        if inner == _I64:  # a register array: one step instead of one per cell
            return list(struct.unpack(f">{count}q", self._take(8 * count)))
        return [self._value(inner) for _ in range(count)]


def encode(call: Call) -> bytes:
    """The bytes of a call, named as Thrift's multiplexer wants it."""
    name = f"{call.service}:{call.method}".encode()
    parts = [struct.pack(f">Ii{len(name)}si", _VERSION | _CALL, len(name), name, 0)]
    for number, argument in enumerate(call.arguments, 1):
        if isinstance(argument, str):
            text = argument.encode()
            parts.append(struct.pack(f">bhi{len(text)}s", _STRING, number, len(text), text))
        elif isinstance(argument, Wide):
            parts.append(struct.pack(">bhq", _I64, number, argument))
        else:
            parts.append(struct.pack(">bhi", _I32, number, argument))
    return b"".join([*parts, b"\0"])
