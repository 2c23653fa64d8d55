# SPDX-License-Identifier: Apache-2.0
"""Numbers for display: with unit, three significant digits, and no exponent except for a BER.

None, which stands for "not known", becomes a dash everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from decimal import Decimal

DASH = "\N{EN DASH}"
GAP = "\N{NO-BREAK SPACE}"  # a number and its unit stay on one line
MINUS = "\N{MINUS SIGN}"

_RATES = ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1, "bit/s"))
_SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B"))
_TIMES = ((1e6, "s"), (1e3, "ms"), (1, "µs"))
_AGES = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def rate(bits_per_s: float | None) -> str:
    """A rate in decimal units: 96.5 Mbit/s."""
    return _scaled(bits_per_s, _RATES)


def size(size_bytes: float | None) -> str:
    """A size in decimal units: 7.13 MB."""
    return _scaled(size_bytes, _SIZES)


def duration(us: float | None) -> str:
    """A time span given in microseconds, up to seconds: 550 ms."""
    return _scaled(us, _TIMES)


def percent(share: float | None) -> str:
    """A share, 1 being all: 96.5 %."""
    return DASH if share is None else f"{share * 100:.1f}{GAP}%".replace("-", MINUS)


def count(number: float | None) -> str:
    """A number of things, in groups of three digits: 12 345."""
    return DASH if number is None else f"{round(number):,}".replace(",", GAP).replace("-", MINUS)


def packets(number: int) -> str:
    """A total of packets: 12 345 packets in all."""
    return f"{count(number)} packet{'' if number == 1 else 's'} in all"


def per_second(number: float | None) -> str:
    """How many packets a second."""
    if number is None:
        return DASH
    return f"{count(number) if abs(number) >= 99.95 else f'{number:.1f}'}{GAP}pkt/s"


def coefficient(number: float | None) -> str:
    """A plain number, as it would be typed: 0.226."""
    if number is None:
        return DASH
    return f"{number:.5f}".rstrip("0").rstrip(".") or "0"


def error_rate(share: float | None) -> str:
    """A bit error rate: 3.2 × 10⁻⁷; 0 if no error was seen."""
    if share is None:
        return DASH
    if share <= 0:
        return "0"
    exponent = math.floor(math.log10(share))
    mantissa = round(share / 10**exponent, 1)
    if mantissa >= 10:
        mantissa, exponent = 1.0, exponent + 1
    return f"{mantissa:.1f}{GAP}\N{MULTIPLICATION SIGN}{GAP}10{str(exponent).translate(_SUPERSCRIPT)}"


def age(seconds: float) -> str:
    """How long ago, in its two largest units: 2 h 5 min."""
    left = max(0, round(seconds))
    parts = []
    for unit_s, unit in _AGES:
        whole, left = divmod(left, unit_s)
        if whole:
            parts.append(f"{whole}{GAP}{unit}")
        elif parts:
            break
        if len(parts) == 2:
            break
    return GAP.join(parts) or f"0{GAP}s"


def instant(time_us: int | None) -> str:
    """A point in time, to the second, in UTC: 2026-11-21 21:04:00 UTC."""
    if time_us is None:
        return DASH
    try:
        return f"{datetime.fromtimestamp(time_us / 1e6, timezone.utc):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError):  # Python knows no year behind 9999
        return "after 9999"


def _scaled(value: float | None, units: tuple[tuple[float, str], ...]) -> str:
    if value is None or not math.isfinite(value):
        return DASH
    for scale, unit in units:
        # 999.6 Mbit/s rounds to 1.00 Gbit/s, so the unit is chosen by the rounded value
        if abs(value) >= scale * 0.9995 or unit == units[-1][1]:
            return f"{_digits(value / scale)}{GAP}{unit}"
    raise AssertionError("the last unit takes everything")


def _digits(value: float) -> str:
    """Three significant digits but never fewer than the whole ones; no zeros behind the point."""
    if not math.isfinite(value):
        return DASH
    magnitude = abs(value)
    if magnitude < 0.0005:
        return "0"
    decimals = 0 if magnitude >= 99.95 else 1 if magnitude >= 9.995 else 2 if magnitude >= 0.9995 else 3
    text = f"{magnitude:.{decimals}f}"
    if decimals:
        text = text.rstrip("0").rstrip(".")
    return MINUS + text if value < 0 else text


def exact_rate(bits_per_s: int) -> str:
    """A rate with all its digits, as it can be typed: 39.214567 Mbit/s."""
    return _exact(bits_per_s, _RATES[1:])


def exact_size(size_bytes: int) -> str:
    """A size with all its digits."""
    return _exact(size_bytes, _SIZES[1:])


def exact_duration(us: int) -> str:
    """A time span with all its digits, in units that can be typed."""
    return _exact(us, (*_TIMES[:-1], (1, "us")))


def _exact(value: int, units: tuple[tuple[float, str], ...]) -> str:
    for scale, unit in units:
        if abs(value) >= scale or unit == units[-1][1]:
            number = format(Decimal(value) / Decimal(int(scale)), "f")
            return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"
    raise AssertionError("the last unit takes everything")


def named(name: str, value: object) -> tuple[str, str]:
    """Label and text of a record's field, by the unit in its name: ("capacity", "100 Mbit/s")."""
    words = name.rpartition(".")[2]
    if isinstance(value, bool):
        return _words(words), "on" if value else "off"
    if value is None:
        for suffix in _BY_SUFFIX:
            words = words.removesuffix(suffix)
        return _words(words), "none"
    if isinstance(value, (int, float)):
        if words in _PLAIN:
            return _words(words), error_rate(value)
        if words.endswith("_us") and value > _LONG_AGO_US:
            return _words(words.removesuffix("_us")), instant(int(value))
        for suffix, write in _BY_SUFFIX.items():
            if words.endswith(suffix):
                return _words(words.removesuffix(suffix)), write(value)
        return _words(words), count(value) if isinstance(value, int) else general(value)
    if isinstance(value, Mapping):
        return _words(words), ", ".join(" ".join(named(key, each)) for key, each in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return _words(words), ", ".join(named(words, each)[1] for each in value) or "none"
    return _words(words), str(value)


def general(number: float) -> str:
    """A number of unknown unit: four significant digits, tiny ones as powers of ten."""
    if number and abs(number) < 1e-4:
        return error_rate(number)
    return f"{number:.4g}" if abs(number) < 1e4 else count(number)


_LONG_AGO_US = 1e15  # 2001: no time span is that long, so it is a point in time
_PLAIN = ("per", "per_low", "per_high", "baseline_per", "ber", "ber_low", "ber_high")  # error rates
_BY_SUFFIX: Mapping[str, Callable[[float], str]] = {
    "_bps": rate,
    "_bytes": size,
    "_us": duration,
    "_ms": lambda ms: duration(ms * 1000),
    "_s": lambda s: duration(s * 1e6),
    "_share": percent,
}


def _words(name: str) -> str:
    return name.replace("_", " ")
