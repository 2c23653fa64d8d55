# SPDX-License-Identifier: Apache-2.0
"""Experiments are checked before they are queued."""

from __future__ import annotations

from typing import Any

import pytest

from clarion.scenario_library import catalogue, checked, engines, expected_s
from clarion_control.experiments.library import MAX_SETTINGS, ExperimentFault, settings_object
from clarion_lab.scenario.documents import shipped


def test_all_shipped_scenarios_can_be_run() -> None:
    assert [info.name for info in catalogue()] == list(shipped())
    for info in catalogue():
        assert info.description
        assert info.points >= 1
        assert info.run_s > 0
        assert checked(info.name, "emu", {}, 1).settings == ()
    assert engines() == ["emu", "bmv2", "sim", "hls-sim"]


def test_settings_become_those_of_the_command_line_and_json_again() -> None:
    settings: dict[str, Any] = {
        "duration": "5 s",
        "flows.0.count": 3,
        "tagging": False,
        "description": 'quotes " and \\ and é',
        "links.bottleneck.loss.forward": {"model": "packet", "rate": 0.001},
    }
    request = checked("smoke", "emu", settings, 2)
    assert request.settings[:3] == ('duration="5 s"', "flows.0.count=3", "tagging=false")
    assert settings_object(request.settings) == settings
    assert expected_s(request) == 10


@pytest.mark.parametrize(
    ("scenario", "engine", "settings", "repeat", "path", "reason"),
    [
        ("smok", "emu", {}, 1, ("scenario",), "smoke"),
        ("/etc/passwd", "emu", {}, 1, ("scenario",), "no such scenario ships"),
        ("../scenarios/smoke.yaml", "emu", {}, 1, ("scenario",), "no such scenario ships"),
        ("smoke", "cuda", {}, 1, ("engine",), "emu, bmv2, sim, hls-sim"),
        ("smoke", "emu", {}, 0, ("repeat",), "from 1"),
        ("smoke", "emu", {}, 101, ("repeat",), "to 100"),
        ("smoke", "emu", {"duration": "5 parsecs"}, 1, ("settings", "duration"), "unit"),
        ("smoke", "emu", {"flows.0.count": 0}, 1, ("settings", "flows.0.count"), "1"),
        ("smoke", "emu", {"flows.7.count": 1}, 1, ("settings", "flows.7.count"), "from 0 to"),
        ("smoke", "emu", {"flws.0.count": 1}, 1, ("settings", "flws.0.count"), "flws"),
        ("smoke", "emu", {"sweep.duration": ["1 s"]}, 1, ("settings", "sweep.duration"), "sweep"),
        ("smoke", "emu", {"--out": "/etc"}, 1, ("settings",), ""),
        ("smoke", "emu", {"a=b": 1}, 1, ("settings", "a=b"), "dotted name"),
        ("smoke", "emu", {"": 1}, 1, ("settings", ""), "dotted name"),
        ("smoke", "emu", {"description": "x" * 20_000}, 1, ("settings", "description"), "longer"),
        ("smoke", "emu", {"links.bottleneck": 1e999}, 1, ("settings", "links.bottleneck"), ""),
        ("s0-fig9", "emu", {}, 100, ("repeat",), "at most 86400 s"),
        ("smoke", "emu", {"duration": "100000 s"}, 1, ("settings",), "at most 86400 s"),
    ],
)
def test_what_cannot_run_is_named(
    scenario: str, engine: str, settings: dict[str, Any], repeat: int, path: tuple[str, ...], reason: str
) -> None:
    with pytest.raises(ExperimentFault) as fault:
        checked(scenario, engine, settings, repeat)
    assert fault.value.path[: len(path)] == path
    assert reason in fault.value.reason


def test_there_is_an_end_to_settings() -> None:
    settings = {f"params.p{number}": 1 for number in range(MAX_SETTINGS + 1)}
    with pytest.raises(ExperimentFault, match="at most 50"):
        checked("smoke", "emu", settings, 1)
