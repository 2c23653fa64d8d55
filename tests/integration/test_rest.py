# SPDX-License-Identifier: Apache-2.0
"""The REST API on real sockets: event streams, TLS, and every command of docs/rest.md."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme

from clarion_base.paths import run_root
from clarion_control.api.options import ApiOptions
from clarion_control.experiments.child import CLARION
from clarion_control.model import Role
from fakes.controller import ADMIN
from fakes.rest import GENEROUS, PORT
from fakes.rest_server import Served, served
from fakes.switch import FakeSwitch

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 30.0
STREAM = "/v1/telemetry/stream"


def bearer(server: Served, role: Role = Role.VIEWER) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.rig.tokens[role]}"}


def client(server: Served, **more: Any) -> httpx.Client:
    return httpx.Client(base_url=server.url, timeout=DEADLINE_S, **more)


class Events:
    """A stream as a browser reads it."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.iter_lines()

    def __iter__(self) -> Iterator[dict[str, str]]:
        """Yields the events; comments are events named "comment"."""
        made: dict[str, str] = {}
        for line in self._lines:
            if not line and made:
                yield made
                made = {}
            elif line:
                name, _, value = line.partition(": ")
                made[name or "comment"] = value

    def next(self, *names: str) -> dict[str, str]:
        """The next event of one of these names."""
        for event in self:
            if event.get("event", "comment") in names:
                return event
        raise AssertionError("the stream ended")


@contextlib.contextmanager
def stream(server: Served, path: str, **headers: str) -> Iterator[Events]:
    with (
        client(server) as http,
        http.stream("GET", path, headers={**bearer(server), **headers}) as response,
    ):
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield Events(response)


def test_reports_come_as_they_happen(tmp_path: Path) -> None:
    switch = FakeSwitch()
    with served(tmp_path, switch) as server, stream(server, f"{STREAM}?switch=s1&kind=interval") as events:
        server.tell(lambda: switch.report(1, queue_bytes=4242))
        event = events.next("interval")
        data = json.loads(event["data"])
        assert (data["switch"], data["port"], data["queue_bytes"]) == ("s1", 1, 4242)
        assert event["id"] == str(data["time_us"])


def test_filters_hold_for_streams(tmp_path: Path) -> None:
    first, second = FakeSwitch("s1"), FakeSwitch("s2")
    with (
        served(tmp_path, first, second) as server,
        stream(server, f"{STREAM}?switch=s2&port=2&kind=drop") as events,
    ):

        def report() -> None:
            for switch in (first, second):
                for port in (1, 2):
                    switch.report(port)
                    switch.drop(port)

        server.tell(report)
        data = json.loads(events.next("drop", "interval", "counters", "status")["data"])
        assert (data["switch"], data["port"]) == ("s2", 2)


def test_nothing_is_still_a_heartbeat(tmp_path: Path) -> None:
    options = ApiOptions(heartbeat_s=0.05)
    with served(tmp_path, options=options) as server, stream(server, f"{STREAM}?kind=drop") as events:
        for _ in range(3):
            events.next("comment")


def test_who_comes_back_hears_of_the_gap(tmp_path: Path) -> None:
    with (
        served(tmp_path) as server,
        stream(server, STREAM, **{"Last-Event-ID": "1764000000000000"}) as events,
    ):
        data = json.loads(events.next("lost")["data"])
        assert data == {"reason": "reconnected", "events": None, "since_us": 1764000000000000}


def test_a_stream_ends_with_its_token(tmp_path: Path) -> None:
    options = ApiOptions(heartbeat_s=0.05)
    with served(tmp_path, options=options) as server:
        token, text = server.do(lambda: server.rig.controller.tokens.create(ADMIN, "brief", Role.VIEWER))
        with stream(server, f"{STREAM}?kind=drop", Authorization=f"Bearer {text}") as events:
            events.next("comment")
            server.do(lambda: server.rig.controller.tokens.revoke(ADMIN, token.id))
            assert {event.get("event", "comment") for event in events} <= {"comment"}


