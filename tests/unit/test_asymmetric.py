# SPDX-License-Identifier: Apache-2.0
"""Links with a rate and a delay for each direction: what the switch is told, and what results count."""

from __future__ import annotations

from typing import Any

import pytest

from clarion_base.faults import ScenarioError
from clarion_lab.engines.emulation import EmulationEngine
from clarion_lab.engines.hls_sim import HlsSimEngine
from clarion_lab.hosts import tuning
from clarion_lab.results.limits import payload_ceiling, survival
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import Scenario, build
from clarion_lab.scenario.topology import plan, switch_config

LINK: dict[str, Any] = {
    "rate": {"forward": "150 Mbit/s", "reverse": "10 Mbit/s"},
    "delay": {"forward": "300 ms", "reverse": "240 ms"},
    "loss": {
        "forward": {"model": "packet", "rate": "1.2 %"},
        "reverse": {"model": "packet", "rate": "0.2 %"},
    },
}
BASE: dict[str, Any] = {
    "description": "asymmetric",
    "topology": "dumbbell",
    "algorithm": "cubic",
    "links": {"bottleneck": LINK},
    "flows": [{}],
    "duration": "10 s",
}


def load(link: dict[str, Any] | None = None, **fields: Any) -> Scenario:
    document = {**BASE, "links": {"bottleneck": {**LINK, **(link or {})}}, **fields}
    return build("x", documents.points("x", document)[0].document)


def refusal(link: dict[str, Any], **fields: Any) -> str:
    with pytest.raises(ScenarioError) as caught:
        load(link, **fields)
    return str(caught.value).removeprefix("scenario x: ")


def ports(scenario: Scenario) -> dict[str, Any]:
    config = switch_config(scenario, plan(scenario), "truth.csv")
    return {port["name"]: port for switch in config["switches"] for port in switch["ports"]}


def test_each_port_has_its_own_direction() -> None:
    found = ports(load())
    forward, reverse = found["s1-right"], found["s2-left"]
    assert (forward["rate_bps"], reverse["rate_bps"]) == (150_000_000, 10_000_000)
    assert (forward["delay_us"], reverse["delay_us"]) == (300_000, 240_000)
    assert (forward["loss"]["rate"], reverse["loss"]["rate"]) == (0.012, 0.002)
    # One bdp is each direction's rate times the round trip of 540 ms.
    assert (forward["queue_bytes"], reverse["queue_bytes"]) == (10_125_000, 675_000)


def test_each_port_hands_out_the_capacity_of_its_direction() -> None:
    found = ports(load(algorithm="xcp"))
    capacities = [found[name]["xcp"]["capacity_bps"] for name in ("s1-right", "s2-left")]
    assert capacities == [150_000_000, 10_000_000]


def test_thresholds_of_marks_follow_the_direction() -> None:
    found = ports(load(ecn=True))
    thresholds = [found[name]["ecn_threshold_bytes"] for name in ("s1-right", "s2-left")]
    assert thresholds == [5_062_500, 337_500]  # half of the queues


@pytest.mark.parametrize(
    ("direction", "rate_bps", "loss"), [("forward", 150_000_000, 0.012), ("reverse", 10_000_000, 0.002)]
)
def test_the_limits_are_those_of_the_datas_direction(direction: str, rate_bps: int, loss: float) -> None:
    scenario = load(flows=[{"direction": direction}])
    assert scenario.path_rtt_us(scenario.flows[0]) == 540_000
    assert scenario.narrowest_bps(scenario.flows[0]) == rate_bps
    assert payload_ceiling(scenario) == pytest.approx(rate_bps * 1448 / 1514)
    assert survival(scenario, scenario.flows[0]) == pytest.approx(1 - loss)


def test_arrivals_load_the_direction_that_they_take() -> None:
    def count(direction: str) -> int:
        group = {"arrivals": {"load": 0.5}, "size": "100 kB", "direction": direction}
        return len(load(flows=[group], duration="100 s").flows)

    # 0.5 * 150 Mbit/s / 800 kbit for 100 s; a fifteenth of that in reverse; both ways that of the slower.
    assert count("forward") == pytest.approx(9375, rel=0.05)
    assert count("reverse") == pytest.approx(625, rel=0.1)
    assert count("both") == 2 * count("reverse")


