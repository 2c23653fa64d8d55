# SPDX-License-Identifier: Apache-2.0
"""Frames of every length, random and cut valid ones, through every stage of a sanitised core.

A frame without a valid header must come out unchanged, and a malformed header must be counted once.
"""

from __future__ import annotations

from random import Random

import pytest

from conformance import frames
from conformance.harness import (
    Configure,
    Dequeue,
    Driver,
    Enqueue,
    Event,
    Ingress,
    ReferencePlayer,
    State,
    decode,
    explain,
)
from conformance.reference import Config

ALL_ON = Config(xcp=True, capacity=12_500_000, stamp=True, check=True)
HEADERS = (
    frames.data(rtt=1000, x=10, delta=5, bucket=3, link_seq=7),
    frames.ack(reverse=9),
    frames.tag(bucket=3, link_seq=7),
)


def through(frame: bytes, now: int) -> list[Event]:
    return [Ingress(0, 0, now, frame), Enqueue(1, 0, now, 0), Dequeue(1, 0, now, 0)]


def check_stream(driver: Driver, stream: list[bytes]) -> None:
    events: list[Event] = [Configure(0, ALL_ON), Configure(1, ALL_ON)]
    for number, frame in enumerate(stream):
        events += through(frame, number * 100_000)
    events.append(State(0))
    got, expected = driver.play(events), ReferencePlayer().play(events)
    assert got == expected, explain(events, got, expected)
    answers = decode(events, got)
    verdicts = [answer for event, answer in answers if isinstance(event, Ingress)]
    leaving = [answer["frame"] for event, answer in answers if isinstance(event, Dequeue)]
    for frame, verdict, left in zip(stream, verdicts, leaving, strict=True):
        assert len(left) == 2 * len(frame)
        if verdict["format"] in (0, 2):  # ordinary and malformed, ACK
            assert left == frame.hex()


def test_random_bytes_of_every_length(sanitised_driver: Driver) -> None:
    random = Random(1)
    check_stream(sanitised_driver, [random.randbytes(length) for length in range(201) for _ in range(5)])


@pytest.mark.parametrize("builder", [frames.ipv4, frames.ipv6])
def test_valid_frames_cut_at_every_length(sanitised_driver: Driver, builder: type) -> None:
    whole = [builder(header + bytes(150), vlan=vlan) for header in HEADERS for vlan in (None, 7)]
    check_stream(sanitised_driver, [frame[:length] for frame in whole for length in range(201)])


def test_every_byte_of_a_valid_frame_at_extreme_values(sanitised_driver: Driver) -> None:
    stream = []
    for header in HEADERS:
        for frame in (
            frames.ipv4(header + bytes(20)),
            frames.ipv6(header + bytes(20)),
            frames.ipv4(header, vlan=1),
        ):
            for at in range(len(frame)):
                stream += [frame[:at] + bytes([value]) + frame[at + 1 :] for value in (0, 1, 127, 128, 255)]
    check_stream(sanitised_driver, stream)


def test_malformed_is_counted_once_per_frame(driver: Driver) -> None:
    # 32 bytes of DATA behind 34 of Ethernet and IPv4. The protocol number is readable from 34 bytes on, the
    # header complete from 66 on: the 32 lengths between are malformed, the 34 before and the 5 after are not.
    whole = frames.ipv4(HEADERS[0] + bytes(4))
    events: list[Event] = [Ingress(0, 0, 0, whole[:length]) for length in range(len(whole) + 1)]
    events.append(State(0))
    answers = decode(events, driver.play(events))
    assert answers[-1][1]["malformed"] == 32
    assert [answer["format"] for _, answer in answers[:-1]] == [0] * 66 + [1] * 5
