# SPDX-License-Identifier: Apache-2.0
"""Properties of the modules of hls/rtl, proved; and faults planted in those modules, each of which a property refutes."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtl.formal import Proof, judge
from rtl.simulation import needs

pytestmark = [needs("yosys", "yosys"), needs("yosys-abc", "yosys")]

STREAM = ("stream_properties",)
RAM = ("ram",)
LUT_RAM: dict[str, int | str] = {"STYLE": "distributed", "SHOWN_AFTER": 1}

SKID = Proof("skid", beside=STREAM)
FIFO = Proof("fifo", {"DEPTH": 2}, RAM, STREAM)
FIFO_IN_LUTS = Proof("fifo", {**LUT_RAM, "DEPTH": 4, "CAPACITY": 4}, RAM, STREAM)

PROOFS = [
    SKID,
    FIFO,
    FIFO_IN_LUTS,
    Proof("fifo", {**LUT_RAM, "DEPTH": 2, "CAPACITY": 2}, RAM, STREAM),
    *(Proof("ram", {"READ_LATENCY": latency}) for latency in (1, 2, 3)),
    *(Proof("pipe", {"LATENCY": latency}) for latency in (0, 1, 2, 3, 4, 6)),
    *(Proof("credit", {"CREDITS": credits}) for credits in (1, 4, 5)),
    Proof("counter", {"WIDTH": 5, "STEP_BITS": 2}),
    Proof("counter", {"WIDTH": 3, "STEP_BITS": 3}),
    *(Proof("bucket_memory", {"BUCKETS": 2, "READ_LATENCY": latency}, RAM) for latency in (1, 2, 3)),
    Proof("bucket_memory", {"BUCKETS": 4, "READ_LATENCY": 2}, RAM),
]


@pytest.mark.slow
@pytest.mark.parametrize("proof", PROOFS, ids=str)
def test_all_properties_hold(proof: Proof, tmp_path: Path) -> None:
    verdict = judge(proof, tmp_path)
    assert not verdict.broken
    assert not verdict.unreached
    assert verdict.proved
