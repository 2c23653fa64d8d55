# SPDX-License-Identifier: Apache-2.0
"""Wireshark's dissector of the header: tshark reads captures of all formats, and of damaged headers."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import TCP
from scapy.packet import raw
from scapy.utils import PcapWriter

from clarion_base.paths import ROOT
from conformance import frames

TSHARK = shutil.which("tshark")
pytestmark = pytest.mark.skipif(TSHARK is None, reason="tshark is not installed")
SCRIPT = ROOT / "observe" / "wireshark" / "clarion.lua"
SEGMENT = raw(TCP(sport=40001, dport=5201, seq=1000)) + bytes(100)
TAGS = {"bucket": 777, "link_seq": 65535, "corrupt": 3, "congest": 40000, "rev_corrupt": 5, "rev_congest": 6}
DATA = frames.data(rtt=(3 << 28) + (1 << 27) + 5, x=1 << 26, delta=-12345, reverse=9, flags=0xB7, **TAGS)


def shown(
    directory: Path, packets: Sequence[bytes], *options: str, kept: int = 65535
) -> list[dict[str, Any]]:
    """What tshark says of each frame, of which the first `kept` bytes were captured: its layers."""
    capture = directory / "capture.pcap"
    with PcapWriter(str(capture), linktype=1) as writer:
        writer.write_header(None)
        for packet in packets:
            writer.write_packet(packet[:kept], caplen=len(packet[:kept]), wirelen=len(packet))
    command = [str(TSHARK), "-X", f"lua_script:{SCRIPT}", *options, "-r", str(capture), "-T", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert "Lua" not in done.stdout + done.stderr, done.stderr
    found = [each["_source"]["layers"] for each in json.loads(done.stdout)]
    assert len(found) == len(packets)
    return found


def flat(layers: Any) -> dict[str, str]:
    """The fields of the header, those of subtrees too."""
    found: dict[str, str] = {}
    for name, value in layers.items():
        if isinstance(value, dict):
            found |= flat(value)
        else:
            found[name.removeprefix("clarion.")] = value
    return found


@pytest.mark.parametrize("around", [frames.ipv4, frames.ipv6])
def test_shows_every_field_of_every_format(around: Any, tmp_path: Path) -> None:
    headers = [DATA, frames.ack(reverse=2**32 - 1, rev_corrupt=8, rev_congest=9, flags=1), frames.tag(**TAGS)]
    data, ack, tag = shown(tmp_path, [around(header + SEGMENT) for header in headers])
    found = flat(data["clarion"])
    assert float(found["rtt_s"]) == 3.5
    assert float(found["x_s"]) == 0.25
    expected = {
        "next_protocol": 6, "length": 32, "version": 1, "format": 1, "rev_field": 5, "hop": 3, "field": 5,
        "delta_throughput": -12345, "reverse_feedback": 9, **TAGS,
    }  # fmt: skip
    assert {name: int(found[name]) for name in expected} == expected
    assert (found["regulated"], found["echo"]) == ("1", "1")
    assert {name: int(flat(tag["clarion"])[name]) for name in TAGS} == TAGS
    assert int(flat(ack["clarion"])["reverse_feedback"]) == 2**32 - 1
    for layers in (data, ack, tag):
        assert layers["tcp"]["tcp.dstport"] == "5201"
        assert layers["tcp"]["tcp.len"] == "100"


WHOLE = frames.tag(**TAGS) + SEGMENT
DAMAGED = {
    "cut short": DATA[:31],
    "shortest format": WHOLE[:11],
    "version 2": WHOLE[:2] + b"\x23" + WHOLE[3:],
    "format 4": WHOLE[:2] + b"\x14" + WHOLE[3:],
    "length 15": bytes([WHOLE[0], 15]) + WHOLE[2:],
}


def test_damaged_headers_are_malformed_and_say_of_what(tmp_path: Path) -> None:
    found = shown(tmp_path, [frames.ipv4(header) for header in DAMAGED.values()])
    for reason, layers in zip(DAMAGED, found, strict=True):
        assert reason in json.dumps(layers["clarion"]), reason
        assert "clarion.malformed" in json.dumps(layers["clarion"])
        assert "tcp" not in layers


def test_no_length_upsets_it(tmp_path: Path) -> None:
    packets = [
        frames.ipv4(header[:length]) for header in (DATA + SEGMENT, WHOLE) for length in range(len(header))
    ]
    for layers, packet in zip(shown(tmp_path, packets), packets, strict=True):
        assert ("clarion" in layers) == (len(packet) > len(frames.ipv4(b"")))


def test_of_cut_packets_tcp_knows_the_length(tmp_path: Path) -> None:
    (layers,) = shown(tmp_path, [frames.ipv4(DATA + SEGMENT)], kept=14 + 20 + 32 + 20)
    assert layers["tcp"]["tcp.len"] == "100"


def test_another_protocol_number_is_a_preference(tmp_path: Path) -> None:
    packet = frames.ipv4(DATA + SEGMENT, protocol=254)
    assert "clarion" not in shown(tmp_path, [packet])[0]
    assert "clarion" in shown(tmp_path, [packet], "-o", "clarion.protocol:254")[0]
