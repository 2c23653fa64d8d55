# SPDX-License-Identifier: Apache-2.0
"""For any reports, policies give a verdict and propose only valid settings."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from clarion_contract.checks import checked_settings
from clarion_contract.settings import XCP, PortSettings, XcpSettings
from clarion_contract.settings_json import merged
from clarion_contract.telemetry import DIGESTS, interval_report
from clarion_control.bit_errors import WireSample
from clarion_control.model import Interval
from clarion_control.tuner.policy import NOTHING, DepartureSample, PolicySpec, View
from clarion_control.tuner.registry import POLICIES, checked_parameters

WIDTHS = {  # of the members of interval_report_t, bits
    "elapsed": 32,
    "avg_rtt": 32,
    "input": 48,
    "sum_x": 48,
    "sum_x_rtt": 64,
    "queue": 40,
    "rate": 46,
    "phi": 64,
    "pos": 48,
    "neg": 48,
    "cp": 32,
    "cp_shift": 6,
    "cn": 32,
    "cn_shift": 6,
    "corrupt_total": 64,
    "congest_total": 64,
    "measured": 38,
}
MEMBERS = DIGESTS["interval_report_t"].members
SEEDS = range(300)


def number(source: random.Random, bits: int) -> int:
    """A number of any magnitude, sometimes 0 or the maximum."""
    kind = source.random()
    if kind < 0.1:
        return 0
    return 2**bits - 1 if kind < 0.15 else source.getrandbits(source.randint(1, bits))


def reports(source: random.Random) -> list[Interval]:
    """Consecutive intervals, with gaps and restarts; all equal, or each different."""
    varied, time_us, intervals = source.random() < 0.5, 10**9, source.randrange(10)
    made = []
    fields: dict[str, int] = {}
    for _ in range(source.choice([0, 3, 8, 60])):
        if not fields or varied:
            fields = {name: number(source, bits) for name, bits in WIDTHS.items()}
            if source.random() < 0.7:  # between 1 ms and 1 s
                fields["elapsed"] = fields["avg_rtt"] = source.randint(2**18, 2**28)
        intervals = intervals + 1 if source.random() < 0.97 else number(source, 32)
        time_us += source.choice([0, 1, 50_000])
        values = {**fields, "port": 1, "intervals": intervals}
        report = interval_report([values[name] for name in MEMBERS])
        made.append(Interval(time_us, "s1", report))
    return made


def port(source: random.Random) -> PortSettings:
    if source.random() < 0.05:
        return PortSettings(1)
    alpha = source.uniform(0.01, 0.5543)
    capacity_bps = min(XCP["capacity_bps"].most, max(8, number(source, 41)))
    if source.random() < 0.1:
        capacity_bps = 0  # measured
    gamma = source.uniform(0.001, 0.99)
    return PortSettings(1, XcpSettings(capacity_bps, alpha=alpha, beta=alpha**2 * 2**0.5, gamma=gamma))


def view(source: random.Random, settings: PortSettings, shown: list[Interval]) -> View:
    now_us = shown[-1].time_us if shown else 0
    measured = (each.report.measured_bps for each in reversed(shown) if each.report.measured_bps is not None)
    few = range(source.randrange(6))
    return View(
        now_us + source.randrange(10**6),
        settings,
        source.choice([0, now_us // 2, now_us]),
        shown,
        [DepartureSample(now_us - 10**5 + 20_000 * n, number(source, 64), number(source, 64)) for n in few],
        [
            WireSample(
                now_us + n,
                number(source, 64),
                number(source, 64),
                number(source, 64),
                number(source, 64),
                n % 2 == 0,
            )
            for n in few
        ],
        next(measured, None),
    )


@pytest.mark.parametrize("spec", POLICIES.values(), ids=POLICIES)
def test_any_reports(spec: PolicySpec) -> None:
    parameters = checked_parameters(spec.name, {})
    proposed = 0
    for seed in SEEDS:
        source = random.Random(seed)
        given, settings = reports(source), port(source)
        memory: Any = NOTHING
        for end in (len(given) // 2, len(given)):
            verdict = spec.judge(view(source, settings, given[:end]), parameters, memory)
            json.dumps(dict(verdict.observed), allow_nan=False)
            memory = verdict.memory if verdict.proposal else verdict.memory_if_not
            memory = json.loads(json.dumps(dict(memory), allow_nan=False))
            if verdict.proposal is None:
                continue
            proposed += 1
            json.dumps(dict(verdict.proposal.evidence), allow_nan=False)
            assert verdict.proposal.summary.endswith(".")
            after = merged("s1", settings, verdict.proposal.changes)
            assert checked_settings("s1", [1], [after]), seed
            assert (after != settings) == bool(verdict.proposal.changes), seed
            settings = after
    assert proposed > 0 or spec.name == "noise"
