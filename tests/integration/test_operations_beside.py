# SPDX-License-Identifier: Apache-2.0
"""docs/operations.md, run as it stands there in copies of this machine: what stands beside the service. A
controller by hand, behind nginx, with PostgreSQL, two of one store, with a provider of sign-ins, and BMv2
over TLS.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from clarion_base.paths import ROOT
from clarion_lab.machine import bmv2_installation
from fakes import postgres
from integration.controller_net import PATIENCE_S
from integration.machine_copy import SYSTEMD, Machine
from integration.machine_copy import machine as copied
from integration.operations_doc import block
from integration.waiting import wait_until

pytestmark = [
    pytest.mark.root,
    pytest.mark.beside,
    pytest.mark.skipif(not SYSTEMD.exists(), reason=f"no {SYSTEMD} (apt install systemd)"),
]

BY_HAND = block("clarion token create ann")
BMV2 = block("simple_switch_grpc")
NGINX = block("server {")
PROXIED = block("clarion controller serve --trusted-proxy")
POSTGRES = block("sudo -u postgres createuser")
DUMP = block("sudo -u clarion pg_dump")
UNDUMP = block("sudo -u clarion pg_restore")
TWO = block('clarion controller serve --store "$STORE"')
SIGN_IN = block("clarion controller serve --listen 127.0.0.1:8080 --public-url")
LOCAL = "http://127.0.0.1:8080"
KEYS = (
    "clarion keys setup ~/clarion-keys --controller c1=controller.example.org --switch s1=switch1.example.org"
)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with copied(tmp_path) as made:
        yield made


def commands(text: str) -> list[str]:
    """The commands of a block, one a line; a line that ends with a backslash goes on."""
    return text.replace("\\\n", "").strip().splitlines()


def ask(machine: Machine, url: str, *options: str) -> str:
    return machine.run(shlex.join(["curl", "-sS", *options, url]))


def test_a_controller_is_started_by_hand(machine: Machine) -> None:
    create, serve = commands(BY_HAND)
    token = machine.run(create).strip()
    machine.start(serve, "API at http://127.0.0.1:8080")
    assert (
        json.loads(ask(machine, f"{LOCAL}/v1/switches", "-H", f"Authorization: Bearer {token}"))["items"]
        == []
    )


@pytest.mark.skipif(
    shutil.which("nginx", path="/usr/sbin:/usr/bin") is None, reason="no nginx (apt install nginx-light)"
)
def test_nginx_stands_before_the_controller(machine: Machine) -> None:
    """Its clients are told apart, cookies are Secure, WebSockets and event streams get through."""
    machine.run(f"{KEYS} && cp ~/clarion-keys/c1/c1.pem /etc/nginx/controller.pem")
    machine.run("cp /etc/nginx/controller.pem /etc/nginx/controller.key")
    machine.write("/etc/nginx/sites-enabled/clarion", NGINX)
    token = machine.run("clarion token create ann --role admin").strip()
    machine.start(PROXIED, "API at")
    machine.run("nginx")
    url = "https://controller.example.org"
    trust = ("--cacert", "/root/clarion-keys/c1/ca.pem")
    bearer = (*trust, "-H", f"Authorization: Bearer {token}")

    signed_in = ask(
        machine, f"{url}/login", *trust, "-i", "-c", "jar", "-H", f"Origin: {url}", "-d", f"token={token}"
    )
    assert signed_in.split()[1] == "303", signed_in
    assert "; secure" in signed_in.lower()
    assert "strict-transport-security" in signed_in.lower()

    for source, header in (("192.0.2.1", "198.51.100.7"), ("192.0.2.2", "192.0.2.1")):
        lie = ("-H", f"X-Forwarded-For: {header}", "-H", f"Forwarded: for={header}")
        ask(
            machine,
            f"{url}/v1/switches",
            *trust,
            *lie,
            "--interface",
            source,
            "-H",
            "Authorization: Bearer wrong",
        )

    def sources() -> set[str]:
        found = json.loads(ask(machine, f"{url}/v1/audit?actor=unknown", *bearer))["items"]
        return {each["after"]["source"] for each in found}

    wait_until(lambda: sources() == {"192.0.2.1", "192.0.2.2"}, "both clients are in the audit", PATIENCE_S)

    socket = [
        f"{url}/_nicegui_ws/socket.io/?EIO=4&transport=websocket",
        *trust,
        "-b",
        "jar",
        "-i",
        "-N",
        "--http1.1",
        "-m",
        "2",
    ]
    for header in ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", f"Origin: {url}"):  # fmt: skip
        socket += ["-H", header]
    first_line = machine.run(f"{{ {shlex.join(['curl', '-sS', *socket])} || true; }} | head -n 1")
    assert first_line.startswith("HTTP/1.1 101 ")

    stream = shlex.join(["curl", "-sSN", "-i", *bearer, f"{url}/v1/telemetry/stream"])
    machine.start(stream, "text/event-stream")  # while the stream goes on: nothing is held back


@pytest.mark.skipif(postgres.programs() is None, reason="no PostgreSQL server (apt install postgresql)")
def test_a_postgresql_store_is_set_up_dumped_and_restored(machine: Machine) -> None:
    programs = postgres.programs()
    as_postgres = f"cd / && PATH={programs}:$PATH && sudo -u postgres env PATH=$PATH"
    machine.run("userdel clarion || true; useradd --system --home-dir /var/lib/clarion clarion")
    machine.run("install -d -o postgres /var/run/postgresql /srv/pg; install -d -m 700 /backup /opt/clarion")
    machine.run(f"ln -s {ROOT}/.venv /opt/clarion/.venv")
    machine.run("chmod 755 /opt/clarion")
    machine.run(f"{as_postgres} initdb -D /srv/pg/data -A peer -E UTF8 --no-sync")
    options = "-c listen_addresses= -c fsync=off -c unix_socket_directories=/var/run/postgresql"
    machine.run(f"{as_postgres} pg_ctl -D /srv/pg/data -w -l /srv/pg/log -o '{options}' start >/dev/null")
    *setup, serve = commands(POSTGRES)
    machine.run("\n".join(setup))
    store = "--store 'postgresql:///clarion?host=/var/run/postgresql'"
    create = f"sudo -u clarion /opt/clarion/.venv/bin/clarion token create {{}} --role viewer {store}"
    token = machine.run(create.format("ann")).strip()
    machine.start(serve, "API at")
    bearer = ("-o", "/dev/null", "-w", "%{http_code}", "-H", f"Authorization: Bearer {token}")
    assert ask(machine, f"{LOCAL}/v1/switches", *bearer) == "200"
    machine.run(DUMP)
    machine.run(create.format("bob"))
    machine.run("pkill -TERM -x clarion")
    wait_until(lambda: machine.run("pgrep -x clarion || true") == "", "the controller ends", PATIENCE_S)
    machine.run(UNDUMP)
    names = machine.run('sudo -u clarion psql -At clarion -c "SELECT name FROM tokens"')
    assert names.split() == ["ann"]
    machine.start(serve, "API at")
    assert ask(machine, f"{LOCAL}/v1/switches", *bearer) == "200"


def test_two_controllers_share_a_store(machine: Machine) -> None:
    """On one machine with a SQLite file: the second listens elsewhere."""
    first, second = commands(TWO)
    given = "export STORE=/var/lib/store.db; "
    token = machine.run("clarion token create ann --role viewer --store /var/lib/store.db").strip()
    machine.start(given + first, "API at")
    machine.start(given + second.partition("#")[0] + " --listen 127.0.0.1:8081", "API at")

    def names() -> set[str]:
        found = ask(machine, f"{LOCAL}/v1/controllers", "-H", f"Authorization: Bearer {token}")
        return {each["name"] for each in json.loads(found)["items"]}

    wait_until(lambda: names() == {"east", "west"}, "both are there", PATIENCE_S)


def test_sign_ins_of_a_provider_that_does_not_answer_leave_tokens(machine: Machine) -> None:
    """The options as they stand; test_oidc signs in at a real provider."""
    machine.write("/etc/clarion/oidc-secret", "secret\n", 0o600)
    machine.start(SIGN_IN, "dashboard and API at")
    page = ask(machine, f"{LOCAL}/login", "-L", "-H", "Host: clarion.example.org")
    assert "/login/oidc" in page
    refused = ask(machine, f"{LOCAL}/login/oidc", "-L", "-H", "Host: clarion.example.org")
    assert "does not answer" in refused, refused


@pytest.mark.skipif(bmv2_installation.fault() is not None, reason=f"BMv2: {bmv2_installation.fault()}")
def test_bmv2_serves_with_mutual_tls(machine: Machine) -> None:
    machine.run(f"{KEYS} && cp ~/clarion-keys/s1/*.pem .")
    program = shutil.which(bmv2_installation.PROGRAM) or ""
    options = "--no-p4 --device-id 1 --thrift-port 9090 --notifications-addr ipc:///tmp/notices"
    command = BMV2.strip().replace("...", options, 1)
    machine.start(f"PATH={Path(program).parent}:$PATH\n{command} &\necho started\nwait", "started")
    shown = "openssl s_client -connect switch1.example.org:9559 -CAfile ca.pem {} </dev/null 2>&1 || true"

    def is_trusted() -> bool:
        return "Verify return code: 0 (ok)" in machine.run(shown.format("-cert s1.pem -key s1.pem"))

    wait_until(is_trusted, "BMv2 serves", PATIENCE_S)
