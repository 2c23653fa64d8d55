# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import pytest

from clarion_base import units


@pytest.mark.parametrize(
    ("text", "bits_per_s"),
    [
        ("100 Mbit/s", 100_000_000),
        ("1Gbit/s", 1_000_000_000),
        ("64 kbit/s", 64_000),
        ("2.5 Mbit/s", 2_500_000),
    ],
)
def test_rates(text: str, bits_per_s: int) -> None:
    assert units.parse_rate(text) == bits_per_s


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("550 ms", 550_000),
        ("0.25 s", 250_000),
        ("15 us", 15),
        ("2 min", 120_000_000),
    ],
)
def test_times(text: str, microseconds: int) -> None:
    assert units.parse_time(text) == microseconds


@pytest.mark.parametrize(
    ("text", "size_bytes"), [("7.1 MB", 7_100_000), ("64 KiB", 65_536), ("500 MB", 500_000_000), ("9 B", 9)]
)
def test_sizes(text: str, size_bytes: int) -> None:
    assert units.parse_size(text) == size_bytes


@pytest.mark.parametrize(
    ("text", "queue_bytes"),
    # one bandwidth-delay product of 7,125,000 bytes, packets of 1514 bytes
    [
        ("1 bdp", 7_125_000),
        ("0.25 bdp", 1_781_250),
        ("100 packets", 151_400),
        ("1 packet", 1514),
        ("64 kB", 64_000),
    ],
)
def test_queues(text: str, queue_bytes: int) -> None:
    assert units.parse_queue(text).in_bytes(7_125_000, 1514) == queue_bytes


@pytest.mark.parametrize(("text", "fraction"), [("0.1 %", 0.001), (0.001, 0.001), ("1e-4", 0.0001), (0, 0.0)])
def test_fractions(text: object, fraction: float) -> None:
    assert units.parse_fraction(text) == pytest.approx(fraction)


@pytest.mark.parametrize(
    ("parse", "text", "reason"),
    [
        (units.parse_rate, "100 Mbitt", '"100 Mbitt": unknown unit; use bit/s, kbit/s, Mbit/s, Gbit/s'),
        (units.parse_rate, "100", '"100": missing unit; use bit/s, kbit/s, Mbit/s, Gbit/s'),
        (units.parse_rate, "-1 Mbit/s", '"-1 Mbit/s": not a quantity; write a number and a unit'),
        (units.parse_time, "5 sec", '"5 sec": unknown unit; use us, ms, s, min'),
        (units.parse_size, "many", '"many": not a quantity; write a number and a unit'),
        (
            units.parse_queue,
            "3 rtts",
            '"3 rtts": unknown unit; use B, kB, MB, GB, KiB, MiB, GiB, packets',
        ),
        (units.parse_fraction, "120 %", '"120 %": beyond 1'),
        (units.parse_fraction, "1 ppm", '"1 ppm": unknown unit; use none or %'),
    ],
)
def test_refusals_name_the_legal_units(parse: object, text: str, reason: str) -> None:
    assert callable(parse)
    with pytest.raises(ValueError, match="^" + re.escape(reason)):
        parse(text)


def test_quantities_for_people() -> None:
    assert units.format_rate(95_640_687) == "95.64 Mbit/s"
    assert units.format_size(7_125_000) == "7.125 MB"
    assert units.format_rate(0) == "0 bit/s"


@pytest.mark.parametrize("text", ["1e15 bit/s", "9e999999999 Mbit/s"])
def test_absurd_numbers_are_refused_before_they_are_computed(text: str) -> None:
    with pytest.raises(ValueError, match="too large"):
        units.parse_rate(text)
