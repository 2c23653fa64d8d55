# SPDX-License-Identifier: Apache-2.0
"""Random frames and commands through the block's RTL, with the core in the same process as the reference.

CLARION_BLOCK_FRAMES=10000000 runs as many frames, CLARION_BLOCK_SEED other ones.
"""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from conformance.block.conftest import DATA, soak

FRAMES = int(os.environ.get("CLARION_BLOCK_FRAMES", "60000"))
SEED = os.environ.get("CLARION_BLOCK_SEED", "1")


@pytest.mark.slow
@pytest.mark.parametrize("size", ["", "-small"])
def test_random_frames_and_commands_give_what_the_core_gives(size: str) -> None:
    program = [str(soak(size)), "--frames", str(FRAMES), "--seed", SEED]
    run = subprocess.run(program, capture_output=True, text=True, cwd=DATA)
    print(f"\nblock-soak{size}: {run.stdout}")
    assert (run.returncode, run.stderr) == (0, ""), run.stdout
    sums = [int(number) for number in re.findall(r"\d+", run.stdout)]
    assert sums[0] >= FRAMES
    assert run.stdout.endswith("\n0 differences\n")


def test_wrong_arguments_are_refused() -> None:
    for arguments in (["--frames"], ["--frames", "1x"], ["--other", "1"]):
        run = subprocess.run([str(soak("")), *arguments], capture_output=True, text=True)
        assert (run.returncode, run.stderr) == (2, "usage: block-soak [--frames N] [--seed S]\n")


@pytest.mark.slow
def test_memory_that_is_late_is_noticed() -> None:
    run = subprocess.run([str(soak("-late")), "--frames", "60000"], capture_output=True, text=True, cwd=DATA)
    assert run.returncode == 1, run.stdout
    assert re.match(r"seed 1, phase \d+ .*: clock \d+, (ingress|egress) \d: ", run.stdout)
    assert run.stdout.endswith("\n1 differences\n")
