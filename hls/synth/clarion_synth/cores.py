# SPDX-License-Identifier: Apache-2.0
"""Functions of the core without state, which bambu does pipeline: interval, latency, clock, equality."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from clarion_base.errors import UserError
from clarion_base.steps import Steps
from clarion_synth import bambu_report, logged
from clarion_synth.table import Row
from clarion_synth.targets import ROOT

HERE = ROOT / "hls" / "synth" / "bambu"
FUNCTIONS = {"rate": "a division", "share": "a packet's share"}
NUMBER = 2000  # of arguments; core_bench.sv has it too
RESULT = re.compile(r"results (\d+) different (\d+) clocks (\d+) first (-?\d+)")


def report(steps: Steps, work: Path, device: str, clock_ns: float) -> list[Row]:
    """Synthesise and play every function."""
    if not steps.dry_run:
        work.mkdir(parents=True, exist_ok=True)
    vectors = work / "core_vectors"
    steps.run(["g++", "-std=c++17", "-O1", f"-I{ROOT}", str(HERE / "core_vectors.cpp"), "-o", str(vectors)])
    rows: list[Row] = []
    for function, title in FUNCTIONS.items():
        folder = work / f"core_{function}"
        if not steps.dry_run:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        printed = logged.run(steps, _command(function, device, clock_ns), folder / "bambu.log")
        played = _play(steps, folder, function, vectors)
        if not steps.dry_run:
            rows += rows_of(title, clock_ns, printed, played)
    return rows


def _command(function: str, device: str, clock_ns: float) -> list[str]:
    return [
        *("bambu", str(HERE / f"core_{function}.cpp"), "--top-fname=core", "--compiler=I386_CLANG16"),
        *("--std=c++17", "-O2", f"-I{ROOT}", "--generate-interface=INFER", f"--device-name={device}"),
        *(f"--clock-period={clock_ns:g}", "-v3"),
    ]


def _play(steps: Steps, folder: Path, function: str, vectors: Path) -> str | None:
    if shutil.which("iverilog") is None:
        steps.note("iverilog is not on PATH: the RTL is not simulated")
        return None
    made = logged.run(steps, [str(vectors), function, str(NUMBER)], folder / "vectors.hex")
    if not steps.dry_run and len(made.split()) != NUMBER:
        raise UserError(f"{folder / 'vectors.hex'}: {len(made.split())} vectors, {NUMBER} are wanted")
    bench = str(HERE / "core_bench.sv")
    logged.run(steps, ["iverilog", "-g2012", "-o", "bench", "core.v", bench], folder / "iverilog.log")
    return logged.run(steps, ["vvp", "-n", "bench"], folder / "play.log")


def rows_of(title: str, clock_ns: float, printed: str, played: str | None) -> list[Row]:
    """Hold what there is against one result per clock."""
    schedule = bambu_report.schedule(printed)
    clock = round(clock_ns - schedule.slack_ns, 2)
    rows = [Row(f"{title}: estimated clock period, ns", clock_ns, clock, "without routing")]
    if played is None:
        return rows
    match = RESULT.search(played)
    if match is None:
        raise UserError(f"{title}: the simulation of its RTL came to no result")
    results, different, clocks, first = map(int, match.groups())
    if results != NUMBER or different:
        raise UserError(f"{title}: {different} of {results} results of its RTL differ, {NUMBER} are wanted")
    interval = (clocks - first) / (results - 1)
    return [
        *rows,
        Row(f"{title}: II, clocks, simulated", 1, interval),
        Row(f"{title}: latency, clocks, simulated", None, first),
        Row(f"{title}: results equal to C++", None, results),
    ]
