# SPDX-License-Identifier: Apache-2.0
"""Synthesis with bambu."""

from __future__ import annotations

from collections.abc import Sequence

from clarion_nic.boards import Board
from clarion_nic.steps import Steps
from clarion_synth.targets import Targets


def report(steps: Steps, board: Board, targets: Targets, only: Sequence[str] | None) -> None:
    """Synthesise."""
