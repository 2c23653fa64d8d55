# SPDX-License-Identifier: Apache-2.0
"""The laws that are loaded when somebody asks for them, on the kernel's TCP."""

from __future__ import annotations

import os
import re
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.host_net import Frame, Pair, agent, refused, transfer

pytestmark = pytest.mark.root

SOURCE = Path(__file__).resolve().parents[2] / "hosts/bpf/cc/stack_laws.def"
LAWS = re.findall(r'^STACK_LAW\(\w+, "(\w+)"\)', SOURCE.read_text(), re.MULTILINE)
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
PORT = 7101
FULL_BYTES = 1000  # longer frames have data
EVERY = 150  # data packets of which one is dropped: the windows meet losses
TOTAL_RETRANSMITS_AT = 100  # in struct tcp_info


def available() -> set[str]:
    return set(AVAILABLE.read_text().split())


@pytest.fixture
def lossy_pair() -> Iterator[Pair]:
    made = Pair.make("laws", middlebox=True)
    yield made
    made.close()


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair.make("laws")
    yield made
    made.close()


class Drops:
    """Every so many packets with data."""

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, frame: Frame) -> bool:
        has_data = len(frame) > FULL_BYTES
        self.seen += has_data
        return has_data and self.seen % EVERY == 0


@pytest.mark.parametrize("law", LAWS)
def test_a_law_carries_data_through_losses(lossy_pair: Pair, law: str) -> None:
    lossy_pair.attach("--cc", law, "--tags", "off")
    lossy_pair.middlebox(Drops())
    near, far = lossy_pair.flow(lossy_pair.a, lossy_pair.b, socket.AF_INET, PORT)
    chosen = near.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    assert chosen.rstrip(b"\0").decode() == law
    transfer(near, far, os.urandom(2_000_000))
    info = near.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    (retransmits,) = struct.unpack_from("I", info, TOTAL_RETRANSMITS_AT)
    assert retransmits > 0


def test_laws_stand_side_by_side_until_the_last_detach(pair: Pair) -> None:
    first, second = LAWS[0], LAWS[-1]
    assert not available() & {first, second}
    pair.a.attach("--cc", first)
    pair.b.attach("--cc", second)
    assert {first, second, "clarion_xcp"} <= available()
    near, far = pair.flow(pair.a, pair.b, socket.AF_INET, PORT)
    for end, law in ((near, first), (far, second)):
        assert end.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode() == law
        end.close()
    pair.a.detach()
    assert second in available()
    pair.b.detach()
    assert not [name for name in available() if name.startswith("clarion_")]


def test_a_parameter_of_another_law_is_refused_with_the_legal_ones(pair: Pair) -> None:
    arguments = ("--netns", pair.a.netns, "--dev", pair.a.device, "--cc", "clarion_stcp")
    said = refused("attach", *arguments, "--set", "fast_alpha_packets=7")
    assert "--set fast_alpha_packets: no such parameter of clarion_stcp; legal are stcp_" in said
    assert "boost" not in said
    agent("attach", *arguments, "--set", "stcp_decrease_q16=100")
    pair.a.detach()
