# SPDX-License-Identifier: Apache-2.0
"""Our figure beside each of the papers': means with intervals, the numbers that the paper gives drawn in."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from clarion_lab.reproduce import statistics
from clarion_lab.reproduce.experiment import Experiment, Plot, Trace
from clarion_lab.reproduce.table import Row
from clarion_lab.reproduce.traces import UNITS, Curve

_SIZE_INCHES = (6.4, 3.2)
_DPI = 90
_LABEL_CHARACTERS = 32  # of a line beside an axis
_MOST_TICKS = 8  # so many places have a tick each
_COLOURS = mpl.color_sequences["tab10"]
_DASHES = ("-", "--")  # tell the eleventh line from the first


def draw(experiment: Experiment, rows: Sequence[Row], curves: Sequence[Curve], path: Path) -> bool:
    """All traces and plots of an experiment side by side into one PNG file; False if there is none."""
    traces = [trace for trace in experiment.traces if any(each.belongs_to(trace) for each in curves)]
    plots = [plot for plot in experiment.plots if any(plot.of in row.measures for row in rows)]
    count = len(traces) + len(plots)
    if not count:
        return False
    mpl.use("agg")
    figure = Figure(figsize=(_SIZE_INCHES[0] * count, _SIZE_INCHES[1]), layout="constrained")
    panels = np.atleast_1d(figure.subplots(1, count))
    for axes in panels:
        styles = [style for style in _DASHES for _ in _COLOURS]
        axes.set_prop_cycle(color=_COLOURS * len(_DASHES), linestyle=styles)
    for axes, trace in zip(panels, traces, strict=False):
        _trace(axes, trace, [each for each in curves if each.belongs_to(trace)])
    for axes, plot in zip(panels[len(traces) :], plots, strict=True):
        _draw(axes, plot, [row for row in rows if plot.of in row.measures])
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=_DPI, metadata={"Software": None})
    return True


def _trace(axes: Any, trace: Trace, curves: Sequence[Curve]) -> None:
    """A line for each flow; those of several senders are told apart by the sender's name."""
    flows = Counter(each.sender for each in curves)
    for each in sorted(curves, key=lambda each: trace.senders.index(each.sender)):
        names = [each.sender] if len(flows) > 1 or flows[each.sender] == 1 else []
        names += [each.flow] if flows[each.sender] > 1 else []
        axes.plot(each.times_s, each.numbers, lw=1, label=": ".join(names))
    for value in trace.reported:
        axes.axhline(value, color="black", ls=":", lw=1)
    _name_reported(axes, crosses=False, lines=bool(trace.reported))
    axes.set_xlabel("time (s)")
    _name_y(axes, trace.title or trace.of, UNITS[trace.of])
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, handlelength=3)


def _draw(axes: Any, plot: Plot, rows: Sequence[Row]) -> None:
    rows = shown(plot, rows)
    if plot.over is None:
        _bars(axes, plot, rows)
    else:
        _curves(axes, plot, rows, plot.over)
        axes.set_xlabel(plot.over.replace("_", " "))
    _name_y(axes, plot.title or plot.of.replace("_", " "), plot.unit)
    if plot.log in ("x", "both"):
        axes.set_xscale("symlog", linthresh=_smallest(rows, plot.over))
    places = sorted({row.values[plot.over] for row in rows if plot.over in row.values}) if plot.over else []
    if 0 < len(places) <= _MOST_TICKS:
        axes.set_xticks(places, [f"{place:g}" for place in places])
        axes.set_xticks([], minor=True)
    if plot.log in ("y", "both"):
        axes.set_yscale("log")
    axes.grid(alpha=0.3)


def _name_y(axes: Any, title: str, unit: str) -> None:
    axes.set_ylabel(textwrap.fill(f"{title} ({unit})" if unit else title, _LABEL_CHARACTERS))


def shown(plot: Plot, rows: Sequence[Row]) -> list[Row]:
    """The rows that a plot is of; if relative, each with its ratio to the other sender's of that seed."""
    here = [
        row
        for row in rows
        if plot.series in (None, row.series)
        and all(row.values.get(name) == value for name, value in plot.at.items())
    ]
    if plot.relative_to is None:
        return here
    base = {_run(row): row.measures[plot.of] for row in here if row.sender == plot.relative_to}
    return [
        replace(row, measures={plot.of: row.measures[plot.of] / base[_run(row)]})
        for row in here
        if row.sender != plot.relative_to and base.get(_run(row), 0)
    ]


def _run(row: Row) -> tuple[object, ...]:
    return row.series, row.engine, row.seed, *sorted(row.values.items())


def _smallest(rows: Sequence[Row], column: str | None) -> float:
    return min((value for row in rows if (value := row.values.get(column or "", 0)) > 0), default=1.0)


def _points(rows: Sequence[Row], measure: str, column: str) -> tuple[list[float], list[statistics.Interval]]:
    places = sorted({row.values[column] for row in rows if column in row.values})
    found = []
    for place in places:
        here = [row.measures[measure] for row in rows if row.values.get(column) == place]
        found.append(statistics.mean_interval(np.array(here)))
    return places, found


def _errors(intervals: Sequence[statistics.Interval]) -> list[list[float]]:
    below = [each.mean - each.low for each in intervals]
    above = [each.high - each.mean for each in intervals]
    return [list(np.nan_to_num(below)), list(np.nan_to_num(above))]


def _curves(axes: Any, plot: Plot, rows: Sequence[Row], column: str) -> None:
    colours: dict[str, Any] = {}
    for sender in dict.fromkeys(row.sender for row in rows):
        places, found = _points([row for row in rows if row.sender == sender], plot.of, column)
        means = [each.mean for each in found]
        line = axes.errorbar(places, means, yerr=_errors(found), marker="o", ms=3, capsize=2, label=sender)
        colours[sender] = line[0].get_color()
    for each in plot.reported:
        colour = colours.get(each.get("sender", ""), "black")
        if "at" in each:
            axes.plot([each["at"]], [each["value"]], "x", color=colour, ms=8)
        else:
            axes.axhline(each["value"], color=colour, ls=":", lw=1)
    crosses = sum("at" in each for each in plot.reported)
    _name_reported(axes, crosses=crosses > 0, lines=crosses < len(plot.reported))
    axes.legend(fontsize=7, handlelength=3)


def _name_reported(axes: Any, *, crosses: bool, lines: bool) -> None:
    """One entry of the legend for the paper's crosses and one for its lines."""
    if crosses:
        axes.plot([], [], "x", color="black", label="reported")
    if lines:
        axes.plot([], [], ":", color="black", lw=1, label="reported")


def _bars(axes: Any, plot: Plot, rows: Sequence[Row]) -> None:
    senders = list(dict.fromkeys(row.sender for row in rows))
    samples = [np.array([row.measures[plot.of] for row in rows if row.sender == each]) for each in senders]
    found = [statistics.mean_interval(each) for each in samples]
    axes.bar(
        senders, [each.mean for each in found], yerr=_errors(found), capsize=3, color="tab:blue", alpha=0.7
    )
    for each in plot.reported:
        if each.get("sender") in senders:
            axes.plot([senders.index(each["sender"])], [each["value"]], "kx", ms=8)
        else:
            axes.axhline(each["value"], color="black", ls=":", lw=1)
    axes.tick_params(axis="x", labelrotation=30, labelsize=7)
