# SPDX-License-Identifier: Apache-2.0
"""PNG plots of a run, drawn from its files: throughput, window, queue, and losses by cause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from clarion_lab.recording import files
from clarion_lab.results.bottlenecks import bottlenecks

mpl.use("Agg")
from matplotlib import pyplot as plt

PLOTS = ("throughput.png", "window.png", "queue.png", "losses.png")
_SIZE_IN = (7.0, 3.2)  # readable on a phone held sideways
_DPI = 110
_FEW_FLOWS = 12  # beyond that a legend hides the plot
_MOST_FLOWS = 1000  # beyond that another line shows nothing more


def draw(directory: Path) -> None:
    """Draws all plots of a run into its directory; without data they say so."""
    summary = files.read_summary(directory)
    flows = files.read_table(directory / files.FLOWS)
    names = {
        flow["flow"] - 1: f"{flow['flow']} {flow['algorithm']}" for flow in summary["flows"][:_MOST_FLOWS]
    }
    _throughput(directory / PLOTS[0], summary, flows, names)
    _window(directory / PLOTS[1], flows, names)
    _queue(directory / PLOTS[2], summary, files.read_table(directory / files.PORTS))
    _losses(directory / PLOTS[3], summary, files.read_table(directory / files.LOSSES), flows)


def flow_rate(flows: dict[str, Any], number: int) -> tuple[Any, Any]:
    """Times in s (middle of each interval) and goodput in Mbit/s of one flow between its samples."""
    mine = flows["flow"] == number
    times, acked = flows["time_us"][mine] / 1e6, flows["delivered_bytes"][mine]
    if len(times) < 2:
        return np.array([]), np.array([])
    steps = np.diff(times)
    keep = steps > 0
    return (times[:-1] + steps / 2)[keep], (np.diff(acked) * 8e-6)[keep] / steps[keep]


def total_rate(flows: dict[str, Any], step_s: float = 0.5) -> tuple[Any, Any]:
    """Times in s and goodput in Mbit/s of all flows together, over steps that smooth single samples."""
    if not flows or len(flows["flow"]) == 0:
        return np.array([]), np.array([])
    edges = np.arange(0, flows["time_us"].max() / 1e6 + step_s, step_s)
    total = np.zeros(len(edges))
    by_flow = np.argsort(flows["flow"], kind="stable")
    for mine in np.split(by_flow, np.flatnonzero(np.diff(flows["flow"][by_flow])) + 1):
        total += np.interp(edges, flows["time_us"][mine] / 1e6, flows["delivered_bytes"][mine])
    return edges[:-1] + step_s / 2, np.diff(total) * 8e-6 / step_s


def _figure(title: str, label: str) -> tuple[Any, Any]:
    figure, axes = plt.subplots(figsize=_SIZE_IN, dpi=_DPI)
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("time (s)")
    axes.set_ylabel(label)
    axes.grid(alpha=0.3)
    return figure, axes


def _save(figure: Any, axes: Any, path: Path, lines: int) -> None:
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    if 0 < lines <= _FEW_FLOWS:
        axes.legend(fontsize=7, ncols=2, framealpha=0.6)
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def _throughput(path: Path, summary: dict[str, Any], flows: dict[str, Any], names: dict[int, str]) -> None:
    figure, axes = _figure("Goodput", "Mbit/s")
    for number, name in names.items():
        times, rates = flow_rate(flows, number) if flows else ([], [])
        axes.plot(times, rates, linewidth=0.7, label=name)
    times, rates = total_rate(flows)
    axes.plot(times, rates, color="black", linewidth=1.4, label="all flows, 0.5 s")
    limit = summary["totals"]["physical_limit_bits_per_s"]
    steps = [port for port in summary["ports"] if port.get("rate_steps") and port["role"].endswith("forward")]
    for port in steps:
        _rate_line(axes, port, summary["duration_s"])
    if limit and not steps:
        axes.axhline(limit / 1e6, color="grey", linestyle="--", linewidth=1, label="physical limit")
    _save(figure, axes, path, len(names) + 2)


def _rate_line(axes: Any, port: dict[str, Any], duration_s: float) -> None:
    """What a link really carries, frames and all."""
    times = [0.0, *(step["at_s"] for step in port["rate_steps"]), duration_s]
    rates = [port["rate_bits_per_s"], *(step["rate_bits_per_s"] for step in port["rate_steps"])]
    axes.step(
        times,
        [rate / 1e6 for rate in [*rates, rates[-1]]],
        where="post",
        color="grey",
        linestyle="--",
        linewidth=1,
        label=f"rate of {port['port']}",
    )


def _window(path: Path, flows: dict[str, Any], names: dict[int, str]) -> None:
    figure, axes = _figure("Congestion window", "packets")
    for number, name in names.items():
        if flows:
            mine = flows["flow"] == number
            axes.plot(flows["time_us"][mine] / 1e6, flows["cwnd_packets"][mine], linewidth=0.8, label=name)
    _save(figure, axes, path, len(names))


def _queue(path: Path, summary: dict[str, Any], ports: dict[str, Any]) -> None:
    figure, axes = _figure("Bottleneck queue, mean over each 100 ms", "kB")
    shown = bottlenecks(summary)
    others = (port for port in summary["ports"] if port["role"] != "access" and port not in shown)
    for port in [*shown, *(port for port in others if port["drop_packets"])]:
        if not ports:
            continue
        mine = ports["port"] == port["port"]
        times, integral = ports["time_us"][mine] / 1e6, ports["queue_byte_us"][mine] / 1e6
        if len(times) > 1:
            axes.plot(times[1:], np.diff(integral) / np.diff(times) / 1e3, linewidth=0.9, label=port["role"])
    limits = {port["queue_limit_bytes"] for port in shown}
    if len(limits) == 1:
        axes.axhline(limits.pop() / 1e3, color="grey", linestyle="--", linewidth=1, label="limit")
    _save(figure, axes, path, len(shown) + 1)


def _losses(path: Path, summary: dict[str, Any], losses: dict[str, Any], flows: dict[str, Any]) -> None:
    figure, axes = _figure("Lost data packets so far, by cause", "packets")
    lines = 0
    for cause, colour in (("wire", "tab:blue"), ("queue", "tab:red")):
        if losses and len(losses["cause"]):
            mine = (losses["cause"] == cause) & losses["forward"] & (losses["flow"] >= 0)
            times = np.sort(losses["time_us"][mine]) / 1e6
            axes.step(times, np.arange(1, len(times) + 1), color=colour, label=f"{cause}, truth")
            lines += 1
    if flows and any(flow["tags"] for flow in summary["flows"]):
        for column, colour in (("tagged_corrupt", "tab:cyan"), ("tagged_congest", "tab:orange")):
            times, totals = _tag_totals(flows, column)
            axes.plot(times, totals, "--", color=colour, linewidth=1, label=column.replace("_", " "))
            lines += 1
    _save(figure, axes, path, lines)


def _tag_totals(flows: dict[str, Any], column: str) -> tuple[Any, Any]:
    times = np.unique(flows["time_us"])
    total = np.zeros(len(times))
    for number in np.unique(flows["flow"]):
        mine = flows["flow"] == number
        total += np.interp(times, flows["time_us"][mine], flows[column][mine])
    return times / 1e6, total


def overview(path: Path, series: list[tuple[str, tuple[Any, Any]]]) -> None:
    """Goodput of all flows together, one line per point of a batch."""
    figure, axes = _figure("Goodput of all flows together, mean over each second", "Mbit/s")
    for name, (times, rates) in series:
        axes.plot(times, rates, linewidth=1.2, label=name)
    _save(figure, axes, path, len(series))
