# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the controller, the agent and the data plane at random moments under writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration import recovery
from integration.controller_net import Embedded, ServedController, running

KILLS = 6  # tests/bench/bench_controller.py does hundreds


@pytest.mark.root
@pytest.mark.slow
def test_nothing_acknowledged_is_lost_and_nothing_happens_twice(tmp_path: Path) -> None:
    side = Embedded(tmp_path, switches=2)
    with running(side), ServedController(tmp_path, None, "--no-tuner") as controller:
        outcome = recovery.run(controller, side, KILLS, seed=1)
    assert outcome.clean, outcome
    assert outcome.acknowledged > 0
    assert outcome.kills.total() == KILLS
