# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import subprocess

import pytest

from clarion_base import paths
from clarion_lab.scenario import algorithms, frames


def test_payload_ceilings() -> None:
    # plain: 14 + 20 + 32 + 1448 = 1514; DATA adds 32, TAG 16
    assert frames.frame_bytes("none") == 1514
    assert frames.frame_bytes("DATA") == 1546
    assert frames.frame_bytes("TAG") == 1530
    assert 100 * frames.payload_share("DATA") == pytest.approx(93.661, abs=1e-3)  # Mbit/s of 100 Mbit/s
    assert 100 * frames.payload_share("none") == pytest.approx(95.641, abs=1e-3)


def test_an_unknown_algorithm_is_answered_with_the_legal_ones() -> None:
    said = r'"vegs": unknown algorithm; use xcp, xcp-notags, .*, boost-tagged, kernel:NAME'
    with pytest.raises(ValueError, match=said):
        algorithms.lookup("vegs")


@pytest.mark.parametrize("name", ["kernel:", "kernel:clarion_xcp", "kernel:a b", "kernel:much_too_long_name"])
def test_a_name_that_no_module_can_have_is_unknown(name: str) -> None:
    with pytest.raises(ValueError, match="unknown algorithm"):
        algorithms.lookup(name)


def test_the_machines_own_congestion_controls_can_be_named() -> None:
    vegas = algorithms.lookup("kernel:vegas")
    assert (vegas.name, vegas.kernel, vegas.needs_agent) == ("kernel:vegas", "vegas", False)


def test_the_alias_is_the_same_sender() -> None:
    assert algorithms.lookup("boost-tagged") is algorithms.lookup("boost")


def test_every_sender_is_in_one_group_and_has_a_source() -> None:
    grouped = [each for group in algorithms.GROUPS.values() for each in group]
    assert len(grouped) == len(algorithms.ALGORITHMS)
    assert all(each.source and each.summary for each in grouped)


def test_the_registry_has_every_law_that_the_simulator_and_the_agent_have() -> None:
    named = {each.kernel for each in algorithms.ALGORITHMS.values()}
    simulated = subprocess.run(
        [paths.binary("clarion-sim"), "laws"], check=True, capture_output=True, text=True
    ).stdout.split()
    assert named == set(simulated)
    listed = subprocess.run(
        [paths.binary("clarion-host"), "params", "--json"], check=True, capture_output=True, text=True
    ).stdout
    assert {law for parameter in json.loads(listed) for law in parameter["laws"]} <= named


def test_only_laws_that_the_agent_loads_need_it() -> None:
    """XCP-i has XCP's law, in packets that only simulated hosts send."""
    for each in algorithms.ALGORITHMS.values():
        is_hosted = not each.only_simulated or each.name == "xcp-i"
        assert each.needs_agent == (each.kernel not in {"cubic", "reno", "bbr"} and is_hosted)
