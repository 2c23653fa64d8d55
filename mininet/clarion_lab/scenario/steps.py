# SPDX-License-Identifier: Apache-2.0
"""Links that change during a run: their rate, their delay, their errors, from one instant to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from clarion_base.faults import Code, Fault, FaultError
from clarion_lab.scenario.fields import below, parsed
from clarion_lab.scenario.quantities import parse_rate, parse_time

T = TypeVar("T")
MIN_RATE_BPS = 1000
MAX_DELAY_US = 8_000_000  # of one link, one way: half of what the header holds


@dataclass(frozen=True)
class Steps(Generic[T]):
    """From when on a link has which value: (us of the run's clock, value), ascending. Empty: it stays."""

    steps: tuple[tuple[int, T], ...] = ()

    def at(self, first: T, time_us: int) -> T:
        """The value at an instant; `first` is the value before any step."""
        return next((value for at_us, value in reversed(self.steps) if at_us <= time_us), first)

    def mean(self, first: T, begin_us: int, end_us: int, of: Callable[[T], float]) -> float:
        """The mean of a function of the value between two instants; `first` is the value before any step."""
        if end_us <= begin_us or not self.steps:
            return of(first)
        total = 0.0
        since_us, value = begin_us, first
        for at_us, following in self.steps:
            until_us = min(max(at_us, since_us), end_us)
            total += of(value) * (until_us - since_us)
            since_us, value = until_us, following
        return (total + of(value) * (end_us - since_us)) / (end_us - begin_us)


def parse_steps(
    document: Sequence[Mapping[str, Any]], value_of: Callable[[Mapping[str, Any]], T]
) -> Steps[T]:
    """The steps of a scenario's list; FaultError for the first that makes no sense. `value_of` reads one
    entry and raises FaultError with the path inside it.
    """
    steps: list[tuple[int, T]] = []
    for index, entry in enumerate(document):
        at_us = parsed(entry, "at", parse_time, (index,))
        if at_us <= (steps[-1][0] if steps else 0):
            reason = "must be above 0 s and later than the step before"
            raise FaultError(Fault((index, "at"), reason, Code.OUT_OF_RANGE))
        with below(index):
            steps.append((at_us, value_of(entry)))
    return Steps(tuple(steps))


def rate_of(entry: Mapping[str, Any]) -> int:
    """The rate of a step, bit/s."""
    rate_bps = parsed(entry, "rate", parse_rate)
    if rate_bps < MIN_RATE_BPS:
        reason = "must be at least 1 kbit/s; a link that is away for a while has hazards.both.outages"
        raise FaultError(Fault(("rate",), reason, Code.OUT_OF_RANGE))
    return rate_bps


def delay_of(entry: Mapping[str, Any]) -> int:
    """The delay of a step, us one way."""
    if ("rtt" in entry) == ("delay" in entry):
        raise FaultError(Fault(("rtt",), "give one of rtt and delay", Code.CONFLICT))
    key = "rtt" if "rtt" in entry else "delay"
    time_us = parsed(entry, key, parse_time)
    delay_us = time_us // 2 if key == "rtt" else time_us
    if delay_us >= MAX_DELAY_US:
        bound = "16 s" if key == "rtt" else "8 s"
        raise FaultError(
            Fault((key,), f"{entry[key]}: must be below {bound}, what the header holds", Code.OUT_OF_RANGE)
        )
    return delay_us
