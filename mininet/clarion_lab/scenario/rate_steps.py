# SPDX-License-Identifier: Apache-2.0
"""A link whose real rate changes during a run, while XCP goes on handing out its configured capacity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clarion_base.faults import Code, Fault, FaultError
from clarion_base.units import parse_rate, parse_time


@dataclass(frozen=True)
class RateSteps:
    """From when on the link has which rate: (us of the run's clock, bit/s), ascending. Empty: it stays."""

    steps: tuple[tuple[int, int], ...] = ()

    def mean_bps(self, first_bps: int, begin_us: int, end_us: int) -> float:
        """The mean rate of a link between two instants; `first_bps` is its rate before the first step."""
        if end_us <= begin_us or not self.steps:
            return first_bps
        bits_us = 0
        since_us, rate_bps = begin_us, first_bps
        for at_us, next_bps in self.steps:
            until_us = min(max(at_us, since_us), end_us)
            bits_us += rate_bps * (until_us - since_us)
            since_us, rate_bps = until_us, next_bps
        return (bits_us + rate_bps * (end_us - since_us)) / (end_us - begin_us)

    def due(self, after_us: int, now_us: int) -> int | None:
        """The rate of the last step later than `after_us` and not later than `now_us`; None if there is
        none.
        """
        found = [rate_bps for at_us, rate_bps in self.steps if after_us < at_us <= now_us]
        return found[-1] if found else None


def parse_rate_steps(document: Sequence[Mapping[str, Any]]) -> RateSteps:
    """The steps of a scenario's list; FaultError for the first that makes no sense."""
    steps: list[tuple[int, int]] = []
    for index, entry in enumerate(document):
        values: dict[str, int] = {}
        for key, parser in (("at", parse_time), ("rate", parse_rate)):
            try:
                values[key] = parser(entry[key])
            except ValueError as error:
                raise FaultError(Fault((index, key), str(error))) from error
        if values["at"] <= (steps[-1][0] if steps else 0):
            reason = "must be above 0 s and later than the step before"
            raise FaultError(Fault((index, "at"), reason, Code.OUT_OF_RANGE))
        if values["rate"] < 1000:
            reason = "must be at least 1 kbit/s; a link that is down is not emulated"
            raise FaultError(Fault((index, "rate"), reason, Code.OUT_OF_RANGE))
        steps.append((values["at"], values["rate"]))
    return RateSteps(tuple(steps))