def test_streams_end_at_once_when_the_server_does(tmp_path: Path) -> None:
    """The client sees an orderly end before the next heartbeat and before uvicorn's timeout."""
    options = ApiOptions(heartbeat_s=3600)
    with served(tmp_path, options=options) as server, contextlib.ExitStack() as stack:
        streams = [stack.enter_context(stream(server, f"{STREAM}?kind=drop")) for _ in range(3)]
        server.stop()
        for events in streams:
            assert list(events) == []


def test_there_is_an_end_to_streams(tmp_path: Path) -> None:
    with (
        served(tmp_path, options=ApiOptions(streams_per_token=1)) as server,
        stream(server, STREAM, Accept="text/event-stream"),
        client(server) as http,
    ):
        refused = http.get(STREAM, headers=bearer(server))
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")


def test_a_reader_that_goes_frees_its_place(tmp_path: Path) -> None:
    with served(tmp_path, options=ApiOptions(streams_per_token=1, heartbeat_s=0.05)) as server:
        for _ in range(3):
            status = 0
            while status != 200:  # the server notices a moment later that the last client has gone
                with client(server) as http, http.stream("GET", STREAM, headers=bearer(server)) as response:
                    status = response.status_code
                    assert status in (200, 429)


def test_an_experiment_is_watched_to_its_end(tmp_path: Path) -> None:
    with served(tmp_path) as server, client(server) as http:
        headers = bearer(server, Role.EXPERIMENTER)
        made = http.post("/v1/experiments", json={"scenario": "smoke"}, headers=headers)
        with stream(server, f"{made.headers['location']}/events") as events:
            states = [json.loads(event["data"])["state"] for event in events if "data" in event]
        assert states[-1] == "complete"
        assert set(states) <= {"queued", "running", "complete"}


def test_a_body_that_is_too_large_ends_the_connection(tmp_path: Path) -> None:
    """Its length is stated, and nothing of it is sent: the answer does not wait for it."""
    with served(tmp_path) as server, socket.create_connection(("127.0.0.1", server.port), DEADLINE_S) as raw:
        head = f"PATCH {PORT} HTTP/1.1\r\nHost: x\r\nContent-Length: {10**9}\r\n\r\n"
        raw.sendall(head.encode())
        received = b""
        while data := raw.recv(65536):
            received += data
        assert received.startswith(b"HTTP/1.1 413 ")
        assert b"/problems/body-too-large" in received


@pytest.mark.parametrize(
    "raw",
    [
        b"GET /v1/health HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST /v1/switches HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"\x16\x03\x01\x00\x05hello\r\n\r\n",
        b"GET /v1/\xff\xfe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /v1/%ff%fe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /v1/switches/%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer x\r\n\r\n",
    ],
)
def test_broken_http_is_refused_and_the_server_lives(tmp_path: Path, raw: bytes) -> None:
    with served(tmp_path) as server:
        with socket.create_connection(("127.0.0.1", server.port), DEADLINE_S) as connection:
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            received = b""
            with contextlib.suppress(ConnectionResetError):
                while data := connection.recv(65536):
                    received += data
        assert not re.match(rb"HTTP/1\.1 [235]", received), received
        with client(server) as http:
            assert http.get("/v1/health").status_code == 200


def test_tls(tmp_path: Path) -> None:
    authority, other = trustme.CA(), trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    files = {}
    for name, blob in (
        ("ssl_certfile", certificate.cert_chain_pems[0]),
        ("ssl_keyfile", certificate.private_key_pem),
    ):
        blob.write_to_path(str(tmp_path / name))
        files[name] = str(tmp_path / name)
    trusting, doubting = ssl.create_default_context(), ssl.create_default_context()
    authority.configure_trust(trusting)
    other.configure_trust(doubting)
    with served(tmp_path, tls=files) as server:
        with client(server, verify=trusting) as http:
            assert http.get("/v1/switches", headers=bearer(server)).status_code == 200
        with client(server, verify=doubting) as http, pytest.raises(httpx.ConnectError, match="CERTIFICATE"):
            http.get("/v1/health")
        plain = f"http://127.0.0.1:{server.port}/v1/health"
        with pytest.raises(httpx.TransportError):
            httpx.get(plain, timeout=DEADLINE_S)


