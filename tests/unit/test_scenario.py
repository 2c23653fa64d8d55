# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import pytest

from clarion_base.errors import UserError
from clarion_base.faults import ScenarioError
from clarion_lab.results.limits import payload_ceiling, survival
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import Scenario, build

BASE: dict[str, Any] = {
    "description": "two flows",
    "topology": "dumbbell",
    "links": {
        "access": {"rate": "100 Mbit/s", "rtt": "10 ms"},
        "bottleneck": {
            "rate": "100 Mbit/s",
            "rtt": "550 ms",
            "loss": {"forward": {"model": "packet", "rate": 0.01}},
        },
    },
    "flows": [{"count": 2}],
    "duration": "10 s",
}


def load(**settings: object) -> Scenario:
    """The base scenario with dotted fields changed; `__` stands for a dot."""
    pairs = [(key.replace("__", "."), value) for key, value in settings.items()]
    return build("geo", documents.points("geo", copy.deepcopy(BASE), pairs)[0].document)


def refusal(**settings: object) -> str:
    with pytest.raises(ScenarioError) as caught:
        load(**settings)
    return str(caught.value)


def test_the_path_round_trip_counts_both_access_links() -> None:
    scenario = load()
    assert scenario.path_rtt_us(scenario.flows[0]) == 570_000  # 10 + 550 + 10 ms
    # 100 Mbit/s * 570 ms / 8 = 7,125,000 bytes
    assert scenario.queue_bytes(scenario.bottlenecks[0]) == 7_125_000


def test_ceiling_and_limit_of_xcp() -> None:
    scenario = load()
    # 100 Mbit/s * 1448 / 1546
    assert payload_ceiling(scenario) == pytest.approx(93_661_061, abs=1)
    assert survival(scenario, scenario.flows[0]) == pytest.approx(0.99)


def test_flows_are_numbered_staggered_and_paired() -> None:
    flows = load(
        flows=[{"count": 3, "stagger": "2 s", "algorithm": "bbr"}, {"count": 4, "host-pairs": 2}]
    ).flows
    assert [flow.start_us for flow in flows[:3]] == [0, 2_000_000, 4_000_000]
    assert [flow.number for flow in flows] == [0, 1, 2, 3, 4, 5, 6]
    assert [flow.pair for flow in flows] == [0, 1, 2, 3, 4, 3, 4]
    assert [flow.algorithm.name for flow in flows[2:4]] == ["bbr", "xcp"]


