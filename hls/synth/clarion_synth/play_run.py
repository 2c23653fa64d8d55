# SPDX-License-Identifier: Apache-2.0
"""Builds the RTL of one unit for Icarus Verilog and plays it: a process of its own, which cocotb may end."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def main() -> None:
    """Run in the folder of the unit; see play.py for the environment, and PLAY_TOP."""
    from cocotb_tools.runner import get_runner

    folder = Path("sim").resolve()
    folder.mkdir(exist_ok=True)
    for path in Path().glob("*.mem"):  # contents of memories are read from where the simulator runs
        shutil.copy(path, folder)
    runner = get_runner("icarus")
    runner.build(
        sources=[Path("unit.v").resolve()],
        hdl_toplevel=os.environ["PLAY_TOP"],
        build_dir=folder,
        build_args=["-g2012"],
        timescale=("1ns", "1ps"),
        always=True,
    )
    runner.test(
        hdl_toplevel=os.environ["PLAY_TOP"],
        test_module="clarion_synth.play",
        build_dir=folder,
        test_dir=folder,
    )
