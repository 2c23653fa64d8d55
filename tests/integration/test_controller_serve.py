# SPDX-License-Identifier: Apache-2.0
"""`clarion controller serve` and `clarion token` as processes: start, TLS, signals and refusals."""

from __future__ import annotations

import json
import signal
import ssl
import subprocess
import urllib.request
from pathlib import Path

import pytest
import trustme

from fakes.ports import free_port
from integration.controller_net import (
    CLARION,
    PATIENCE_S,
    Api,
    Process,
    ServedController,
    create_token,
    listens,
)
from integration.waiting import wait_until


def clarion(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*CLARION, *arguments], capture_output=True, text=True, timeout=PATIENCE_S)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_stop(tmp_path: Path, number: signal.Signals) -> None:
    command = [*CLARION, "controller", "serve", "--listen", "127.0.0.1:0", "--store", f"{tmp_path}/x.db"]
    process = Process(command, tmp_path / "log")
    try:
        line = process.await_text("dashboard and API at http://127.0.0.1:")
        process.await_text(f"create one: clarion token create NAME --role admin --store {tmp_path}/x.db")
        url = next(word for word in line.split() if word.startswith("http"))
        token = create_token(f"{tmp_path}/x.db", "ann")
        with Api(url, token) as api:
            assert api.get("/v1/health")["status"] == "ok"
            assert api.get("/v1/switches")["items"] == []
        process.child.send_signal(number)
        assert process.child.wait(PATIENCE_S) == 0
        assert "Traceback" not in process.log.read_text()
    finally:
        process.stop()


def test_a_stream_that_is_open_does_not_keep_it_from_stopping(tmp_path: Path) -> None:
    with ServedController(tmp_path) as controller:
        request = urllib.request.Request(
            f"{controller.url}v1/telemetry/stream", headers={"Authorization": f"Bearer {controller.token}"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S):
            assert controller.stop() == 0


def test_tls(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("localhost", "127.0.0.1")
    certificate.private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    options = ["--tls-certificate", f"{tmp_path}/server.pem"]
    with ServedController(tmp_path, None, *options) as controller:
        assert controller.url.startswith("https://127.0.0.1:")
        context = ssl.create_default_context()
        authority.configure_trust(context)
        with urllib.request.urlopen(
            f"{controller.url}v1/health", context=context, timeout=PATIENCE_S
        ) as reply:
            assert reply.status == 200


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--listen", "0.0.0.0:0"], "clarion: --listen: 0.0.0.0: tokens would travel in the clear; "),
        (["--listen", "nowhere"], "clarion: --listen: nowhere: write HOST:PORT, "),
        (["--listen", "192.0.2.1:0", "--insecure-http"], "clarion: --listen: 192.0.2.1:0: "),
        (["--tls-key", "/nowhere.pem"], "clarion: --tls-key: needs --tls-certificate"),
        (
            ["--tls-certificate", "/nowhere.pem", "--tls-key", "/n"],
            "clarion: --tls-certificate: /nowhere.pem",
        ),
        (["--store", "mysql://x"], "clarion: store: mysql: use a path"),
        (["--store", "/proc/nowhere/x.db"], "clarion: store /proc/nowhere/x.db: "),
        (["--listen", "127.0.0.1:²"], "clarion: --listen: 127.0.0.1:²: write HOST:PORT"),
        (["--insecure-http", "--listen", f"{64 * 'a'}:0"], f"clarion: --listen: {64 * 'a'}:0: not the name"),
        (["--sign-in-link", "bob"], "clarion: --sign-in-link: bob: there is no token of that name"),
    ],
)
def test_what_cannot_be_is_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    given = ["--listen", "127.0.0.1:0", "--store", f"{tmp_path}/x.db", *arguments]
    done = clarion("controller", "serve", *given)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(message)
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with ServedController(tmp_path) as controller:
        address = controller.url.split("/")[2]
        done = clarion("controller", "serve", "--listen", address, "--store", f"{tmp_path}/x.db")
        assert done.returncode == 2
        assert "choose another address or port" in done.stderr


def test_tokens(tmp_path: Path) -> None:
    store = ["--store", f"{tmp_path}/x.db"]
    done = clarion("token", "create", "grafana", "--role", "viewer", "--expires", "90d", *store)
    assert done.returncode == 0
    (text,) = done.stdout.splitlines()
    assert text.startswith("clarion_")
    again = clarion("token", "create", "grafana", "--role", "viewer", *store)
    assert (again.returncode, again.stderr) == (
        2,
        "clarion: token grafana: exists already; remove it first, or take another name\n",
    )
    listed = clarion("token", "list", *store).stdout
    assert "viewer" in listed
    assert text not in listed
    assert clarion("token", "revoke", "grafana", *store).stdout == "revoked token 1 (grafana)\n"
    assert clarion("token", "revoke", "grafana", *store).returncode == 2
    assert "revoked" in clarion("token", "list", *store).stdout


@pytest.mark.root
def test_mutual_tls_to_a_switch(tmp_path: Path) -> None:
    authority, stranger = trustme.CA(), trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    for name, signer in {"switch": authority, "client": authority, "other": stranger}.items():
        issued = signer.issue_cert("localhost", "127.0.0.1")
        issued.private_key_pem.write_to_path(tmp_path / f"{name}.key")
        for blob in issued.cert_chain_pems:
            blob.write_to_path(tmp_path / f"{name}.pem", append=True)
    ports = [{"name": "a", "peer": "s1:b"}, {"name": "b", "peer": "s1:a"}]
    (tmp_path / "s.json").write_text(json.dumps({"switches": [{"name": "s1", "ports": ports}]}))
    address = f"127.0.0.1:{free_port()}"
    agent = Process(
        [
            *CLARION, "switch", "serve", "--config", f"{tmp_path}/s.json", "--listen", address,
            "--tls-certificate", f"{tmp_path}/switch.pem", "--tls-key", f"{tmp_path}/switch.key",
            "--tls-client-ca", f"{tmp_path}/ca.pem",
        ],
        tmp_path / "agent.log",
    )  # fmt: skip
    try:
        agent.await_text("serving P4Runtime")
        assert listens(address)
        with ServedController(tmp_path) as controller, controller.api() as api:

            def add(name: str, client: str | None) -> None:
                body = {"name": name, "address": address, "device_id": 1, "ports": [1, 2]}
                if client is not None:
                    files = {"certificate": f"{tmp_path}/{client}.pem", "key": f"{tmp_path}/{client}.key"}
                    body["tls"] = {"ca": f"{tmp_path}/ca.pem", **files}
                assert api.ask("POST", "/v1/switches", body)[0] == 201

            add("plain", None)
            add("stranger", "other")
            add("missing", "nobody")
            for name in ("plain", "stranger", "missing"):
                wait_until(
                    lambda name=name: api.get(f"/v1/switches/{name}")["status"]["state"] == "unreachable",  # type: ignore[misc]
                    f"{name} unreachable",
                    PATIENCE_S,
                )
            reason = api.get("/v1/switches/missing")["status"]["reason"]
            assert "nobody.pem: No such file or directory" in reason
            add("s1", "client")
            api.await_sync("s1")
    finally:
        agent.stop()
