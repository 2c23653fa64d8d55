# SPDX-License-Identifier: Apache-2.0
"""A link whose real rate changes during a run."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from clarion_base.faults import ScenarioError
from clarion_lab.controller.registration import Registrar
from clarion_lab.controller.rest_client import RestClient
from clarion_lab.engines.bmv2.engine import Bmv2Engine
from clarion_lab.engines.emulation import EmbeddedSwitches, EmulationEngine
from clarion_lab.results.limits import payload_ceiling
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import Scenario, build
from clarion_lab.scenario.steps import Steps
from clarion_lab.scenario.topology import plan, switch_config

BASE: dict[str, Any] = {
    "description": "a link that is slower for a while",
    "topology": "dumbbell",
    "links": {"bottleneck": {"rate": "100 Mbit/s", "rtt": "100 ms"}},
    "flows": [{"count": 2}],
    "duration": "40 s",
}
STEPS = [{"at": "10 s", "rate": "40 Mbit/s"}, {"at": "30 s", "rate": "100 Mbit/s"}]


def load(steps: object = STEPS, link: str = "bottleneck", capacity: str = "start") -> Scenario:
    document = {**copy.deepcopy(BASE), "xcp": {"capacity": capacity}}
    document["links"].setdefault(link, {"rate": "1 Gbit/s"})["rate-steps"] = steps
    return build("x", documents.points("x", document)[0].document)


def load_without_steps(capacity: str) -> Scenario:
    return build("x", documents.points("x", {**BASE, "xcp": {"capacity": capacity}})[0].document)


def test_xcp_goes_on_handing_out_the_rate_of_the_start() -> None:
    scenario = load()
    network = plan(scenario)
    assert [port.name for ports in network.switches.values() for port in ports if port.rate_steps.steps] == [
        "s1-right",
        "s2-left",
    ]
    config = switch_config(scenario, network, "truth.csv")["switches"][0]["ports"][0]
    assert (config["rate_bps"], config["xcp"]["capacity_bps"]) == (100_000_000, 100_000_000)
    # The queue stays too: 100 Mbit/s * 100 ms / 8.
    assert config["queue_bytes"] == 1_250_000


def test_xcp_is_told_every_step() -> None:
    port = next(port for port in plan(load(capacity="told")).switches["s1"] if port.rate_steps.steps)
    assert [change.settings for change in port.changes] == [
        {"rate_bps": 40_000_000, "xcp": {"capacity_bps": 40_000_000}},
        {"rate_bps": 100_000_000, "xcp": {"capacity_bps": 100_000_000}},
    ]


def test_a_port_that_measures_is_told_nothing() -> None:
    scenario = load(capacity="measured")
    network = plan(scenario)
    for switch in switch_config(scenario, network, "truth.csv")["switches"]:
        for port in switch["ports"]:
            assert port["xcp"]["capacity_bps"] == "measured" if port["rate_bps"] else "xcp" not in port
    assert network.switches["s1"][0].changes[0].settings == {"rate_bps": 40_000_000}


def controlled() -> EmulationEngine:
    """An engine whose runs have a controller."""
    engine = EmulationEngine()
    engine._registrar = Registrar(RestClient("http://127.0.0.1:1", "token"))
    return engine


def test_steps_that_xcp_is_told_are_refused_together_with_a_controller() -> None:
    told = load(capacity="told")
    with pytest.raises(ScenarioError) as caught:
        controlled().check_switches(told, plan(told))
    reason = "told: a controller sets the capacity; use start or measured, or no controller"
    assert str(caught.value) == f"scenario x: xcp.capacity: {reason}"
    EmulationEngine().check_switches(told, plan(told))


@pytest.mark.parametrize(
    "scenario", [load(capacity="start"), load(capacity="measured"), load_without_steps(capacity="told")]
)
def test_a_controller_goes_with_capacities_that_no_step_changes(scenario: Scenario) -> None:
    controlled().check_switches(scenario, plan(scenario))


def test_the_mean_rate_weighs_each_rate_with_its_time() -> None:
    steps = Steps(((10_000_000, 40_000_000), (30_000_000, 100_000_000)))
    # 10 s at 100, 20 s at 40, 10 s at 100 Mbit/s: 2800 Mbit in 40 s.
    assert steps.mean(100_000_000, 0, 40_000_000, float) == 70_000_000
    assert steps.mean(100_000_000, 12_000_000, 28_000_000, float) == 40_000_000
    assert steps.mean(100_000_000, 35_000_000, 39_000_000, float) == 100_000_000
    assert Steps[int]().mean(100_000_000, 0, 40_000_000, float) == 100_000_000


def test_the_ceiling_follows_the_mean_rate() -> None:
    # 70 Mbit/s * 1448 / 1546, all headers taken off
    assert payload_ceiling(load(), 0, 40_000_000) == pytest.approx(65_562_743, abs=1)


class Process:
    """A switch process that only notes its commands."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        self.told.append({"cmd": command, **fields})
        return {}


def test_the_switch_is_told_every_step_with_its_time_for_both_directions(tmp_path: Path) -> None:
    process = Process()
    EmbeddedSwitches(plan(load()), process, tmp_path).plan_changes(5_000_000)  # type: ignore[arg-type]
    assert process.told == [
        {"cmd": "set", "port": port, "at_us": at_us, "rate_bps": rate_bps}
        for port in ("s1:s1-right", "s2:s2-left")
        for at_us, rate_bps in ((15_000_000, 40_000_000), (35_000_000, 100_000_000))
    ]


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        ([{"at": "1 s"}], "links.bottleneck.rate-steps[0].rate: missing"),
        ([{"at": 1, "rate": "1 Mbit/s"}], "links.bottleneck.rate-steps[0].at: 1: missing unit; use us, ms,"),
        (
            [{"at": "1 s", "rate": "1 Mbitt"}],
            'links.bottleneck.rate-steps[0].rate: "1 Mbitt": unknown unit; use bit/s',
        ),
        ([{"at": "0 s", "rate": "1 Mbit/s"}], "links.bottleneck.rate-steps[0].at: must be above 0 s and"),
        ([STEPS[1], STEPS[0]], "links.bottleneck.rate-steps[1].at: must be above 0 s and later than"),
        (
            [{"at": "1 s", "rate": "0 bit/s"}],
            "links.bottleneck.rate-steps[0].rate: must be at least 1 kbit/s",
        ),
        ([{"at": "40 s", "rate": "1 Mbit/s"}], "links.bottleneck.rate-steps[0].at: must lie before duration"),
    ],
)
def test_faults_name_the_step(steps: object, line: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(steps)
    assert str(caught.value).startswith(f"scenario x: {line}")


def test_only_a_bottleneck_changes_its_rate() -> None:
    with pytest.raises(ScenarioError, match=r"links\.access\.rate-steps: only a bottleneck has it"):
        load(link="access")


def test_engines_refuse_what_they_do_not_carry() -> None:
    scenario = load()
    with pytest.raises(ScenarioError, match=r"links\.bottleneck\.rate-steps: engine bmv2 does not have it"):
        Bmv2Engine().check_switches(scenario, plan(scenario))
    fast = load([{"at": "1 s", "rate": "2 Gbit/s"}])
    with pytest.raises(ScenarioError, match=r"rate-steps\[0\]\.rate: 2 Gbit/s: beyond the 1\.2 Gbit/s"):
        EmulationEngine().check_switches(fast, plan(fast))
