# SPDX-License-Identifier: Apache-2.0
"""Two controllers on one PostgreSQL in network namespaces, and the faults that are the hardest for them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from clarion_base.paths import ROOT
from fakes import postgres

KINDS = (  # tests/bench/bench_controller.py does hundreds of all kinds
    "SIGSTOP, primary",
    "cut, controller - database",
    "kill -9, database",
)


@pytest.mark.root
@pytest.mark.beside
@pytest.mark.slow
@pytest.mark.skipif(postgres.programs() is None, reason="no PostgreSQL server (apt install postgresql)")
def test_two_controllers_lose_nothing_and_never_write_both(tmp_path: Path) -> None:
    """In a process of its own: it moves to another network namespace."""
    figures = tmp_path / "figures.json"
    command = [sys.executable, "-m", "integration.ha", "--faults", str(len(KINDS)), "--seed", "3"]
    command += [f"--only={kind}" for kind in KINDS]
    done = subprocess.run(
        [*command, "--json", str(figures)], cwd=ROOT / "tests", capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    outcome = json.loads(figures.read_text())
    assert outcome["clean"], outcome
    assert outcome["acknowledged"] > 0
    assert outcome["writes"] > 0
    assert outcome["faults"] == dict.fromkeys(KINDS, 1)
