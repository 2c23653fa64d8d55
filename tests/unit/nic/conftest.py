# SPDX-License-Identifier: Apache-2.0
"""A machine for each test, with a card in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from unit.nic.machine import Machine


@pytest.fixture
def bare(tmp_path: Path) -> Machine:
    """Return a machine without a card or tools."""
    machine = Machine(tmp_path / "machine")
    machine.folder.mkdir()
    machine.prepare()
    return machine


@pytest.fixture
def machine(bare: Machine) -> Machine:
    """Return a machine with a card, and the programs for flashing."""
    bare.add_card()
    bare.flash_tools()
    return bare
