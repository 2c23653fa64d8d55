# SPDX-License-Identifier: Apache-2.0
"""The numbers that people compare, as rows of text: the same in the terminal and in the report."""

from __future__ import annotations

from typing import Any

from clarion_base.text_table import MISSING, number, percent
from clarion_lab.results.bottlenecks import bottlenecks

COLUMNS = (
    "run",
    "goodput Mbit/s",
    "of limit",
    "Jain",
    "queue/BDP",
    "retransmits",
    "lost on wire",
    "lost in queue",
    "tag precision",
    "tag recall",
    "decisions right/wrong/missed",
)


def row(name: str, summary: dict[str, Any]) -> list[str]:
    """One run as the columns above."""
    totals = summary["totals"]
    losses = totals["losses"]
    tags = (totals["tags"] or {}).get("all") or {}
    queues = [port["queue_mean_bdp"] for port in bottlenecks(summary)]
    known = [queue for queue in queues if queue is not None]
    return [
        name,
        number(totals["goodput_bits_per_s"] / 1e6, 1),
        percent(totals["fraction_of_limit"]),
        number(totals["jain"], 4),
        percent(max(known) if known else None),
        str(totals["retransmits"]),
        str(losses.get("data_wire", 0)),
        str(losses.get("data_queue", 0)),
        number(tags.get("precision"), 4),
        number(tags.get("recall"), 4),
        verdicts(totals["decisions"]),
    ]


def verdicts(decisions: dict[str, Any] | None) -> str:
    """The counts of right, wrong and missed decisions; a dash where they were not recorded."""
    if not decisions or not decisions.get("recorded", True):
        return MISSING
    return "/".join(str(decisions[verdict]) for verdict in ("right", "wrong", "missed"))


def spread_row(name: str, estimates: dict[str, Any]) -> list[str]:
    """Several repeats of one point as the columns above, means with 95 % half widths."""

    def spread(metric: str, scale: float = 1.0, digits: int = 1, unit: str = "") -> str:
        found = estimates.get(metric)
        if not found:
            return MISSING
        half = "" if found["ci95"] is None else f" ± {found['ci95'] * scale:.{digits}f}"
        return f"{found['mean'] * scale:.{digits}f}{half}{unit}"

    return [
        f"{name} x{max((found['n'] for found in estimates.values()), default=0)}",
        spread("goodput_bits_per_s", 1e-6),
        spread("fraction_of_limit", 100, 1, " %"),
        spread("jain", 1, 4),
        spread("queue_mean_bdp", 100, 1, " %"),
        spread("retransmits", 1, 0),
        spread("lost_wire", 1, 0),
        spread("lost_queue", 1, 0),
        spread("tag_precision", 1, 4),
        spread("tag_recall", 1, 4),
        "/".join(spread(f"decisions_{verdict}", 1, 0) for verdict in ("right", "wrong", "missed"))
        if "decisions_right" in estimates
        else MISSING,
    ]
