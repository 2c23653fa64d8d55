# SPDX-License-Identifier: Apache-2.0
"""The quantities of a scenario: those of clarion_base.units, within what the switch and the simulator hold.

Every parser takes the text and raises ValueError with a reason.
"""

from __future__ import annotations

from clarion_base import units

MAX_RATE_BPS = 400_000_000_000
MAX_TIME_US = 100 * 86_400 * 10**6
MAX_BYTES = 1 << 53
MIN_QUEUE_BYTES = 2048  # one full frame with all headers
MAX_QUEUE_BYTES = 1 << 31


def parse_rate(text: object) -> int:
    """A rate in bit/s."""
    return _bounded(units.parse_rate(text), MAX_RATE_BPS, text, "400 Gbit/s")


def parse_time(text: object) -> int:
    """A time in microseconds."""
    return _bounded(units.parse_time(text), MAX_TIME_US, text, "100 days")


def parse_short_time(text: object) -> int:
    """A time of a queue or a wire, in microseconds: above 0, at most a minute."""
    return _above_0(_bounded(units.parse_time(text), 60_000_000, text, "60 s"))


def parse_size(text: object) -> int:
    """A size in bytes."""
    return _bounded(units.parse_size(text), MAX_BYTES, text, "9 PB")


def parse_room(text: object) -> int:
    """A size of what a queue holds or sends in turn, in bytes: above 0, at most 2 GiB."""
    return _above_0(_bounded(units.parse_size(text), MAX_QUEUE_BYTES, text, "2 GiB"))


def parse_queue(text: object) -> units.QueueLimit:
    """A limit of a queue, or a threshold in it: above 0."""
    limit = units.parse_queue(text)
    _above_0(limit.amount)
    return limit


def _bounded(value: int, most: int, text: object, bound: str) -> int:
    if value > most:
        raise ValueError(f'"{text}": must be at most {bound}')
    return value


def _above_0(value: float) -> int:
    if value == 0:
        raise ValueError("must be above 0")
    return int(value)
