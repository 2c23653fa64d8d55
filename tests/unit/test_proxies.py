# SPDX-License-Identifier: Apache-2.0
"""Proxies in a scenario: their command lines, what they take, and what the runner does about them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clarion_base.errors import RunFailedError, UserError
from clarion_base.faults import ScenarioError
from clarion_lab.engines.truth import FlowTable
from clarion_lab.hosts import proxies
from clarion_lab.hosts.agent import attach_commands
from clarion_lab.hosts.proxies import Proxies
from clarion_lab.machine import cleanup, requirements, state
from clarion_lab.recording.recording import Recording
from clarion_lab.results.key_metrics import key_metrics
from clarion_lab.results.summary import summarise
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import Scenario, build
from clarion_lab.scenario.topology import plan
from clarion_lab.scenario.validation import first_fault

FAKE = Path(__file__).parents[1] / "fakes" / "proxy.py"
BASE: dict[str, Any] = {
    "description": "proxies",
    "topology": "dumbbell",
    "algorithm": "cubic",
    "links": {"bottleneck": {"rate": "20 Mbit/s", "rtt": "40 ms"}},
    "flows": [{"application": "ftp", "size": "1 MB"}],
    "duration": "10 s",
}
STATUS: dict[str, Any] = {
    "state": "complete", "reason": None, "engine": "emu", "point": "", "settings": {}, "repeat": 1,
}  # fmt: skip
GET = {"application": "ftp", "size": "1 MB", "transfer": "get"}


def load(proxy: dict[str, Any], **fields: Any) -> Scenario:
    return build("x", documents.points("x", {**BASE, "proxy": proxy, **fields})[0].document)


def refusal(proxy: dict[str, Any], **fields: Any) -> str:
    with pytest.raises(ScenarioError) as caught:
        load(proxy, **fields)
    return str(caught.value).removeprefix("scenario x: ")


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clarion-proxy that is the stand-in, and a directory for records."""
    program = tmp_path / "clarion-proxy"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("CLARION_PROXY_BIN", str(program))
    monkeypatch.setenv("CLARION_RUN_ROOT", str(tmp_path / "run"))
    return tmp_path


def test_the_command_lines_of_a_pair() -> None:
    scenario = load(
        {"law": "boost", "set": {"boost_loss": 1}, "header": "off", "buffer-mib": 64, "predict-loss": 50}
    )
    (pair,) = plan(scenario).carriers
    assert scenario.proxy is not None
    both = ["--law", "boost", "--header", "off", "--set", "boost_loss=1", "--buffer-mib", "64"]
    both += ["--predict-loss", "50"]
    server = proxies.server_arguments(pair, scenario.proxy, Path("/k"), Path("/s"))
    assert server == [
        *("server", "--listen", "10.2.0.1:4433", "--keys", "/k", "--name", "r1-server"),
        *("--allow", "10.2.0.1/32:*", *both, "--control", "/s"),
    ]
    client = proxies.client_arguments(pair, scenario.proxy, Path("/k"), Path("/s"))
    assert client == [
        *("client", "--peer", "10.2.0.1:4433", "--peer-name", "r1-server", "--keys", "/k"),
        *("--name", "h1-client", "--transparent", "local", "--take", "10.2.0.1/32:*", *both),
        *("--control", "/s"),
    ]


def test_a_plain_off_of_yaml_is_off() -> None:
    _, settings = documents.parse_assignment("proxy={law: boost, header: off}")
    made = load(settings)
    assert made.proxy is not None
    assert made.proxy.header == "off"


def test_early_data_is_for_the_destinations_that_are_allowed() -> None:
    scenario = load({"law": "boost", "early": True})
    assert scenario.proxy is not None
    server = proxies.server_arguments(plan(scenario).carriers[0], scenario.proxy, Path("/k"), Path("/s"))
    assert server[server.index("--early") + 1] == "10.2.0.1/32:*"


