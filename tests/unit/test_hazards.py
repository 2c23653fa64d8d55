# SPDX-License-Identifier: Apache-2.0
"""Scenarios of paths that are no wires, that change, or that start again."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import pytest

from clarion_base.faults import ScenarioError
from clarion_lab.engines.bmv2.engine import Bmv2Engine
from clarion_lab.engines.emulation import EmbeddedSwitches, EmulationEngine
from clarion_lab.engines.hls_sim import HlsSimEngine
from clarion_lab.engines.host_engine import _ControllerRestarts
from clarion_lab.hosts import tuning
from clarion_lab.hosts.agent import attach_commands
from clarion_lab.results.limits import survival
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import Scenario, build
from clarion_lab.scenario.topology import plan, switch_config

BASE: dict[str, Any] = {
    "description": "a path",
    "topology": "dumbbell",
    "links": {
        "access": {"rtt": "2 ms"},
        "bottleneck": {"rate": "8 Mbit/s", "rtt": "96 ms", "queue": "100 kB"},
    },
    "flows": [{}],
    "duration": "20 s",
}


def load(**settings: object) -> Scenario:
    """The base scenario with dotted fields changed; `__` stands for a dot, `_` for a dash; of the bottleneck
    where the name begins with `b__`.
    """
    pairs = []
    for key, value in settings.items():
        full = key.replace("b__", "links__bottleneck__", 1) if key.startswith("b__") else key
        pairs.append((full.replace("__", ".").replace("_", "-"), value))
    return build("x", documents.points("x", copy.deepcopy(BASE), pairs)[0].document)


def refusal(**settings: object) -> str:
    with pytest.raises(ScenarioError) as caught:
        load(**settings)
    return str(caught.value)


def port(scenario: Scenario, name: str) -> dict[str, Any]:
    config = switch_config(scenario, plan(scenario), "t")
    found: dict[str, Any] = next(
        port for switch in config["switches"] for port in switch["ports"] if port["name"] == name
    )
    return found


class Process:
    """A switch process that only notes its commands."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        self.told.append({"cmd": command, **fields})
        return {}


def told(scenario: Scenario, tmp_path: Path) -> list[dict[str, Any]]:
    process = Process()
    EmbeddedSwitches(plan(scenario), process, tmp_path).plan_changes(1_000_000)  # type: ignore[arg-type]
    return process.told


def test_hazards_become_the_switchs_own_per_direction() -> None:
    scenario = load(
        b__hazards={
            "both": {"duplicate": "1 %"},
            "forward": {
                "queue": {"rate": "4 Mbit/s", "limit": "1 bdp"},
                "policer": {"rate": "5 Mbit/s", "burst": "20 kB"},
                "mtu": {"size": "1400 B", "icmp": True},
                "header": {"action": "flip", "share": 0.5},
                "reorder": {"share": 0.1, "packets": 50},
            },
            "reverse": {"ack-loss": 0.3, "reorder": {"share": 0.2, "delay": "5 ms"}, "duplicate": 0.5},
        }
    )
    assert port(scenario, "s1-right")["hazards"] == {
        # 4 Mbit/s * 100 ms / 8
        "queue": {"rate_bps": 4_000_000, "bytes": 50_000},
        "policer": {"rate_bps": 5_000_000, "burst_bytes": 20_000},
        "mtu": {"bytes": 1400, "icmp": True},
        "header": {"action": "flip", "share": 0.5},
        "reorder": {"share": 0.1, "packets": 50},
        "duplicate": 0.01,
    }
    assert port(scenario, "s2-left")["hazards"] == {
        "ack_loss": 0.3,
        "reorder": {"share": 0.2, "delay_us": 5000},
        "duplicate": 0.5,
    }
    assert "hazards" not in port(scenario, "s1-h1")


def test_outages_and_later_middleboxes_come_at_their_time(tmp_path: Path) -> None:
    scenario = load(
        b__hazards={
            "forward": {
                "outages": [{"at": "5 s", "for": "300 ms"}, {"at": "9 s", "for": "1 s"}],
                "header": {"action": "strip", "from": "7 s"},
            }
        }
    )
    assert "hazards" not in port(scenario, "s1-right")
    assert [(each["at_us"], each["hazards"]) for each in told(scenario, tmp_path)] == [
        (6_000_000, {"down": True}),
        (6_300_000, {"down": False}),
        (8_000_000, {"header": {"action": "strip", "share": 1.0}}),
        (10_000_000, {"down": True}),
        (11_000_000, {"down": False}),
    ]