def test_buffers_are_made_for_the_faster_direction() -> None:
    assert tuning.buffer_bytes(load()) == 16 * 10_125_000
    swapped = load({"rate": {"forward": "10 Mbit/s", "reverse": "150 Mbit/s"}})
    assert tuning.buffer_bytes(swapped) == 16 * 10_125_000


def test_one_value_is_that_of_both_directions() -> None:
    found = ports(load({"rate": "20 Mbit/s", "delay": "30 ms"}))
    for name in ("s1-right", "s2-left"):
        assert (found[name]["rate_bps"], found[name]["delay_us"]) == (20_000_000, 30_000)


@pytest.mark.parametrize(
    ("link", "line"),
    [
        (
            {"rate": {"forward": "1 Mbit/s"}},
            "links.bottleneck.rate.reverse: missing; give the rate of both directions",
        ),
        (
            {"delay": {"reverse": "1 ms"}},
            "links.bottleneck.delay.forward: missing; give the delay of both directions",
        ),
        (
            {"rate": {"forward": "1 Mbit/s", "back": "1 Mbit/s"}},
            "links.bottleneck.rate.back: unknown key; use forward, reverse",
        ),
        (
            {"rate": {"forward": "1 Mbit/s", "reverse": "1 Mbitt"}},
            'links.bottleneck.rate.reverse: "1 Mbitt": unknown unit; use bit/s',
        ),
        (
            {"rate": {"forward": "1 Mbit/s", "reverse": 5}},
            "links.bottleneck.rate.reverse: 5: missing unit; use bit/s",
        ),
        (
            {"rate": {"forward": "1 Mbit/s", "reverse": "0 bit/s"}},
            "links.bottleneck.rate.reverse: must be above 0",
        ),
        (
            {"delay": {"forward": "9 s", "reverse": "1 s"}},
            "links.bottleneck.delay: 9 s and 1 s: must be below 8 s, what the header holds",
        ),
        (
            {"rate-steps": [{"at": "1 s", "rate": "1 Mbit/s"}]},
            "links.bottleneck.rate-steps: steps are of both directions; give one rate for both",
        ),
        (
            {"delay-steps": [{"at": "1 s", "delay": "1 ms"}]},
            "links.bottleneck.delay-steps: steps are of both directions; give one delay for both",
        ),
    ],
)
def test_faults_name_the_field_and_the_fix(link: dict[str, Any], line: str) -> None:
    assert refusal(link).startswith(line)


@pytest.mark.parametrize("key", ["rate", "delay"])
def test_an_access_link_has_one_value(key: str) -> None:
    links = {"access": {key: LINK[key]}, "bottleneck": LINK}
    said = refusal({}, links=links)
    assert said == f"links.access.{key}: of each direction only a bottleneck has; give one for both"


def test_engines_judge_the_rate_of_each_direction() -> None:
    fast = load({"rate": {"forward": "1 Mbit/s", "reverse": "2 Gbit/s"}})
    with pytest.raises(
        ScenarioError, match=r"links.bottleneck.rate.reverse: 2 Gbit/s: beyond the 1.2 Gbit/s"
    ):
        EmulationEngine().check(fast)


def test_the_simulated_block_judges_the_queue_of_each_direction() -> None:
    rates = {"forward": "1 Mbit/s", "reverse": "20 Mbit/s"}
    deep = load({"rate": rates, "queue": "1 bdp"}, xcp={"generation": 1})
    with pytest.raises(
        ScenarioError, match=r"links.bottleneck.queue: 1350000 bytes: the block's packet memory"
    ):
        HlsSimEngine().check(deep)


def test_engines_without_it_say_so() -> None:
    assert load().emulated_only() == ("links", "bottleneck", "rate")
    assert load({"rate": "1 Mbit/s"}).emulated_only() == ("links", "bottleneck", "delay")
