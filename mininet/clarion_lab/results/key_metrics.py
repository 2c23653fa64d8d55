# SPDX-License-Identifier: Apache-2.0
"""The numbers of a run that are compared between runs and averaged over repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clarion_lab.results import metrics
from clarion_lab.results.bottlenecks import bottlenecks


def estimate_all(samples: Sequence[dict[str, float | None]]) -> dict[str, Any]:
    """Estimates of every metric that has a value in at least one repeat."""
    found = {}
    for metric in samples[0]:
        values = [value for sample in samples if (value := sample[metric]) is not None]
        if values:
            found[metric] = metrics.estimate(values)._asdict()
    return found


def _applications(summary: dict[str, Any]) -> dict[str, float | None]:
    """Of runs with applications or proxies; other runs have no such metrics."""
    moved = [flow["application"] for flow in summary["flows"] if flow.get("application")]
    found: dict[str, float | None] = {}
    for metric in ("completed_s", "first_byte_s") if moved else ():
        times = [each[metric] for each in moved]
        found[metric] = max(times) if None not in times else None
    for role, took in (summary["totals"].get("proxy") or {}).items():
        found[f"{role}_cpu_s_per_gbyte"] = took["cpu_s_per_gbyte"]
    return found


def key_metrics(summary: dict[str, Any]) -> dict[str, float | None]:
    """From a run's summary; None for what was not measured."""
    totals = summary["totals"]
    tags = (totals["tags"] or {}).get("all") or {}
    queues = [port["queue_mean_bdp"] for port in bottlenecks(summary)]
    return {
        "goodput_bits_per_s": totals["goodput_bits_per_s"],
        "fraction_of_ceiling": totals["fraction_of_ceiling"],
        "fraction_of_limit": totals["fraction_of_limit"],
        "jain": totals["jain"],
        "queue_mean_bdp": max((queue for queue in queues if queue is not None), default=None),
        "convergence_s": totals["convergence"]["time_s"] if totals["convergence"] else None,
        "settling_s": totals["settling"]["time_s"] if totals["settling"] else None,
        "newcomer_round_trips": totals["newcomer"]["round_trips"] if totals["newcomer"] else None,
        **_applications(summary),
        "retransmits": totals["retransmits"],
        "lost_wire": totals["losses"].get("data_wire", 0),
        "lost_queue": totals["losses"].get("data_queue", 0),
        "tag_precision": tags.get("precision"),
        "tag_recall": tags.get("recall"),
        **{
            f"decisions_{verdict}": totals["decisions"].get(verdict)
            for verdict in ("right", "wrong", "missed")
        },
    }
