# SPDX-License-Identifier: Apache-2.0
"""A few thousand malformed and out-of-order messages; `agent_fuzz` sends 100,000."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.agent_fuzz import Attack
from integration.agent_net import SWITCH, switch_and_agent

pytestmark = pytest.mark.skipif(not SWITCH.exists(), reason=f"{SWITCH}: not built")


@pytest.mark.parametrize("seed", [1, 2])
def test_no_message_brings_the_agent_down_or_leaves_half_a_batch(tmp_path: Path, seed: int) -> None:
    with switch_and_agent(tmp_path) as (switch, agent):
        attack = Attack(switch, agent.address, seed)
        try:
            attack.run(800)
            attack.still_serves()
        finally:
            attack.close()
    assert attack.outcomes["write OK"] > 20  # the generator also makes sense sometimes
    assert attack.outcomes["write UNKNOWN"] > 20