def test_delay_and_loss_steps_reach_both_ports(tmp_path: Path) -> None:
    scenario = load(
        b__delay_steps=[{"at": "4 s", "rtt": "200 ms"}, {"at": "6 s", "delay": "7 ms"}],
        b__loss_steps=[{"at": "5 s", "forward": {"model": "packet", "rate": 0.25}}],
    )
    commands = told(scenario, tmp_path)
    assert [(each["port"], each["at_us"], each.get("delay_us")) for each in commands] == [
        ("s1:s1-right", 5_000_000, 100_000),
        ("s1:s1-right", 6_000_000, None),
        ("s1:s1-right", 7_000_000, 7_000),
        ("s2:s2-left", 5_000_000, 100_000),
        ("s2:s2-left", 6_000_000, None),
        ("s2:s2-left", 7_000_000, 7_000),
    ]
    assert commands[1]["loss"] == {"model": "packet", "rate": 0.25}
    assert commands[4]["loss"] == {"model": "none"}
    # 5 s without errors, 15 s with a quarter: 0.25 + 0.75 * 0.75
    assert survival(scenario, scenario.flows[0], 0, 20_000_000) == pytest.approx(0.8125)


def test_a_step_keeps_the_errors_that_it_does_not_name() -> None:
    reverse = {"at": "5 s", "reverse": {"model": "packet", "rate": 0.1}}
    both = load(b__loss={"forward": {"model": "packet", "rate": 0.5}}, b__loss_steps=[reverse])
    ((_, (forward, backward)),) = both.bottlenecks[0].loss_steps.steps
    assert (forward.parameters["rate"], backward.parameters["rate"]) == (0.5, 0.1)


def test_ecn_is_negotiated_and_marked_at_half_of_the_queue() -> None:
    scenario = load(ecn=True)
    assert port(scenario, "s1-right")["ecn_threshold_bytes"] == 50_000
    assert "ecn_threshold_bytes" not in port(scenario, "s1-h1")  # not shaped: no queue
    assert tuning.sysctls(scenario)["net.ipv4.tcp_ecn"] == "1"
    assert port(load(ecn=True, b__ecn_threshold="20 kB"), "s1-right")["ecn_threshold_bytes"] == 20_000
    plain = load()
    assert "ecn_threshold_bytes" not in port(plain, "s1-right")
    assert tuning.sysctls(plain)["net.ipv4.tcp_ecn"] == "0"


def test_a_plain_switch_neither_tags_nor_gives_feedback() -> None:
    scenario = load(switches={"s2": {"tagging": False, "xcp": False}})
    assert {"tag", "xcp"} <= port(scenario, "s1-right").keys()
    assert {"tag", "xcp"}.isdisjoint(port(scenario, "s2-left"))
    assert "tag" not in port(scenario, "s2-r1")
    all_off = load(tagging=False, switches={"s2": {"tagging": True}})
    assert "tag" not in port(all_off, "s1-right")
    assert "tag" in port(all_off, "s2-left")


def test_one_switch_may_have_the_other_generation() -> None:
    scenario = load(switches={"s2": {"generation": 1}})
    assert port(scenario, "s1-right")["xcp"]["generation"] == 2
    assert port(scenario, "s2-left")["xcp"]["generation"] == 1


def test_a_wire_is_declared_only_towards_those_who_number_packets() -> None:
    plain = load(switches={"s2": {"tagging": False}})
    assert port(plain, "s1-right")["wire"] == "lldp"
    assert port(plain, "s1-h1")["wire"] == "declared"
    assert port(load(), "s1-right")["wire"] == "declared"
    assert port(load(switches={"s2": {"tagging": False}}, b__wire="none"), "s1-right")["wire"] == "none"


def test_hosts_on_a_declared_wire_say_so() -> None:
    def options(**settings: object) -> list[str]:
        scenario = load(**settings)
        return attach_commands(scenario, plan(scenario))[0][1]

    assert "--wire" in options()
    assert "--wire" not in options(links__access__wire="lldp")
    assert "--wire" not in options(links__access__wire="none")
    assert "--wire" not in options(tagging=False)
    assert "--wire" not in options(switches={"s1": {"tagging": False}})
    assert "--wire" in options(switches={"s2": {"tagging": False}})  # the sender's switch numbers


