# SPDX-License-Identifier: Apache-2.0
"""What runs measured, side by side: the spread over repeats of each group, at each value of a parameter.

A comparison is a JSON document, the same for the command line and for the dashboard:

    {"metric": NAME, "over": PARAMETER or null, "unit": of the parameter, "left_out": runs not complete,
     "axis": of the parameter, "linear", "log" (values two powers of ten apart) or "words"; null without,
     "groups": [{"label": TEXT, "points": [{"at": TEXT, "value": NUMBER or null, "n": RUNS,
       "mean", "low", "high": its 95 % interval or null, "min", "q1", "median", "q3", "max"}]}]}

A group has its sender, engine, result and other parameters in its label, as far as groups differ in them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from clarion_base import text_table
from clarion_lab.results import metrics
from clarion_lab.results.samples import Sample, quantity
from clarion_lab.results.selection import Choice, chosen, order

COLUMNS = ("runs", "at", "n", "mean", "95 % interval", "median", "quartiles", "least", "most")
EVERYTHING = "all runs"
LOG_FROM = 100  # the largest value of a parameter by the least, from which its axis is logarithmic

Comparison = dict[str, Any]


def compared(samples: Sequence[Sample], choice: Choice) -> Comparison:
    """The comparison; UserError if the choice leaves nothing or names what is not there."""
    left = chosen(samples, choice)
    names = _labels(left, choice)
    values = {id(each): None if choice.over is None else each.parameter(choice.over) for each in left}
    units = {found[1] for value in values.values() if (found := quantity(value)) is not None}
    groups: dict[str, list[Sample]] = {}
    for sample, name in zip(left, names, strict=True):
        if choice.over is None or values[id(sample)] is not None:
            groups.setdefault(name, []).append(sample)
    made = [
        {"label": label, "points": _points(members, choice.metric, lambda each: values[id(each)])}
        for label, members in groups.items()
    ]
    return {
        "metric": choice.metric,
        "over": choice.over,
        "axis": None if choice.over is None else _axis(made, units),
        "unit": units.pop() if len(units) == 1 else "",
        "left_out": sum(not each.complete for each in samples),
        "groups": made,
    }


def _axis(groups: Sequence[dict[str, Any]], units: Collection[str]) -> str:
    values = [point["value"] for group in groups for point in group["points"]]
    if None in values or len(units) != 1:
        return "words"
    return "log" if 0 < min(values) * LOG_FROM <= max(values) else "linear"


def table(comparison: Comparison) -> str:
    """The comparison as text."""
    title = comparison["metric"]
    if comparison["over"]:
        title += f" over {comparison['over']}"
    lines = [title, text_table.plain(rows(comparison), COLUMNS)]
    if comparison["left_out"]:
        lines.append(f"left out, because they are not complete: {comparison['left_out']} runs")
    return "\n".join(lines)


def rows(comparison: Comparison) -> list[list[str]]:
    """A row for each group and value, as the columns above."""
    return [
        [group["label"], point["at"] or "all", *_row(point)]
        for group in comparison["groups"]
        for point in group["points"]
    ]


def _row(point: dict[str, Any]) -> list[str]:
    known = point["low"] is not None
    return [
        str(point["n"]),
        f"{point['mean']:.4g}",
        f"{point['low']:.4g} to {point['high']:.4g}" if known else text_table.MISSING,
        f"{point['median']:.4g}",
        f"{point['q1']:.4g} to {point['q3']:.4g}",
        f"{point['min']:.4g}",
        f"{point['max']:.4g}",
    ]


def _points(members: Sequence[Sample], metric: str, at: Callable[[Sample], Any]) -> list[dict[str, Any]]:
    """The spread at each value of the parameter, ascending."""
    found: dict[Any, list[float]] = {}
    written: dict[Any, Any] = {}  # the value of each key as it is first, a plain number as such
    for sample in members:
        value = at(sample)
        number = quantity(value)
        key = str(value) if number is None else number  # however it was written
        written.setdefault(key, value)
        measured = sample.metrics[metric]
        assert measured is not None
        found.setdefault(key, []).append(measured)
    made = []
    for key in sorted(found, key=lambda each: order(written[each])):
        text = "" if written[key] is None else str(written[key])
        place = {"at": text, "value": key[0] if isinstance(key, tuple) else None}
        made.append(place | spread(found[key]))
    return made


def spread(values: Sequence[float]) -> dict[str, Any]:
    """Mean with its 95 % interval by Student's t (None for a single run), and the five numbers of a box plot;
    quartiles are interpolated linearly.
    """
    estimate = metrics.estimate(values)
    half = estimate.ci95
    low, q1, median, q3, high = (float(each) for each in np.percentile(values, (0, 25, 50, 75, 100)))
    return {
        "n": estimate.n,
        "mean": estimate.mean,
        "low": None if half is None else estimate.mean - half,
        "high": None if half is None else estimate.mean + half,
        "min": low,
        "q1": q1,
        "median": median,
        "q3": q3,
        "max": high,
    }


def _labels(samples: Sequence[Sample], choice: Choice) -> list[str]:
    """The name of each run's group: what differs between the runs, but for the parameter along the axis."""
    aspects: list[Callable[[Sample], str]] = [lambda each: "+".join(each.senders), lambda each: each.engine]
    if not choice.pool:
        aspects.append(lambda each: each.result)
    keys = dict.fromkeys(key for each in samples for key in each.settings if not _is_sender(key, samples))
    for key in keys:
        if key != choice.over:
            aspects.append(_aspect(key, _short(key, keys)))
    differing = [aspect for aspect in aspects if len({aspect(each) for each in samples}) > 1]
    return [", ".join(filter(None, (aspect(each) for aspect in differing))) or EVERYTHING for each in samples]


def _is_sender(key: str, samples: Sequence[Sample]) -> bool:
    """Whether a field says no more than the senders do: an algorithm, but not which of the flows has it."""
    if not key.endswith("algorithm"):
        return False
    values: dict[tuple[str, ...], set[str]] = {}
    for each in samples:
        if key in each.settings:
            values.setdefault(each.senders, set()).add(str(each.settings[key]))
    return all(len(found) == 1 for found in values.values())


def _short(key: str, keys: Collection[str]) -> str:
    """The last word of a field's name, as far as that says which it is."""
    word = key.rpartition(".")[2]
    is_clear = not word.isdecimal() and sum(each.rpartition(".")[2] == word for each in keys) == 1
    return word if is_clear else key


def _aspect(key: str, name: str) -> Callable[[Sample], str]:
    def shown(sample: Sample) -> str:
        return f"{name}={sample.settings[key]}" if key in sample.settings else ""

    return shown
