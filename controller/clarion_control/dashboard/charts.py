# SPDX-License-Identifier: Apache-2.0
"""The charts of a port: options for ECharts, and what a new point adds to each.

Colours are CSS variables, which the SVG renderer hands on, so that light and dark need no drawing
anew. Units are written by `clarion.si` in static/clarion.js.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from clarion_control.dashboard.series import Point

Value = Callable[[Point], float | None]


@dataclass(frozen=True)
class Line:
    """One series of a chart."""

    name: str
    colour: str  # a CSS variable
    value: Value
    dashed: bool = False
    filled: bool = False


@dataclass(frozen=True)
class Chart:
    """One chart: title, explanation, unit and series."""

    key: str
    title: str
    hint: str
    unit: str
    lines: tuple[Line, ...]
    signed: bool = False
    logarithmic: bool = False

    def options(self, points: Sequence[Point], span_us: int) -> dict[str, Any]:
        """The options for ECharts with these points; `span_us` is the width of the window."""
        label = f"value => clarion.si(value, {self.unit!r})"
        return {
            "animation": False,
            "aria": {"enabled": True, "label": {"description": f"{self.title}. {self.hint}"}},
            "grid": {
                "left": 8,
                "right": 26,
                "top": 30 if len(self.lines) > 1 else 14,
                "bottom": 4,
                "containLabel": True,
            },
            "legend": {
                "show": len(self.lines) > 1,
                "left": 4,
                "top": 0,
                "icon": "roundRect",
                "itemWidth": 14,
                "itemHeight": 4,
                "textStyle": {"color": "var(--muted)", "fontSize": 12},
                "inactiveColor": "var(--line)",
            },
            "tooltip": {
                "trigger": "axis",
                "confine": True,
                "backgroundColor": "var(--surface)",
                "borderColor": "var(--line)",
                "textStyle": {"color": "var(--text)", "fontSize": 12},
                "axisPointer": {"lineStyle": {"color": "var(--muted)"}, "label": {"show": False}},
                ":valueFormatter": label,
            },
            "xAxis": {
                "type": "time",
                ":min": f"range => clarion.begin(range, {span_us // 1000})",
                "axisLine": {"lineStyle": {"color": "var(--line)"}},
                "axisTick": {"show": False},
                "splitLine": {"show": False},
                "axisLabel": {
                    "color": "var(--muted)",
                    "fontSize": 11,
                    "hideOverlap": True,
                    ":formatter": "clarion.clock",
                },
            },
            "yAxis": {
                "type": "log" if self.logarithmic else "value",
                "min": None if self.signed or self.logarithmic else 0,
                "splitNumber": 3,
                "axisLabel": {"color": "var(--muted)", "fontSize": 11, ":formatter": label},
                "splitLine": {"lineStyle": {"color": "var(--line)", "opacity": 0.6}},
            },
            "series": [self._series(line, points) for line in self.lines],
        }

    def _series(self, line: Line, points: Sequence[Point]) -> dict[str, Any]:
        return {
            "type": "line",
            "name": line.name,
            "data": [sample(line, point) for point in points],
            "showSymbol": False,
            "symbolSize": 5,
            "itemStyle": {"color": line.colour},
            "lineStyle": {"color": line.colour, "width": 1.75, "type": "dashed" if line.dashed else "solid"},
            **({"areaStyle": {"color": line.colour, "opacity": 0.14}} if line.filled else {}),
            "emphasis": {"disabled": True},
        }

    def row(self, point: Point) -> list[list[float | None]]:
        """The data of a new point: one [time in ms, value] for each line."""
        return [sample(line, point) for line in self.lines]


def sample(line: Line, point: Point) -> list[float | None]:
    """A point of a line, as ECharts takes it."""
    value = line.value(point)
    return [point.time_us / 1000, None if value is None else float(f"{value:.5g}")]


CHARTS = (
    Chart(
        "utilisation",
        "Utilisation",
        "Traffic that arrives for the port, and what the port can carry",
        "bit/s",
        (
            Line("arriving", "var(--series-1)", lambda point: point.input_bps, filled=True),
            Line("capacity", "var(--muted)", lambda point: point.capacity_bps, dashed=True),
        ),
    ),
    Chart(
        "queue",
        "Queue",
        "Persistent queue: what never drained during half a round trip",
        "B",
        (Line("queue", "var(--series-2)", lambda point: point.queue_bytes, filled=True),),
    ),
    Chart(
        "phi",
        "Feedback φ",
        "By how much the switch asks all flows together to change",
        "bit/s",
        (Line("φ", "var(--series-3)", lambda point: point.phi_bps),),
        signed=True,
    ),
    Chart(
        "losses",
        "Losses by cause",
        "Corrupted on the wire into this port, and dropped by its queue",
        "pkt/s",
        (
            Line("on the wire", "var(--series-4)", lambda point: point.wire_per_s, filled=True),
            Line("in the queue", "var(--series-2)", lambda point: point.queue_per_s),
        ),
    ),
    Chart(
        "ber",
        "Bit error rate",
        "Estimate for the wire into this port, over a minute; the page has to be open",
        "BER",
        (Line("bit error rate", "var(--series-4)", lambda point: point.ber or None),),
        logarithmic=True,
    ),
)