def test_a_slow_device_is_its_senders() -> None:
    scenario = load(
        flows=[{"local-bottleneck": {"rate": "4 Mbit/s", "queue": "20 kB"}, "direction": "reverse"}]
    )
    network = plan(scenario)
    senders = {network.endpoints[0].sender.name: scenario.flows[0]}
    lines = [tuning.device_limit(scenario, host, senders) for host in network.hosts]
    assert lines == [[], ["tc qdisc replace dev r1-eth0 root tbf rate 4000000bit burst 3200 limit 20000"]]


def test_restarts_of_switches_go_to_the_process(tmp_path: Path) -> None:
    scenario = load(
        restarts=[{"at": "3 s", "switch": "s2", "for": "200 ms"}, {"at": "4 s", "controller": True}]
    )
    assert told(scenario, tmp_path) == [
        {"cmd": "restart", "switch": "s2", "at_us": 4_000_000, "down_us": 200_000}
    ]
    calls: list[int] = []
    restarts = _ControllerRestarts(scenario, lambda: calls.append(1))
    for now_us in (3_999_999, 4_000_000, 4_100_000):
        restarts.advance(now_us)
    assert calls == [1]


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"b__hazards": {"forward": {"fog": 1}}}, "links.bottleneck.hazards.forward.fog: unknown key; use"),
        (
            {"b__hazards": {"forward": {"outages": [{"at": "20 s", "for": "1 s"}]}}},
            "links.bottleneck.hazards.forward.outages[0].at: must lie after 0 s and the outage before, and",
        ),
        (
            {"b__hazards": {"both": {"outages": [{"at": "2 s", "for": "3 s"}, {"at": "4 s", "for": "1 s"}]}}},
            "links.bottleneck.hazards.both.outages[1].at: must lie after 0 s",
        ),
        (
            {"b__hazards": {"both": {"outages": [{"at": "2 s", "for": "0 s"}]}}},
            "links.bottleneck.hazards.both.outages[0].for: must be above 0 s",
        ),
        (
            {"b__hazards": {"forward": {"reorder": {"share": 0.1}}}},
            "links.bottleneck.hazards.forward.reorder.packets: give one of delay and packets",
        ),
        (
            {"b__hazards": {"forward": {"reorder": {"share": 0.1, "delay": "0 s"}}}},
            "links.bottleneck.hazards.forward.reorder.delay: must be above 0",
        ),
        (
            {"b__hazards": {"forward": {"mtu": {"size": "20 B"}}}},
            "links.bottleneck.hazards.forward.mtu.size: must lie from 68 to 65535 bytes",
        ),
        (
            {"b__hazards": {"forward": {"policer": {"rate": "1 Mbit/s", "burst": "1 kB"}}}},
            "links.bottleneck.hazards.forward.policer.burst: must be at least 2048 B",
        ),
        (
            {"b__hazards": {"forward": {"queue": {"rate": "1 Mbitt"}}}},
            'links.bottleneck.hazards.forward.queue.rate: "1 Mbitt": unknown unit; use bit/s',
        ),
        (
            {"b__hazards": {"forward": {"header": {"action": "eat"}}}},
            'links.bottleneck.hazards.forward.header.action: "eat": use strip, block, flip',
        ),
        (
            {"b__hazards": {"forward": {"header": {"action": "strip", "from": "1 min"}}}},
            "links.bottleneck.hazards.forward.header.from: must lie before duration",
        ),
        (
            {"b__hazards": {"forward": {"duplicate": "200 %"}}},
            "links.bottleneck.hazards.forward.duplicate: ",
        ),
        ({"links__access__hazards": {}}, "links.access.hazards: only a bottleneck has it"),
        ({"b__wire": "maybe"}, 'links.bottleneck.wire: "maybe": use declared, lldp, none'),
        ({"b__ecn_threshold": "1 kB"}, "links.bottleneck.ecn-threshold: only with ecn: true"),
        (
            {"ecn": True, "b__ecn_threshold": "100 kB"},
            "links.bottleneck.ecn-threshold: must be below the queue's limit",
        ),
        (
            {"b__delay_steps": [{"at": "1 s"}]},
            "links.bottleneck.delay-steps[0].rtt: give one of rtt and delay",
        ),
        (
            {"b__delay_steps": [{"at": "1 s", "rtt": "16 s"}]},
            "links.bottleneck.delay-steps[0].rtt: 16 s: must be below 16 s",
        ),
        (
            {"b__loss_steps": [{"at": "1 s", "forward": {"model": "packet"}}]},
            "links.bottleneck.loss-steps[0].forward.rate: missing; model packet needs it",
        ),
        (
            {"b__loss_steps": [{"at": "1 s"}]},
            "links.bottleneck.loss-steps[0].forward: give forward or reverse",
        ),
        (
            {"b__loss_steps": [{"at": "20 s", "forward": {"model": "none"}}]},
            "links.bottleneck.loss-steps[0].at: must lie before duration",
        ),
        ({"switches": {"s3": {}}}, "switches.s3: unknown switch; use s1, s2"),
        ({"switches": {"s1": {"generation": 3}}}, "switches.s1.generation: 3"),
        ({"restarts": [{"at": "1 s", "switch": "s9"}]}, 'restarts[0].switch: "s9": use s1, s2'),
        ({"restarts": [{"at": "1 s"}]}, "restarts[0].switch: give one of switch and controller"),
        (
            {"restarts": [{"at": "20 s", "switch": "s1"}]},
            "restarts[0].at: must lie above 0 s and before duration",
        ),
        (
            {"flows": [{"count": 2, "host-pairs": 1, "local-bottleneck": {"rate": "1 Mbit/s"}}]},
            "flows[0].host-pairs: with local-bottleneck every flow needs a host of its own",
        ),
        (
            {"flows": [{"local-bottleneck": {"rate": "1 bit/s"}}]},
            "flows[0].local-bottleneck.rate: must be at least 64 kbit/s",
        ),
    ],
)
def test_faults_name_the_field(settings: dict[str, object], line: str) -> None:
    assert refusal(**settings).startswith(f"scenario x: {line}")


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"ecn": True}, "ecn"),
        ({"restarts": [{"at": "1 s", "switch": "s1"}]}, "restarts"),
        ({"switches": {"s1": {"xcp": False}}}, "switches"),
        ({"b__hazards": {"both": {"duplicate": 0.1}}}, "links.bottleneck.hazards"),
        ({"b__delay_steps": [{"at": "1 s", "rtt": "1 ms"}]}, "links.bottleneck.delay-steps"),
    ],
)
def test_bmv2_refuses_what_only_the_embedded_switch_does(settings: dict[str, object], field: str) -> None:
    scenario = load(**settings)
    with pytest.raises(ScenarioError) as caught:
        Bmv2Engine().check_switches(scenario, plan(scenario))
    assert str(caught.value) == f"scenario x: {field}: engine bmv2 does not have it; use --engine emu or sim"


