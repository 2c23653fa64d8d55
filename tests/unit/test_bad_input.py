# SPDX-License-Identifier: Apache-2.0
"""What a switch or the simulator does not hold is refused before a run starts, with the field's name."""

from __future__ import annotations

from typing import Any

import pytest

from clarion_base.faults import ScenarioError
from clarion_lab.engines.simulation import SimulationEngine
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import Scenario, build

GRAPH = [
    {"between": ["a", "b"], "rate": "20 Mbit/s"},
    {"between": ["a", "c"], "rate": "20 Mbit/s"},
]


def load(scenario: str = "geo", **settings: Any) -> Scenario:
    """A shipped scenario with fields set by their dotted names, with two underscores for each dot."""
    given = [(key.replace("__", "."), value) for key, value in settings.items()]
    document = documents.read(documents.shipped()[scenario])
    return build(scenario, documents.points(scenario, document, given)[0].document)


def bottleneck(**fields: Any) -> dict[str, Any]:
    return {
        "links__bottleneck": {"rate": "100 Mbit/s", **{key.replace("_", "-"): fields[key] for key in fields}}
    }


def hazards(**kinds: Any) -> dict[str, Any]:
    return bottleneck(hazards={"both": kinds})


def graph(**second: Any) -> dict[str, Any]:
    links = [GRAPH[0], {**GRAPH[1], **second}]
    return {"topology": "graph", "links__bottleneck": links, "flows": [{"from": "a", "to": "c"}]}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"duration": "0 s", "measure-from": "0 s"}, "duration: must be above 0 s"),
        ({"duration": "100000000000 min"}, 'duration: "100000000000 min": must be at most 100 days'),
        (bottleneck(rate="401 Gbit/s"), 'links.bottleneck.rate: "401 Gbit/s": must be at most 400 Gbit/s'),
        (
            {"links__access__rate": "401 Gbit/s"},
            'links.access.rate: "401 Gbit/s": must be at most 400 Gbit/s',
        ),
        (
            bottleneck(rate_steps=[{"at": "1 s", "rate": "1000 Gbit/s"}]),
            'links.bottleneck.rate-steps[0].rate: "1000 Gbit/s": must be at most 400 Gbit/s',
        ),
        (bottleneck(queue="0 packets"), "links.bottleneck.queue: must be above 0"),
        (bottleneck(queue="100 GB"), "links.bottleneck.queue: 100000000000 bytes: must be at most 2 GiB"),
        (
            bottleneck(queue={"discipline": "codel", "target": "10 min"}),
            'links.bottleneck.queue.target: "10 min": must be at most 60 s',
        ),
        (
            bottleneck(queue={"discipline": "fq-codel", "quantum": "10 GB"}),
            'links.bottleneck.queue.quantum: "10 GB": must be at most 2 GiB',
        ),
        (
            bottleneck(queue={"discipline": "red", "min": "9 kB", "max": "8 kB"}),
            "links.bottleneck.queue.max: 8000 bytes: min has to be below max; here 9000 and 8000 bytes",
        ),
        (
            bottleneck(queue={"discipline": "red", "limit": "1 MB", "min": "500 kB"}),
            "links.bottleneck.queue.min: 500000 bytes: min has to be below max; here 500000 and 250000 bytes",
        ),
        (
            hazards(policer={"rate": "1000 Gbit/s", "burst": "1 MB"}),
            'links.bottleneck.hazards.both.policer.rate: "1000 Gbit/s": must be at most 400 Gbit/s',
        ),
        (
            hazards(policer={"rate": "1 Gbit/s", "burst": "100 GB"}),
            'links.bottleneck.hazards.both.policer.burst: "100 GB": must be at most 2 GiB',
        ),
        (
            hazards(queue={"rate": "1 Gbit/s", "limit": "100 GB"}),
            "links.bottleneck.hazards.both.queue.limit: 100000000000 bytes: must be at most 2 GiB",
        ),
        (
            hazards(reorder={"share": 0.1, "delay": "10 min"}),
            'links.bottleneck.hazards.both.reorder.delay: "10 min": must be at most 60 s',
        ),
        (
            {"flows__0__size": "999999999999999 GB"},
            'flows[0].size: "999999999999999 GB": must be at most 9 PB',
        ),
        ({"flows__0__start": "100 s"}, "flows[0].start: every flow must start before duration"),
        ({"flows__0__stagger": "100 s"}, "flows[0].stagger: every flow must start before duration"),
        (
            {"flows": [{"arrivals": {"every": "1 s"}, "size": "1 MB", "start": "100 s"}]},
            "flows[0].start: must lie before duration",
        ),
        (
            {"flows": [{"protocol": "udp", "rate": "1000000 Gbit/s"}]},
            'flows[0].rate: "1000000 Gbit/s": must be at most 400 Gbit/s',
        ),
        (
            {"flows__0__local-bottleneck": {"rate": "1 Mbit/s", "queue": "0 packets"}},
            "flows[0].local-bottleneck.queue: must be above 0",
        ),
        ({"algorithm": "vegs"}, 'algorithm: "vegs": unknown algorithm; use xcp, '),
        (graph(name="link a b"), 'links.bottleneck[1].name: "link a b" given twice'),
        (graph(name="x\ny"), "links.bottleneck[1].name: must be one line of printable characters"),
        (
            {"links__bottleneck__queue__discipline": "codel"},
            'links.bottleneck.queue.discipline: "discipline": nothing lies under a plain value; '
            "set all of it, links.bottleneck.queue={discipline: VALUE, ...}",
        ),
    ],
)
def test_one_line_names_the_field_and_the_remedy(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(**settings)
    assert str(caught.value).startswith(f"scenario geo: {said}")
    assert "\n" not in str(caught.value)


def test_a_full_frame_fits_into_every_queue() -> None:
    scenario = load(**bottleneck(queue="1 B"))
    assert scenario.queue_bytes(scenario.bottlenecks[0]) == 2048


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"nonsense": 1}, "params.nonsense: unknown; use initial_window_packets, "),
        ({"burst_packets": 999999999}, "params.burst_packets: 999999999: use a whole number from 0 to 10000"),
        ({"burst_packets": "many"}, "params.burst_packets: many: use a whole number from 0 to 10000"),
    ],
)
def test_the_simulator_knows_the_parameters_of_laws(params: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        SimulationEngine().check(load(params=params))
    assert str(caught.value).startswith(f"scenario geo: {said}")
