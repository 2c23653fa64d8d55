# SPDX-License-Identifier: Apache-2.0
"""`clarion compare A B`: ratios B / A of what both measured, with 95 % intervals where there are repeats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clarion_base import text_table
from clarion_base.errors import UserError
from clarion_lab.recording import files
from clarion_lab.results import metrics
from clarion_lab.results.key_metrics import key_metrics

METRICS = ("goodput_bits_per_s", "fraction_of_limit", "queue_mean_bdp", "retransmits", "convergence_s")
COLUMNS = ("point", "metric", "A", "B", "B / A", "95 % interval")


def compare(first: Path, second: Path) -> list[dict[str, Any]]:
    """One entry per point and metric that both sides measured; UserError if they share no point."""
    left, right = _samples(first), _samples(second)
    shared = [point for point in left if point in right]
    if not shared and len(left) == len(right) == 1:
        (only_left,), (only_right,) = left, right
        left = {"": left[only_left]}
        right = {"": right[only_right]}
        shared = [""]
    if not shared:
        raise UserError(f"compare: no point in common: {', '.join(left)} against {', '.join(right)}")
    return [
        entry
        for point in shared
        for metric in METRICS
        if (entry := _entry(point, metric, left[point], right[point]))
    ]


def table(entries: list[dict[str, Any]]) -> str:
    """The comparison as text."""
    rows = []
    for entry in entries:
        known = entry["low"] is not None
        interval = f"{entry['low']:.3f} to {entry['high']:.3f}" if known else text_table.MISSING
        ratio = text_table.number(entry["ratio"], 3)
        rows.append(
            [
                entry["point"] or "all",
                entry["metric"],
                f"{entry['a']:.4g}",
                f"{entry['b']:.4g}",
                ratio,
                interval,
            ]
        )
    return text_table.plain(rows, COLUMNS)


def _samples(directory: Path) -> dict[str, list[dict[str, float | None]]]:
    summary = files.read_summary(directory)
    if summary["format"] == files.RUN_FORMAT:
        return {summary["point"]: [key_metrics(summary)]}
    found: dict[str, list[dict[str, float | None]]] = {}
    for run in summary["runs"]:
        found.setdefault(run["point"], []).append(run["metrics"])
    return found


def _entry(
    point: str, metric: str, left: list[dict[str, float | None]], right: list[dict[str, float | None]]
) -> dict[str, Any] | None:
    a = [value for sample in left if (value := sample[metric]) is not None]
    b = [value for sample in right if (value := sample[metric]) is not None]
    if not a or not b:
        return None
    ratio = metrics.ratio(b, a)
    return {
        "point": point,
        "metric": metric,
        "a": metrics.estimate(a).mean,
        "b": metrics.estimate(b).mean,
        "n_a": len(a),
        "n_b": len(b),
        "ratio": ratio.value if ratio else None,
        "low": ratio.low if ratio else None,
        "high": ratio.high if ratio else None,
    }
