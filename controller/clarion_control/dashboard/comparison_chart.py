# SPDX-License-Identifier: Apache-2.0
"""A comparison as a chart: options for ECharts. What is compared, and the statistics, are the library's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

COLOURS = ("var(--series-1)", "var(--series-2)", "var(--series-3)", "var(--series-4)", "var(--muted)")
UNITS = {"_bits_per_s": "bit/s", "_bps": "bit/s", "_s": "s", "_bytes": "B"}

Comparison = Mapping[str, Any]  # as `clarion compare --json` prints it


def unit_of(metric: str) -> str:
    """The unit in the name of a metric; none for a ratio or a count."""
    return next((unit for end, unit in UNITS.items() if metric.endswith(end)), "")


def options(comparison: Comparison) -> dict[str, Any]:
    """Curves where the parameter along the axis is a number; else boxes, one for each group and value."""
    is_curve = comparison["axis"] in ("linear", "log")
    label = f"value => clarion.si(value, {unit_of(comparison['metric'])!r})"
    made = _curves(comparison) if is_curve else _boxes(comparison)
    return {
        "animation": False,
        "aria": {"enabled": True, "label": {"description": describe(comparison)}},
        "grid": {"left": 8, "right": 26, "top": 34, "bottom": 24 if is_curve else 4, "containLabel": True},
        "legend": {
            "show": is_curve,
            "left": 4,
            "top": 0,
            "type": "scroll",
            "icon": "roundRect",
            "itemWidth": 14,
            "itemHeight": 4,
            "data": [group["label"] for group in comparison["groups"]],
            "textStyle": {"color": "var(--muted)", "fontSize": 12},
        },
        "tooltip": {
            "trigger": "item",
            "confine": True,
            "backgroundColor": "var(--surface)",
            "borderColor": "var(--line)",
            "textStyle": {"color": "var(--text)", "fontSize": 12},
            ":valueFormatter": label,
        },
        "yAxis": {
            "type": "value",
            "scale": True,
            "splitNumber": 4,
            "axisLabel": {"color": "var(--muted)", "fontSize": 11, ":formatter": label},
            "splitLine": {"lineStyle": {"color": "var(--line)", "opacity": 0.6}},
        },
        **made,
    }


def describe(comparison: Comparison) -> str:
    """What the chart shows, in one line."""
    if comparison["axis"] in ("linear", "log"):
        return f"{comparison['metric']} over {comparison['over']}: mean and 95 % interval"
    over = f" at each {comparison['over']}" if comparison["over"] else ""
    return f"{comparison['metric']}{over}: least, quartiles, median, most"


def _curves(comparison: Comparison) -> dict[str, Any]:
    unit = comparison["unit"]
    label = f"value => clarion.si(value, {unit!r})" if unit in ("bit/s", "B") else "value => value"
    series: list[dict[str, Any]] = []
    for index, group in enumerate(comparison["groups"]):
        series += _curve(group["label"], group["points"], COLOURS[index % len(COLOURS)])
    return {
        "xAxis": {
            "type": "log" if comparison["axis"] == "log" else "value",
            "scale": True,
            "name": comparison["over"] + (f" ({unit})" if unit else ""),
            "nameLocation": "middle",
            "nameGap": 26,
            "nameTextStyle": {"color": "var(--muted)"},
            "axisLine": {"lineStyle": {"color": "var(--line)"}},
            "splitLine": {"show": False},
            "axisLabel": {"color": "var(--muted)", "fontSize": 11, ":formatter": label},
        },
        "series": series,
    }


def _curve(label: str, points: Sequence[Mapping[str, Any]], colour: str) -> list[dict[str, Any]]:
    """The means, and the interval as the area between two lines that are stacked."""
    known = [point for point in points if point["low"] is not None]
    edge = {"type": "line", "stack": label, "stackStrategy": "all", "symbol": "none", "silent": True}
    edge |= {"lineStyle": {"opacity": 0}, "tooltip": {"show": False}}
    return [
        {**edge, "name": f"{label}, low", "data": [[each["value"], each["low"]] for each in known]},
        {
            **edge,
            "name": f"{label}, interval",
            "data": [[each["value"], each["high"] - each["low"]] for each in known],
            "areaStyle": {"color": colour, "opacity": 0.14},
        },
        {
            "type": "line",
            "name": label,
            "data": [[point["value"], point["mean"]] for point in points],
            "symbolSize": 6,
            "itemStyle": {"color": colour},
            "lineStyle": {"color": colour, "width": 1.75},
        },
    ]


def _boxes(comparison: Comparison) -> dict[str, Any]:
    boxes = [
        (", ".join(filter(None, (group["label"], point["at"]))), point)
        for group in comparison["groups"]
        for point in group["points"]
    ]
    return {
        "xAxis": {
            "type": "category",
            "data": [name for name, _ in boxes],
            "axisLine": {"lineStyle": {"color": "var(--line)"}},
            "axisTick": {"show": False},
            "axisLabel": {"color": "var(--muted)", "fontSize": 11, "interval": 0, "rotate": 20},
        },
        "series": [
            {
                "type": "boxplot",
                "name": comparison["metric"],
                "boxWidth": [6, 40],
                "data": [
                    [point[name] for name in ("min", "q1", "median", "q3", "max")] for _, point in boxes
                ],
                "itemStyle": {"color": "var(--surface)", "borderColor": COLOURS[0]},
            }
        ],
    }
