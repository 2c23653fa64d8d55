# SPDX-License-Identifier: Apache-2.0
"""How hosts are kept off the CPU that the switch is bound to."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from clarion_lab.hosts import tuning
from clarion_lab.machine import cpus


@pytest.fixture(autouse=True)
def _four_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpus, "_cpus", lambda: [0, 1, 2, 3])


def steer(devices: Path) -> None:
    """Runs the command of host h1 as its script does, with its devices in a directory of the test."""
    [command] = tuning.receive_steering("h1-eth0", 3)
    subprocess.run(["sh", "-c", "set -e\n" + command.replace("/sys/class/net", str(devices))], check=True)


def test_packets_are_taken_in_on_the_other_cpus(tmp_path: Path) -> None:
    file = tmp_path / "h1-eth0/queues/rx-0/rps_cpus"
    file.parent.mkdir(parents=True)
    file.write_text("0\n")
    steer(tmp_path)
    assert file.read_text() == "7\n"


def test_a_kernel_that_steers_no_packets_is_left_as_it_is(tmp_path: Path) -> None:
    queue = tmp_path / "h1-eth0/queues/rx-0"
    queue.mkdir(parents=True)
    steer(tmp_path)
    assert list(queue.iterdir()) == []


def test_nothing_is_steered_around_a_switch_that_is_bound_to_no_cpu() -> None:
    assert tuning.receive_steering("h1-eth0", None) == []