def test_the_client_is_where_connections_are_opened() -> None:
    network = plan(load({"law": "boost"}, flows=[BASE["flows"][0], GET, {"direction": "both"}]))
    pairs = [(pair.client.name, pair.server.name, pair.flows) for pair in network.carriers]
    assert pairs == [("h1", "r1", (0,)), ("r2", "h2", (1,)), ("h3", "r3", (2,)), ("r3", "h3", (3,))]


def test_the_law_none_is_no_proxy() -> None:
    assert load({"law": "none"}).proxy is None
    assert plan(load({"law": "none"})).carriers == []


@pytest.mark.parametrize(("header", "attached"), [("auto", ["h1", "r1"]), ("off", [])])
def test_hosts_carry_the_shim_where_quic_carries_the_header(header: str, attached: list[str]) -> None:
    scenario = load({"law": "boost", "header": header})
    commands = attach_commands(scenario, plan(scenario))
    assert [host.name for host, _ in commands] == attached
    assert all(options == ["--tags", "on", "--wire"] for _, options in commands)


def test_only_a_senders_host_carries_the_shim_if_that_is_asked_for() -> None:
    flow = {"application": "ftp", "size": "1 MB", "algorithm": "boost"}
    for shim, wanted in (("both", ["h1", "r1"]), ("sender", ["h1"])):
        scenario = load({"law": "none"}, flows=[{**flow, "shim": shim}])
        assert [host.name for host, _ in attach_commands(scenario, plan(scenario))] == wanted


def test_datagrams_of_proxies_are_of_the_one_flow_that_they_carry() -> None:
    table = FlowTable(plan(load({"law": "boost"}, flows=[GET])))
    assert table.find(17, "10.1.0.1", 4433, "10.2.0.1", 9) == (0, True)
    assert table.find(17, "10.2.0.1", 9, "10.1.0.1", 4433) == (0, False)
    assert table.find(17, "10.1.0.1", 53, "10.2.0.1", 9) == (-1, True)
    shared = FlowTable(plan(load({"law": "boost"}, flows=[{"count": 2, "host-pairs": 1}])))
    assert shared.find(17, "10.1.0.1", 9, "10.2.0.1", 4433) == (-1, True)


@pytest.mark.parametrize(
    ("proxy", "fields", "line"),
    [
        ({}, {}, "proxy.law: missing"),
        ({"law": 1}, {}, "proxy.law: 1: must be a string"),
        ({"law": ""}, {}, "proxy.law: must not be empty"),
        ({"law": "boost", "header": "on"}, {}, 'proxy.header: "on": use auto, off'),
        ({"law": "boost", "buffer-mib": 0}, {}, "proxy.buffer-mib: 0: must lie from 1 to 65536"),
        ({"law": "boost", "predict-loss": 100}, {}, "proxy.predict-loss: 100: must lie from 1 to 99"),
        ({"law": "boost", "early": "yes"}, {}, 'proxy.early: "yes": must be a boolean'),
        (
            {"law": "boost", "key": 1},
            {},
            "proxy.key: unknown key; use law, set, header, buffer-mib, predict-loss, early",
        ),
        (
            {"law": "boost"},
            {"algorithm": "boost"},
            "proxy: its law is what crosses the path, so boost has no effect; use cubic, reno or bbr",
        ),
        (
            {"law": "boost"},
            {"tag-plain-tcp": True},
            "proxy: its law is what crosses the path, so cubic with tags has no effect; use cubic, "
            "reno or bbr",
        ),
        (
            {"law": "boost"},
            {"flows": [{"protocol": "udp", "rate": "1 Mbit/s"}]},
            "proxy: takes TCP only; leave the flows with protocol: udp out",
        ),
    ],
)
def test_faults_name_the_field_and_the_fix(proxy: dict[str, Any], fields: dict[str, Any], line: str) -> None:
    assert refusal(proxy, **fields) == line


