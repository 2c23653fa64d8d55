# SPDX-License-Identifier: Apache-2.0
"""Graphs of switches: ways, ports, where frames go, what is refused."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from clarion_base.faults import FaultError, ScenarioError
from clarion_lab.engines.bmv2.engine import Bmv2Engine
from clarion_lab.results.bottlenecks import bottlenecks
from clarion_lab.results.limits import survival
from clarion_lab.scenario import documents
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


def test_a_link_may_have_a_name() -> None:
    network = plan(load(links__bottleneck__0__name="north"))
    roles = {port.name: port.role for ports in network.switches.values() for port in ports}
    assert (roles["a-b"], roles["b-a"], roles["b-c"]) == (
        "north forward",
        "north reverse",
        "link b c forward",
    )


def test_queues_count_where_data_leaves() -> None:
    """Of the flow from c to a that is b's and c's port towards a, whichever end a link names first."""
    network = plan(load(flows=[{"from": "c", "to": "a"}]))
    ports = [port for ports in network.switches.values() for port in ports]
    assert {port.name for port in ports if port.carries_data} == {"c-b", "b-a", "a-r1"}
    network = plan(load(flows=[{"from": "c", "to": "a", "direction": "reverse"}]))
    ports = [port for ports in network.switches.values() for port in ports]
    assert {port.name for port in ports if port.carries_data} == {"a-b", "b-c", "c-h1"}
    summary = {
        "ports": [
            {"port": "a-b", "role": "link a b forward", "carries_data": False},
            {"port": "b-a", "role": "link a b reverse", "carries_data": True},
            {"port": "a-r1", "role": "access", "carries_data": True},
        ]
    }
    assert [port["port"] for port in bottlenecks(summary)] == ["b-a"]
    older = {"ports": [{"port": "s1-right", "role": "bottleneck 1 forward"}, {"port": "x", "role": "access"}]}
    assert [port["port"] for port in bottlenecks(older)] == ["s1-right"]


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
            "links.bottleneck[1].between: there is a link between b and a already; put a switch into one",
        ),
        (
            {"links__bottleneck__1__between": ["b", "h1"]},
            'links.bottleneck[1].between[1]: "h1": hosts have',
        ),
        ({"topology": "parking-lot"}, "links.bottleneck[0].between: only with topology: graph"),
        (
            {"links__bottleneck__1__between": ["b", "c-1"]},
            'links.bottleneck[1].between[1]: "c-1": use up to 7',
        ),
        (
            {"links__bottleneck__1__between": ["x", "y"], "links__bottleneck__2__between": ["y", "c"]},
            "flows[0].to: no way leads from a to c",
        ),
        ({"flows__2__via": ["c", "a"], "flows__2__to": "b"}, "flows[2].via: begins and ends at b"),
        (
            {"links__bottleneck__2__between": ["c", "d"], "flows__2__via": ["a", "d"]},
            "flows[2].via: there is no link between a and d",
        ),
        ({"flows__0": {"to": "a"}}, "flows[0].from: missing; name a switch"),
        ({"links__bottleneck__0": {"rate": "1 Mbit/s"}}, "links.bottleneck[0].between: missing"),
        (
            {"links__bottleneck": {"rate": "1 Mbit/s"}},
            "links.bottleneck: topology graph takes a list of links",
        ),
        ({"switches": {"z": {"xcp": False}}}, "switches.z: unknown switch; use a, b, c"),
        (
            {"links__bottleneck__0__name": "north", "links__bottleneck__1__name": "north"},
            'links.bottleneck[1].name: "north" given twice',
        ),
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
