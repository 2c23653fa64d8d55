# SPDX-License-Identifier: Apache-2.0
"""Protocols with routers of their own: what a scenario makes of its ports, what it refuses, whole runs."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from builds import plain
from clarion_base.faults import ScenarioError
from clarion_lab.engines.bmv2.engine import Bmv2Engine
from clarion_lab.engines.hls_sim import HlsSimEngine
from clarion_lab.engines.simulation import simulation_config
from clarion_lab.machine import requirements
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import Scenario, build
from clarion_lab.scenario.routers import ROUTER_LAWS
from clarion_lab.scenario.topology import plan, switch_config
from clarion_lab.scenario.validation import validator

BASE: dict[str, Any] = {
    "description": "routers",
    "topology": "dumbbell",
    "algorithm": "vcp",
    "router": {"law": "vcp"},
    "links": {
        "access": {"rtt": "2 ms"},
        "bottleneck": {"rate": "20 Mbit/s", "rtt": "78 ms", "queue": "1 bdp"},
    },
    "flows": [{"count": 2}],
    "duration": "10 s",
}


@pytest.fixture(scope="module", autouse=True)
def program() -> None:
    os.environ["CLARION_SIM_BIN"] = str(plain("sim/clarion-sim"))


def document(**changes: object) -> dict[str, Any]:
    changed = {**copy.deepcopy(BASE), **changes}
    return {key: value for key, value in changed.items() if value is not None}


def load(**changes: object) -> Scenario:
    return build("x", documents.points("x", document(**changes))[0].document)


def ports(scenario: Scenario) -> dict[str, dict[str, Any]]:
    config = switch_config(scenario, plan(scenario), "t")
    return {port["name"]: port for switch in config["switches"] for port in switch["ports"]}


def test_every_shaped_port_has_the_law_and_no_xcp() -> None:
    found = ports(load())
    assert found["s1-right"]["router"] == {"law": "vcp"}
    assert found["s2-left"]["router"] == {"law": "vcp"}
    assert not any("xcp" in port for port in found.values())
    assert "router" not in found["s1-h1"]  # which has no rate
    access = {"rate": "100 Mbit/s", "rtt": "2 ms"}
    assert "router" in ports(load(links={**BASE["links"], "access": access}))["s1-h1"]


def test_settings_come_in_the_switchs_units() -> None:
    router = {
        "law": "vcp",
        "interval": "100 ms",
        "sample": "5 ms",
        "queue-gain": 1,
        "queue-weight": 0.5,
        "target": "95 %",
    }
    assert ports(load(router=router))["s1-right"]["router"] == {
        "law": "vcp",
        "interval_us": 100_000,
        "sample_us": 5000,
        "queue_gain": 1.0,
        "queue_weight": 0.5,
        "target": 0.95,
    }


def test_a_switch_may_be_without() -> None:
    found = ports(load(switches={"s1": {"router": False}}))
    assert "router" not in found["s1-right"]
    assert "router" in found["s2-left"]


def test_a_switch_without_quick_start_or_xcp_i_is_a_router_that_does_not_know_it() -> None:
    router = {"law": "quick-start", "interval": "100 ms", "share": "50 %"}
    found = ports(
        load(algorithm="cubic-quickstart", router=router, switches={"s2": {"router": False}}, ecn=True)
    )
    assert found["s1-right"]["router"] == {"law": "quick-start", "interval_us": 100_000, "share": 0.5}
    assert found["s2-left"]["router"] == {"law": "quick-start", "aware": False}
    found = ports(load(algorithm="xcp-i", router={"law": "xcp-i"}, switches={"s2": {"router": False}}))
    assert found["s1-right"]["router"] == {"law": "xcp-i"}
    assert found["s2-left"]["router"] == {"law": "xcp-i", "aware": False}


def test_the_schema_knows_every_setting() -> None:
    router = validator("scenario").schema["properties"]["router"]  # type: ignore[index]
    assert set(router["properties"]) == {"law"}.union(*ROUTER_LAWS.values())
    assert router["properties"]["law"]["enum"] == list(ROUTER_LAWS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"router": {"law": "rcp9"}},
            'router.law: "rcp9": use vcp, quick-start, ixcp, p-xcp, jetmax, maxnet, xcp-i',
        ),
        (
            {"router": {"law": "vcp", "share": 0.5}},
            "router.share: vcp does not have it; its settings: interval",
        ),
        ({"router": {"law": "quick-start"}}, r"router: vcp: .*; set router: \{law: vcp\}"),
        (
            {"algorithm": "cubic-quickstart"},
            r"router: cubic-quickstart: needs routers of its own; set router: \{law: quick-start\}",
        ),
        ({"algorithm": "ixcp"}, r"router: ixcp: needs routers of its own; set router: \{law: ixcp\}"),
        (
            {"router": {"law": "ixcp", "share": 0.5}},
            "router.share: ixcp does not have it; its settings: gamma",
        ),
        (
            {"router": {"law": "p-xcp", "gamma": 0.1}},
            "router.gamma: p-xcp does not have it; its settings: none",
        ),
        ({"router": {"law": "ixcp", "gamma": 2}}, "router.gamma: 2: must lie from 0 to 1"),
        (
            {"algorithm": "ixcp", "router": {"law": "ixcp"}, "xcp": {"enabled": True}},
            "xcp.enabled: a port has one explicit law, and router.law is ixcp",
        ),
        ({"algorithm": "jetmax"}, r"router: jetmax: needs routers .*; set router: \{law: jetmax\}"),
        (
            {"algorithm": "jetmax", "router": {"law": "jetmax", "sample": "5 ms"}},
            "router.sample: jetmax does not have it; its settings: interval, target",
        ),
        ({"algorithm": "maxnet", "router": {"law": "jetmax"}}, r"router: maxnet: .*\{law: maxnet\}"),
        ({"algorithm": "maxnet", "router": {"law": "maxnet", "max-rtt": "0 s"}}, "router.max-rtt: "),
        ({"algorithm": "xcp-i", "router": {"law": "ixcp"}}, r"router: xcp-i: .*\{law: xcp-i\}"),
        (
            {"algorithm": "xcp-i", "router": {"law": "xcp-i", "target": 1}},
            "router.target: xcp-i does not have it; its settings: none",
        ),
        ({"router": {}}, "router.law: missing"),
        ({"router": {"law": "vcp", "interval": "0 s"}}, "router.interval: "),
        ({"router": {"law": "vcp", "target": 2}}, "router.target: .*beyond 1"),
        ({"router": {"law": "vcp", "queue-gain": 11}}, "router.queue-gain: 11: must lie from 0 to 10"),
        ({"router": {"law": "vcp", "quantum": 1}}, "router.quantum: unknown key; use law, interval"),
        ({"router": None}, r"router: vcp: needs routers of its own; set router: \{law: vcp\}"),
        ({"xcp": {"enabled": True}}, "xcp.enabled: a port has one explicit law, and router.law is vcp"),
        ({"ecn": True}, "ecn: router.law vcp has the bits that queues would mark; leave it out"),
        ({"switches": {"s1": {"router": 1}}}, "switches.s1.router: 1: must be a boolean"),
    ],
)
def test_refusals_name_the_field_and_the_fix(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        load(**changes)


def test_xcp_may_be_switched_off_or_tuned_beside_it() -> None:
    assert load(xcp={"enabled": False}).router is not None
    assert load(xcp={"generation": 1}).xcp is None


def test_engines_with_other_switches_refuse_it() -> None:
    scenario = load(algorithm="cubic")
    for engine in (HlsSimEngine(), Bmv2Engine()):
        with pytest.raises(ScenarioError, match=rf"router.law: engine {engine.name} has XCP only"):
            engine.check_switches(scenario, plan(scenario))


def run(tmp_path: Path, **changes: object) -> dict[str, Any]:
    tmp_path.mkdir(exist_ok=True)
    file = tmp_path / "scenario.yaml"
    file.write_text(yaml.safe_dump(document(**changes)))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "clarion", "run", str(file), "--engine", "sim", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return summary


def forward(summary: dict[str, Any]) -> dict[str, Any]:
    return next(port for port in summary["ports"] if port["role"].endswith("forward"))


def test_vcp_fills_a_link_with_a_small_queue_and_without_loss(tmp_path: Path) -> None:
    """Twenty flows: what they grow by before the routers have measured it makes up for the decreases."""
    timing = {"duration": "70 s", "measure-from": "40 s"}
    summary = run(tmp_path, flows=[{"count": 20, "stagger": "500 ms"}], **timing)
    assert forward(summary)["utilisation"] >= 0.95
    assert forward(summary)["queue_p99_bytes"] < 0.25 * 205_000  # of a bandwidth-delay product
    assert summary["totals"]["losses"]["data_queue"] == 0
    assert summary["totals"]["jain"] > 0.98


def test_two_vcp_flows_share_a_link_between_a_decrease_and_the_target(tmp_path: Path) -> None:
    """The load swings from 7/8 of the target, 0.98, up to it, evenly: 0.919 on average."""
    timing = {"duration": "120 s", "measure-from": "80 s"}
    links = {**BASE["links"], "bottleneck": {"rate": "5 Mbit/s", "rtt": "78 ms", "queue": "1 bdp"}}
    summary = run(tmp_path, flows=[{"count": 2, "stagger": "20 s"}], links=links, **timing)
    assert 0.90 < forward(summary)["utilisation"] < 0.95
    assert summary["totals"]["jain"] > 0.99
    assert summary["totals"]["losses"]["data_queue"] == 0


PARKING_LOT: dict[str, Any] = {
    "algorithm": "ixcp",
    "router": {"law": "ixcp"},
    "topology": "parking-lot",
    "links": {
        "access": {"rtt": "4 ms"},
        "bottleneck": [
            {"rate": rate, "rtt": "30 ms", "queue": "1 bdp"}
            for rate in ("100 Mbit/s", "50 Mbit/s", "100 Mbit/s")
        ],
    },
    "flows": [{"crosses": crosses} for crosses in ([1, 3], [1, 1], [2, 2], [3, 3])],
    "duration": "20 s",
    "measure-from": "10 s",
}
LOWS_CASE: dict[str, Any] = {
    **PARKING_LOT,
    "links": {
        "access": {"rtt": "4 ms"},
        "bottleneck": [
            {"rate": rate, "rtt": "38 ms", "queue": "1 bdp"} for rate in ("155 Mbit/s", "100 Mbit/s")
        ],
    },
    "flows": [{"count": 8, "crosses": [1, 2]}, {"count": 2, "crosses": [1, 1]}],
}
PLAIN_XCP: dict[str, Any] = {"algorithm": "xcp-notags", "router": None, "xcp": {"generation": 1}}


def utilisations(summary: dict[str, Any]) -> list[float]:
    return [port["utilisation"] for port in summary["ports"] if port["role"].endswith("forward")]


@pytest.mark.parametrize(
    ("case", "max_min_bps"),
    [
        pytest.param(PARKING_LOT, [25e6, 75e6, 25e6, 75e6], id="parking lot"),
        pytest.param(LOWS_CASE, [12.5e6] * 8 + [27.5e6] * 2, id="Low, Andrew and Wydrowski 2005"),
    ],
)
def test_ixcp_fills_links_that_xcp_leaves_empty(
    tmp_path: Path, case: dict[str, Any], max_min_bps: list[float]
) -> None:
    summary = run(tmp_path / "ixcp", **case)
    assert min(utilisations(run(tmp_path / "xcp", **{**case, **PLAIN_XCP}))) < 0.94
    assert min(utilisations(summary)) > 0.99
    goodputs_bps = [flow["goodput_bits_per_s"] for flow in summary["flows"]]
    for goodput_bps, share_bps in zip(goodputs_bps, max_min_bps, strict=True):
        part = goodput_bps / sum(goodputs_bps)
        assert part == pytest.approx(share_bps / sum(max_min_bps), rel=0.03)
    assert summary["totals"]["losses"]["data_queue"] == 0


def test_p_xcp_hands_out_what_limited_flows_leave(tmp_path: Path) -> None:
    """The first link holds back eight of ten flows of the second: XCP leaves a twentieth of it empty."""
    links = copy.deepcopy(LOWS_CASE["links"])
    links["bottleneck"].reverse()
    flows = [{"count": 8, "crosses": [1, 2]}, {"count": 2, "crosses": [2, 2]}]
    case = {**LOWS_CASE, "algorithm": "p-xcp", "router": {"law": "p-xcp"}, "links": links, "flows": flows}
    xcp = run(tmp_path / "xcp", **{**case, **PLAIN_XCP, "algorithm": "p-xcp"})
    summary = run(tmp_path / "p-xcp", **case)
    assert utilisations(xcp)[1] < 0.96
    assert utilisations(summary)[1] > 0.97
    assert summary["totals"]["losses"]["data_queue"] == 0


def test_ixcp_follows_a_bottleneck_that_moves(tmp_path: Path) -> None:
    """The middle link has 50 Mbit/s and holds the long flow back; with 150 both others do."""
    links = copy.deepcopy(PARKING_LOT["links"])
    links["bottleneck"][1]["rate-steps"] = [{"at": "8 s", "rate": "150 Mbit/s"}]
    summary = run(tmp_path, **{**PARKING_LOT, "links": links, "duration": "24 s", "measure-from": "16 s"})
    assert min(utilisations(summary)) > 0.99
    goodputs_bps = [flow["goodput_bits_per_s"] for flow in summary["flows"]]
    for goodput_bps, part in zip(goodputs_bps, (0.2, 0.2, 0.4, 0.2), strict=True):
        assert goodput_bps / sum(goodputs_bps) == pytest.approx(part, rel=0.03)


def test_on_one_link_ixcp_is_xcp(tmp_path: Path) -> None:
    """All flows are its own, so this is the controller in real numbers against that of the core."""
    case = {"flows": [{"count": 3}, {"start": "8 s"}], "duration": "25 s", "measure-from": "15 s"}
    ixcp = run(tmp_path / "ixcp", **case, algorithm="ixcp", router={"law": "ixcp"})
    xcp = run(tmp_path / "xcp", **case, **PLAIN_XCP)
    for ours, theirs in zip(ixcp["flows"], xcp["flows"], strict=True):
        assert ours["goodput_bits_per_s"] == pytest.approx(theirs["goodput_bits_per_s"], rel=0.01)


LONG = {
    "algorithm": "cubic-quickstart",
    "router": {"law": "quick-start"},
    "flows": [{"size": "2 MB"}],
    "links": {
        "access": {"rtt": "2 ms"},
        "bottleneck": {"rate": "50 Mbit/s", "rtt": "98 ms", "queue": "1 bdp"},
    },
}


def completed_s(summary: dict[str, Any]) -> float:
    return float(summary["flows"][0]["completed_s"])


def test_quick_start_saves_the_round_trips_of_slow_start(tmp_path: Path) -> None:
    """40.96 Mbit/s are approved, 348 packets in the first round trip of 102 ms; 1382 are to be sent: with the
    handshake they take five, in slow start from ten packets on more than eight.
    """
    quick = completed_s(run(tmp_path, **LONG))
    without = completed_s(run(tmp_path, **LONG, switches={"s1": {"router": False}}))
    assert quick < 5.5 * 0.102
    assert without > 8 * 0.102


@pytest.mark.parametrize(
    ("law", "bps", "message"),
    [
        ("bbr", 1_000_000, "quick_start_bps: is for laws that leave their beginning to TCP, not for bbr"),
        ("vcp", 1_000_000, "quick_start_bps: is for laws that leave their beginning to TCP, not for vcp"),
        ("reno", 70_000, "quick_start_bps: must be a whole number from 80000 to 400000000000, not 70000"),
        ("reno", 80_000, ""),
    ],
)
def test_the_simulator_refuses_quick_start_where_it_has_no_place(
    tmp_path: Path, law: str, bps: int, message: str
) -> None:
    scenario = load(algorithm="cubic-quickstart", router={"law": "quick-start"}, duration="1 s")
    config = simulation_config(scenario, plan(scenario), tmp_path)
    config["flows"][0] |= {"law": law, "quick_start_bps": bps}
    file = tmp_path / "simulation.json"
    file.write_text(json.dumps(config))
    done = subprocess.run(
        [os.environ["CLARION_SIM_BIN"], "--config", str(file)], capture_output=True, text=True, check=False
    )
    assert (done.returncode == 0) == (not message)
    assert message in done.stderr
    assert len(done.stderr.splitlines()) <= 1


def test_real_hosts_lack_the_sender_but_not_the_routers() -> None:
    with pytest.raises(ScenarioError, match="algorithm: vcp: runs in the simulator only; use --engine sim"):
        requirements.check_congestion_controls(load())
    requirements.check_congestion_controls(load(algorithm="xcp"))
    requirements.check_congestion_controls(load(algorithm="ixcp", router={"law": "ixcp"}))


# Of three routers in a row the middle one, whose link is the bottleneck, does not know XCP.
CLOUD: dict[str, Any] = {
    "algorithm": "xcp-i",
    "router": {"law": "xcp-i"},
    "switches": {"s2": {"router": False}},
    "topology": "parking-lot",
    "links": {
        "access": {"rtt": "4 ms"},
        "bottleneck": [
            {"rate": rate, "rtt": "30 ms", "queue": "1 bdp"}
            for rate in ("100 Mbit/s", "50 Mbit/s", "100 Mbit/s")
        ],
    },
    "flows": [{"count": 2, "crosses": [1, 3]}],
    "duration": "20 s",
    "measure-from": "8 s",
}


def in_cloud(summary: dict[str, Any], role: str = "bottleneck 2 forward") -> dict[str, Any]:
    return next(port for port in summary["ports"] if port["role"] == role)


def test_xcp_i_keeps_the_queue_of_a_router_short_that_does_not_know_it(tmp_path: Path) -> None:
    """XCP itself does not see that router, and overflows its queue."""
    others = {"algorithm": "ixcp", "router": {"law": "ixcp"}}
    assert run(tmp_path / "ixcp", **{**CLOUD, **others})["totals"]["losses"]["data_queue"] > 0
    summary = run(tmp_path / "xcp-i", **CLOUD)
    assert in_cloud(summary)["utilisation"] > 0.99
    assert in_cloud(summary)["queue_p99_bytes"] < 0.02 * in_cloud(summary)["bdp_bytes"]
    assert summary["totals"]["losses"]["data_queue"] == 0
    assert summary["totals"]["jain"] > 0.99


def test_xcp_i_takes_what_other_traffic_of_the_cloud_leaves(tmp_path: Path) -> None:
    """It passes neither of the XCP-i routers, so only its queue shows."""
    other = {"crosses": [2, 2], "protocol": "udp", "rate": "25 Mbit/s", "start": "6 s"}
    summary = run(tmp_path, **{**CLOUD, "flows": [*CLOUD["flows"], other], "measure-from": "10 s"})
    assert in_cloud(summary)["utilisation"] > 0.97
    assert in_cloud(summary)["queue_mean_bdp"] < 0.15
    assert summary["totals"]["losses"]["data_queue"] == 0
    ours = goodputs(summary)[:2]
    assert ours[0] == pytest.approx(ours[1], rel=0.02)


def test_xcp_i_follows_the_rate_of_a_cloud_up_and_down(tmp_path: Path) -> None:
    links = copy.deepcopy(CLOUD["links"])
    middle = links["bottleneck"][1]
    middle["rate-steps"] = [{"at": "8 s", "rate": "20 Mbit/s"}]
    slower = run(tmp_path / "slower", **{**CLOUD, "links": links, "measure-from": "10 s"})
    middle |= {"rate": "20 Mbit/s", "rate-steps": [{"at": "8 s", "rate": "50 Mbit/s"}]}
    faster = run(tmp_path / "faster", **{**CLOUD, "links": links, "measure-from": "12 s"})
    payload = 1388 / 1514  # frames have 14 bytes of Ethernet, 64 of IP and TCP, 32 of DATA, 12 of the option
    assert sum(goodputs(slower)) > 0.95 * 20 * payload
    assert sum(goodputs(faster)) > 0.98 * 50 * payload
    assert slower["totals"]["losses"]["data_queue"] == 0


def test_clouds_that_merge_share_what_is_behind_them_by_routers(tmp_path: Path) -> None:
    """Two XCP-i routers send into one that is none: each of its halves is shared by the flows over it."""
    links = [
        {"between": [x, y], "rate": f"{rate} Mbit/s", "delay": f"{delay} ms", "queue": "1 bdp"}
        for x, y, rate, delay in (
            ("a", "c", 100, 10),
            ("b", "c", 100, 20),
            ("c", "d", 50, 15),
            ("d", "e", 100, 5),
        )
    ]
    flows = [{"from": "a", "to": "e", "count": 3}, {"from": "b", "to": "e"}]
    graph = {
        "topology": "graph",
        "links": {"access": {"rtt": "4 ms"}, "bottleneck": links},
        "switches": {"c": {"router": False}},
    }
    timing = {"duration": "40 s", "measure-from": "15 s"}
    summary = run(tmp_path, **{**CLOUD, **graph, "flows": flows, **timing})
    of_a = goodputs(summary)[:3]
    assert sum(of_a) == pytest.approx(goodputs(summary)[3], rel=0.3)
    assert of_a == pytest.approx([sum(of_a) / 3] * 3, rel=0.02)
    assert in_cloud(summary, "link c d forward")["utilisation"] > 0.96
    assert summary["totals"]["losses"]["data_queue"] == 0


TOLD = ("jetmax", "maxnet")  # senders to which routers tell a rate, each the same for all of a link
# Of a link's rate, as payload: frames have 14 bytes of Ethernet and 68 of IP and TCP.
TARGET = 0.95 * 1432 / 1514


def goodputs(summary: dict[str, Any]) -> list[float]:
    return [flow["goodput_bits_per_s"] / 1e6 for flow in summary["flows"]]


def told(law: str, **changes: object) -> dict[str, Any]:
    return {"algorithm": law, "router": {"law": law}, **changes}


def parking_lot(*bottlenecks: dict[str, str]) -> dict[str, Any]:
    return {"topology": "parking-lot", "links": {"access": {"rtt": "2 ms"}, "bottleneck": list(bottlenecks)}}


@pytest.mark.parametrize("law", TOLD)
def test_one_flow_fills_the_target_and_leaves_the_queue_empty(tmp_path: Path, law: str) -> None:
    timing = {"duration": "15 s", "measure-from": "8 s"}
    summary = run(tmp_path, **told(law, flows=[{}], **timing))
    assert goodputs(summary) == pytest.approx([20 * TARGET], rel=0.01)
    assert forward(summary)["queue_p99_bytes"] < 2 * 1514
    assert summary["totals"]["losses"]["data_queue"] == 0


@pytest.mark.parametrize("law", TOLD)
def test_many_flows_share_alike_with_a_short_queue(tmp_path: Path, law: str) -> None:
    timing = {"duration": "30 s", "measure-from": "20 s"}
    summary = run(tmp_path, **told(law, flows=[{"count": 20, "stagger": "200 ms"}], **timing))
    assert summary["totals"]["jain"] > 0.99
    assert sum(goodputs(summary)) == pytest.approx(20 * TARGET, rel=0.02)
    assert forward(summary)["queue_p99_bytes"] < 0.15 * 200_000  # of a bandwidth-delay product


@pytest.mark.parametrize("law", TOLD)
def test_a_flow_that_joins_gets_its_share_without_loss(tmp_path: Path, law: str) -> None:
    """MaxNet's price follows a newcomer the faster, the shorter the longest round trip is said to be."""
    router = {"law": "jetmax"} if law == "jetmax" else {"law": "maxnet", "max-rtt": "100 ms"}
    timing = {"duration": "25 s", "measure-from": "18 s"}
    summary = run(tmp_path, algorithm=law, router=router, flows=[{}, {"start": "10 s"}], **timing)
    assert goodputs(summary) == pytest.approx([10 * TARGET] * 2, rel=0.01)
    assert summary["totals"]["losses"]["data_queue"] == 0


