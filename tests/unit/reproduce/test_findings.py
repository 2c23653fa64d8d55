# SPDX-License-Identifier: Apache-2.0
"""How a comparison is said: a measure with its value, a number by itself."""

from __future__ import annotations

import pytest

from clarion_lab.reproduce.criteria import judge
from clarion_lab.reproduce.experiment import Criterion
from clarion_lab.reproduce.points import Points
from clarion_lab.reproduce.table import Row

POINTS = Points([Row("runs", "mod", "sim", 1, {}, {"window": 41.0})])


@pytest.mark.parametrize(
    ("expect", "found"),
    [
        ('window("mod") >= 55', "window('mod') 41, 55"),
        ('55 > window("mod")', "55, window('mod') 41"),
        ('window("mod") > 2 * window("mod")', "window('mod') 41, 2 * window('mod') 82"),
    ],
)
def test_a_number_is_not_said_twice(expect: str, found: str) -> None:
    criterion = Criterion("V", "the window is back", expect, {}, paired=True, ceiling=None)
    (finding,) = judge(criterion, POINTS, {}).findings
    assert finding.found == found
