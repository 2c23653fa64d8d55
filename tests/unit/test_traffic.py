# SPDX-License-Identifier: Apache-2.0
"""Bursts, transfers that come at random, datagrams, both directions: what a scenario becomes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from clarion_base.faults import ScenarioError
from clarion_lab.engines.emulation import EmulationEngine
from clarion_lab.hosts import programs
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import Scenario, build
from clarion_lab.scenario.topology import plan

BASE: dict[str, Any] = {
    "description": "traffic",
    "topology": "dumbbell",
    "links": {"bottleneck": {"rate": "100 Mbit/s", "rtt": "40 ms"}},
    "duration": "100 s",
}


def load(*groups: dict[str, Any], seed: int = 1) -> Scenario:
    document = {**BASE, "flows": list(groups), "seed": seed}
    return build("x", documents.points("x", document)[0].document)


def refusal(*groups: dict[str, Any]) -> str:
    with pytest.raises(ScenarioError) as caught:
        load(*groups)
    return str(caught.value).removeprefix("scenario x: ")


def test_bursts_alternate_from_start_to_stop() -> None:
    (flow,) = load({"bursts": {"length": "2 s", "gap": "1 s"}, "start": "1 s", "stop": "9 s"}).flows
    assert flow.bursts == ((1_000_000, 3_000_000), (4_000_000, 6_000_000), (7_000_000, 9_000_000))


def test_drawn_bursts_have_their_means_and_come_from_the_seed() -> None:
    group = {"bursts": {"length": {"mean": "200 ms"}, "gap": {"mean": "100 ms"}}}
    (flow,) = load(group).flows
    lengths = [end - begin for begin, end in flow.bursts]
    assert 150_000 < mean(lengths) < 250_000
    assert len(set(lengths)) > 100
    assert load(group).flows == (flow,)
    assert load(group, seed=2).flows != (flow,)


def test_arrivals_are_a_poisson_process_of_the_load() -> None:
    flows = load({"arrivals": {"load": 0.4}, "size": "100 kB"}).flows
    # 0.4 * 100 Mbit/s / 800 kbit = 50 a second.
    assert 4_700 < len(flows) < 5_300
    assert {flow.size_bytes for flow in flows} == {100_000}
    gaps = [b.start_us - a.start_us for a, b in pairwise(flows)]
    assert 0.9 < mean(gap**2 for gap in gaps) / (2 * mean(gaps) ** 2) < 1.1  # as of an exponential


def test_a_seed_gives_the_same_transfers_on_every_machine() -> None:
    sizes = {"distribution": "pareto", "mean": "100 kB", "shape": 1.5, "most": "1 MB"}
    flows = load({"arrivals": {"every": "10 s"}, "size": sizes}).flows
    assert [(flow.start_us, flow.size_bytes) for flow in flows[:3]] == [
        (28_161_967, 48_201),
        (37_604_754, 39_434),
        (45_434_519, 102_270),
    ]


def test_sizes_follow_their_distribution() -> None:
    sizes = {"distribution": "pareto", "mean": "100 kB", "shape": 2, "most": "10 MB"}
    drawn = [flow.size_bytes or 0 for flow in load({"arrivals": {"every": "10 ms"}, "size": sizes}).flows]
    assert min(drawn) >= 50_000  # the scale of a Pareto of shape 2 is half of its mean
    assert 80_000 < mean(drawn) < 120_000
    # Half of them lie below scale * 2^(1/2).
    assert 0.47 < sum(size < 70_711 for size in drawn) / len(drawn) < 0.53


def test_both_directions_share_hosts() -> None:
    flows = load({"count": 2, "direction": "both"}).flows
    assert [(flow.pair, flow.reverse) for flow in flows] == [(0, False), (1, False), (0, True), (1, True)]
    ends = plan(load({"direction": "both"})).endpoints
    assert [(end.sender.name, end.receiver.name) for end in ends] == [("h1", "r1"), ("r1", "h1")]


def test_ports_do_not_run_out() -> None:
    network = plan(load({"count": 60_000, "host-pairs": 100}))
    assert max(end.sport for end in network.endpoints) == 40_001 + 599
    ends = {(end.sender.name, end.sport, end.receiver.name, end.dport) for end in network.endpoints}
    assert len(ends) == 60_000


@pytest.mark.parametrize(
    ("group", "message"),
    [
        ({"bursts": {"length": "1 s"}}, "flows[0].bursts.gap: missing"),
        ({"bursts": {"length": "0 s", "gap": "1 s"}}, "flows[0].bursts.length: must be above 0"),
        ({"bursts": {"length": "1 s", "gap": "1 s"}, "size": "1 MB"}, "flows[0].bursts: not with size"),
        ({"bursts": {"length": "1 us", "gap": "1 us"}}, "flows[0].bursts: more than 100000"),
        ({"arrivals": {"load": 0.1}}, "flows[0].size: missing; arrivals are transfers"),
        ({"arrivals": {}, "size": "1 kB"}, "flows[0].arrivals.every: give one of every and load"),
        ({"arrivals": {"load": 0}, "size": "1 kB"}, "flows[0].arrivals.load: must be above 0"),
        ({"arrivals": {"load": 1}, "size": "1 kB", "count": 2}, "flows[0].count: not with arrivals"),
        (
            {"arrivals": {"every": "1 s", "until": "200 s"}, "size": "1 kB"},
            "flows[0].arrivals.until: must lie after start and not after duration",
        ),
        ({"arrivals": {"every": "1 us"}, "size": "1 B"}, "flows[0].arrivals: more than 200000"),
        ({"size": {"mean": "0 B"}}, "flows[0].size.mean: must be above 0"),
        ({"size": {"distribution": "pareto"}}, "flows[0].size.mean: missing"),
        ({"size": {"mean": "1 kB", "shape": 2}}, "flows[0].size.shape: only with distribution: pareto"),
        (
            {"size": {"mean": "1 kB", "distribution": "pareto", "shape": 1}},
            "flows[0].size.shape: must be above 1, or there is no mean",
        ),
        ({"protocol": "udp"}, "flows[0].rate: missing; datagrams need a rate"),
        ({"protocol": "udp", "rate": "1 Mbit/s", "size": "1 kB"}, "flows[0].size: not with protocol: udp"),
        (
            {"protocol": "udp", "rate": "1 Mbit/s", "packet": "28 B"},
            "flows[0].packet: must lie from 29 to 1500 bytes of IP packet",
        ),
        ({"protocol": "udp", "rate": "1 bit/s"}, "flows[0].rate: must be at least 1 kbit/s"),
        ({"rate": "1 Mbit/s"}, "flows[0].rate: only with protocol: udp"),
    ],
)
def test_faults_name_the_field(group: dict[str, Any], message: str) -> None:
    assert refusal(group).startswith(message)


def sending(scenario: Scenario) -> list[str]:
    """What the senders' hosts run, of a run that starts at 7 s."""
    both = zip(scenario.flows, plan(scenario).endpoints, strict=True)
    commands = (programs.sender(scenario, flow, ends, 7 * 10**9, Path("/b.json")) for flow, ends in both)
    return [" ".join(command) for command in commands]


