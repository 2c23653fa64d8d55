# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of the controller, each over its REST API and with processes of their own.

    python -m tests.bench.bench_controller [patch|digests|recovery|all] [--json FILE]      (root)

patch     PATCH of a port's alpha, with 1, 10 and 100 embedded switches attached, all behind one agent.
          `reply` is the time until the answer, which comes when the switch has confirmed; `effect` the time
          until the data plane's own control socket, asked over and over by another process, shows the new
          value.
digests   1,000 switches that report control intervals at a rate that goes up; the controller decodes, shows
          and stores each. `lag` is from the report to having it in memory, read from the store
          afterwards; a switch may collect reports, for 0.1 s, or 1 s each when there are 1,000 switches.
          `cpu` is in processors; the source of the reports takes another.
recovery  kill -9 of controller, agent or data plane at random moments under writes; see
          tests/integration/recovery.py.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from integration import recovery
from integration.controller_net import Embedded, ServedController, running

Json = dict[str, Any]
TICK = os.sysconf("SC_CLK_TCK")
HERE = Path(__file__).resolve().parent


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.bench.bench_controller", description=__doc__)
    parser.add_argument("what", nargs="?", default="all", choices=["patch", "digests", "recovery", "all"])
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--patches", type=int, default=1000, help="of each run (default: 1000)")
    parser.add_argument("--switches", type=int, default=1000, help="that send digests (default: 1000)")
    parser.add_argument("--rates", default="1,5,10,12,15,20", help="reports/s of each switch")
    parser.add_argument("--seconds", type=float, default=20.0, help="at each rate (default: 20)")
    parser.add_argument("--kills", type=int, default=200, help="(default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="of the kills (default: 1)")
    options = parser.parse_args()
    chosen = ["patch", "digests", "recovery"] if options.what == "all" else [options.what]
    figures: Json = {}
    for name in chosen:
        print(name)
        figures[name] = {"patch": patch, "digests": digests, "recovery": recover}[name](options)
        if options.json is not None:
            options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


def patch(options: argparse.Namespace) -> list[Json]:
    """Figures for each number of switches."""
    return [patch_with(count, options.patches) for count in (1, 10, 100)]


def patch_with(count: int, patches: int) -> Json:
    """PATCH of alpha, the switches taking turns."""
    reply: list[float] = []
    effect: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        side = Embedded(directory, count, watched=True)
        with (
            running(side),
            ServedController(directory, None, "--no-tuner") as controller,
            controller.api() as api,
            watcher(side) as watch,
        ):
            names = [f"s{device}" for device in side.devices]
            for device in side.devices:
                api.add(f"s{device}", side.address, device)
            api.await_sync(*names)
            for each in names:
                status, _ = api.ask("PATCH", f"/v1/switches/{each}/ports/1", {"xcp": {"capacity_bps": 10**8}})
                assert status == 200
            for number in range(patches):
                switch = names[number % count]
                alpha = (6554 + number) / 65536  # another each time, and exact in the switch's units
                seen = watch(switch, round(alpha * 65536))
                began = time.monotonic()
                change = {"xcp": {"alpha": alpha}}
                status, document = api.ask("PATCH", f"/v1/switches/{switch}/ports/1", change)
                reply.append(time.monotonic() - began)
                assert status == 200, document
                effect.append(seen() - began)
                time.sleep(0.005)
    figures: Json = {"switches": count, "patches": patches}
    figures["reply_ms"] = percentiles(reply, 1e3)
    figures["effect_ms"] = percentiles(effect, 1e3)
    print(
        f"  {count:4} switches: reply {shown(figures['reply_ms'])}, effect {shown(figures['effect_ms'])} ms"
    )
    return figures


@contextlib.contextmanager
def watcher(side: Embedded) -> Iterator[Callable[[str, int], Callable[[], float]]]:
    """A process that looks at the data plane: tell it what to wait for, then ask when it was there."""
    child = subprocess.Popen(
        [sys.executable, str(HERE / "alpha_watcher.py"), str(side.control)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    inlet, outlet = child.stdin, child.stdout

    def watch(switch: str, alpha: int) -> Callable[[], float]:
        inlet.write(f"{switch} {alpha}\n")
        inlet.flush()
        assert outlet.readline() == "looking\n"
        return lambda: float(outlet.readline())

    try:
        yield watch
    finally:
        inlet.close()
        child.wait(10)
        outlet.close()


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
                newest_us = drain(controller.store)
                sent, late = set_rate(0)  # once more: lists were under way
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


def drain(store: str) -> int:
    """Waits until no more reports arrive in the store; the time of the newest."""
    last, since = -1, time.monotonic()
    while time.monotonic() < since + 3:
        time.sleep(0.5)
        ((newest,),) = query(store, "SELECT max(time_us) FROM intervals")
        if newest != last:
            last, since = newest, time.monotonic()
    return int(last or 0)


def lags(store: str, start_us: int, end_us: int, seconds: float) -> Json:
    """Of the reports that were sent in a span of time. 2^48 is the unit of the field that the time is in."""
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


def recover(options: argparse.Namespace) -> Json:
    """Figures of the kills."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        side = Embedded(directory, switches=2)
        with running(side), ServedController(directory, None, "--no-tuner") as controller:
            outcome = recovery.run(
                controller, side, options.kills, options.seed, lambda line: print(f"  {line}")
            )
    figures = asdict(outcome)
    figures["kills"] = dict(outcome.kills)
    figures["recovery_s"] = percentiles(outcome.recovery_s, 1)
    print(f"  {'clean' if outcome.clean else 'NOT CLEAN'}: {figures}")
    return figures


def percentiles(values: Sequence[float], scale: float) -> Json:
    """The middle and the ends."""
    ordered = sorted(values)
    if not ordered:
        return {}
    places = {"p50": 0.5, "p99": 0.99, "max": 1.0}
    return {
        name: ordered[min(int(place * len(ordered)), len(ordered) - 1)] * scale
        for name, place in places.items()
    }


def shown(figures: Json) -> str:
    return " ".join(f"{name} {value:.2f}" for name, value in figures.items())


def processor_s(pid: int) -> float:
    """Processor time of all threads of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident_mib(pid: int) -> float:
    """Memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    sys.exit(main())
