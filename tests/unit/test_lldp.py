# SPDX-License-Identifier: Apache-2.0
"""LLDP frames, byte by byte and with whatever a wire may carry."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarion_contract import lldp
from clarion_contract.lldp import ClarionPort, Hello, Identifier, LldpError

SOURCE = bytes.fromhex("020000000001")
HEAD = bytes.fromhex("0180c200000e 020000000001 88cc")
# Chassis "s1" and port "2", both locally assigned; 4 s.
S1_2 = bytes.fromhex("0203 07 7331 0402 07 32 0602 0004")
OURS = bytes.fromhex("fe06 0ac1a7 01 01 03")


def tlv(kind: int, value: bytes) -> bytes:
    return (kind << 9 | len(value)).to_bytes(2, "big") + value


def unit(*tlvs: tuple[int, bytes]) -> bytes:
    """A frame of these TLVs, with the end mark."""
    return HEAD + b"".join(tlv(*each) for each in tlvs) + b"\0\0"


CHASSIS, PORT, TTL = (1, b"\x07s1"), (2, b"\x072"), (3, b"\0\x04")


def test_our_hello_byte_by_byte() -> None:
    hello = lldp.our_hello("s1", "2", stamps=True, checks=True)
    assert lldp.encode(SOURCE, hello) == (HEAD + S1_2 + OURS + b"\0\0").ljust(60, b"\0")


@pytest.mark.parametrize(("stamps", "checks", "flags"), [(0, 0, 0), (1, 0, 1), (0, 1, 2), (1, 1, 3)])
def test_the_flags_of_a_port(stamps: int, checks: int, flags: int) -> None:
    hello = lldp.our_hello("s1", "2", stamps=bool(stamps), checks=bool(checks))
    frame = lldp.encode(SOURCE, hello)
    assert frame[len(HEAD) + len(S1_2) + len(OURS) - 1] == flags
    assert lldp.decode(frame) == hello


def test_a_hello_of_another_maker() -> None:
    """As lldpd sends it: MAC chassis, interface name, description, capabilities, an 802.3 TLV."""
    frame = HEAD + bytes.fromhex(
        "0207 04 525400123456 0405 05 65746830 0602 0078 0a03 737732 0e04 00140014 fe06 00120f 01 0300 0000"
    )
    hello = lldp.decode(frame)
    assert hello == Hello(
        Identifier(4, bytes.fromhex("525400123456")), Identifier(5, b"eth0"), 120, clarion=None
    )
    assert (hello.chassis_name, hello.port_name) == ("52:54:00:12:34:56", "eth0")


@pytest.mark.parametrize(
    ("subtype", "value", "written"),
    [
        (4, b"\x02\0\0\0\0\x01", "02:00:00:00:00:01"),
        (5, b"\x01\xc0\0\x02\x01", "192.0.2.1"),
        (5, b"\x02" + b"\x20\x01\x0d\xb8" + bytes(11) + b"\x01", "2001:db8::1"),
        (5, b"\x01\xc0\0", "0x01c000"),
        (7, "Zürich".encode(), "Zürich"),
        (7, b"\xff", "0xff"),
        (7, b"two\nlines", "0x74776f0a6c696e6573"),
        (0, b"reserved", "reserved"),
    ],
)
def test_ids_as_people_read_them(subtype: int, value: bytes, written: str) -> None:
    frame = unit((1, bytes([subtype]) + value), PORT, TTL)
    assert lldp.decode(frame).chassis_name == written


def test_the_port_ids_kinds_are_numbered_differently() -> None:
    frame = unit(CHASSIS, (2, b"\x03\x02\0\0\0\0\x01"), TTL)
    assert lldp.decode(frame).port_name == "02:00:00:00:00:01"


@pytest.mark.parametrize(
    ("frame", "fault"),
    [
        (b"", "is no LLDP frame"),
        (HEAD[:13], "is no LLDP frame"),
        (b"\xff" * 6 + HEAD[6:] + S1_2, "is no LLDP frame"),
        (HEAD[:12] + b"\x08\0" + S1_2, "is no LLDP frame"),
        (bytes.fromhex("0180c2000003") + HEAD[6:] + S1_2, "is no LLDP frame"),  # passes through some bridges
        (HEAD, "chassis ID: is missing at its place; TLV 0 is there"),
        (unit(PORT, CHASSIS, TTL), "chassis ID: is missing at its place; TLV 2 is there"),
        (unit(CHASSIS, TTL, PORT), "port ID: is missing at its place; TLV 3 is there"),
        (unit(CHASSIS, PORT), "TTL: is missing at its place; TLV 0 is there"),
        (unit(CHASSIS, PORT, TTL, CHASSIS), "chassis ID: is there twice"),
        (unit(CHASSIS, PORT, TTL, (4, b"eth0"), TTL), "TTL: is there twice"),
        (unit((1, b"\x07"), PORT, TTL), "chassis ID: has 1 bytes"),
        (unit((1, b"\x07" + bytes(256)), PORT, TTL), "chassis ID: has 257 bytes"),
        (unit(CHASSIS, (2, b""), TTL), "port ID: has 0 bytes"),
        (unit(CHASSIS, PORT, (3, b"\x04")), "TTL: has 1 bytes"),
        (HEAD + S1_2 + b"\x0a\x40eth0", "TLV 5: runs past the end of the frame"),
        (HEAD + S1_2 + b"\xfe", "runs past the end of the frame"),
        (HEAD + S1_2 + b"\0\x01\0", "end mark: has 1 bytes"),
    ],
)
def test_what_is_malformed_is_one_error(frame: bytes, fault: str) -> None:
    with pytest.raises(LldpError, match=fault):
        lldp.decode(frame)


@pytest.mark.parametrize(
    ("tlvs", "clarion"),
    [
        ([b"\x0a\xc1\xa7\x01\x01\x01"], ClarionPort(True, False)),
        ([b"\x0a\xc1\xa7\x01\x01\xfd\x99"], ClarionPort(True, False)),
        ([b"\x0a\xc1\xa7\x01\x00\x03"], None),
        ([b"\x0a\xc1\xa7\x01\x02\x03"], None),  # of a version with another meaning
        ([b"\x0a\xc1\xa7\x01\x01"], None),
        ([b"\x0a\xc1\xa7\x02\x01\x03"], None),
        ([b"\x00\x12\x0f\x01\x01\x03"], None),
        ([b"\x0a\xc1\xa7"], None),
        ([b""], None),
        ([b"\x00\x12\x0f\x01\x03", b"\x0a\xc1\xa7\x01\x01\x02"], ClarionPort(False, True)),
        ([b"\x0a\xc1\xa7\x01\x01\x01", b"\x0a\xc1\xa7\x01\x01\x00"], ClarionPort(True, False)),
    ],
)
def test_whose_tlv_says_that_a_port_stamps(tlvs: list[bytes], clarion: ClarionPort | None) -> None:
    frame = unit(CHASSIS, PORT, TTL, *((127, value) for value in tlvs))
    assert lldp.decode(frame).clarion == clarion


def test_a_frame_without_end_mark_ends_with_the_frame() -> None:
    assert lldp.decode(HEAD + S1_2 + OURS) == lldp.our_hello("s1", "2", stamps=True, checks=True)


def test_names_that_do_not_fit_are_refused() -> None:
    assert lldp.our_hello("é" * 32, "1", stamps=True, checks=True)
    for chassis, port, fault in (
        ("é" * 33, "1", "chassis ID: has 66 bytes; use 1 to 64"),
        ("", "1", "chassis ID: has 0 bytes"),
        ("s1", "p" * 256, "port ID: has 256 bytes; use 1 to 255"),
    ):
        with pytest.raises(LldpError, match=fault):
            lldp.our_hello(chassis, port, stamps=True, checks=True)
    for ttl_s in (-1, 65536):
        with pytest.raises(LldpError, match="TTL"):
            lldp.encode(SOURCE, lldp.our_hello("s1", "1", stamps=True, checks=True, ttl_s=ttl_s))
    with pytest.raises(LldpError, match="source: has 5 bytes"):
        lldp.encode(SOURCE[:5], lldp.our_hello("s1", "1", stamps=True, checks=True))


identifiers = st.builds(Identifier, st.integers(0, 255), st.binary(min_size=1, max_size=255))
hellos = st.builds(
    Hello,
    identifiers,
    identifiers,
    st.integers(0, 65535),
    st.none() | st.builds(ClarionPort, st.booleans(), st.booleans()),
)
strangers = st.tuples(st.integers(4, 126), st.binary(max_size=511))


@given(hellos)
def test_what_is_encoded_is_decoded(hello: Hello) -> None:
    frame = lldp.encode(SOURCE, hello)
    assert len(frame) >= 60
    assert lldp.decode(frame) == hello
    for name in (hello.chassis_name, hello.port_name):
        assert name.isprintable()


@given(hellos, st.lists(strangers, max_size=5), st.lists(strangers, max_size=5), st.binary(max_size=40))
def test_unknown_tlvs_and_padding_change_nothing(
    hello: Hello, before: list[tuple[int, bytes]], after: list[tuple[int, bytes]], padding: bytes
) -> None:
    identified = unit(
        (1, bytes([hello.chassis.subtype]) + hello.chassis.value),
        (2, bytes([hello.port.subtype]) + hello.port.value),
        (3, hello.ttl_s.to_bytes(2, "big")),
    )[:-2]
    ours = b"" if hello.clarion is None else tlv(127, b"\x0a\xc1\xa7\x01\x01" + flags(hello.clarion))
    others = [b"".join(tlv(*each) for each in each_side) for each_side in (before, after)]
    assert lldp.decode(identified + others[0] + ours + others[1] + b"\0\0" + padding) == hello


def flags(clarion: ClarionPort) -> bytes:
    return bytes([clarion.stamps | clarion.checks << 1])


@given(st.binary(max_size=1600), st.booleans())
def test_no_bytes_raise_anything_else(rest: bytes, proper: bool) -> None:
    with contextlib.suppress(LldpError):
        lldp.decode((HEAD if proper else b"") + rest)


@given(hellos, st.data())
def test_a_frame_cut_or_changed_anywhere_raises_nothing_else(hello: Hello, data: st.DataObject) -> None:
    frame = bytearray(lldp.encode(SOURCE, hello))
    frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(LldpError):
        lldp.decode(bytes(frame[: data.draw(st.integers(0, len(frame)))]))
