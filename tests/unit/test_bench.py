# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks compute and send."""

from __future__ import annotations

import pytest

from bench import bench_p4, packet_source
from bench.figures import summary, text
from conformance import reference
from conformance.frames import PROTOCOL


def test_summary_has_median_and_spread() -> None:
    runs = [{"rate": 3.0}, {"rate": 1.0}, {"rate": 2.0}]
    assert summary(runs) == {"rate": {"median": 2.0, "min": 1.0, "max": 3.0}}


def test_a_line_says_how_far_the_goal_is() -> None:
    line = text("share", {"median": 0.5, "min": 0.4, "max": 0.6}, 100, "%", ("at least", 25.0))
    assert " ".join(line.split()) == "share 50.0 % (40.0 .. 60.0), 2.00 of the goal of at least 25"


def test_ratios_are_those_of_the_same_repeat() -> None:
    rates = {"bmv2": [10.0, 20.0], "l2": [30.0, 40.0], "embedded": [50.0, 60.0], "source": [1.0, 1.0]}
    runs = {name: [{"packets_per_s": rate} for rate in values] for name, values in rates.items()}
    assert bench_p4.ratios(runs) == [
        {"l2_to_bmv2": 3.0, "embedded_to_bmv2": 5.0},
        {"l2_to_bmv2": 2.0, "embedded_to_bmv2": 3.0},
    ]


@pytest.mark.parametrize("bucket", [0, 63])
def test_frames_carry_a_data_header(bucket: int) -> None:
    frame = packet_source.data_frame(bucket)
    packet, malformed = reference.classify(frame, PROTOCOL)
    assert len(frame) == packet_source.FRAME_BYTES == 14 + 1500
    assert not malformed
    assert packet.format == reference.DATA
    assert packet.fields["bucket"] == bucket
    assert packet.fields["rtt"] == packet_source.RTT_TICKS
    assert packet.at + reference.FIELDS[reference.DATA]["link_seq"][0] == packet_source.LINK_SEQ_AT


def test_every_bucket_is_numbered_on_its_own() -> None:
    frames = packet_source.Frames()

    def numbers() -> list[int]:
        at = packet_source.LINK_SEQ_AT
        return [int.from_bytes(bytes(frame[at : at + 2]), "big") for frame in frames.bytes]

    frames.number_next(0, 3)
    frames.number_next(2, 1)
    assert numbers()[:4] == [1, 1, 2, 0]
    for _ in range(0xFFFE):
        frames.number_next(2, 1)
    assert numbers()[2] == 0
