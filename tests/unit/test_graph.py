# SPDX-License-Identifier: Apache-2.0
"""Graphs of switches: ways, ports, where frames go; and the delays of paths over satellites."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest

from clarion_base.faults import FaultError, ScenarioError
from clarion_lab.engines.bmv2.engine import Bmv2Engine
from clarion_lab.results.summary import survival
from clarion_lab.scenario import documents, orbit
from clarion_lab.scenario.graph import find_way, quickest
from clarion_lab.scenario.model import Scenario, build
from clarion_lab.scenario.topology import plan, switch_config

MESH: dict[str, Any] = {
    "description": "a mesh",
    "topology": "graph",
    "links": {
        "access": {"rtt": "2 ms"},
        "bottleneck": [
            {"between": ["a", "b"], "rate": "20 Mbit/s", "delay": "5 ms"},
            {
                "between": ["b", "c"],
                "rate": "20 Mbit/s",
                "delay": "5 ms",
                "loss": {"reverse": {"model": "packet", "rate": 0.1}},
            },
            {"between": ["a", "c"], "rate": "10 Mbit/s", "delay": "20 ms"},
        ],
    },
    "flows": [{"from": "a", "to": "c"}, {"from": "c", "to": "a"}, {"from": "b", "to": "c", "via": ["a"]}],
    "duration": "10 s",
}


def load(**settings: object) -> Scenario:
    pairs = [(key.replace("__", "."), value) for key, value in settings.items()]
    return build("x", documents.points("x", copy.deepcopy(MESH), pairs)[0].document)


def test_the_quickest_way_then_the_shortest_then_the_first() -> None:
    links = [("a", "b"), ("b", "d"), ("a", "c"), ("c", "d"), ("a", "d")]
    assert quickest(links, [1, 1, 1, 1, 3], "a", "d") == ["a", "b", "d"]
    assert quickest(links, [1, 1, 1, 1, 2], "a", "d") == ["a", "d"]
    assert quickest(links, [5, 1, 1, 1, 3], "a", "d") == ["a", "c", "d"]


def test_ways_that_cannot_be() -> None:
    links = [("a", "b"), ("c", "d")]
    for way, message in (
        (["a", "d"], "no way leads from a to d"),
        (["a", "a"], "begins and ends at a"),
        (["a", "b", "a", "d"], "passes a twice"),
    ):
        with pytest.raises(FaultError, match=message):
            find_way(links, [1, 1], way)


def test_flows_take_their_ways_and_count_their_delays() -> None:
    scenario = load()
    assert [flow.switches for flow in scenario.flows] == [("a", "b", "c"), ("c", "b", "a"), ("b", "a", "c")]
    # Both access links and the ways, there and back: 2 * (1 + 10 + 1), the same, 2 * (1 + 25 + 1).
    assert [scenario.path_rtt_us(flow) for flow in scenario.flows] == [24_000, 24_000, 54_000]


def test_errors_count_in_the_direction_in_which_a_link_is_passed() -> None:
    scenario = load()
    assert survival(scenario, scenario.flows[0]) == 1
    assert survival(scenario, scenario.flows[1]) == pytest.approx(0.9)


def test_every_switch_of_a_way_knows_both_hosts() -> None:
    network = plan(load())
    first = network.endpoints[0]
    left, right = first.sender.mac, first.receiver.mac
    assert network.forwarding["a"][right] == "a-b"
    assert network.forwarding["b"][right] == "b-c"
    assert network.forwarding["c"][right] == first.receiver.port
    assert network.forwarding["b"][left] == "b-a"
    config = switch_config(load(), network, "t")["switches"]
    assert [switch["name"] for switch in config] == ["a", "b", "c"]
    assert config[0]["forwarding"][right] == "a-b"
    roles = {port.name: port.role for ports in network.switches.values() for port in ports}
    assert (roles["a-b"], roles["b-a"]) == ("link a b forward", "link a b reverse")


def test_chains_learn_as_before() -> None:
    chain = {**copy.deepcopy(MESH), "topology": "dumbbell", "flows": [{}]}
    chain["links"]["bottleneck"] = {"rate": "20 Mbit/s"}
    network = plan(build("x", documents.points("x", chain)[0].document))
    assert network.forwarding == {}
    assert list(network.switches) == ["s1", "s2"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"flows__0__to": "z"}, 'flows[0].to: "z": unknown switch; use a, b, c'),
        ({"flows__2__via": ["b"]}, "flows[2].via: b - b - c: passes b twice"),
        ({"flows__0__crosses": [1, 1]}, "flows[0].crosses: not with topology: graph"),
        ({"links__bottleneck__0__between": ["a", "a"]}, "links.bottleneck[0].between: joins a with itself"),
        (
            {"links__bottleneck__1__between": ["b", "a"]},
            "links.bottleneck[1].between: there is a link",
        ),
        (
            {"links__bottleneck__1__between": ["b", "h1"]},
            'links.bottleneck[1].between[1]: "h1": hosts have',
        ),
        ({"topology": "parking-lot"}, "links.bottleneck[0].between: only with topology: graph"),
    ],
)
def test_faults_name_the_field(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(**settings)
    assert str(caught.value).removeprefix("scenario x: ").startswith(message)


def test_bmv2_says_who_has_graphs() -> None:
    scenario = load()
    with pytest.raises(ScenarioError, match=r"topology: graph: engine bmv2 .* use --engine emu or sim"):
        Bmv2Engine().check_switches(scenario, plan(scenario))


def test_a_geostationary_satellite_is_where_geometry_has_it() -> None:
    """Below it the way up is 42164.17 - 6378.137 km (the Earth's radius at the equator); at 60 degrees of
    latitude, on a ball, sqrt(42164^2 + 6378^2 - 2 * 42164 * 6378 cos 60) km.
    """
    below = orbit.follow({"satellites": "geo", "longitude": 0, "ground": [[0, 0], [0, 0]]}, 1)
    assert below.delays_us[0][1] == pytest.approx(2 * (42_164.17 - 6_378.137) / 299_792.458 * 1e6, abs=2)
    north = orbit.follow({"satellites": "geo", "longitude": 0, "ground": [[0, 0], [60, 0]]}, 1)
    slant_km = math.sqrt(42_164**2 + 6_378**2 - 42_164 * 6_378)
    up_us = (42_164.17 - 6_378.137) / 299_792.458 * 1e6
    assert north.delays_us[0][1] == pytest.approx(up_us + slant_km / 299_792.458 * 1e6, rel=1e-3)


def test_iridium_flies_as_published() -> None:
    assert orbit.IRIDIUM.period_s == pytest.approx(6026.9, abs=1)
    positions = orbit.satellites(orbit.IRIDIUM, [0.0, orbit.IRIDIUM.period_s / 2])
    radii = (positions**2).sum(axis=-1) ** 0.5
    assert radii.min() > 6378.135 + 780 - 15  # SGP4 has the flattening of the Earth
    assert radii.max() < 6378.135 + 780 + 15
    # Half a revolution later a satellite is on the other side of the Earth's axis.
    assert positions[0, 0, 2] * positions[0, 1, 2] <= 0 or abs(positions[0, 0, 2]) < 100


def test_a_pass_of_iridium_stays_within_its_geometry() -> None:
    """Straight up and down are 2 * 780 km; at the least elevation of 8.2 degrees the slant range is
    sqrt((R + 780)^2 - (R cos e)^2) - R sin e = 2461 km.
    """
    found = orbit.follow({"satellites": "iridium", "ground": [[48, 11], [48, 11]]}, 600_000_000)
    delays = [delay for _, delay in found.delays_us]
    assert min(delays) >= 2 * 770 / 299_792.458 * 1e6
    assert max(delays) <= 2 * 2_480 / 299_792.458 * 1e6
    assert found.handovers_us
    assert found.delays_us[0][0] == 0


def test_satellites_have_four_neighbours_but_at_the_seam() -> None:
    assert sorted(orbit.IRIDIUM.neighbours(0)) == [1, 10, 11]
    assert sorted(orbit.IRIDIUM.neighbours(11)) == [0, 12, 21, 22]
    assert sorted(orbit.IRIDIUM.neighbours(65)) == [54, 55, 64]


def test_a_link_in_orbit_has_steps_and_outages() -> None:
    document = {**copy.deepcopy(MESH), "topology": "dumbbell", "flows": [{}], "duration": "300 s"}
    orbital = {"satellites": "iridium", "ground": [[3.02, 101.7], [47.55, 101.7]], "handover-outage": "50 ms"}
    document["links"]["bottleneck"] = {"rate": "1 Mbit/s", "orbit": orbital}
    scenario = build("x", documents.points("x", document)[0].document)
    (link,) = scenario.bottlenecks
    assert len(link.delay_steps.steps) > 200
    assert (
        len(scenario.hazards_of(link, "forward").changes)
        == 2 * len(orbit.follow(orbital, 300_000_000).handovers_us)
        > 0
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ground": [[91, 0], [0, 0]]}, "ground.0: must be a latitude from -90 to 90"),
        ({"longitude": 5}, "longitude: only with satellites: geo"),
        ({"min-elevation": 85}, "ground.0: at 0 s no satellite is above 85 degrees"),
        ({"every": "1 us"}, "every: must be at least 1 ms"),
        ({"satellites": "geo"}, "longitude: missing"),
        ({"satellites": "geo", "longitude": 180}, "ground.0: the satellite is below 5 degrees there"),
    ],
)
def test_faults_of_orbits(change: dict[str, Any], message: str) -> None:
    document = {"satellites": "iridium", "ground": [[0.0, 0.0], [10.0, 10.0]], **change}
    with pytest.raises(FaultError) as caught:
        orbit.follow(document, 1_000_000)
    path = ".".join(map(str, caught.value.fault.path))
    assert f"{path}: {caught.value.fault.reason}".startswith(message)