def test_tags_on_plain_tcp_bring_the_tag_header() -> None:
    assert load(algorithm="cubic").flows[0].header == "none"
    tagged = load(algorithm="cubic", **{"tag-plain-tcp": True}).flows[0]
    assert (tagged.header, tagged.uses_agent) == ("TAG", True)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (
            {"links__bottleneck__rate": "100 Mbitt"},
            'links.bottleneck.rate: "100 Mbitt": unknown unit; use bit/s, kbit/s, Mbit/s, Gbit/s',
        ),
        (
            {"links__bottleneck__speed": "1 s"},
            "links.bottleneck.speed: unknown key; use rate, rate-steps, delay-steps,",
        ),
        ({"topology": "ring"}, 'topology: "ring": use dumbbell, parking-lot'),
        ({"algorithm": "vegs"}, 'algorithm: "vegs": unknown algorithm; use xcp,'),
        ({"flows__0__algorithm": "vegs"}, 'flows[0].algorithm: "vegs": unknown algorithm'),
        ({"flows__0__count": 0}, "flows[0].count: 0: must lie from 1 to 200000"),
        ({"flows__0__count": "x"}, 'flows[0].count: "x": must be an integer'),
        ({"flows": {}}, "flows: dict: must be an array"),
        ({"flows": []}, "flows: has 0: give at least 1"),
        ({"flows__0__crosses": [1]}, "flows[0].crosses: has 1: give 2"),
        ({"description": ""}, "description: must not be empty"),
        ({"seed": -1}, "seed: -1: must lie from 0 to 4294967295"),
        ({"xcp": {"alpha": 0}}, "xcp.alpha: 0: must be above 0 and below 0.5553"),
        ({"xcp": {"alpha": 0.6}}, "xcp.alpha: 0.6: must be above 0 and below 0.5553"),
        ({"xcp": {"beta": 0.3}}, "xcp.beta: 0.3: must be 0.2263"),
        ({"xcp": {"alpha": math.nan}}, "xcp.alpha: nan: not a finite number"),
        ({"xcp": {"beta": math.inf}}, "xcp.beta: inf: not a finite number"),
        (
            {"links__bottleneck__rtt": "16 s"},
            "links.bottleneck.rtt: 16 s: must be below 16 s, what the header holds",
        ),
        (
            {"links__access__rtt": "7.8 s"},
            "links: a path has an RTT of 16.15 s: must be below 16 s, what the header holds",
        ),
        ({"flows__1__count": 1}, 'flows.1.count: "1": use a number from 0 to 0'),
        ({"flows__0__start": "10 s"}, "flows[0].start: every flow must start before duration"),
        ({"flows__0__stop": "10 min"}, "flows[0].stop: must lie after the start of every flow"),
        (
            {"flows__0__crosses": [1, 2]},
            "flows[0].crosses: [1, 2]: use first <= last, from 1 to 1",
        ),
        ({"duration": 10}, "duration: 10: missing unit; use us, ms, s, min"),
        (
            {"links__bottleneck__rate": 1e8},
            "links.bottleneck.rate: 100000000.0: missing unit; use bit/s, kbit/s, Mbit/s, Gbit/s",
        ),
        ({"links__bottleneck__queue": 5}, "links.bottleneck.queue: 5: missing unit; use B, kB,"),
        ({"duration": True}, "duration: true: must be a string"),
        ({"measure-from": "10 s"}, "measure-from: must lie before duration"),
        (
            {"links__bottleneck__delay": "1 ms"},
            "links.bottleneck.delay: given together with rtt",
        ),
        (
            {"links__bottleneck__loss__forward__rate": "120 %"},
            "links.bottleneck.loss.forward.rate: ",
        ),
        (
            {"links__bottleneck__loss__forward": {"model": "packet", "p": 1}},
            "links.bottleneck.loss.forward.p: not a key of model packet; use rate",
        ),
        (
            {"links__bottleneck__loss__forward": {"model": "gilbert-elliott", "p": 0.1}},
            "links.bottleneck.loss.forward.r: missing; model gilbert-elliott needs it",
        ),
        (
            {"topology": "parking-lot"},
            "links.bottleneck: topology parking-lot takes a list of links",
        ),
        ({"algorithm": "cubic", "params": {"a": 1}}, "params: cubic is the kernel's"),
        ({"duration__x": 1}, 'duration.x: "x": nothing lies under a plain value'),
    ],
)
def test_faults_name_the_field_and_the_remedy(settings: dict[str, object], line: str) -> None:
    said = refusal(**settings)
    assert said.startswith(f"scenario geo: {line}")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        ({"xcp": {"alpha": 0.6}}, ("xcp", "alpha")),
        ({"xcp": {"min-interval": "2 s"}}, ("xcp", "min-interval")),
        ({"flows__0__start": "10 s"}, ("flows", 0, "start")),
        (
            {"links__bottleneck__loss__forward__rate": "120 %"},
            ("links", "bottleneck", "loss", "forward", "rate"),
        ),
        (
            {"links__bottleneck__rate-steps": [{"at": "1 s", "rate": "1 bit/s"}]},
            ("links", "bottleneck", "rate-steps", 0, "rate"),
        ),
        ({"links__bottleneck__speed": 1}, ("links", "bottleneck", "speed")),
    ],
)
def test_faults_have_a_path(settings: dict[str, object], path: tuple[str | int, ...]) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(**settings)
    assert caught.value.fault.path == path


def test_a_missing_field_is_named() -> None:
    with pytest.raises(ScenarioError, match=r"^scenario x: flows: missing$"):
        documents.check("x", {key: value for key, value in BASE.items() if key != "flows"})


