# SPDX-License-Identifier: Apache-2.0
"""The layer: its fields come from the contract's layout of the header."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scapy.fields import (
    BitEnumField,
    BitField,
    ByteEnumField,
    ByteField,
    IntField,
    ShortField,
    SignedIntField,
)
from scapy.layers.inet import IP, TCP, UDP, in4_chksum
from scapy.layers.inet6 import IPv6, in6_chksum
from scapy.packet import Packet, Raw, bind_bottom_up, bind_layers, bind_top_down

from clarion_contract.header import Format, HeaderField
from clarion_contract.header_layout import FORMATS, PREFIX, PROTOCOL, VERSION

CODES = {each.code: name.upper() for name, each in FORMATS.items()}
SIGNED = "delta_throughput"
SECONDS = ("rtt", "x")
Q28 = 1 << 28  # of fixed-point seconds, Q4.28
TRANSPORTS = {6: TCP, 17: UDP}
CHECKSUM_AT = {TCP: 16, UDP: 6}  # in bytes


class _Seconds(BitField):
    """Fixed-point seconds, of which the high bits of a word of Q4.28 are there."""

    __slots__ = ("_scale",)

    def __init__(self, name: str, bits: int) -> None:
        super().__init__(name, 0, bits)
        self._scale = Q28 >> (32 - bits)

    def i2m(self, packet: Packet | None, value: Any) -> int:
        """The integer on the wire."""
        return min(round((value or 0) * self._scale), (1 << self.size) - 1)

    def m2i(self, packet: Packet | None, value: Any) -> Any:
        """Seconds."""
        return value / self._scale

    def i2repr(self, packet: Packet | None, value: Any) -> str:
        """As people read it."""
        return f"{value:.6g} s"


def _fields(format_: Format) -> list[Any]:
    return [*(each for field in PREFIX for each in _of_prefix(field, format_)), *_of_format(format_)]


def _of_prefix(field: HeaderField, format_: Format) -> Iterator[Any]:
    if field.name == "next_protocol":
        yield ByteEnumField(field.name, 6, {number: layer.__name__ for number, layer in TRANSPORTS.items()})
    elif field.name == "length":
        yield ByteField(field.name, format_.size)
    elif field.name == "format":
        yield BitEnumField(field.name, format_.code, field.bits, CODES)
    elif field.parts:
        yield from (BitField(part.name, 0, part.bits) for part in field.parts)
    else:
        yield BitField(field.name, VERSION, field.bits)


def _of_format(format_: Format) -> Iterator[Any]:
    for field in format_.fields:
        for name, bits in [(part.name, part.bits) for part in field.parts] or [(field.name, field.bits)]:
            if name in SECONDS:
                yield _Seconds(name, bits)
            elif name == SIGNED:
                yield SignedIntField(name, 0)
            elif bits % 8:
                yield BitField(name, 0, bits)
            else:
                yield {16: ShortField, 32: IntField}[bits](name, 0)


class Clarion(Packet):
    """A header between IP and transport, of whatever format; what is none is a Raw."""

    layout: Format
    match_subclass = True  # packet[Clarion] finds each format

    @classmethod
    def dispatch_hook(cls, header: bytes | None = None, *_: Any, **__: Any) -> type[Packet]:
        """The layer of the header's format."""
        if header is None:
            return cls
        found = LAYERS.get(header[2]) if len(header) > 2 else None
        return found if found is not None and len(header) >= header[1] == found.layout.size else Raw

    def post_build(self, header: bytes, payload: bytes) -> bytes:
        """With the checksum of the transport, which does not cover this header."""
        return header + self._with_checksum(payload)

    def _with_checksum(self, payload: bytes) -> bytes:
        place = CHECKSUM_AT.get(type(self.payload))
        if place is None or self.payload.chksum is not None:
            return payload
        if isinstance(self.underlayer, IP):
            checksum = in4_chksum(self.next_protocol, self.underlayer, payload)
        elif isinstance(self.underlayer, IPv6):
            checksum = in6_chksum(self.next_protocol, self.underlayer, payload)  # type: ignore[no-untyped-call]
        else:
            return payload
        return payload[:place] + (checksum or 0xFFFF).to_bytes(2, "big") + payload[place + 2 :]


class ClarionData(Clarion):
    """Asks for a rate, and carries the totals of losses: format DATA."""

    layout = FORMATS["data"]
    fields_desc = _fields(layout)


class ClarionAck(Clarion):
    """Echoes what DATA packets brought: format ACK."""

    layout = FORMATS["ack"]
    fields_desc = _fields(layout)


class ClarionTag(Clarion):
    """Carries the totals of losses only: format TAG."""

    layout = FORMATS["tag"]
    fields_desc = _fields(layout)


LAYERS = {VERSION << 4 | layer.layout.code: layer for layer in (ClarionData, ClarionAck, ClarionTag)}

bind_bottom_up(IP, Clarion, proto=PROTOCOL)
bind_bottom_up(IPv6, Clarion, nh=PROTOCOL)
for _layer in LAYERS.values():
    bind_top_down(IP, _layer, proto=PROTOCOL)
    bind_top_down(IPv6, _layer, nh=PROTOCOL)
    for _number, _transport in TRANSPORTS.items():
        bind_layers(_layer, _transport, next_protocol=_number)
