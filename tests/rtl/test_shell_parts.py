# SPDX-License-Identifier: Apache-2.0
"""The modules of hls/rtl for the tools: no warning, no latch, the memory that was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from rtl.formal import SHELL
from rtl.simulation import lint, needs_verilator, needs_yosys, synthesise

Parameters = Mapping[str, int | str]

MAKE_UPS: list[tuple[str, Parameters]] = [
    *(("skid", {"WIDTH": width}) for width in (1, 560)),
    *(
        ("ram", {"STYLE": style, "READ_LATENCY": latency})
        for style in ("block", "ultra", "distributed")
        for latency in (1, 2, 3)
    ),
    ("ram", {"DEPTH": 2, "WIDTH": 1}),
    ("ram", {"DEPTH": 1000, "WIDTH": 49}),
    *(
        ("fifo", {"STYLE": style, "DEPTH": depth, "WIDTH": 49})
        for style in ("block", "ultra", "distributed")
        for depth in (2, 64)
    ),
    *(("pipe", {"LATENCY": latency, "WIDTH": 49}) for latency in (0, 1, 2, 3, 4, 17)),
    *(("credit", {"CREDITS": credits}) for credits in (1, 2, 15, 16)),
    *(("counter", {"WIDTH": width, "STEP_BITS": step}) for width, step in ((1, 1), (8, 8), (64, 14))),
    *(
        ("bucket_memory", {"BUCKETS": buckets, "WIDTH": 49, "READ_LATENCY": latency})
        for buckets, latency in ((2, 1), (2, 2), (4096, 2), (64, 3), (65536, 2))
    ),
]

REFUSED: list[tuple[str, Parameters, str]] = [
    ("skid", {"WIDTH": 0}, "WIDTH: 1 or more"),
    ("ram", {"WIDTH": 0}, "WIDTH: 1 or more"),
    ("ram", {"DEPTH": 1}, "DEPTH: 2 or more"),
    ("ram", {"STYLE": "register"}, "STYLE: block, ultra or distributed"),
    ("ram", {"READ_LATENCY": 0}, "READ_LATENCY: 1 to 3"),
    ("ram", {"READ_LATENCY": 4}, "READ_LATENCY: 1 to 3"),
    ("fifo", {"WIDTH": 0}, "WIDTH: 1 or more"),
    ("fifo", {"DEPTH": 1}, "DEPTH: a power of two"),
    ("fifo", {"DEPTH": 12}, "DEPTH: a power of two"),
    ("pipe", {"WIDTH": 0}, "WIDTH: 1 or more"),
    ("credit", {"CREDITS": 0}, "CREDITS: 1 to 2^31-1"),
    ("credit", {"CREDITS": 1 << 31}, "CREDITS: 1 to 2^31-1"),
    ("counter", {"WIDTH": 0}, "WIDTH: 1 or more"),
    ("counter", {"STEP_BITS": 0}, "STEP_BITS: 1 to WIDTH"),
    ("counter", {"WIDTH": 8, "STEP_BITS": 9}, "STEP_BITS: 1 to WIDTH"),
    ("bucket_memory", {"BUCKETS": 1}, "BUCKETS: a power of two"),
    ("bucket_memory", {"BUCKETS": 100}, "BUCKETS: a power of two"),
    ("bucket_memory", {"BUCKETS": 131072}, "BUCKETS: a power of two"),
    ("bucket_memory", {"WIDTH": 0}, "WIDTH: 1 or more"),
    ("bucket_memory", {"READ_LATENCY": 4}, "READ_LATENCY: 1 to 3"),
]

CHECKS = "flatten; opt -fast; memory -nomap; check -assert; select -assert-none t:$dlatch t:$adff t:$dffsr"


def sources(name: str) -> list[Path]:
    own = SHELL / f"clarion_{name}.sv"
    return [SHELL / "clarion_ram.sv", own] if name in ("fifo", "bucket_memory") else [own]


@needs_verilator
@pytest.mark.parametrize(("name", "parameters"), MAKE_UPS, ids=str)
def test_there_is_nothing_to_warn_of(name: str, parameters: Parameters) -> None:
    assert lint(f"clarion_{name}", sources(name), parameters) == ""


@needs_verilator
@pytest.mark.parametrize(("name", "parameters", "reason"), REFUSED, ids=str)
def test_parameters_that_cannot_be(name: str, parameters: Parameters, reason: str) -> None:
    assert f"clarion_{name}: {reason}" in lint(f"clarion_{name}", sources(name), parameters)


@needs_yosys
@pytest.mark.parametrize(("name", "parameters"), MAKE_UPS, ids=str)
def test_it_can_be_synthesised_without_latches(name: str, parameters: Parameters) -> None:
    synthesise(f"clarion_{name}", sources(name), CHECKS, parameters)


@needs_yosys
@pytest.mark.parametrize(
    ("parameters", "primitives"),
    [
        ({"STYLE": "block", "DEPTH": 4096, "WIDTH": 49}, {"RAMB36E2": 6}),  # of 4096 x 9 bits
        ({"STYLE": "ultra", "DEPTH": 4096, "WIDTH": 560}, {"URAM288": 8}),  # of 4096 x 72 bits
        ({"STYLE": "distributed", "DEPTH": 64, "WIDTH": 49}, {"RAM64M8": 7}),  # of 64 x 7 bits
    ],
    ids=str,
)
def test_memory_is_of_the_kind_that_was_asked_for(parameters: Parameters, primitives: dict[str, int]) -> None:
    kinds = "t:RAM* t:URAM* t:$mem*"
    passes = [
        "synth_xilinx -family xcup -top clarion_ram -run begin:map_ffram",
        *(f"select -assert-count {count} t:{primitive}" for primitive, count in primitives.items()),
        f"select -assert-count {sum(primitives.values())} {kinds}",
    ]
    synthesise("clarion_ram", sources("ram"), "; ".join(passes), {**parameters, "READ_LATENCY": 2})


@needs_yosys
@pytest.mark.parametrize(
    ("name", "parameters", "output"),
    [
        *(("skid", {}, output) for output in ("ready_o", "valid_o", "data_o")),
        *(("fifo", {"STYLE": style}, "valid_o") for style in ("block", "ultra")),
        *(("fifo", {"STYLE": style}, "data_o") for style in ("block", "ultra")),
    ],
    ids=str,
)
def test_outputs_that_are_registers(name: str, parameters: Parameters, output: str) -> None:
    logic_before = f"o:{output} %ci*:-$dff c:* %i"
    passes = f"flatten; opt -fast; memory -nordff -nomap; dffunmap; select -assert-none {logic_before}"
    synthesise(f"clarion_{name}", sources(name), passes, parameters)


@needs_yosys
@pytest.mark.parametrize("style", ["block", "ultra", "distributed"])
@pytest.mark.parametrize("output", ["ready_o", "valid_o", "count_o"])
def test_outputs_of_a_fifo_do_not_follow_inputs_in_the_same_clock(style: str, output: str) -> None:
    inputs_before = f"o:{output} %ci*:-$dff,$mem_v2 i:* %i"
    passes = f"flatten; opt -fast; memory -nordff -nomap; dffunmap; select -assert-none {inputs_before}"
    synthesise("clarion_fifo", sources("fifo"), passes, {"STYLE": style})