def test_restarts_are_refused_where_there_is_nothing_to_restart() -> None:
    controller = load(restarts=[{"at": "1 s", "controller": True}])
    with pytest.raises(ScenarioError, match=r"restarts\[0\]\.controller: restarts the run's own controller"):
        EmulationEngine().check_switches(controller, plan(controller))
    switch = load(restarts=[{"at": "1 s", "switch": "s1"}])
    with pytest.raises(ScenarioError, match=r"restarts: engine hls-sim starts nothing again"):
        HlsSimEngine().check_switches(switch, plan(switch))


def test_the_pass_of_leo_is_the_formulas() -> None:
    scenario = build("leo", documents.points("leo", documents.read(documents.locate("leo")))[0].document)
    (link,) = scenario.bottlenecks
    earth_km, orbit_km = 6371.0, 6921.0
    rate = math.sqrt(398600.4418 / orbit_km**3)
    least = math.radians(25)
    half_s = (math.acos(earth_km * math.cos(least) / orbit_km) - least) / rate

    def delay_us(at_s: float) -> float:
        angle = rate * (at_s - half_s)
        slant_km = math.sqrt(earth_km**2 + orbit_km**2 - 2 * earth_km * orbit_km * math.cos(angle))
        return 2 * slant_km / 299792.458 * 1e6 + 10_000

    steps = [(0, link.delay_us), *link.delay_steps.steps]
    assert [at_us for at_us, _ in steps] == [5_000_000 * n for n in range(54)]
    for at_us, stepped_us in steps:
        assert stepped_us == pytest.approx(delay_us(at_us / 1e6), abs=1)


def test_the_hostile_paths_are_many() -> None:
    hostile = [name for name in documents.shipped() if name.startswith("hostile-")]
    assert len(hostile) >= 24
