# SPDX-License-Identifier: Apache-2.0
"""The switches of a run at a controller: the calls of its REST API, and the refusals."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import pytest

from clarion import cli
from clarion_base.errors import UserError
from clarion_lab.controller import registration
from clarion_lab.controller.registration import Registrar, Tuning
from clarion_lab.controller.rest_client import RestClient
from clarion_lab.engines.bmv2.engine import Bmv2Engine
from clarion_lab.machine import children
from clarion_lab.machine.state import RunState
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import Scenario, build
from clarion_lab.scenario.topology import plan

TOKEN = "clarion_0123456789"


@dataclass
class FakeApi:
    """The part of a controller's REST API that a run uses."""

    url: str = ""
    switches: dict[str, dict[str, Any]] = field(default_factory=dict)
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    ports: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)
    state: str = "in-sync"
    decisions: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, method: str, path: str, document: Any) -> tuple[int, Any]:
        self.calls.append((method, path))
        parts = path.partition("?")[0].strip("/").split("/")[1:]
        if parts == ["policies"]:
            return 200, {"items": [{"name": "capacity"}, {"name": "noise"}]}
        if parts[0] == "decisions":
            return 200, {"items": self.decisions[::-1] if "limit=100" in path else self.decisions[-1:]}
        if parts == ["switches"] and method == "GET":
            return 200, {"items": [self._shown(name) for name in self.switches]}
        if parts == ["switches"] and method == "POST":
            if document["name"] in self.switches:
                return 409, {"title": "Exists", "detail": f"switch {document['name']}: exists already"}
            self.switches[document["name"]] = document
            return 201, self._shown(document["name"])
        if method == "DELETE":
            del self.switches[parts[1]]
            return 204, None
        if "ports" in parts and len(parts) == 4:
            if method == "PATCH":
                self.ports[path] = document
            return 200, {"desired": self.ports.get(path)}
        if method == "PUT":
            self.policies[path] = document
            return 200, document
        return 200, self._shown(parts[1])

    def _shown(self, name: str) -> dict[str, Any]:
        state = self.switches[name].get("state", self.state)
        return {**self.switches[name], "status": {"state": state, "reason": "no answer"}}


@pytest.fixture
def api() -> Iterator[FakeApi]:
    fake = FakeApi()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, document = 401, {"title": "Unauthenticated", "detail": "a valid token is needed"}
            if self.headers.get("Authorization") == f"Bearer {TOKEN}":
                status, document = fake.answer(self.command, self.path, json.loads(body) if body else None)
            text = b"" if document is None else json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815 - the library's names

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield fake
    server.shutdown()
    thread.join()
    server.server_close()


class FakeState:
    """A state that records no processes."""

    def process(self, name: str, pid: int) -> None:
        pass


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """In place of the agent, a process that only prints the agent's first line."""
    started: list[subprocess.Popen[bytes]] = []

    def spawn(state: Any, name: str, command: Any, **options: Any) -> subprocess.Popen[bytes]:
        line = "serving P4Runtime on 127.0.0.1:4321 (devices 1 s1, 2 s2)"
        program = f"import sys, time; print({line!r}, flush=True); time.sleep(600)"
        child = subprocess.Popen([sys.executable, "-c", program], **options)
        started.append(child)
        return child

    monkeypatch.setattr(children, "spawn", spawn)
    yield started
    for child in started:
        child.kill()
        child.wait()


def scenario() -> Scenario:
    document = documents.read(documents.locate("smoke"))
    return build("smoke", documents.points("smoke", document)[0].document)


def attach(registrar: Registrar, directory: Path) -> registration.Registration:
    made = scenario()
    return registrar.register(
        made,
        plan(made),
        cast(RunState, FakeState()),
        directory / "switch.sock",
        directory,
        lambda: None,
    )