@pytest.mark.root
def test_a_real_run_is_started_watched_and_fetched(tmp_path: Path) -> None:
    """Three seconds of real TCP over an emulated link, then a run that is stopped early."""
    with served(tmp_path, clarion=CLARION) as server, client(server) as http:
        asker = bearer(server, Role.EXPERIMENTER)

        def start(**settings: str) -> str:
            body = {"scenario": "smoke", "settings": settings}
            made = http.post("/v1/experiments", json=body, headers=asker)
            assert made.status_code == 201, made.text
            return str(made.headers["location"])

        done, stopped = start(duration="3 s"), start(duration="60 s")
        said = []
        with stream(server, f"{done}/events") as events:
            for event in events:
                if "data" in event:
                    last = json.loads(event["data"])
                    said.append(last["progress"])
        assert last["state"] == "complete", last
        assert any(line and "/ 3 s" in line for line in said)
        assert {"summary.json", "report.html", "flows.parquet"} <= set(last["files"])
        summary = http.get(f"{done}/files/summary.json", headers=asker).json()
        assert summary["state"] == "complete"
        with stream(server, f"{stopped}/events") as events:
            for event in events:
                last = json.loads(event["data"]) if "data" in event else last
                if "/ 60 s" in (last["progress"] or ""):
                    http.delete(stopped, headers=asker)
        assert last["state"] == "stopped"
        summary = http.get(f"{stopped}/files/summary.json", headers=asker).json()
        assert summary["state"] == "interrupted"
    assert not list(run_root().glob("run-*"))


# The document.


def blocks() -> list[tuple[str, str]]:
    """All fenced blocks of docs/rest.md: kind and text."""
    text = (ROOT / "docs/rest.md").read_text()
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_commands_of_the_document_work(tmp_path: Path) -> None:
    """One shell runs all `sh` blocks in order; a `text` block behind one is its output."""
    home = tmp_path / "home"
    home.mkdir()
    program = ["set -eu"]
    expected = {}
    kinds = blocks()
    for number, (kind, text) in enumerate(kinds):
        if kind != "sh":
            continue
        program += [f"exec >{number}.out", text]
        if number + 1 < len(kinds) and kinds[number + 1][0] == "text":
            expected[number] = kinds[number + 1][1]
    assert len(expected) >= 5
    with served(tmp_path, FakeSwitch("s1"), FakeSwitch("s2"), options=GENEROUS) as server:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "URL": server.url,
            **{role.name: server.rig.tokens[role] for role in Role},
        }
        done = subprocess.run(
            ["bash", "-c", "\n".join(program)],
            env=environment,
            cwd=home,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    outputs = {
        number: (home / f"{number}.out").read_text()
        for number in expected
        if (home / f"{number}.out").exists()
    }
    assert done.returncode == 0, (done.stderr, outputs)
    assert outputs == expected


def test_the_document_names_every_operation() -> None:
    from clarion_control.api.app import document

    text = (ROOT / "docs/rest.md").read_text()
    for path, item in document()["paths"].items():
        for method in item:
            assert f"| {method.upper()} | `{path}` |" in text, f"{method.upper()} {path}"


def test_the_document_names_every_problem() -> None:
    from clarion_control.api.problems import PROBLEMS

    text = (ROOT / "docs/rest.md").read_text()
    for kind in PROBLEMS.values():
        assert f"| {kind.status} | `{kind.slug}` |" in text, kind.slug