@pytest.mark.parametrize("law", TOLD)
def test_two_bottlenecks_are_shared_max_min_fair(tmp_path: Path, law: str) -> None:
    """Four flows share the first, 5 Mbit/s each; the fifth has what one of them leaves of the second, 25."""
    path = parking_lot({"rate": "20 Mbit/s", "rtt": "38 ms"}, {"rate": "30 Mbit/s", "rtt": "38 ms"})
    flows = [{"crosses": [1, 2]}, {"crosses": [1, 1], "count": 3}, {"crosses": [2, 2]}]
    timing = {"duration": "40 s", "measure-from": "30 s"}
    summary = run(tmp_path, **told(law, flows=flows, **path, **timing))
    assert goodputs(summary) == pytest.approx([share * TARGET for share in (5, 5, 5, 5, 25)], rel=0.02)


@pytest.mark.parametrize("law", TOLD)
def test_round_trips_ten_times_as_long_get_as_much(tmp_path: Path, law: str) -> None:
    path = parking_lot(
        {"rate": "20 Mbit/s", "rtt": "18 ms", "queue": "200 kB"}, {"rate": "100 Mbit/s", "rtt": "180 ms"}
    )
    flows = [{"crosses": [1, 1]}, {"crosses": [1, 2]}]
    timing = {"duration": "40 s", "measure-from": "25 s"}
    summary = run(tmp_path, **told(law, flows=flows, **path, **timing))
    assert goodputs(summary) == pytest.approx([10 * TARGET] * 2, rel=0.01)


