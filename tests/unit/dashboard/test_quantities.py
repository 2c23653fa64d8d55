# SPDX-License-Identifier: Apache-2.0
"""Formatting of quantities for people; spelled here with ASCII characters."""

from __future__ import annotations

import pytest

from clarion_base.units import parse_rate, parse_size, parse_time
from clarion_control.dashboard import quantities

KEYBOARD = str.maketrans(
    {quantities.GAP: " ", quantities.DASH: "-", quantities.MINUS: "-", "\N{MULTIPLICATION SIGN}": "x"}
)


def plain(text: str) -> str:
    return text.translate(KEYBOARD)


@pytest.mark.parametrize(
    ("bits_per_s", "text"),
    [
        (None, "-"),
        (float("nan"), "-"),
        (0, "0 bit/s"),
        (999, "999 bit/s"),
        (1000, "1 kbit/s"),
        (96_543_210, "96.5 Mbit/s"),
        (100_000_000, "100 Mbit/s"),
        (999_960_000, "1 Gbit/s"),  # rounded it is not 1000 Mbit/s
        (2.345e9, "2.35 Gbit/s"),
        (4.2e14, "420 Tbit/s"),
        (-3_500_000, "-3.5 Mbit/s"),
    ],
)
def test_rates(bits_per_s: float | None, text: str) -> None:
    assert plain(quantities.rate(bits_per_s)) == text


def test_sizes_times_shares_and_counts() -> None:
    assert plain(quantities.size(7_131_000)) == "7.13 MB"
    assert plain(quantities.size(0)) == "0 B"
    assert plain(quantities.duration(570_000)) == "570 ms"
    assert plain(quantities.duration(1.21)) == "1.21 µs"
    assert plain(quantities.duration(90e6)) == "90 s"
    assert plain(quantities.percent(0.9653)) == "96.5 %"
    assert plain(quantities.percent(-0.0013)) == "-0.1 %"
    assert plain(quantities.count(1_234_567)) == "1 234 567"
    assert plain(quantities.packets(1)) == "1 packet in all"
    assert plain(quantities.packets(1200)) == "1 200 packets in all"
    assert plain(quantities.per_second(6.98)) == "7.0 pkt/s"
    assert plain(quantities.per_second(1234.5)) == "1 234 pkt/s"


@pytest.mark.parametrize(
    ("share", "text"),
    [(None, "-"), (0, "0"), (3.24e-7, "3.2 x 10⁻⁷"), (9.99e-8, "1.0 x 10⁻⁷"), (0.5, "5.0 x 10⁻¹")],
)
def test_error_rates(share: float | None, text: str) -> None:
    assert plain(quantities.error_rate(share)) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (-5, "0 s"), (59.6, "1 min"), (61, "1 min 1 s"), (7_500, "2 h 5 min"), (180_000, "2 d 2 h")],
)
def test_ages(seconds: float, text: str) -> None:
    assert plain(quantities.age(seconds)) == text


def test_an_instant_is_utc() -> None:
    assert quantities.instant(1_700_000_000_000_000) == "2023-11-14 22:13:20 UTC"
    assert plain(quantities.instant(None)) == "-"


@pytest.mark.parametrize("value", [1, 999, 1000, 39_214_567, 100_000_000, 2_500_000_001, 10**13])
def test_exact_quantities_are_read_back_the_same(value: int) -> None:
    assert parse_rate(quantities.exact_rate(value)) == value
    assert parse_size(quantities.exact_size(value)) == value
    assert parse_time(quantities.exact_duration(value)) == value


def test_exact_quantities_have_all_digits() -> None:
    assert quantities.exact_rate(39_214_567) == "39.214567 Mbit/s"
    assert quantities.exact_rate(100_000_000) == "100 Mbit/s"
    assert quantities.exact_duration(1500) == "1.5 ms"


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("xcp.capacity_bps", 39_200_000, ("capacity", "39.2 Mbit/s")),
        ("avg_rtt_us", 570_000.0, ("avg rtt", "570 ms")),
        ("evidence_ms", 100, ("evidence", "100 ms")),
        ("queue_limit_bytes", None, ("queue limit", "none")),
        ("stamp", True, ("stamp", "on")),
        ("ber", 3.4e-8, ("ber", "3.4 x 10⁻⁸")),
        ("intervals", 12_000, ("intervals", "12 000")),
        ("swing", 0.05123, ("swing", "0.05123")),
        ("ports", [1, 2], ("ports", "1, 2")),
        ("rates", {"input_bps": 1000}, ("rates", "input 1 kbit/s")),
        ("from_us", 1_700_000_000_000_000, ("from", "2023-11-14 22:13:20 UTC")),
        ("state", "degrading", ("state", "degrading")),
    ],
)
def test_fields_of_records_say_what_they_are(name: str, value: object, shown: tuple[str, str]) -> None:
    words, text = quantities.named(name, value)
    assert (words, plain(text)) == shown
