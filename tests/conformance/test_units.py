# SPDX-License-Identifier: Apache-2.0
"""The C++ unit tests of core, laws, shim and simulator under the sanitizers of addresses and of
undefined behaviour.
"""

from __future__ import annotations

import subprocess

import pytest

from builds import sanitised


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [
        "core/core-tests",
        "sim/sim_tests",
        "tests/unit/cc/cc_test",
        "tests/unit/shim/shim_test",
    ],
)
def test_units_under_sanitisers(program: str) -> None:
    run = subprocess.run([sanitised(program), "--gtest_brief=1"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "PASSED" in run.stdout
