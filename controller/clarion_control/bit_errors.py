# SPDX-License-Identifier: Apache-2.0
"""Error rates of the wire into a port, with intervals: the one estimate of policy "noise" and the dashboard.

A packet that comes late was counted as lost before. So the number of lost packets can fall; the totals behind
it cannot, unless the switch has restarted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from clarion_control.model import PortCounters

Z_95 = 1.959964  # of the normal distribution: 95 % lie within


@dataclass(frozen=True)
class WireSample:
    """The totals of the wire into a port at one instant, since its switch started."""

    time_us: int
    counted_packets: int  # as lost by the sequence check, late ones included
    late_packets: int  # of these, those that came after all
    received_packets: int
    received_bytes: int
    exact: bool = True  # False: no counter of received packets; all that left by the other ports stand in

    @property
    def lost_packets(self) -> int:
        """The packets that never came. Reports and counters are read one after the other, so that a late
        packet may be known before its loss.
        """
        return max(0, self.counted_packets - self.late_packets)

    def restarted_since(self, earlier: WireSample) -> bool:
        """Whether the switch has restarted in between: a total has fallen."""
        return (
            self.counted_packets < earlier.counted_packets
            or self.late_packets < earlier.late_packets
            or self.received_packets < earlier.received_packets
        )


def wire_sample(
    counted_packets: int, counters: PortCounters, elsewhere: tuple[int, int] | None = None
) -> WireSample | None:
    """The sample of a port's last report and counters. Packets and bytes that left `elsewhere` stand in where
    the switch does not count received ones; without them there is no sample.
    """
    exact = "rx" in counters.packets and "rx" in counters.bytes
    if not exact and elsewhere is None:
        return None
    received = (counters.packets["rx"], counters.bytes["rx"]) if exact else elsewhere
    assert received is not None
    late = counters.packets.get("wire_late", 0)
    return WireSample(counters.time_us, counted_packets, late, *received, exact)


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


@dataclass(frozen=True)
class WireEstimate:
    """The rates between two samples."""

    first: WireSample
    last: WireSample
    rates: ErrorRates


def estimate(
    samples: Sequence[WireSample], now_us: int, window_us: float, dispersion: float = 1.0
) -> WireEstimate | None:
    """The rates over the window before `now_us`, which begins with the last sample before it; only samples
    since the last restart of the switch count. None without two samples, a recent one, or any packet.
    """
    begin = 0
    for index in range(1, len(samples)):
        if samples[index].restarted_since(samples[index - 1]):
            begin = index
    recent = samples[begin:]
    if len(recent) < 2 or recent[-1].time_us < now_us - window_us:
        return None
    before = [each for each in recent[:-1] if each.time_us <= now_us - window_us]
    first, last = before[-1] if before else recent[0], recent[-1]
    rates = error_rates(
        max(0, last.lost_packets - first.lost_packets),
        last.received_packets - first.received_packets,
        last.received_bytes - first.received_bytes,
        dispersion,
    )
    return None if rates is None else WireEstimate(first, last, rates)


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
