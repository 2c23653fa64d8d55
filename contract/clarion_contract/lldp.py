# SPDX-License-Identifier: Apache-2.0
"""LLDP frames (IEEE 802.1AB): encodes those of a Clarion port, decodes those of any neighbour.

A bridge does not forward frames to `GROUP`, so a hello comes from the other end of the wire. Ours carries an
organisationally specific TLV that says whether the port numbers its packets and whether it checks numbers.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass

GROUP = bytes.fromhex("0180c200000e")  # the nearest bridge
ETHERTYPE = 0x88CC
OUI = bytes.fromhex("0ac1a7")  # locally administered
SUBTYPE = 1
VERSION = 1
HELLO_EVERY_S = 1
TTL_S = 4
MAX_CHASSIS_BYTES = 64  # of ours; others' ids may be longer

CHASSIS_MAC, CHASSIS_ADDRESS = 4, 5
PORT_MAC, PORT_ADDRESS = 3, 4
LOCAL = 7  # locally assigned, of both kinds of id

_END, _CHASSIS, _PORT, _TTL, _ORGANISATION = 0, 1, 2, 3, 127
_NAMES = {_CHASSIS: "chassis ID", _PORT: "port ID", _TTL: "TTL"}
_HEADER_BYTES = 14
_MIN_FRAME_BYTES = 60  # without its checksum
_MAX_VALUE_BYTES = 511
_MAX_ID_BYTES = 255
_STAMPS, _CHECKS = 0x01, 0x02


class LldpError(ValueError):
    """A frame that is not a legal LLDP frame, or an id that does not fit into one."""


@dataclass(frozen=True)
class Identifier:
    """The id of a chassis or of a port, of one of the standard's kinds."""

    subtype: int
    value: bytes

    @classmethod
    def local(cls, name: str) -> Identifier:
        """A locally assigned one."""
        return cls(LOCAL, name.encode())


@dataclass(frozen=True)
class ClarionPort:
    """What the TLV of a Clarion port says of it."""

    stamps: bool  # numbers the packets that leave
    checks: bool  # counts what the wire into it lost


@dataclass(frozen=True)
class Hello:
    """One LLDP frame: its sender, and for how long it counts. `clarion` is None of a sender that is none."""

    chassis: Identifier
    port: Identifier
    ttl_s: int
    clarion: ClarionPort | None = None

    @property
    def chassis_name(self) -> str:
        """The chassis id for people."""
        return _written(self.chassis, CHASSIS_MAC, CHASSIS_ADDRESS)

    @property
    def port_name(self) -> str:
        """The port id for people."""
        return _written(self.port, PORT_MAC, PORT_ADDRESS)


def our_hello(chassis: str, port: str, *, stamps: bool, checks: bool, ttl_s: int = TTL_S) -> Hello:
    """The hello of a Clarion port; LldpError if a name does not fit."""
    identifiers = Identifier.local(chassis), Identifier.local(port)
    for what, identifier, most in zip(
        ("chassis ID", "port ID"), identifiers, (MAX_CHASSIS_BYTES, _MAX_ID_BYTES), strict=True
    ):
        size = len(identifier.value)
        if not 1 <= size <= most:
            raise LldpError(f"{what}: has {size} bytes; use 1 to {most}")
    return Hello(*identifiers, ttl_s, ClarionPort(stamps, checks))


def is_lldp(frame: bytes) -> bool:
    """Whether a frame is addressed and typed as LLDP, whatever it holds."""
    return frame[:6] == GROUP and frame[12:_HEADER_BYTES] == ETHERTYPE.to_bytes(2, "big")


