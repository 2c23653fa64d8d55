# SPDX-License-Identifier: Apache-2.0
"""What one run gives: the functions that the measures of an experiment file are made of.

Times are in seconds of the run. `flow` is a number from 0 on, a sender's name (all of its flows), or not
given (all flows); rates are of payload that was delivered, in bit/s. What a run does not have is NaN.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clarion_base.errors import UserError
from clarion_lab.recording import files
from clarion_lab.reproduce import statistics
from clarion_lab.reproduce.formula import Formula, Function, eager
from clarion_lab.results.bottlenecks import bottlenecks

Series = NDArray[np.float64]
WITHIN = 0.2  # of its level: settled


class Run:
    """A finished run, read from its directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.summary = files.read_summary(directory)

    @cached_property
    def _flows(self) -> dict[str, Any]:
        return files.read_table(self._directory / files.FLOWS)

    @cached_property
    def _ports(self) -> dict[str, Any]:
        return files.read_table(self._directory / files.PORTS)

    @property
    def window_s(self) -> tuple[float, float]:
        """The measured window."""
        begin, end = self.summary["measured_s"]
        return begin, end

    def numbers(self, flow: float | str | None) -> list[int]:
        """The flows that are meant; UserError if there are none."""
        flows: Sequence[Mapping[str, Any]] = self.summary["flows"]
        if flow is None:
            return [number for number, each in enumerate(flows) if each.get("algorithm") != "udp"]
        if isinstance(flow, str):
            found = [number for number, each in enumerate(flows) if each.get("algorithm") == flow]
        else:
            found = [int(flow)] if 0 <= int(flow) < len(flows) else []
        if not found:
            raise UserError(f"flow {flow}: the scenario has none; use 0 to {len(flows) - 1} or a sender")
        return found

    def column(self, flow: int, name: str) -> tuple[Series, Series]:
        """Times in s and values of one flow's samples."""
        chosen = self._flows["flow"] == flow
        return self._flows["time_us"][chosen] / 1e6, self._flows[name][chosen].astype(float)

    def delivered(self, flow: int, at_s: Series) -> Series:
        """Bytes delivered up to each time."""
        times, totals = self.column(flow, "delivered_bytes")
        return np.interp(at_s, times, totals) if len(times) else np.zeros_like(at_s)

    def fullest(self) -> Mapping[str, Any]:
        """The entry of summary.json of the bottleneck with the longest queue."""
        port: Mapping[str, Any] = max(
            bottlenecks(self.summary), key=lambda each: each["queue_mean_bytes"] or 0
        )
        return port

    def queue(self) -> tuple[Series, Series]:
        """Times in s and bytes of the samples of that bottleneck's queue."""
        port = self.fullest()
        chosen = self._ports["port"] == f"{port['switch']}-{port['port']}"
        if not np.any(chosen):
            chosen = self._ports["port"] == port["port"]
        return self._ports["time_us"][chosen] / 1e6, self._ports["queue_bytes"][chosen].astype(float)


def _marks(run: Run, since: float | None, until: float | None, every: float | None) -> Series:
    """Ends of consecutive intervals of `every` seconds, or of the whole time."""
    begin = run.window_s[0] if since is None else since
    end = run.window_s[1] if until is None else until
    if every is None:
        return np.array([begin, end])
    count = max(math.floor((end - begin) / every + 1e-9), 0) + 1
    return np.array([begin + every * index for index in range(count)])


def rates(
    run: Run,
    flow: float | str | None = None,
    since: float | None = None,
    until: float | None = None,
    every: float | None = None,
) -> Series:
    """Rates of the flows together over consecutive intervals."""
    marks = _marks(run, since, until, every)
    if len(marks) < 2 or marks[-1] <= marks[0]:
        return np.array([])
    total = sum((run.delivered(number, marks) for number in run.numbers(flow)), np.zeros_like(marks))
    rates_bps: Series = 8 * np.diff(total) / np.diff(marks)
    return rates_bps