def test_switches_come_with_the_run_and_go_with_it(
    api: FakeApi, agent: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    api.decisions = [{"id": 3, "summary": "of an earlier run"}]
    registrar = Registrar(RestClient(api.url, TOKEN), [Tuning.parse("capacity:probe_wait_s=3")])
    registrar.check()
    run = attach(registrar, tmp_path)
    # s1 has the bottleneck's port and two hosts' ports, in the order of the switch's configuration.
    assert api.switches["smoke-s1"] == {
        "name": "smoke-s1",
        "address": "127.0.0.1:4321",
        "device_id": 1,
        "ports": [1, 2, 3],
        "port_names": {"1": "right", "2": "h1", "3": "h2"},
    }
    assert api.switches["smoke-s2"]["device_id"] == 2
    assert api.policies == {
        "/v1/switches/smoke-s1/ports/1/policies/capacity": {
            "state": "active",
            "parameters": {"probe_wait_s": 3.0},
        }
    }
    assert run.describe()["switches"] == ["smoke-s1", "smoke-s2"]
    api.decisions.append({"id": 4, "summary": "of this run"})
    run.close()
    assert api.switches == {}
    assert agent[0].poll() is not None
    kept = json.loads((tmp_path / "decisions.json").read_text())["decisions"]
    assert {decision["summary"] for decision in kept} == {"of this run"}


def test_ports_have_what_the_scenario_says(
    api: FakeApi, agent: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    xcp = {"capacity_bps": 20_000_000, "alpha": 0.39999, "beta": 0.226, "gamma": 0.1}
    xcp |= {"min_interval_us": 1000, "max_interval_us": 1_000_000, "generation": 2, "allow_unstable": False}
    bottleneck = {"xcp": xcp, "stamp": True, "check": True, "edge": False, "wire": True}
    right, left = "/v1/switches/smoke-s1/ports/1", "/v1/switches/smoke-s2/ports/1"
    api.ports = {right: bottleneck, left: {**bottleneck, "xcp": None}}
    attach(Registrar(RestClient(api.url, TOKEN)), tmp_path).close()
    assert ("PATCH", right) not in api.calls  # already set, up to rounding
    assert api.ports[left]["xcp"]["capacity_bps"] == 20_000_000
    assert api.ports["/v1/switches/smoke-s1/ports/2"]["edge"] is True


def test_what_a_killed_run_left_is_replaced_and_anything_else_is_not(
    api: FakeApi, agent: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    registrar = Registrar(RestClient(api.url, TOKEN))
    api.switches["smoke-s1"] = {"name": "smoke-s1", "address": "127.0.0.1:9", "state": "unreachable"}
    attach(registrar, tmp_path).close()
    assert api.switches == {}
    api.switches["smoke-s2"] = {"name": "smoke-s2", "address": "127.0.0.1:9", "state": "in-sync"}
    with pytest.raises(UserError, match=r"controller http://.*/v1/switches: switch smoke-s2: exists already"):
        attach(registrar, tmp_path)
    # The switches added so far are removed, and the agent has ended.
    assert list(api.switches) == ["smoke-s2"]
    assert agent[-1].poll() is not None


def test_a_switch_that_does_not_come_into_sync_fails_the_run(
    api: FakeApi,
    agent: list[subprocess.Popen[bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    api.state = "refused"
    monkeypatch.setattr(registration, "SYNC_TIMEOUT_S", 0.0)
    with pytest.raises(UserError, match="smoke-s1 is not in sync but refused: no answer"):
        attach(Registrar(RestClient(api.url, TOKEN)), tmp_path)
    assert api.switches == {}


def test_an_agent_that_dies_is_quoted(api: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def spawn(state: Any, name: str, command: Any, **options: Any) -> subprocess.Popen[bytes]:
        program = "import sys; sys.exit('clarion: --control: nothing there')"
        return subprocess.Popen([sys.executable, "-c", program], **options)

    monkeypatch.setattr(children, "spawn", spawn)
    with pytest.raises(UserError, match="clarion: --control: nothing there"):
        attach(Registrar(RestClient(api.url, TOKEN)), tmp_path)
    assert api.switches == {}


def test_policies_are_checked_before_anything_is_built(api: FakeApi) -> None:
    registrar = Registrar(RestClient(api.url, TOKEN), [Tuning.parse("speed")])
    with pytest.raises(UserError, match="--tune speed: no such policy; use capacity, noise"):
        registrar.check()


def test_a_wrong_token_is_said_by_the_controller(api: FakeApi) -> None:
    with pytest.raises(UserError, match="a valid token is needed"):
        Registrar(RestClient(api.url, "clarion_wrong")).check()


def test_nobody_at_the_address(api: FakeApi) -> None:
    with pytest.raises(UserError, match=r"controller http://127\.0\.0\.1:1/v1/switches: .*refused"):
        Registrar(RestClient("http://127.0.0.1:1", TOKEN)).check()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--tune", "capacity"], "--tune: only together with --controller"),
        (["--controller", "http://127.0.0.1:1"], "--controller: give a token with --token-file"),
        (
            ["--controller", "http://127.0.0.1:1", "--token-file", "/nowhere"],
            "--token-file /nowhere: No such file",
        ),
        (
            ["--controller", "ftp://x", "--token-file", "TOKEN"],
            "--controller ftp://x: use http://HOST:PORT or",
        ),
        (
            ["--controller", "http://127.0.0.1:1", "--token-file", "TOKEN", "--tune", "noise:factor=x"],
            "--tune noise:factor=x: write POLICY or POLICY:NAME=NUMBER,...",
        ),
        (["--controller", "http://127.0.0.1:1", "--token-file", "EMPTY"], "must hold one token"),
    ],
)
def test_options_are_refused_in_one_line(
    arguments: list[str], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("TOKEN", TOKEN), ("EMPTY", "")):
        (tmp_path / name).write_text(text + "\n")
    given = [str(tmp_path / text) if text in ("TOKEN", "EMPTY") else text for text in arguments]
    assert cli.main(["run", "smoke", *given]) == 2
    said = capsys.readouterr().err
    assert line in said
    assert said.count("\n") == 1


def test_bmv2_takes_no_controller() -> None:
    registrar = Registrar(RestClient("http://127.0.0.1:1", TOKEN))
    with pytest.raises(UserError, match="engine bmv2 programs its switches itself; use --engine emu"):
        Bmv2Engine().use_controller(registrar)