def encode(source: bytes, hello: Hello) -> bytes:
    """The Ethernet frame of a hello from this Ethernet address, without its checksum."""
    if len(source) != 6:
        raise LldpError(f"source: has {len(source)} bytes; an Ethernet address has 6")
    if not 0 <= hello.ttl_s <= 0xFFFF:
        raise LldpError(f"TTL: {hello.ttl_s}: use 0 to 65535 s")
    tlvs = [
        (_CHASSIS, _identifier_value(_CHASSIS, hello.chassis)),
        (_PORT, _identifier_value(_PORT, hello.port)),
        (_TTL, hello.ttl_s.to_bytes(2, "big")),
    ]
    if hello.clarion is not None:
        flags = (_STAMPS if hello.clarion.stamps else 0) | (_CHECKS if hello.clarion.checks else 0)
        tlvs.append((_ORGANISATION, OUI + bytes([SUBTYPE, VERSION, flags])))
    tlvs.append((_END, b""))
    unit = b"".join((kind << 9 | len(value)).to_bytes(2, "big") + value for kind, value in tlvs)
    return (GROUP + source + ETHERTYPE.to_bytes(2, "big") + unit).ljust(_MIN_FRAME_BYTES, b"\0")


def decode(frame: bytes) -> Hello:
    """The hello of a frame; unknown TLVs are skipped. LldpError for what the standard discards."""
    if not is_lldp(frame):
        raise LldpError("is no LLDP frame: wrong destination or EtherType")
    tlvs = _tlvs(frame[_HEADER_BYTES:])
    found: dict[int, bytes] = {}
    for wanted in (_CHASSIS, _PORT, _TTL):  # in this order, before all others
        kind, value = next(tlvs, (_END, b""))
        if kind != wanted:
            raise LldpError(f"{_NAMES[wanted]}: is missing at its place; TLV {kind} is there")
        found[kind] = value
    clarion: ClarionPort | None = None
    for kind, value in tlvs:
        if kind in found:
            raise LldpError(f"{_NAMES[kind]}: is there twice")
        if kind == _ORGANISATION and clarion is None:
            clarion = _clarion(value)
    chassis, port = _identifier(_CHASSIS, found[_CHASSIS]), _identifier(_PORT, found[_PORT])
    if len(found[_TTL]) < 2:
        raise LldpError(f"TTL: has {len(found[_TTL])} bytes; it needs 2")
    return Hello(chassis, port, int.from_bytes(found[_TTL][:2], "big"), clarion)


def _tlvs(unit: bytes) -> Iterator[tuple[int, bytes]]:
    """Kind and value of each TLV up to the end mark, or to the end of the frame in its absence."""
    at = 0
    while at < len(unit):
        head = int.from_bytes(unit[at : at + 2], "big")
        kind, size = head >> 9, head & _MAX_VALUE_BYTES
        if at + 2 + size > len(unit):
            raise LldpError(f"TLV {kind}: runs past the end of the frame")
        if kind == _END:
            if size:
                raise LldpError(f"end mark: has {size} bytes; it has none")
            return
        yield kind, unit[at + 2 : at + 2 + size]
        at += 2 + size


def _identifier(kind: int, value: bytes) -> Identifier:
    if not 2 <= len(value) <= 1 + _MAX_ID_BYTES:
        raise LldpError(f"{_NAMES[kind]}: has {len(value)} bytes; it needs 2 to {1 + _MAX_ID_BYTES}")
    return Identifier(value[0], value[1:])


def _identifier_value(kind: int, identifier: Identifier) -> bytes:
    value = bytes([identifier.subtype]) + identifier.value
    _identifier(kind, value)
    return value


def _clarion(value: bytes) -> ClarionPort | None:
    """What an organisation's TLV says if it is ours, of this version."""
    if value[:5] != OUI + bytes([SUBTYPE, VERSION]) or len(value) < 6:
        return None
    return ClarionPort(stamps=bool(value[5] & _STAMPS), checks=bool(value[5] & _CHECKS))


def _written(identifier: Identifier, mac_kind: int, address_kind: int) -> str:
    """On one line, and unlike any other of its kind as far as people can tell."""
    value = identifier.value
    if identifier.subtype == mac_kind and len(value) == 6:
        return value.hex(":")
    if identifier.subtype == address_kind and (value[0], len(value)) in ((1, 5), (2, 17)):
        return str(ipaddress.ip_address(value[1:]))
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return f"0x{value.hex()}"
    return text if text.isprintable() else f"0x{value.hex()}"