def test_each_kind_of_flow_has_its_program() -> None:
    bursty, datagrams, transfer, plain = sending(
        load(
            {"algorithm": "cubic", "bursts": {"length": "2 s", "gap": "1 s"}},
            {"protocol": "udp", "rate": "8 Mbit/s", "packet": "1000 B", "start": "1 s", "stop": "3 s"},
            {"algorithm": "reno", "size": "1 MB", "start": "2 s"},
            {"algorithm": "bbr"},
        )
    )
    assert "--law cubic --bursts /b.json --unsent-bytes 125000 --at-ns 7000000000" in bursty
    assert datagrams.endswith(
        "--rate-bps 8000000 --packet-bytes 1000 --payload-bytes 972 --at-ns 8000000000 --until-ns 10000000000"
    )
    assert "--law reno --bytes 1000000 --at-ns 9000000000" in transfer
    assert "--congestion bbr" in plain


def test_datagrams_need_no_shim() -> None:
    (flow,) = load({"protocol": "udp", "rate": "8 Mbit/s"}).flows
    assert not flow.uses_agent


def test_more_datagrams_than_real_hosts_send_are_refused() -> None:
    many = load({"protocol": "udp", "rate": "10 Mbit/s", "packet": "50 B"})
    with pytest.raises(ScenarioError) as caught:
        EmulationEngine().check(many)
    said = "scenario x: flows: 25000 datagrams/s: engine emu sends 20000 in all; use --engine sim"
    assert str(caught.value) == said