@pytest.mark.parametrize("law", TOLD)
def test_what_does_not_have_the_option_is_left_what_it_takes(tmp_path: Path, law: str) -> None:
    flows = [{"count": 2}, {"protocol": "udp", "rate": "8 Mbit/s"}]
    timing = {"duration": "30 s", "measure-from": "20 s"}
    summary = run(tmp_path, **told(law, flows=flows, **timing))
    of_frames = 8 * 1514 / 1500
    assert goodputs(summary)[:2] == pytest.approx([(19 - of_frames) / 2 * 1432 / 1514] * 2, rel=0.02)


@pytest.mark.parametrize("law", TOLD)
def test_losses_are_only_sent_again(tmp_path: Path, law: str) -> None:
    """A hundredth of the packets goes twice, or a little more often."""
    lossy = {"rate": "20 Mbit/s", "rtt": "78 ms", "loss": {"forward": {"model": "packet", "rate": 0.01}}}
    links = {"access": {"rtt": "2 ms"}, "bottleneck": lossy}
    timing = {"duration": "30 s", "measure-from": "15 s"}
    summary = run(tmp_path, **told(law, flows=[{}], links=links, **timing))
    assert goodputs(summary) == pytest.approx([20 * TARGET * 0.99], rel=0.015)


def test_jetmax_is_within_a_percent_after_six_control_intervals(tmp_path: Path) -> None:
    """The second flow is controlled a round trip after it has begun, and counted another and two intervals
    later; rates are those that it is paced at.
    """
    flows = [{}, {"start": "10 s"}]
    run(tmp_path, **told("jetmax", flows=flows, duration="15 s"))
    rows = pq.read_table(tmp_path / "out" / "flows.parquet").to_pylist()
    paced = {
        flow: {row["time_us"] / 1e6: row["pacing_bytes_per_s"] for row in rows if row["flow"] == flow}
        for flow in (0, 1)
    }
    stationary = 10e6 / 8 * TARGET
    counted = 10 + 0.08 + 0.08 + 0.2
    assert max(rate for at, rate in paced[1].items() if at < counted) < 0.2 * stationary
    settled = [rate for of in paced.values() for at, rate in of.items() if at >= counted + 0.6]
    assert len(settled) > 50
    assert settled == pytest.approx([stationary] * len(settled), rel=0.01)
    assert max(paced[1].values()) < 1.01 * stationary  # without overshoot
