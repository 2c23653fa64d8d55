# SPDX-License-Identifier: Apache-2.0
"""docs/operations.md, run as it stands there in a copy of this machine, where systemd starts its units:
installation, certificates, tokens, backup, restore and upgrade of a controller, a switch and a runner.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from clarion_base.paths import ROOT
from integration import operations_doc as doc
from integration import test_operations_beside  # noqa: F401 - for the blocks that it uses
from integration.controller_net import PATIENCE_S
from integration.machine_copy import SYSTEMD, Machine, machine
from integration.operations_doc import block
from integration.waiting import wait_until

pytestmark = [
    pytest.mark.root,
    pytest.mark.beside,
    pytest.mark.skipif(not SYSTEMD.exists(), reason=f"no {SYSTEMD} (apt install systemd)"),
]

INSTALL = block("git clone URL")
UNITS = {
    "clarion-controller": doc.unit("clarion-controller"),
    "clarion-switch": doc.unit_of_the_switch(),
    "clarion-runner": doc.unit("clarion-runner"),
}
START = block("systemctl daemon-reload\nsystemctl enable --now clarion-controller")
START_RUNNER = block("systemctl daemon-reload\nsystemctl enable --now clarion-runner")
KEYS = block("clarion keys setup")
COPY = block("install -d /etc/clarion\n")
SWITCH = block('{"name": "s1"')
RENEW = block("clarion keys list")
AUTHORITY = block("clarion keys replace-authority")
DOCTOR = block("clarion doctor")
TOKENS = block("clarion token create NAME")
BACK_UP = block("install -d -m 700 /backup\n")
RESTORE = block("systemctl stop clarion-controller\nrm")
UPGRADE = block("systemctl stop clarion-controller\nsqlite3")

URL = "https://controller.example.org:8443"
STORE = "/var/lib/clarion/controller.db"
PORT = "/v1/switches/s1/ports/1"
TWO_PORTS = {
    "name": "s1",
    "ports": [
        {"name": "a", "peer": "s1:b", "rate_bps": 100_000_000},
        {"name": "b", "peer": "s1:a", "rate_bps": 100_000_000},
    ],
}


class Site:
    """A controller, a switch and a runner, each a service of systemd on one machine."""

    def __init__(self, made: Machine) -> None:
        self.machine = made
        made.run("userdel clarion || true")  # of this machine, if it has one
        source = f"git clone --quiet --depth 1 'file://{ROOT}' /srv/clarion"
        made.run(f"git config --global safe.directory '*' && {source}")
        made.run(INSTALL.replace("URL", "file:///srv/clarion"))
        made.run(f"{KEYS}\n{COPY}")
        made.run(COPY.replace("/c1/", "/s1/"))
        made.write("/etc/clarion/switch.json", json.dumps({"switches": [TWO_PORTS]}))
        for name, text in UNITS.items():
            made.write(f"/etc/systemd/system/{name}.service", text)
        token, health = made.run(START).split("\n", 1)
        assert json.loads(health)["status"] == "ok"
        made.run("systemctl enable --now clarion-switch")
        made.run(START_RUNNER)
        self.header(token)
        self.ok("POST", "/v1/switches", json.loads(SWITCH))
        self.await_sync()

    def header(self, token: str) -> None:
        """The token that is used from now on."""
        self.machine.write("/root/header", f"Authorization: Bearer {token}\n", 0o600)
        self.machine.write("/root/token", token, 0o600)

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and document of a request with curl; 0 if there is no answer."""
        sent = "" if body is None else f"-H Content-Type:application/json -d {shlex.quote(json.dumps(body))}"
        said = self.machine.run(
            f"curl -sS --cacert /etc/clarion/ca.pem -H @/root/header -X {method} {sent} "
            f"-w '\\n%{{http_code}}' {URL}{path} || true"
        )
        document, _, status = said.rpartition("\n")
        return int(status), json.loads(document) if document else None

    def ok(self, method: str, path: str, body: Any = None) -> Any:
        """The document of a request that succeeds."""
        status, document = self.ask(method, path, body)
        assert status in (200, 201, 204), (status, document)
        return document

    def await_sync(self) -> None:
        """The controller is there, and the switch is as it should be."""

        def is_there() -> bool:
            status, document = self.ask("GET", "/v1/switches/s1")
            return status == 200 and document["status"]["state"] == "in-sync"

        wait_until(is_there, "s1 in sync", PATIENCE_S)

    def reconnects(self) -> int:
        """How often the controller has lost the switch since it started."""
        found: int = self.ok("GET", "/v1/switches/s1")["status"]["reconnects"]
        return found

    def says_other(self, command: str, before: str) -> bool:
        """Whether a command says something else by now."""
        return self.machine.run(command) != before

    def serial(self) -> str:
        """Of the certificate that the controller shows."""
        shown = "openssl s_client -connect controller.example.org:8443 </dev/null 2>/dev/null"
        return self.machine.run(f"{shown} | openssl x509 -noout -serial")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with machine(tmp_path_factory.mktemp("machine")) as made:
        yield Site(made)


