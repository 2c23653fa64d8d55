# SPDX-License-Identifier: Apache-2.0
"""Unmodified applications: what a scenario becomes, their commands and files, and what came of them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from clarion_base.errors import UserError
from clarion_base.faults import ScenarioError
from clarion_lab.engines.emulation import EmulationEngine
from clarion_lab.engines.simulation import SimulationEngine
from clarion_lab.engines.truth import FlowTable
from clarion_lab.hosts import applications, programs, tuning
from clarion_lab.machine import requirements
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import Scenario, build
from clarion_lab.scenario.topology import plan

BASE: dict[str, Any] = {
    "description": "applications",
    "topology": "dumbbell",
    "algorithm": "cubic",
    "links": {"bottleneck": {"rate": "20 Mbit/s", "rtt": "40 ms"}},
    "duration": "10 s",
}
PUT = {"application": "ftp", "size": "1 MB"}
GET = {"application": "ftp", "size": "1 MB", "transfer": "get", "direction": "reverse"}


def load(*groups: dict[str, Any], **fields: Any) -> Scenario:
    document = {**BASE, "flows": list(groups), **fields}
    return build("x", documents.points("x", document)[0].document)


def refusal(*groups: dict[str, Any], **fields: Any) -> str:
    with pytest.raises(ScenarioError) as caught:
        load(*groups, **fields)
    return str(caught.value).removeprefix("scenario x: ")


def sessions(scenario: Scenario, place: Path) -> list[applications.Session]:
    both = zip(scenario.flows, plan(scenario).endpoints, strict=True)
    return [applications.session(scenario, flow, ends, place) for flow, ends in both]


def test_the_client_is_at_the_left_for_an_upload_and_for_a_download_of_the_reverse_direction(
    tmp_path: Path,
) -> None:
    put, get = sessions(load(PUT, GET), tmp_path)
    assert (put.client.name, put.server.name) == ("h1", "r1")
    assert (get.client.name, get.server.name) == ("h2", "r2")
    assert put.destination == tmp_path / "flow-1/served/incoming/file.bin"
    assert get.destination == tmp_path / "flow-2/client/file.bin"


def test_ftp_is_vsftpd_and_lftp_with_ports_and_places_of_their_own(tmp_path: Path) -> None:
    put, get = sessions(load(PUT, GET), tmp_path)
    settings = dict(line.split("=") for line in put.server_configuration().splitlines())
    assert settings["listen_address"] == "10.2.0.1"
    assert settings["listen_port"] == "30001"
    assert settings["pasv_min_port"] == settings["pasv_max_port"] == "5201"
    assert settings["anon_root"] == str(tmp_path / "flow-1/served")
    assert put.server_command()[-2:] == ["vsftpd", str(tmp_path / "flow-1/vsftpd.conf")]
    client = put.client_command(7)
    assert client[client.index("--") + 1 : -1] == ["lftp", "--norc", "-c"]
    assert "set ftp:passive-mode yes" in client[-1]
    assert client[-1].endswith(f"ftp://10.2.0.1:30001; put -O incoming {put.source}")
    assert get.client_command(7)[-1].endswith(f"get -O {tmp_path}/flow-2/client file.bin")


def test_http_is_the_standard_librarys_server_and_curl(tmp_path: Path) -> None:
    (made,) = sessions(load({"application": "http", "size": "1 MB"}), tmp_path)
    assert (made.client.name, made.server.name) == ("r1", "h1")  # fetched, so that data goes forward
    assert made.server_command()[-6:] == [
        "http.server", "--bind", "10.1.0.1", "--directory", str(tmp_path / "flow-1/served"), "5201",
    ]  # fmt: skip
    assert made.client_command(7)[-1] == "http://10.1.0.1:5201/file.bin"


def test_a_file_is_the_same_for_a_seed_and_another_for_each_flow(tmp_path: Path) -> None:
    digests = [applications.write_random(tmp_path / f"{n}", 3_000_000, seed) for n, seed in enumerate("aab")]
    assert digests[0] == digests[1] != digests[2]
    assert (tmp_path / "0").stat().st_size == 3_000_000
    assert applications.digest(tmp_path / "0") == digests[0]


def put_session(tmp_path: Path) -> applications.Session:
    (made,) = sessions(load({**PUT, "size": "1 kB", "start": "1 s"}), tmp_path)
    made.destination.parent.mkdir(parents=True)
    return made


def test_an_outcome_has_times_from_the_start_and_compares_the_files(tmp_path: Path) -> None:
    made = put_session(tmp_path)
    sha256 = applications.write_random(made.destination, 1000, "x")
    told = {
        "received_bytes": 1000,
        "first_byte_ns": 6_500_000_000,
        "last_byte_ns": 8_000_000_000,
        "ended_ns": 8_100_000_000,
    }
    found = applications.outcome(made, told, sha256, zero_us=5_000_000)
    assert (found["first_byte_s"], found["last_byte_s"], found["completed_s"]) == (0.5, 2.0, 2.1)
    assert found["mean_bits_per_s"] == 4000
    assert found["checksum_equal"] is True
    made.destination.write_bytes(bytes(1000))
    assert applications.outcome(made, told, sha256, 0)["checksum_equal"] is False


def test_what_is_not_complete_has_no_checksum_and_no_end(tmp_path: Path) -> None:
    made = put_session(tmp_path)
    found = applications.outcome(made, {"received_bytes": 10, "first_byte_ns": 1_500_000_000}, "00", 0)
    assert found["received_bytes"] == 10
    assert found["first_byte_s"] == 0.5
    for key in ("last_byte_s", "completed_s", "mean_bits_per_s", "checksum_equal"):
        assert found[key] is None


def test_a_client_that_fails_has_not_completed(tmp_path: Path) -> None:
    told = {"received_bytes": 10, "ended_ns": 2_000_000_000, "error": "reset"}
    assert applications.outcome(put_session(tmp_path), told, "00", 0)["completed_s"] is None


def watched(tmp_path: Path, script: str, size: int = 10) -> tuple[int, dict[str, Any]]:
    """What the watcher says of a client that is a shell script; its file is "$F"."""
    command = [*applications.WATCHED, "--at-ns", str(time.monotonic_ns()), "--file", str(tmp_path / "file")]
    command += ["--bytes", str(size), "--log", str(tmp_path / "log")]
    done = subprocess.run(
        [*command, "--", "sh", "-c", f"F={tmp_path}/file; {script}"],
        capture_output=True,
        timeout=60,
        check=False,
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, told


def test_the_watcher_sees_the_first_and_the_last_byte(tmp_path: Path) -> None:
    status, told = watched(tmp_path, 'printf 12345 >"$F"; sleep 0.3; printf 67890 >>"$F"; sleep 0.3')
    assert (status, told["received_bytes"]) == (0, 10)
    assert told["first_byte_ns"] < told["last_byte_ns"] < told["ended_ns"]
    assert told["last_byte_ns"] - told["first_byte_ns"] > 200_000_000


def test_the_watcher_tells_the_last_words_of_a_client_that_fails(tmp_path: Path) -> None:
    status, told = watched(tmp_path, 'printf 123 >"$F"; echo "first" >&2; echo "login failed" >&2; exit 3')
    assert (status, told["error"], told["received_bytes"]) == (1, "login failed", 3)
    assert told["last_byte_ns"] is None


def test_the_watcher_ends_its_client_when_it_is_told_to(tmp_path: Path) -> None:
    command = [*applications.WATCHED, "--at-ns", "0", "--file", str(tmp_path / "file"), "--bytes", "10"]
    place = str(tmp_path)
    script = f"cd {place}; printf 123 >file; echo $$ >new; mv new pid; exec sleep 60"
    command += ["--log", str(tmp_path / "log"), "--", "sh", "-c", script]
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not (tmp_path / "pid").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    child.terminate()
    output, _ = child.communicate(timeout=30)
    told = json.loads(output)
    assert (told["received_bytes"], told["ended_ns"], "error" in told) == (3, None, False)
    assert not Path(f"/proc/{int((tmp_path / 'pid').read_text())}").exists()


def test_losses_of_an_application_are_its_flows_whatever_port_its_client_has() -> None:
    table = FlowTable(plan(load(PUT, GET)))
    assert table.find(6, "10.1.0.1", 54321, "10.2.0.1", 5201) == (0, True)
    assert table.find(6, "10.2.0.1", 5201, "10.1.0.1", 54321) == (0, False)
    assert table.find(6, "10.2.0.2", 5202, "10.1.0.2", 54321) == (1, True)
    assert table.find(6, "10.1.0.2", 54321, "10.2.0.2", 5202) == (1, False)
    assert table.find(6, "10.1.0.1", 54321, "10.2.0.1", 30001) == (-1, True)  # the control connection


def test_both_hosts_send_with_the_scenarios_law() -> None:
    scenario = load({**PUT, "algorithm": "bbr"}, {"algorithm": "bbr"})
    hosts = {host.name: host for host in plan(scenario).hosts}
    for name in ("h1", "r1"):
        neighbour = plan(scenario).neighbour(hosts[name])
        assert f"dev {name}-eth0 congctl bbr" in tuning.script(scenario, hosts[name], neighbour, {}, None)
    assert "congctl" not in tuning.script(scenario, hosts["h2"], hosts["r2"], {}, None)  # iperf3 chooses it


def test_stock_hosts_keep_linuxs_buffers() -> None:
    tuned, stock = (tuning.sysctls(load(PUT, hosts=hosts)) for hosts in ("tuned", "stock"))
    assert "net.ipv4.tcp_rmem" in tuned
    assert set(stock) == set(tuning.ALWAYS)
    assert tuning.described(load(PUT, hosts="stock"), None)["buffer_bytes"] is None


def test_a_transfer_names_itself_as_people_call_it() -> None:
    flow = load(PUT).flows[0]
    assert (flow.name, programs.kind(flow)) == ("1 ftp cubic", "ftp")


def test_bulk_is_what_is_sent_without_an_application() -> None:
    assert load({"application": "bulk"}).flows == load({}).flows


@pytest.mark.parametrize(
    ("group", "line"),
    [
        ({"application": "smtp", "size": "1 MB"}, 'flows[0].application: "smtp": use bulk, ftp, http'),
        ({"application": "ftp"}, "flows[0].size: missing; ftp moves a file of a size"),
        ({**PUT, "stop": "5 s"}, "flows[0].size: must be without stop"),
        (
            {**PUT, "arrivals": {"every": "1 s"}},
            "flows[0].arrivals: not with application: ftp; it moves one file of that size",
        ),
        (
            {"application": "http", "size": "1 MB", "transfer": "put"},
            "flows[0].transfer: put: http has get only; use application: ftp",
        ),
        ({**PUT, "transfer": "both"}, 'flows[0].transfer: "both": use put, get'),
        ({"transfer": "get"}, "flows[0].transfer: only with application: ftp or http"),
        (
            {"application": "ftp", "protocol": "udp", "rate": "1 Mbit/s"},
            "flows[0].application: not with protocol: udp; it has TCP connections",
        ),
        ({"shim": "sender"}, "flows[0].shim: cubic needs none at either end; leave it out"),
        ({"algorithm": "boost", "shim": "receiver"}, 'flows[0].shim: "receiver": use both, sender'),
    ],
)
def test_faults_name_the_field_and_the_fix(group: dict[str, Any], line: str) -> None:
    assert refusal(group) == line


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"flows": [PUT]}, "flows[0].application"),
        ({"hosts": "stock"}, "hosts"),
        ({"tunnel": "openvpn", "flows": [PUT]}, "tunnel"),
        ({"proxy": {"law": "boost"}}, "proxy"),
        ({"flows": [{"algorithm": "boost", "shim": "sender"}]}, "flows[0].shim"),
    ],
)
def test_the_simulator_has_no_real_hosts(
    fields: dict[str, Any], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clarion_lab.engines.simulation._laws", lambda _: ["cubic", "clarion_boost"])
    document = {**BASE, "flows": [{}], **fields}
    with pytest.raises(ScenarioError) as caught:
        SimulationEngine().check(build("x", documents.points("x", document)[0].document))
    assert str(caught.value) == f"scenario x: {place}: engine sim has no real hosts; use --engine emu"


@pytest.mark.parametrize(
    ("missing", "group", "remedy"),
    [
        ("vsftpd", PUT, "application ftp: vsftpd: not found; apt install vsftpd"),
        ("lftp", PUT, "application ftp: lftp: not found; apt install lftp"),
        (
            "curl",
            {"application": "http", "size": "1 MB"},
            "application http: curl: not found; apt install curl",
        ),
    ],
)
def test_a_missing_program_is_named_with_its_package(
    missing: str, group: dict[str, Any], remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == missing else f"/bin/{name}")
    with pytest.raises(UserError) as caught:
        requirements.check_applications(load(group))
    assert str(caught.value) == remedy


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    requirements.check_room(load(PUT), tmp_path)
    requirements.check_room(load({}), tmp_path / "nowhere")  # nothing to hold
    with pytest.raises(UserError, match=r"has room for .*, the files of this scenario need 2e\+06 GB; set a"):
        requirements.check_room(load({**PUT, "size": "1000000 GB"}), tmp_path)


def test_a_tunnel_carries_applications_by_addresses_of_its_own(tmp_path: Path) -> None:
    scenario = load(PUT, tunnel="openvpn")
    (made,) = sessions(scenario, tmp_path)
    assert "ftp://10.130.0.1:30001;" in made.client_command(7)[-1]
    table = FlowTable(plan(scenario))
    assert table.find(17, "10.1.0.1", 1194, "10.2.0.1", 1194) == (0, True)
    assert table.find(17, "10.2.0.1", 1194, "10.1.0.1", 1194) == (0, False)


@pytest.mark.parametrize(
    ("group", "fields", "line"),
    [
        ({}, {}, "tunnel: carries applications only; set application: ftp"),
        (PUT, {"proxy": {"law": "boost"}}, "tunnel: not together with proxy; give one of them"),
        (
            {**PUT, "algorithm": "boost"},
            {},
            "tunnel: hides what boost would hear of switches; use a law without header",
        ),
    ],
)
def test_what_a_tunnel_does_not_carry_is_refused(
    group: dict[str, Any], fields: dict[str, Any], line: str
) -> None:
    assert refusal(group, tunnel="openvpn", **fields) == line


def test_a_missing_tunnel_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "openvpn" else f"/bin/{name}")
    monkeypatch.setattr("clarion_base.paths.binary", lambda name: sys.executable)
    with pytest.raises(UserError, match=r"^tunnel: openvpn: not found; apt install openvpn$"):
        requirements.check(load(PUT, tunnel="openvpn"), "emu")


def test_more_applications_than_hosts_run_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"flows: 101 applications: engine emu runs 100$"):
        EmulationEngine().check(load({**PUT, "count": 101, "host-pairs": 1}))
