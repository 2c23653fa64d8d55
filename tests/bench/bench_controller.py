# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of the controller, each over its REST API and with processes of their own.

    python -m tests.bench.bench_controller [patch|digests|recovery|lockout|ha|all] [--json FILE]      (root)

patch     PATCH of a port's alpha, with 1, 10 and 100 embedded switches attached, all behind one agent.
          `reply` is the time until the answer, which comes when the switch has confirmed; `effect` the time
          until the data plane's own control socket, polled by another process, shows the new value.
digests   1,000 switches report control intervals at a rising rate; the controller decodes, publishes and
          stores each report. `lag` is the time from the report to the controller's memory, read from the
          store afterwards; it includes the time for which a switch may collect reports, 0.1 s, or 1 s with
          1,000 switches. `cpu` is in processors; the source of the reports takes another.
recovery  kill -9 of controller, agent or data plane at random moments under writes; see
          tests/integration/recovery.py.
lockout   tokens that are not valid, at a rising rate and from 500 addresses: half in requests, half in
          sign-ins. Meanwhile a user signs in and reads: the latency, and the transactions on the store.
ha        two controllers on one PostgreSQL, in network namespaces, under kills, stopped clocks and
          partitions; see tests/integration/ha.py.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.controller_digests import digests
from bench.controller_lockout import lockout
from bench.quantities import Json, percentiles, row, shown
from integration import recovery
from integration.controller_net import Embedded, ServedController, running

HERE = Path(__file__).resolve().parent


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.bench.bench_controller", description=__doc__)
    parser.add_argument("what", nargs="?", default="all", choices=[*BENCHES, "all"])
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--patches", type=int, default=1000, help="of each run (default: 1000)")
    parser.add_argument("--switches", type=int, default=1000, help="that send digests (default: 1000)")
    parser.add_argument("--rates", default="1,5,10,12,15,20", help="reports/s of each switch")
    parser.add_argument("--seconds", type=float, default=20.0, help="at each rate (default: 20)")
    parser.add_argument("--kills", type=int, default=200, help="(default: 200)")
    parser.add_argument("--faults", type=int, default=200, help="of ha (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="of the kills and faults (default: 1)")
    parser.add_argument("--guesses", default="0,50,200,500", help="invalid tokens/s (default: 0,50,200,500)")
    options = parser.parse_args()
    chosen = list(BENCHES) if options.what == "all" else [options.what]
    figures: Json = {}
    for name in chosen:
        print(name)
        figures[name] = BENCHES[name](options)
        if options.json is not None:
            options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


def patch(options: argparse.Namespace) -> list[Json]:
    """Figures for each number of switches."""
    return [patch_with(count, options.patches) for count in (1, 10, 100)]


def patch_with(count: int, patches: int) -> Json:
    """Latencies of a PATCH of alpha, on one switch after another."""
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
                alpha = (6554 + number) / 65536  # a new value each time, exact in the switch's units
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
    cells = [figures[what][place] for what in ("effect_ms", "reply_ms") for place in ("p50", "p99", "max")]
    print(row(count, *(f"{cell:.1f}" for cell in cells)))
    return figures


@contextlib.contextmanager
def watcher(side: Embedded) -> Iterator[Callable[[str, int], Callable[[], float]]]:
    """A process that polls the data plane: give it a value to wait for, then fetch the time it arrived."""
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


def recover(options: argparse.Namespace) -> Json:
    """Outcome of the kills, with percentiles of the recovery times."""
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
    counts = [outcome.kills[victim] for victim in ("controller", "agent", "data plane")]
    wrong = (outcome.lost, outcome.differing, outcome.duplicated)
    times = [f"{value:.1f}" for value in figures["recovery_s"].values()]
    print(row(outcome.kills.total(), *counts, f"{outcome.acknowledged:,}", *wrong, *times))
    return figures


def locked_out(options: argparse.Namespace) -> list[Json]:
    """Figures at each rate of guesses."""
    return lockout([int(rate) for rate in options.guesses.split(",")], options.seconds)


def ha(options: argparse.Namespace) -> Json:
    """Outcome of the faults, from a process of its own: it moves to another network namespace."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "figures.json"
        command = [sys.executable, "-m", "integration.ha", "--json", str(file)]
        command += ["--faults", str(options.faults), "--seed", str(options.seed)]
        subprocess.run(command, cwd=HERE.parent)  # its status repeats `clean`
        figures: Json = json.loads(file.read_text())
    return figures


BENCHES: dict[str, Callable[[argparse.Namespace], object]] = {
    "patch": patch,
    "digests": digests,
    "recovery": recover,
    "lockout": locked_out,
    "ha": ha,
}

if __name__ == "__main__":
    sys.exit(main())