def _goodput(run: Run, flow: Any = None, since: Any = None, until: Any = None) -> float:
    found = rates(run, flow, since, until)
    return float(found[0]) if len(found) else math.nan


def _jain(run: Run, since: Any = None, until: Any = None, every: Any = None) -> float:
    """Mean of the index over intervals, or the index of the whole time."""
    flows = np.array([rates(run, number, since, until, every) for number in run.numbers(None)])
    squares = len(flows) * np.sum(flows**2, axis=0)
    indices = np.sum(flows, axis=0)[squares > 0] ** 2 / squares[squares > 0]
    return float(np.mean(indices)) if len(indices) else math.nan


def _deviation(run: Run, flow: Any = None, since: Any = None, until: Any = None, every: Any = 1) -> float:
    """Standard deviation of the rates of intervals, the mean over flows."""
    each = [rates(run, number, since, until, every) for number in run.numbers(flow)]
    return float(np.mean([np.std(flow_rates) for flow_rates in each])) if len(each[0]) > 1 else math.nan


def _settled(
    run: Run,
    flow: Any = None,
    since: Any = None,
    every: Any = 1,
    until: Any = None,
    hold: Any = None,
    deviations: Any = 0,
) -> float:
    """Time from `since` until the rate stays near its level, which is its mean in the last half: to the
    end, or for `hold` seconds. Near is 20 %, or so many standard deviations of the last half if that is more.
    """
    found = rates(run, flow, since, until, every)
    steady = found[len(found) // 2 :]
    level = float(np.mean(steady)) if len(steady) else 0.0
    if not level:
        return math.nan
    band = max(WITHIN * level, deviations * float(np.std(steady)))
    near = np.abs(found - level) <= band
    wanted = None if hold is None else math.ceil(hold / every - 1e-9)
    return _held(near, wanted) * float(every)


def _held(near: NDArray[np.bool_], wanted: int | None) -> float:
    """The first interval from which `wanted` in a row are near, or all to the last; NaN if none is."""
    off = np.flatnonzero(~near)
    starts = np.concatenate([[0], off + 1])
    lengths = np.diff(np.concatenate([starts, [len(near) + 1]])) - 1
    if wanted is None:
        return float(starts[-1]) if lengths[-1] else math.nan
    held = np.flatnonzero(lengths >= wanted)
    return float(starts[held[0]]) if len(held) else math.nan


def _reaches(
    run: Run, level: Any, flow: Any = None, since: Any = None, until: Any = None, every: Any = 1
) -> float:
    """Time from `since` until an interval has this rate; NaN if none has."""
    found = np.flatnonzero(rates(run, flow, since, until, every) >= level)
    return float(every * (found[0] + 1)) if len(found) else math.nan


def _window(run: Run, flow: Any, since: Any, until: Any) -> Series:
    """Samples of the congestion window in packets."""
    marks = _marks(run, since, until, None)
    found = []
    for number in run.numbers(flow):
        times, windows = run.column(number, "cwnd_packets")
        found.append(windows[(times >= marks[0]) & (times <= marks[1])])
    return np.concatenate(found)


def _cwnd(run: Run, flow: Any = None, since: Any = None, until: Any = None, take: Any = "mean") -> float:
    found = _window(run, flow, since, until)
    if not len(found):
        return math.nan
    return float(np.max(found) if take == "max" else np.mean(found))


def _window_used(run: Run, flow: Any = None, since: Any = None, until: Any = None) -> float:
    """Mean share of the window that is under way, while something is: what is far below 1 was held back by
    the programs, the receiver or the machine, not by the sender's law.
    """
    marks = _marks(run, since, until, None)
    shares = []
    for number in run.numbers(flow):
        times, windows = run.column(number, "cwnd_packets")
        _, unacked = run.column(number, "unacked_packets")
        chosen = (times >= marks[0]) & (times <= marks[1]) & (unacked > 0) & (windows > 0)
        shares.append(np.minimum(unacked[chosen] / windows[chosen], 1))
    found = np.concatenate(shares)
    return float(np.mean(found)) if len(found) else math.nan


def _rate_window_correlation(
    run: Run, flow: Any = None, since: Any = None, until: Any = None, every: Any = 1
) -> float:
    """Correlation of rate and mean window over intervals of one flow."""
    (number,) = run.numbers(flow)
    marks = _marks(run, since, until, every)
    times, windows = run.column(number, "cwnd_packets")
    means = [
        float(np.mean(windows[(times >= begin) & (times < end)])) for begin, end in itertools.pairwise(marks)
    ]
    return statistics.correlation(rates(run, number, since, until, every).tolist(), means)


def _completed(run: Run, flow: Any = None) -> float:
    """Longest time of a transfer from its start; NaN if one was not finished."""
    found = []
    for number in run.numbers(flow):
        each = run.summary["flows"][number]
        done = (each.get("application") or {}).get("completed_s") or each["completed_s"]
        found.append(done - each["start_s"] if done is not None else math.nan)
    return max(found) if not any(map(math.isnan, found)) else math.nan


def _transfers(
    run: Run, take: Any = "mean", smallest: Any = 0, largest: Any = math.inf, since: Any = 0
) -> float:
    """Time in s that the transfers of so many bytes took which began at `since` or later: mean, or a
    percentile. One that the end of the run has cut off counts with the time it had.
    """
    end = run.summary["duration_s"]
    took = [
        (end if each["completed_s"] is None else each["completed_s"]) - each["start_s"]
        for each in run.summary["flows"]
        if each["size_bytes"] is not None
        and smallest <= each["size_bytes"] < largest
        and each["start_s"] >= since
    ]
    if not took:
        return math.nan
    return float(np.mean(took) if take == "mean" else np.percentile(took, take))


def _queue(run: Run, take: Any = "mean", since: Any = None, until: Any = None) -> float:
    """Of the fullest bottleneck, in bandwidth-delay products: mean, deviation or maximum of the samples."""
    marks = _marks(run, since, until, None)
    times, samples = run.queue()
    found = samples[(times >= marks[0]) & (times <= marks[1])]
    bdp_bytes = run.fullest()["bdp_bytes"]
    if not len(found) or not bdp_bytes:
        return math.nan
    takers: dict[str, Callable[[Series], Any]] = {"mean": np.mean, "deviation": np.std, "max": np.max}
    return float(takers[take](found) / bdp_bytes)


def _losses(run: Run, cause: Any = "queue") -> float:
    """Data packets lost: on the wire, in a queue ..., by the truth log, in the whole run."""
    return float(run.summary["totals"]["losses"].get(f"data_{cause}", 0))


def _sent(run: Run) -> float:
    """Data packets that the flows' bytes took at least, of 1448 bytes."""
    return sum(each["acked_bytes"] or 0 for each in run.summary["flows"]) / 1448


def _mean_rtt_ms(run: Run, flow: Any = None) -> float:
    found = [run.summary["flows"][number]["srtt_ms_mean"] for number in run.numbers(flow)]
    return float(np.mean([value for value in found if value is not None])) if any(found) else math.nan


_OF_SAMPLES: dict[str, Callable[[Series], Any]] = {"mean": np.mean, "min": np.min, "max": np.max}


def _rtt_ms(run: Run, flow: Any = None, since: Any = None, until: Any = None, take: Any = "mean") -> float:
    """Smoothed round trip over the samples of a time: mean, least or largest."""
    marks = _marks(run, since, until, None)
    found: list[Series] = []
    for number in run.numbers(flow):
        times, values = run.column(number, "srtt_us")
        found.append(values[(times >= marks[0]) & (times <= marks[1]) & (values > 0)] / 1e3)
    samples = np.concatenate(found)
    if not len(samples):
        return math.nan
    return float(_OF_SAMPLES[take](samples))


def _min_rtt_ms(run: Run, flow: Any = None) -> float:
    """Least round trip that the flows have measured so far, in the whole run."""
    found = [run.column(number, "min_rtt_us")[1] for number in run.numbers(flow)]
    known = np.concatenate([each[each > 0] for each in found])
    return float(np.min(known)) / 1e3 if len(known) else math.nan


def _bottleneck(run: Run, name: Any) -> float:
    """A number of that entry by its name."""
    value = run.fullest().get(str(name))
    return float(value) if isinstance(value, (int, float)) else math.nan


def _of_summary(run: Run, name: Any) -> float:
    """A number of summary.json by its dotted name."""
    here: Any = run.summary
    for part in str(name).split("."):
        if isinstance(here, list) and part.isdigit() and int(part) < len(here):
            here = here[int(part)]
        else:
            here = here.get(part) if isinstance(here, Mapping) else None
    return float(here) if isinstance(here, (int, float)) else math.nan


def _limit(run: Run) -> float:
    """What the bottleneck carries of payload, in bit/s."""
    return _of_summary(run, "totals.payload_ceiling_bits_per_s")


_OF_RUN: dict[str, Callable[..., float]] = {
    "goodput": _goodput,
    "jain": _jain,
    "deviation": _deviation,
    "settled": _settled,
    "reaches": _reaches,
    "cwnd": _cwnd,
    "window_used": _window_used,
    "rate_window_correlation": _rate_window_correlation,
    "completed": _completed,
    "transfers": _transfers,
    "queue": _queue,
    "losses": _losses,
    "sent": _sent,
    "mean_rtt_ms": _mean_rtt_ms,
    "rtt_ms": _rtt_ms,
    "min_rtt_ms": _min_rtt_ms,
    "bottleneck": _bottleneck,
    "summary": _of_summary,
    "limit": _limit,
}


def _plain(value: float, otherwise: float) -> float:
    return otherwise if math.isnan(value) else value


_ARITHMETIC: dict[str, Function] = {
    "abs": eager(abs),
    "min": eager(min),
    "max": eager(max),
    "either": eager(_plain),  # either(x, y): x, or y where x is not known
}
FUNCTIONS = (*_OF_RUN, *_ARITHMETIC)


def _bound(run: Run) -> dict[str, Function]:
    def of(function: Callable[..., float]) -> Function:
        return eager(lambda *args, **keywords: function(run, *args, **keywords))

    return {name: of(function) for name, function in _OF_RUN.items()} | _ARITHMETIC


def measure(directory: Path, measures: Mapping[str, str], names: Mapping[str, Any]) -> dict[str, float]:
    """The measures of a run by name; a measure may use those before it, and `names`. UserError names the
    measure that cannot be.
    """
    formula = Formula(_bound(Run(directory)), names)
    found: dict[str, float] = {}
    for name, text in measures.items():
        try:
            found[name] = float(formula.bound(found).evaluate(text))
        except UserError as error:
            raise UserError(f"measures.{name}: {error}") from error
    return found


def check(measures: Mapping[str, str], names: Mapping[str, Any]) -> None:
    """Whether the measures can be evaluated at all, without a run. UserError names the one that cannot."""
    functions = {name: eager(_unknown(function)) for name, function in _OF_RUN.items()}
    formula = Formula(functions | _ARITHMETIC, names)
    found: dict[str, float] = {}
    for name, text in measures.items():
        try:
            found[name] = float(formula.bound(found).evaluate(text))
        except UserError as error:
            raise UserError(f"measures.{name}: {error}") from error


def _unknown(function: Callable[..., float]) -> Callable[..., float]:
    """Takes what the function takes and knows nothing."""

    def call(*args: Any, **keywords: Any) -> float:
        inspect.signature(function).bind(None, *args, **keywords)
        return math.nan

    return call
