# SPDX-License-Identifier: Apache-2.0
"""What a measure has at the least and at the largest value of a column."""

from __future__ import annotations

from clarion_lab.reproduce.points import Points, formula
from clarion_lab.reproduce.table import Row


def test_the_ends_are_those_of_the_values_and_not_of_the_rows() -> None:
    rows = [
        Row("runs", "proxy", "emu", seed, {"size": size}, {"rate": 10 * size + seed})
        for size in (1024.0, 32.0, 512.0)
        for seed in (1, 2)
    ]
    at = formula(Points(rows), {}, {})
    assert list(at.evaluate('first_over("size", rate("proxy"))')) == [321, 322]
    assert list(at.evaluate('last_over("size", rate("proxy"))')) == [10241, 10242]
    assert list(at.evaluate('last_over("size", rate("proxy"), among=[32, 512])')) == [5121, 5122]
