# SPDX-License-Identifier: Apache-2.0
"""Simulated blocks, with sanitisers; each size is built on first use."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from builds import ROOT, plain, sanitised
from conformance.block.bench import Bench

BUCKETS = {"": 4096, "-small": 8, "-large": 65536, "-late": 8}
# Where RTL of a tool finds the files that it reads.
DATA = Path(os.environ["CLARION_BLOCK_DATA"]) if "CLARION_BLOCK_DATA" in os.environ else None
QUEUE_BEATS = {"": 4096, "-small": 256}


@cache
def driver(size: str) -> Path:
    """Return the driver of a size; CLARION_BLOCK_DRIVERS names a folder with others."""
    return _program(f"block-driver{size}", sanitised)


@cache
def soak(size: str) -> Path:
    """Return block-soak of a size: without sanitisers, for what counts is how much it can do."""
    return _program(f"block-soak{size}", plain)


def _program(name: str, build: Callable[[str], Path]) -> Path:
    if other := os.environ.get("CLARION_BLOCK_DRIVERS"):
        return Path(other) / name
    if not (ROOT / "build/ap_types/ap_int.h").exists():
        pytest.skip("no integer headers of HLS tools: make build gets them")
    if shutil.which("verilator") is None:
        pytest.skip("verilator is not on PATH: make build installs it")
    return build(f"hls/sim/bench/{name}")


@pytest.fixture
def bench_of() -> Iterator[Callable[[str], Bench]]:
    """Start blocks of a size; a sanitiser's report at their end is an error."""
    open_benches: list[Bench] = []

    def start(size: str = "") -> Bench:
        open_benches.append(Bench(driver(size), folder=DATA))
        return open_benches[-1]

    yield start
    for bench in open_benches:
        bench.close()


@pytest.fixture
def bench(bench_of: Callable[[str], Bench]) -> Bench:
    """A block of the default size."""
    return bench_of("")