def test_every_block_of_the_document_is_run() -> None:
    assert [each.text for each in doc.BLOCKS if each not in doc.used] == []
    assert {each.kind for each in doc.BLOCKS} == {"sh", "ini", "json", "nginx"}
    # bash -e, by which they are run here, goes on when what stands before && fails.
    assert [each.text for each in doc.BLOCKS if each.kind == "sh" and "&&" in each.text] == []


def test_systemd_finds_nothing_wrong_with_the_units(site: Site) -> None:
    verify = "systemd-analyze verify /etc/systemd/system/{}.service 2>&1"
    for name in UNITS:
        assert site.machine.run(verify.format(name)) == ""
    wrong = UNITS["clarion-runner"].replace("RestartSec=", "RestartSecs=")
    site.machine.write("/etc/systemd/system/wrong.service", wrong)
    assert "'RestartSecs'" in site.machine.run(verify.format("wrong"))


def test_services_have_the_user_and_the_rights_of_their_units(site: Site) -> None:
    def process(name: str) -> dict[str, str]:
        assert site.machine.run(f"systemctl is-active {name}").strip() == "active"
        pid = site.machine.run(f"systemctl show --property MainPID --value {name}").strip()
        lines = site.machine.path(f"/proc/{pid}/status").read_text().splitlines()
        return dict(line.split(":\t", 1) for line in lines if ":\t" in line)

    user = site.machine.run("id -u clarion").strip()
    for name, uid, effective in (
        ("clarion-controller", user, 0),
        ("clarion-switch", user, 1 << 12 | 1 << 13 | 1 << 23),  # NET_ADMIN, NET_RAW, SYS_NICE
        ("clarion-runner", "0", None),
    ):
        found = process(name)
        assert set(found["Uid"].split()) == {uid}, name
        assert found["NoNewPrivs"] == "1", name
        assert effective in (None, int(found["CapEff"], 16)), name
    modes = site.machine.run("stat -c '%U %a' /var/lib/clarion /var/lib/clarion/controller.db")
    assert modes == "clarion 700\nclarion 600\n"


def test_a_service_that_is_killed_comes_back(site: Site) -> None:
    for name in ("clarion-controller", "clarion-switch"):
        restarts = f"systemctl show -P NRestarts {name}"
        before = site.machine.run(restarts)
        site.machine.run(f"systemctl kill --signal KILL {name}")
        wait_until(partial(site.says_other, restarts, before), f"{name} comes back", PATIENCE_S)
    site.await_sync()


def test_the_runner_runs_an_experiment_for_the_controller(site: Site) -> None:
    asked = {"scenario": "smoke", "engine": "sim", "settings": {"duration": "3 s"}}
    made = site.ok("POST", "/v1/experiments", asked)

    def ended() -> str:
        state: str = site.ok("GET", f"/v1/experiments/{made['id']}")["state"]
        return state if state in ("complete", "failed") else ""

    wait_until(lambda: bool(ended()), "the end of the experiment", 2 * PATIENCE_S)
    assert ended() == "complete", site.ok("GET", f"/v1/experiments/{made['id']}")
    assert "summary.json" in site.machine.run(f"sudo -u clarion ls /var/lib/clarion-runner/{made['id']}-*")


def test_doctor_asks_the_controller(site: Site) -> None:
    said = site.machine.run(f"{DOCTOR.strip()} || true")  # of what this machine lacks, it has a status, too
    assert f"ok       wires: no port at {URL} is declared one that LLDP denies" in said, said