def test_an_unknown_law_is_answered_with_those_that_the_proxy_has(fake: Path) -> None:
    requirements.check_proxy(load({"law": "boost", "header": "off"}))
    with pytest.raises(ScenarioError, match=r'proxy.law: "bost": unknown law; use none, boost, cubic$'):
        requirements.check_proxy(load({"law": "bost", "header": "off"}))


def test_a_missing_proxy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLARION_PROXY_BIN", "/nowhere")
    with pytest.raises(
        UserError, match=r"^clarion-proxy: not found; run `make build`, or set CLARION_PROXY_BIN"
    ):
        requirements.check_proxy(load({"law": "boost"}))


def test_what_a_process_has_taken_is_read_from_the_kernel() -> None:
    before = proxies.usage(os.getpid())
    spent = sum(range(3_000_000))
    after = proxies.usage(os.getpid())
    assert spent
    assert before is not None
    assert after is not None
    assert after.user_s > before.user_s
    assert after.peak_rss_bytes > 10_000_000
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert proxies.usage(ended.pid) is None


def summary(**fields: Any) -> dict[str, Any]:
    """The summary of two flows, of which a proxy carried 2 GB."""
    scenario = load({"law": "boost"}, flows=[{"count": 2, "host-pairs": 1}])
    machine = {"kernel": "6", "processors": 2, "versions": {}, "git": None, "sysctls": {}}
    made = Recording(ended_us=10_000_000, environment=machine)
    took = {"cpu_s": 3.0, "cpu_share": 0.3, "carried_bytes": 2_000_000_000, "cpu_s_per_gbyte": 1.5}
    common = {"law": "boost", "peak_rss_bytes": 1000, "status": {}, **took, **fields}
    made.proxies = [{"host": "r1", "role": "server", **common}, {"host": "h1", "role": "client", **common}]
    made.idle_rtt_us = {0: 40_000.0, 1: 42_000.0}
    return {**summarise(scenario, plan(scenario), made, STATUS, []), "expectations": []}


def test_a_summary_has_what_the_proxies_took() -> None:
    made = summary()
    assert first_fault("summary", made) is None
    assert made["totals"]["idle_rtt_ms"] == 41.0
    assert made["totals"]["proxy"]["client"] == {
        "cpu_s": 3.0, "cpu_share": 0.3, "cpu_s_per_gbyte": 1.5, "peak_rss_bytes": 1000,
    }  # fmt: skip
    assert key_metrics(made)["server_cpu_s_per_gbyte"] == 1.5


def test_what_carried_nothing_has_no_time_per_gbyte() -> None:
    assert summary(carried_bytes=0)["totals"]["proxy"]["client"]["cpu_s_per_gbyte"] is None


def test_a_proxy_that_does_not_start_is_quoted(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_PROXY_FAILS", "server")
    monkeypatch.setattr("clarion_base.processes.in_network", lambda _, command: list(command))
    scenario = load({"law": "boost"})
    with state.RunState() as record:
        started = Proxies(scenario, plan(scenario), record, {"h1": 1, "r1": 1}, fake)
        with pytest.raises(
            RunFailedError, match=r"^clarion-proxy: peer does not answer; start the server first$"
        ):
            started.start()
        started.stop()


def test_cleanup_has_dead_proxies_clean_up_too(fake: Path) -> None:
    directory = state.SCRATCH_ROOT / f"clarion-run-test-{os.getpid()}"
    directory.mkdir()
    (directory / "file").write_text("x")
    record = fake / "run" / "run-1"
    record.mkdir(parents=True)
    data = {
        "runner": {"pid": 1, "started": -1},
        "proxies": True,
        "scratch": [str(directory), str(fake), "/dev/shm", "/dev/shm/clarion-run-x/.."],
    }
    (record / "state.json").write_text(json.dumps(data))
    assert cleanup.cleanup() == [f"removed {directory}", "removed nothing", f"removed {record}"]
    assert not directory.exists()
    assert fake.exists()
    assert state.SCRATCH_ROOT.exists()