def test_a_key_given_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.yaml"
    path.write_text("duration: 1 s\nduration: 2 s\n")
    with pytest.raises(
        ScenarioError, match=r'^scenario twice: line 2: not YAML: key "duration" given twice$'
    ):
        documents.read(path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("? [1, 2]\n: 3\n", "line 1: not YAML: a key must be a plain value"),
        ("a: \0\n", "file: not YAML: special characters are not allowed"),
        ("a: 2026-13-01\n", "file: not YAML: month must be in 1..12"),
        ("a: " + "[" * 5000, "file: not YAML: nested too deeply"),
        ("- 1\n", "must be a mapping of keys to values"),
    ],
)
def test_what_is_not_a_scenario_is_refused_in_one_line(text: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(text)
    with pytest.raises(ScenarioError) as caught:
        documents.read(path)
    assert str(caught.value) == f"scenario odd: {line}"


def test_numbers_with_an_exponent_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: 1e-3\nb: [1.0e-4, 5]\n")
    assert documents.read(path) == {"a": 0.001, "b": [0.0001, 5]}


def test_an_unknown_name_is_answered_with_the_shipped_ones() -> None:
    with pytest.raises(UserError, match=r"^scenario goe: unknown name; use geo"):
        documents.locate("goe")
    with pytest.raises(UserError, match=r"^scenario ./none.yaml: no such file$"):
        documents.locate("./none.yaml")


def test_a_sweep_is_the_product_in_order_and_a_setting_replaces_its_key() -> None:
    document = {**copy.deepcopy(BASE), "sweep": {"seed": [1, 2], "algorithm": ["xcp", "bbr"]}}
    names = [point.name for point in documents.points("geo", document)]
    assert names == ["1_xcp", "1_bbr", "2_xcp", "2_bbr"]
    fixed = documents.points("geo", document, [("seed", 9)])
    assert [point.name for point in fixed] == ["xcp", "bbr"]
    assert fixed[0].document["seed"] == 9


def test_settings_are_read_as_yaml() -> None:
    assert documents.parse_assignment("flows.0.count=5") == ("flows.0.count", 5)
    assert documents.parse_assignment("duration=5 s") == ("duration", "5 s")
    assert documents.parse_sweep("algorithm=xcp,bbr") == ("algorithm", ["xcp", "bbr"])
    with pytest.raises(UserError, match="write key=value"):
        documents.parse_assignment("flows")
    with pytest.raises(UserError, match=r"^--set flows.0.count=\[1: not YAML: [^\n]*$"):
        documents.parse_assignment("flows.0.count=[1")
    with pytest.raises(UserError, match=r"^--sweep seed=1,\]: not YAML: [^\n]*$"):
        documents.parse_sweep("seed=1,]")
    with pytest.raises(UserError, match="give swept values as --sweep KEY=A,B"):
        documents.parse_assignment("sweep.seed=[1, 2]")


def test_an_alias_to_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("description: &a [*a]\n")
    with pytest.raises(ScenarioError, match=r"^scenario x: a YAML alias refers to itself$"):
        documents.check("x", documents.read(path))


@pytest.mark.parametrize(
    ("sweep", "line"),
    [
        ({"seed": [1, 2, 1]}, 'sweep.seed: "1" given twice'),
        ({"duration": ["5 s", "5s"]}, 'sweep.duration: "5 s" given twice'),
        ({"description": [".."]}, 'sweep.description: "..": cannot name a directory of results'),
        ({"description": [".", "a"]}, 'sweep.description: ".": cannot name a directory of results'),
        ({"description": ["a_b", "a"], "algorithm": ["c", "b_c"]}, "sweep: two points have the same name"),
    ],
)
def test_points_need_names_of_their_own(sweep: dict[str, list[object]], line: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        documents.points("geo", {**copy.deepcopy(BASE), "sweep": sweep})
    assert str(caught.value).startswith(f"scenario geo: {line}")


@pytest.mark.parametrize("name", documents.shipped())
def test_every_shipped_scenario_loads_at_every_point(name: str) -> None:
    document = documents.read(documents.locate(name))
    for point in documents.points(name, document):
        scenario = build(name, point.document)
        assert scenario.flows
    assert documents.shipped()[name].read_text().startswith("# ")


def test_the_shipped_set() -> None:
    wanted = {"geo", "geo-sweep", "mixed-loss", "parking-lot", "smoke"} | {f"s0-fig{n}" for n in range(5, 13)}
    assert wanted <= set(documents.shipped())


def test_the_geo_scenario_is_the_papers() -> None:
    geo = build("geo", documents.points("geo", documents.read(documents.locate("geo")))[0].document)
    assert geo.bottlenecks[0].rate_bps == 100_000_000
    assert geo.max_rtt_us == 570_000
    assert len(geo.flows) == 10
    assert geo.bottlenecks[0].forward_loss.mean_packet_loss(1546) == 0.001
    assert geo.xcp is not None
    assert (geo.xcp.alpha, geo.xcp.beta, geo.xcp.gamma) == (0.4, 0.226, 0.1)
