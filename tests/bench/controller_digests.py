# SPDX-License-Identifier: Apache-2.0
"""The `digests` benchmark of bench_controller.py: many switches report at a rising rate."""

from __future__ import annotations

import argparse
import contextlib
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.quantities import Json, percentiles, processor_s, resident_mib, row, shown
from integration.controller_net import ServedController

HERE = Path(__file__).resolve().parent


def digests(options: argparse.Namespace) -> list[Json]:
    """Figures for each rate."""
    found = []
    with tempfile.TemporaryDirectory() as name, source(options.switches) as (address, set_rate, source_pid):
        directory = Path(name)
        with ServedController(directory, None, "--no-tuner") as controller, controller.api() as api:
            began = time.monotonic()
            for device in range(1, options.switches + 1):
                api.add(f"s{device}", address, device, ports=[1])
            api.await_sync(*(f"s{device}" for device in range(1, options.switches + 1)))
            print(f"  {options.switches} switches added and in sync after {time.monotonic() - began:.1f} s")
            for rate in map(float, options.rates.split(",")):
                sent_before, _ = set_rate(rate)
                time.sleep(3)
                start_us, cpu = time.time_ns() // 1000, processor_s(controller.pid)
                source_cpu = processor_s(source_pid)
                time.sleep(options.seconds)
                end_us, used = time.time_ns() // 1000, processor_s(controller.pid) - cpu
                source_used = processor_s(source_pid) - source_cpu
                memory = resident_mib(controller.pid)
                began = time.monotonic()
                with controller.api() as another:
                    another.get("/v1/health")
                health_s = time.monotonic() - began
                set_rate(0)
                newest_us = drain(controller)
                sent, late = set_rate(0)  # again: lists were in flight
                figures: Json = {
                    "switches": options.switches,
                    "rate": rate,
                    "offered_per_s": rate * options.switches,
                    "cpu": used / options.seconds,
                    "source_cpu": source_used / options.seconds,
                    "rss_mib": memory,
                    "health_ms": health_s * 1e3,
                    "sent": sent - sent_before,
                    "source_late": late,
                    **lags(controller.store, start_us, end_us, options.seconds),
                    "backlog_s": (newest_us - end_us) / 1e6,
                }
                found.append(figures)
                figures["lost"] = figures["sent"] - count_all(controller.store)
                print(
                    f"  {figures['offered_per_s']:6.0f}/s offered, {figures['stored_per_s']:6.0f}/s stored, "
                    f"cpu {figures['cpu']:.2f} (source {figures['source_cpu']:.2f}), {memory:.0f} MiB, "
                    f"lag {shown(figures['lag_ms'])} ms, lost {figures['lost']}, source late {late}"
                )
                lag = figures["lag_ms"]
                print(
                    row(
                        f"{figures['offered_per_s']:,.0f}",
                        f"{figures['stored_per_s']:,.0f}",
                        figures["lost"],
                        f"{figures['cpu']:.2f}",
                        f"{memory:.0f}",
                        *(f"{lag[place]:.0f}" for place in ("p50", "p99") if lag),
                    )
                )
                empty(controller.store)
    return found


@contextlib.contextmanager
def source(devices: int) -> Iterator[tuple[str, Callable[[float], tuple[int, int]], int]]:
    """The switches' process: its address, how to set the rate, and its id."""
    child = subprocess.Popen(
        [sys.executable, str(HERE / "digest_source.py"), str(devices)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    inlet, outlet = child.stdin, child.stdout

    def set_rate(rate: float) -> tuple[int, int]:
        inlet.write(f"rate {rate}\n")
        inlet.flush()
        sent, late = outlet.readline().split()
        return int(sent), int(late)

    try:
        yield outlet.readline().strip(), set_rate, child.pid
    finally:
        inlet.close()
        child.wait(30)
        outlet.close()


def query(store: str, text: str, *values: object) -> list[tuple[Any, ...]]:
    """Rows of a SQLite store."""
    with contextlib.closing(sqlite3.connect(store, timeout=60)) as connection, connection:
        return connection.execute(text, values).fetchall()


def drain(controller: ServedController) -> int:
    """Waits until all reports are in the store; the time of the newest."""
    last, since = -1, time.monotonic()
    while time.monotonic() < since + 3 or waiting(controller):
        time.sleep(0.5)
        ((newest,),) = query(controller.store, "SELECT max(time_us) FROM intervals")
        if newest != last:
            last, since = newest, time.monotonic()
    return int(last or 0)


def waiting(controller: ServedController) -> int:
    """Reports received by the controller and not yet stored."""
    request = urllib.request.Request(
        f"{controller.url}metrics", headers={"Authorization": f"Bearer {controller.token}"}
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        text = reply.read().decode()
    line = next(line for line in text.splitlines() if line.startswith("clarion_reports_waiting "))
    return int(float(line.split()[1]))


def lags(store: str, start_us: int, end_us: int, seconds: float) -> Json:
    """Rate and lags of the reports sent in a span of time, which they carry in units of 2^-48 s^2."""
    rows = query(
        store,
        "SELECT time_us - CAST(sum_x_rtt_s2 * 281474976710656.0 AS INTEGER) FROM intervals "
        "WHERE sum_x_rtt_s2 * 281474976710656.0 BETWEEN ? AND ?",
        start_us,
        end_us,
    )
    values = [row[0] / 1e6 for row in rows]
    return {"stored_per_s": len(values) / seconds, "lag_ms": percentiles(values, 1e3)}


def count_all(store: str) -> int:
    ((count,),) = query(store, "SELECT count(*) FROM intervals")
    return int(count)


def empty(store: str) -> None:
    query(store, "DELETE FROM intervals")
