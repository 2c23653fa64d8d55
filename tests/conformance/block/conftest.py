# SPDX-License-Identifier: Apache-2.0
"""Simulated blocks, with sanitisers; each size is built on first use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from builds import ROOT, sanitised
from conformance.block.bench import Bench

BUCKETS = {"": 4096, "-small": 8, "-large": 65536, "-late": 8}
QUEUE_BEATS = {"": 4096, "-small": 256}


@cache
def driver(size: str) -> Path:
    """Return the driver of a size; CLARION_BLOCK_DRIVERS names a folder with others."""
    other = os.environ.get("CLARION_BLOCK_DRIVERS")
    if other:
        return Path(other) / f"block-driver{size}"
    if not (ROOT / "build/ap_types/ap_int.h").exists():
        pytest.skip("no integer headers of HLS tools: make build gets them")
    return sanitised(f"hls/sim/bench/block-driver{size}")


@pytest.fixture
def bench_of() -> Iterator[Callable[[str], Bench]]:
    """Start blocks of a size; a sanitiser's report at their end is an error."""
    open_benches: list[Bench] = []

    def start(size: str = "") -> Bench:
        open_benches.append(Bench(driver(size)))
        return open_benches[-1]

    yield start
    for bench in open_benches:
        bench.close()


@pytest.fixture
def bench(bench_of: Callable[[str], Bench]) -> Bench:
    """A block of the default size."""
    return bench_of("")
