# SPDX-License-Identifier: Apache-2.0
"""Formulas in experiment files: arithmetic, and nothing that a file should not be able to do."""

from __future__ import annotations

import numpy as np
import pytest

from clarion_base.errors import UserError
from clarion_lab.reproduce.formula import Formula, eager

FORMULA = Formula({"twice": eager(lambda value: 2 * value)}, {"x": 3.0, "samples": np.array([1.0, 2.0])})


@pytest.mark.parametrize(
    ("text", "value"),
    [("1 + 2 * x", 7), ("-x ** 2", -9), ("twice(x) / 3", 2), ('"word"', "word"), ("[1, x]", [1, 3])],
)
def test_arithmetic_names_and_functions(text: str, value: object) -> None:
    assert FORMULA.evaluate(text) == value


def test_samples_stay_paired() -> None:
    assert list(FORMULA.evaluate("samples / samples + x")) == [4.0, 4.0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("y + 1", "y: unknown; use samples, x"),
        ("open('f')", "open: unknown function; use twice"),
        ("x.real", "x.real: not possible in a formula"),
        ("(lambda: x)()", "unknown function"),
        ("[a for a in samples]", "not possible in a formula"),
        ("1 +", "not a formula"),
        ("1 / 0", "division by zero"),
        ("twice(1, 2)", "takes 1 positional argument"),
        ('x + "a"', "unsupported operand"),
        ("twice(**x)", "name every argument"),
    ],
)
def test_what_is_wrong_is_named(text: str, reason: str) -> None:
    with pytest.raises(UserError) as error:
        FORMULA.evaluate(text)
    assert reason in str(error.value)
