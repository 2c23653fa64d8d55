# SPDX-License-Identifier: Apache-2.0
"""Queue disciplines of scenarios, as the switch is configured."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from clarion_base.faults import ScenarioError
from clarion_lab.engines.bmv2.engine import Bmv2Engine
from clarion_lab.engines.hls_sim import HlsSimEngine
from clarion_lab.scenario import documents
from clarion_lab.scenario.disciplines import DISCIPLINES
from clarion_lab.scenario.model import Scenario, build
from clarion_lab.scenario.topology import plan, switch_config
from clarion_lab.scenario.validation import validator

BASE: dict[str, Any] = {
    "description": "a queue",
    "topology": "dumbbell",
    "links": {"bottleneck": {"rate": "10 Mbit/s", "rtt": "80 ms"}},
    "flows": [{"algorithm": "cubic"}],
    "duration": "10 s",
    "xcp": {"generation": 1},
}


def load(queue: object, ecn: bool = False, **link: object) -> Scenario:
    document = copy.deepcopy(BASE)
    document["ecn"] = ecn
    document["links"]["bottleneck"] |= {"queue": queue, **link}
    return build("x", documents.points("x", document)[0].document)


def discipline(scenario: Scenario) -> object:
    config = switch_config(scenario, plan(scenario), "t")
    return config["switches"][0]["ports"][0].get("discipline")


def test_a_limit_alone_is_drop_tail() -> None:
    assert discipline(load("2 bdp")) is None
    assert discipline(load({"limit": "2 bdp"})) is None
    assert plan(load({"limit": "2 bdp"})).switches["s1"][0].queue_bytes == 200_000


def test_settings_come_in_the_switchs_units() -> None:
    queue = {"limit": "2 bdp", "discipline": "fq-codel", "target": "3 ms", "quantum": "300 B", "flows": 16}
    wanted = {"name": "fq-codel", "target_us": 3000, "quantum_bytes": 300, "flows": 16}
    assert discipline(load(queue)) == wanted
    assert discipline(load(queue, ecn=True)) == {**wanted, "ecn": True}


def test_thresholds_may_be_parts_of_the_path() -> None:
    found = discipline(load({"discipline": "red", "min": "0.2 bdp", "max": "0.5 bdp", "gentle": True}))
    assert found == {"name": "red", "min_bytes": 20_000, "max_bytes": 50_000, "gentle": True}


def test_a_discipline_marks_by_itself() -> None:
    port = plan(load({"discipline": "codel"}, ecn=True)).switches["s1"][0]
    assert port.ecn_threshold_bytes == 0


def test_the_schema_knows_every_setting() -> None:
    keys = {"limit", "discipline"}.union(*DISCIPLINES.values())
    assert set(validator("scenario").schema["$defs"]["link-queue"]["properties"]) == keys  # type: ignore[index]


@pytest.mark.parametrize(
    ("queue", "ecn", "link", "message"),
    [
        ({"discipline": "cake"}, False, {}, 'queue.discipline: "cake": use drop-tail, codel'),
        (
            {"discipline": "codel", "step": "1 ms"},
            False,
            {},
            "queue.step: codel does not have it; its settings: target",
        ),
        ({"target": "1 ms"}, False, {}, "queue.target: drop-tail does not have it; its settings: none"),
        ({"discipline": "codel", "target": "0 ms"}, False, {}, "queue.target: must be above 0"),
        ({"discipline": "pie", "limit": "5"}, False, {}, 'queue.limit: "5": missing unit'),
        ({"discipline": "pie"}, True, {"ecn-threshold": "10 kB"}, "ecn-threshold: pie decides when it marks"),
        (5, False, {}, "queue: 5: missing unit"),
    ],
)
def test_faults_name_the_field(queue: object, ecn: bool, link: dict[str, object], message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(queue, ecn, **link)
    assert str(caught.value).startswith(f"scenario x: links.bottleneck.{message}")


def test_an_unshaped_link_has_no_queue() -> None:
    document = copy.deepcopy(BASE)
    document["links"]["access"] = {"queue": {"limit": "10 kB", "discipline": "codel"}}
    with pytest.raises(ScenarioError, match=r"links\.access\.queue\.discipline: needs a rate"):
        build("x", documents.points("x", document)[0].document)


def test_other_engines_say_who_has_them() -> None:
    scenario = load({"discipline": "codel"})
    for engine in (Bmv2Engine(), HlsSimEngine()):
        with pytest.raises(ScenarioError, match=r"queue\.discipline: engine .* use --engine emu or sim"):
            engine.check_switches(scenario, plan(scenario))