def test_tokens_are_made_listed_rotated_and_revoked(site: Site) -> None:
    create, lists, revoke = TOKENS.strip().splitlines()
    made = "sudo -u clarion env CLARION_STORE=" + STORE + " PATH=/opt/clarion/.venv/bin:$PATH "
    begin, roles, ends = create.replace("[", "").replace("]", "").rsplit(" ", 3)[0], *create.split()[5:8:2]
    tokens = {}
    for role, end in zip(roles.split("|"), ("30d", "never") * 2, strict=True):
        assert end in ends
        command = f"{begin} {role} --expires {end}".replace("NAME", f"of-{role}")
        tokens[role] = site.machine.run(made + command).strip()
    listed = site.machine.run(made + lists)
    assert all(f"of-{role}" in listed for role in tokens)

    before = site.machine.path("/root/token").read_text()
    try:
        site.header(tokens["viewer"])
        assert site.ask("GET", "/v1/switches")[0] == 200  # in use, and the new one is given out
        fresh = site.machine.run(f"{made}clarion token create of-viewer-2 --role viewer").strip()
        site.machine.run(made + revoke.replace("NAME", "of-viewer"))
        wait_until(lambda: site.ask("GET", "/v1/switches")[0] == 401, "the old token is refused", PATIENCE_S)
        site.header(fresh)
        assert site.ask("GET", "/v1/switches")[0] == 200

        site.header(tokens["admin"])
        [number] = [
            each["id"] for each in site.ok("GET", "/v1/tokens")["items"] if each["name"] == "of-viewer-2"
        ]
        site.ok("DELETE", f"/v1/tokens/{number}")
        site.header(fresh)
        assert site.ask("GET", "/v1/switches")[0] == 401  # at once
    finally:
        site.header(before)


def test_certificates_and_authority_are_replaced_while_all_goes_on(site: Site) -> None:
    """The switch's session and that of the controller's clients stay; all new ones are by the new files."""
    copy = COPY + COPY.replace("/c1/", "/s1/")
    reconnects = site.reconnects()
    listing, renewal = RENEW.strip().splitlines()
    assert "s1" in site.machine.run(listing)
    steps = [renewal.replace("~/clarion-keys", "~/clarion-keys c1 s1"), *AUTHORITY.strip().splitlines()]
    for number, step in enumerate(steps):
        serial = site.serial()
        site.machine.run(f"{step}\n{copy}")
        if "renew" in step:
            wait_until(lambda old=serial: site.serial() != old, step, PATIENCE_S)  # type: ignore[misc]
        site.ok("PATCH", PORT, {"queue_limit_bytes": 100_000 + number})
    assert site.reconnects() == reconnects
    site.machine.run("systemctl kill --signal KILL clarion-switch")  # and a new session, by the new authority
    wait_until(lambda: site.reconnects() > reconnects, "a new session", PATIENCE_S)
    site.await_sync()


def test_a_backup_has_what_is_in_the_log_and_is_restored(site: Site) -> None:
    def is_stamping() -> tuple[bool, bool]:
        found = site.ok("GET", PORT)
        return found["desired"]["stamp"], found["effective"]["stamp"]

    site.ok("PATCH", PORT, {"stamp": True})
    assert site.machine.path(f"{STORE}-wal").stat().st_size > 0
    site.machine.run(BACK_UP)
    site.ok("PATCH", PORT, {"stamp": False})
    wait_until(lambda: is_stamping() == (False, False), "the change", PATIENCE_S)
    site.machine.run(RESTORE)
    site.await_sync()
    wait_until(lambda: is_stamping() == (True, True), "the switch is as the backup says", PATIENCE_S)


def test_an_upgrade_keeps_what_a_killed_controller_left_in_its_log(site: Site) -> None:
    """From the schema before the last, with git pull of a newer version. test_migrations has all tables."""
    site.ok("PATCH", PORT, {"check": True})
    site.machine.run("systemctl kill --signal KILL clarion-controller && systemctl stop clarion-controller")
    age = f"from fakes.old_store import age; age('{STORE}')"
    paths = f"PYTHONPATH=$PYTHONPATH:{ROOT}/tests"
    site.machine.run(f'cd / && sudo -u clarion {paths} {sys.executable} -c "{age}"')
    assert site.machine.path(f"{STORE}-wal").stat().st_size > 0
    author = "-c user.name=a -c user.email=a@example.org"
    site.machine.run(f"git -C /srv/clarion {author} commit --quiet --allow-empty -m newer")
    site.machine.run(UPGRADE)
    site.await_sync()
    assert site.ok("GET", PORT)["effective"]["check"] is True
    newest = "git -C {} rev-parse HEAD"
    assert site.machine.run(newest.format("/opt/clarion")) == site.machine.run(newest.format("/srv/clarion"))
    version = 'sqlite3 {} "SELECT version_num FROM alembic_version"'
    assert site.machine.run(version.format("/backup/controller.db")) < site.machine.run(version.format(STORE))
    kept = "SELECT count(*) FROM audit WHERE action = 'port.change'"
    assert site.machine.run(f'sqlite3 /backup/controller.db "{kept}"') != "0\n"
