# SPDX-License-Identifier: Apache-2.0
"""Functions that bambu pipelines: figures from its schedule and from the simulation."""

from __future__ import annotations

import re

import pytest

from clarion_base.errors import UserError
from clarion_synth import cores

PRINTED = "    Number of control steps: 12\n    Minimum slack: 0.0115\n"


def test_one_result_in_every_clock_is_held() -> None:
    rows = cores.rows_of("a", 4.0, PRINTED, "results 2000 different 0 clocks 2008 first 9\n")
    assert [(row.wanted, row.got, row.missed) for row in rows] == [
        (4.0, 3.99, False),
        (1, 1, False),
        (None, 9, False),
        (None, 2000, False),
    ]


def test_a_slower_one_is_a_gap() -> None:
    rows = cores.rows_of("a", 4.0, PRINTED, "results 2000 different 0 clocks 4007 first 9\n")
    assert [row.number for row in rows if row.missed] == ["a: II, clocks, simulated"]


@pytest.mark.parametrize(
    ("played", "message"),
    [
        ("results 2000 different 1 clocks 2008 first 9", "1 of 2000 results of its RTL differ"),
        (
            "results 12 different 0 clocks 200000 first 9",
            "0 of 12 results of its RTL differ",
        ),
        ("", "came to no result"),
    ],
)
def test_wrong_results_are_an_error(played: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        cores.rows_of("a", 4.0, PRINTED, played)


def test_without_a_simulator_the_clock_is_told() -> None:
    assert [row.got for row in cores.rows_of("a", 4.0, PRINTED, None)] == [3.99]


def test_a_synthesis_that_ended_early_says_how() -> None:
    with pytest.raises(UserError, match="ended with: error -> no"):
        cores.rows_of("a", 4.0, "error -> no\n", None)


def test_bench_and_functions_agree_with_their_sources() -> None:
    bench = (cores.HERE / "core_bench.sv").read_text(encoding="utf-8")
    assert re.findall(r"parameter NUMBER = (\d+);", bench) == [str(cores.NUMBER)]
    for function in cores.FUNCTIONS:
        text = (cores.HERE / f"core_{function}.cpp").read_text(encoding="utf-8")
        assert f"clarion::synth::{function}(a, b)" in text
        assert "#pragma HLS pipeline II = 1" in text
