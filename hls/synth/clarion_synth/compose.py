# SPDX-License-Identifier: Apache-2.0
"""The block's RTL of bambu's units, with queues between them, on the bench of its C simulation.

Each unit comes with the library it needs, under the same names as in the others, so they are renamed.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from clarion_base.errors import UserError
from clarion_base.steps import StepError, Steps
from clarion_synth import logged, rtl_bench
from clarion_synth.table import Row
from clarion_synth.targets import ROOT, Targets, Top

HERE = ROOT / "hls" / "synth" / "bambu" / "rtl"
WAYS = ("clarion_ingress", "clarion_egress")  # of which there is RTL; C simulation stands in for others
SLOW = 20  # times as many clocks as RTL takes that holds its numbers
NO_OVERLAP = "a process takes its next token when it is done with one, and reads and writes word after word"

MODULE = re.compile(r"^module (\w+)", re.MULTILINE)
TOP = re.compile(r"^_Z4unit")
CONTENTS = re.compile(r'"([^"/]+\.mem)"')
FIGURE = re.compile(r"^rtl: (ingress|egress): (.+): (\d+(?:\.\d+)?)", re.MULTILINE)
PASSED = re.compile(r"^(\d+) passed", re.MULTILINE)
PER_CLOCK = ", beats per clock"


def report(steps: Steps, folder: Path, made: Mapping[str, Path], targets: Targets) -> list[Row]:
    """Put the units together and run the tests of the block's RTL on them; `made`: where bambu made each."""
    if missing := rtl_bench.missing():
        steps.note(f"the RTL of the block is not simulated: {missing}")
        return []
    if not steps.dry_run:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    modules = [HERE / "stream_fifo.sv", *(HERE / f"{way}.sv" for way in WAYS)]
    for source, unit in made.items():
        modules.append(folder / f"bambu_{source}.v" if steps.dry_run else take(unit, source, folder))
    others = [path for path in rtl_bench.STAND_IN_MODULES if path.stem not in WAYS]
    driver = rtl_bench.build(steps, folder, [*modules, *others], [rtl_bench.STAND_IN] if others else [])
    printed = play(steps, driver, folder)
    return [] if steps.dry_run else rows(printed, targets)


def play(steps: Steps, driver: Path, folder: Path) -> str:
    """Run the tests; returns what they print."""
    command, environment = rtl_bench.command(driver, folder, SLOW)
    log = folder / "play.log"
    try:
        return logged.run(steps, command, log, environment)
    except StepError as error:
        raise UserError(f"the block's RTL does not do what C simulation does; see {log}") from error


def rows(printed: str, targets: Targets) -> list[Row]:
    """Hold the clocks that the tests have printed against what is wanted."""
    passed = PASSED.search(printed)
    if passed is None:
        raise UserError("the tests of the block's RTL did not say how many of them passed")
    result = [Row(f"{', '.join(WAYS)}: tests of the RTL passed", None, int(passed[1]))]
    tops = {top.name: top for top in targets.tops}
    for way, what, figure in FIGURE.findall(printed):
        if f"clarion_{way}" in WAYS:
            result.append(_row(tops[f"clarion_{way}"], what, float(figure)))
    return result


def _row(top: Top, what: str, figure: float) -> Row:
    if what.endswith(PER_CLOCK):
        name = f"{top.name}: {what.removesuffix(PER_CLOCK)}, clocks per beat in RTL"
        return Row(name, 1, round(1 / figure, 2), NO_OVERLAP)
    return Row(f"{top.name}: {what}, in RTL", top.latency, figure)


def renamed(text: str, source: str) -> str:
    """Return Verilog whose unit is bambu_SOURCE; its other modules and its files have that in front."""
    names = MODULE.findall(text)
    tops = [name for name in names if TOP.match(name)]
    if not tops:
        raise UserError(f"{source}: bambu wrote no module unit")
    unit = f"bambu_{source}"
    new = {name: f"{unit}_{name}" for name in names} | {tops[-1]: unit}
    words = re.compile(r"\b(" + "|".join(map(re.escape, new)) + r")\b")
    text = words.sub(lambda match: new[match[1]], text)
    return CONTENTS.sub(lambda match: f'"{unit}_{match[1]}"', text)


def take(made: Path, source: str, into: Path) -> Path:
    """Bring a unit and the contents of its memories from where bambu worked; return its Verilog."""
    text = (made / "unit.v").read_text(encoding="utf-8")
    for contents in made.glob("*.mem"):  # which the RTL looks for where it runs
        shutil.copy(contents, into / f"bambu_{source}_{contents.name}")
    path = into / f"bambu_{source}.v"
    path.write_text(renamed(text, source), encoding="utf-8")
    return path
