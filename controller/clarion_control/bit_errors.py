# SPDX-License-Identifier: Apache-2.0
"""Error rates of a wire from counts of packets, with intervals. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

Z_95 = 1.959964  # of the normal distribution: 95 % lie within


@dataclass(frozen=True)
class ErrorRates:
    """Packet and bit error rate with the bounds of a 95 % interval; the bit rates are None without bytes."""

    lost_packets: int
    received_packets: int
    per: float
    per_low: float
    per_high: float
    ber: float | None
    ber_low: float | None
    ber_high: float | None

    def as_json(self) -> dict[str, float | int | None]:
        """For evidence and REST."""
        return asdict(self)


def error_rates(
    lost_packets: int, received_packets: int, received_bytes: int, dispersion: float = 1.0
) -> ErrorRates | None:
    """The rates of a wire over which `received` came and `lost` did not; None if nothing was sent.

    The bit error rate is that of independent bit errors which lose packets of the mean length at this rate:
    1 - PER = (1 - BER)^(8 length). `dispersion` is the variance of the losses over that of independent ones;
    bursts make it larger than 1 and the interval wider by its square root.
    """
    sent = lost_packets + received_packets
    if sent <= 0:
        return None
    low, high = wilson(lost_packets, sent, dispersion)
    per = lost_packets / sent
    bits = 8 * received_bytes / received_packets if received_packets > 0 and received_bytes > 0 else None
    ber, ber_low, ber_high = (None if bits is None else _bit_rate(rate, bits) for rate in (per, low, high))
    return ErrorRates(lost_packets, received_packets, per, low, high, ber, ber_low, ber_high)


def never_came(lost_packets: int, counted: Mapping[str, int]) -> int:
    """The packets that a wire lost for good, by the last report and a port's counters of packets.

    A packet that only came late was counted as lost before.
    """
    return max(0, lost_packets - counted.get("wire_late", 0))


def wilson(hits: float, trials: float, dispersion: float = 1.0) -> tuple[float, float]:
    """Wilson's 95 % interval of a proportion, zero hits included. Bursts count as fewer trials."""
    hits, trials = hits / dispersion, trials / dispersion
    share = hits / trials
    centre = share + Z_95**2 / (2 * trials)
    half = Z_95 * math.sqrt(share * (1 - share) / trials + Z_95**2 / (4 * trials**2))
    scale = 1 + Z_95**2 / trials
    low = 0.0 if hits == 0 else max(0.0, (centre - half) / scale)
    return low, min(1.0, (centre + half) / scale)


def _bit_rate(per: float, bits: float) -> float:
    if per >= 1:
        return 1.0
    return -math.expm1(math.log1p(-per) / bits)
