# SPDX-License-Identifier: Apache-2.0
"""The real simulator behind a script that notes each run and may misbehave, and small tasks for it."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from builds import plain
from clarion_lab.tasks import sources
from clarion_lab.tasks.task import Task

WAIT_S = 200
SCENARIO = """
description: One flow.
topology: dumbbell
algorithm: cubic
links:
  bottleneck: {rate: 1 Mbit/s, rtt: 20 ms, queue: 1 bdp, loss: {forward: {model: packet, rate: 0.01}}}
flows: [{count: 1}]
duration: 1 s
"""


@contextlib.contextmanager
def installed(script: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """While inside, `script` is the simulator, with {python}, {notes} and {real} filled in; gives the
    directory where it finds what to do and notes what it did. The cache is `directory`/cache.
    """
    notes = directory / "notes"
    notes.mkdir()
    program = directory / "simulator"
    program.write_text(
        script.format(python=sys.executable, notes=str(notes), real=str(plain("sim/clarion-sim")))
    )
    program.chmod(0o755)
    monkeypatch.setenv("CLARION_SIM_BIN", str(program))
    monkeypatch.setenv("CLARION_CACHE", str(directory / "cache"))
    sources.digest.cache_clear()  # the script counts
    try:
        yield notes
    finally:
        sources.digest.cache_clear()


def tasks(*seeds: int, engine: str = "sim", **changes: Any) -> list[Task]:
    """The scenario with these changes, once for each seed."""
    document = {**yaml.safe_load(SCENARIO), **changes}
    return [
        Task("one", {**document, "seed": seed}, engine, {"point": f"{seed}", "settings": {}, "repeat": 1})
        for seed in seeds
    ]


def runs(notes: Path, seed: int) -> int:
    """How often a seed was simulated, as the script notes it in runs-SEED."""
    file = notes / f"runs-{seed}"
    return len(file.read_text()) if file.exists() else 0


def until(holds: Callable[[], bool]) -> None:
    """Waits for a condition."""
    deadline_s = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline_s, "waited too long"
        time.sleep(0.02)
