# SPDX-License-Identifier: Apache-2.0
"""Curves over time of one run, for figures whose axis is time: computed from the run's samples, and kept as a
small Parquet table beside the table of measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clarion_base.errors import UserError
from clarion_lab.reproduce import parquet
from clarion_lab.reproduce.experiment import Experiment, Place, Trace
from clarion_lab.reproduce.measures import Run, rates

MARK = "clarion-traces"
ALL = "all"  # in place of a flow's name: of all flows, or of the queue
UNITS = {
    "rate": "Mbit/s",
    "rate of all": "Mbit/s",
    "window": "packets",
    "queue": "bandwidth-delay products",
}

_TEXTS = ("of", "series", "sender", "flow")

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """A line of a trace: means of intervals, each at the interval's end. NaN: there was no sample."""

    of: str
    series: str
    sender: str
    values: Mapping[str, float]
    flow: str
    times_s: Numbers
    numbers: Numbers

    def belongs_to(self, trace: Trace) -> bool:
        """Whether the trace shows it."""
        return self.of == trace.of and trace.takes(self.series, self.sender, self.values)


def curves(experiment: Experiment, place: Place, directory: Path) -> Iterator[Curve]:
    """What the traces of an experiment show of a run at this place. Rates are of payload. UserError if an
    interval is longer than the run.
    """
    series = place.series.name
    wanted = [trace for trace in experiment.traces if trace.takes(series, place.sender, place.values)]
    if not wanted:
        return
    run = Run(directory)
    for trace in wanted:
        duration_s = run.summary["duration_s"]
        marks = np.arange(0, duration_s + 1e-9, trace.every_s)
        if len(marks) < 2:
            raise UserError(f"traces: {trace.of}: every_s: use less than the {duration_s:g} s of the run")
        for flow, numbers in _OF[trace.of](run, marks):
            yield Curve(trace.of, series, place.sender, place.values, flow, marks[1:], numbers)


def _rates(run: Run, marks: Numbers) -> Iterator[tuple[str, Numbers]]:
    for number in run.numbers(None):
        yield _name(run, number), rates(run, number, marks[0], marks[-1], marks[1] - marks[0]) / 1e6


def _rate_of_all(run: Run, marks: Numbers) -> Iterator[tuple[str, Numbers]]:
    yield ALL, rates(run, None, marks[0], marks[-1], marks[1] - marks[0]) / 1e6


def _windows(run: Run, marks: Numbers) -> Iterator[tuple[str, Numbers]]:
    for number in run.numbers(None):
        yield _name(run, number), _means(*run.column(number, "cwnd_packets"), marks)


def _queue(run: Run, marks: Numbers) -> Iterator[tuple[str, Numbers]]:
    yield ALL, _means(*run.queue(), marks) / (run.fullest()["bdp_bytes"] or np.nan)


_OF: Mapping[str, Callable[[Run, Numbers], Iterator[tuple[str, Numbers]]]] = {
    "rate": _rates,
    "rate of all": _rate_of_all,
    "window": _windows,
    "queue": _queue,
}


def _name(run: Run, number: int) -> str:
    return f"{run.summary['flows'][number]['algorithm']} {number + 1}"


def _means(times_s: Numbers, samples: Numbers, marks: Numbers) -> Numbers:
    places = np.searchsorted(marks, times_s, side="left") - 1
    inside = (places >= 0) & (places < len(marks) - 1)
    counts = np.bincount(places[inside], minlength=len(marks) - 1)
    sums = np.bincount(places[inside], samples[inside], minlength=len(marks) - 1)
    found: Numbers = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return found


def write(path: Path, found: Sequence[Curve]) -> None:
    """Writes curves by sender, so that equal results make equal files whichever run ended first; without
    any, no file is left there.
    """
    if not found:
        path.unlink(missing_ok=True)
        return
    ordered = sorted(found, key=_order)
    columns = dict.fromkeys(name for each in ordered for name in each.values)
    table = {
        **{name: pa.array([getattr(each, name) for each in ordered], pa.string()) for name in _TEXTS},
        **{
            f"at.{name}": pa.array([each.values.get(name) for each in ordered], pa.float64())
            for name in columns
        },
        "times_s": pa.array([each.times_s for each in ordered], pa.list_(pa.float32())),
        "numbers": pa.array([each.numbers for each in ordered], pa.list_(pa.float32())),
    }
    parquet.write(path, table, MARK, {})


def _order(each: Curve) -> tuple[object, ...]:  # flows stay as they are, in the order of the scenario
    return each.of, each.series, each.sender, sorted(each.values.items())


def read(path: Path) -> list[Curve]:
    """The curves of a file, none if there is no file; UserError if it is no such table."""
    if not path.is_file():
        return []
    table, _ = parquet.read(path, MARK, "a table of curves")
    return [_curve(entry) for entry in table.to_pylist()]


def _curve(entry: Mapping[str, Any]) -> Curve:
    values = {
        name[3:]: value for name, value in entry.items() if name.startswith("at.") and value is not None
    }
    return Curve(
        **{name: entry[name] for name in _TEXTS},
        values=values,
        times_s=np.array(entry["times_s"]),
        numbers=np.array(entry["numbers"]),
    )
