# SPDX-License-Identifier: Apache-2.0
"""The commands of experiments."""

from __future__ import annotations

from clarion_base.commands import Command
from clarion_lab.scenario.algorithms import DEMO

COMMANDS = (
    Command("list", "the scenarios that ship, and the senders that they may name", f"{__name__}.listing"),
    Command("run", "run a scenario", f"{__name__}.run"),
    Command("demo", f"geo under {', '.join(DEMO)}", f"{__name__}.demo"),
    Command("report", "draw the plots and the page of a result again", f"{__name__}.report"),
    Command("reproduce", "run experiments of the papers and judge their claims", f"{__name__}.reproduce"),
    Command("compare", "ratios of two results, with intervals", f"{__name__}.compare"),
    Command("doctor", "what this machine lacks and how to get it", f"{__name__}.doctor"),
    Command("cleanup", "remove what killed runs left behind", f"{__name__}.cleanup"),
)
