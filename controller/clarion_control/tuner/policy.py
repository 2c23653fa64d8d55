# SPDX-License-Identifier: Apache-2.0
"""A policy is a pure function from the view of a port to a proposal. No I/O, no clock.

A policy's state is the memory that it returns and gets back with the next view. Memory is plain JSON and is
kept with each decision, so that a restarted controller goes on where the last one was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from clarion_contract.settings import PortSettings
from clarion_control.bit_errors import WireSample
from clarion_control.model import Interval, handed_out_bps

HISTORY = 128  # intervals of a port that a policy is shown, at most
Memory = Mapping[str, Any]
NOTHING: Memory = MappingProxyType({})


@dataclass(frozen=True)
class DepartureSample:
    """The totals of a port's departures at one instant, since its switch started."""

    time_us: int
    sent_packets: int
    sent_bytes: int


@dataclass(frozen=True)
class View:
    """The state of a port at `now_us` and its recent past; sequences run from old to new."""

    now_us: int
    settings: PortSettings  # confirmed by the switch
    changed_us: int  # when they were last changed
    reports: Sequence[Interval]
    departures: Sequence[DepartureSample] = ()
    wire: Sequence[WireSample] = ()
    measured_bps: int | None = None  # by the port, in whichever interval it did so last


@dataclass(frozen=True)
class Proposal:
    """A decision to record and carry out. `changes` is a merge patch of the port's JSON form; an empty one
    is a flag.
    """

    summary: str  # one sentence for people
    changes: Mapping[str, Any]
    evidence: Mapping[str, Any]


@dataclass(frozen=True)
class Verdict:
    """A policy's answer: observations, memory, and a proposal, if any.

    `memory` is kept if the proposal could be carried out, `memory_if_not` if it could not or there is none.
    """

    observed: Mapping[str, Any] = field(default_factory=dict)
    proposal: Proposal | None = None
    memory: Memory = field(default_factory=dict)
    memory_if_not: Memory = field(default_factory=dict)

    @classmethod
    def wait(cls, observed: Mapping[str, Any], memory: Memory) -> Verdict:
        """Nothing to propose."""
        return cls(observed, None, memory, memory)


@dataclass(frozen=True)
class Parameter:
    """A number that a user may set for a policy at a port."""

    name: str
    default: float
    unit: str
    low: float
    high: float
    meaning: str
    whole: bool = False


Judge = Callable[[View, Mapping[str, float], Memory], Verdict]


@dataclass(frozen=True)
class PolicySpec:
    """A policy with its description for REST, the dashboard and docs/tuner.md."""

    name: str
    title: str
    law: str
    guard_rails: tuple[str, ...]
    governs: tuple[str, ...]  # fields of the port's JSON form, such as "xcp.capacity_bps"
    parameters: tuple[Parameter, ...]
    judge: Judge


def capacity_bps(view: View) -> int | None:
    """What the port hands out, as far as is known."""
    return handed_out_bps(view.settings, view.measured_bps)


def settled(view: View, intervals: float) -> Iterator[Interval]:
    """From the newest on, the reports of intervals that began when the last change was at least that many
    intervals old, up to the first gap; a restarted switch counts from one again, which is a gap.
    """
    began_us = math.inf
    newer: Interval | None = None
    for each in reversed(view.reports):
        report = each.report
        if newer is not None and newer.report.intervals != report.intervals + 1:
            return
        # Reports may arrive late and together: an interval ended where the next one began.
        began_us = min(began_us, each.time_us) - report.elapsed_us
        if began_us < view.changed_us + intervals * max(report.avg_rtt_us, report.elapsed_us):
            return
        yield each
        newer = each


def mbps(bits_per_s: float) -> str:
    """A rate for a sentence."""
    return f"{bits_per_s / 1e6:.4g} Mbit/s"
