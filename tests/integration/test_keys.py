# SPDX-License-Identifier: Apache-2.0
"""Mutual TLS made by `clarion keys` between real controllers and switches: use, refusals, and rotation while
settings change.
"""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from clarion_contract import pipeline
from clarion_control.keys import certificates
from clarion_control.keys.certificates import PartyRole, Signed, checked_party
from clarion_control.keys.directory import KeyDirectory
from clarion_control.model import Actor, Role
from clarion_control.store import Store, switches
from clarion_lab.machine import bmv2_installation
from clarion_p4rt.device import Mastership
from clarion_p4rt.errors import SwitchError
from clarion_p4rt.p4_device import P4Device
from clarion_p4rt.switch import Switch, TlsFiles
from integration.agent_net import DOCUMENT, SWITCH, json_file
from integration.controller_net import CLARION, PATIENCE_S, Bmv2, Process, ServedController, running
from integration.waiting import wait_until

pytestmark = pytest.mark.skipif(not SWITCH.exists(), reason=f"{SWITCH}: not built")

HOST = "127.0.0.1"


def keys(*arguments: str) -> None:
    subprocess.run([*CLARION, "keys", *arguments], check=True, timeout=PATIENCE_S, stdout=subprocess.DEVNULL)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    directory = tmp_path / "keys"
    keys("setup", str(directory), "--controller", f"c1={HOST}", "--switch", f"s1={HOST}")
    return directory


class Agent:
    """`clarion switch serve`, with the files of s1 or without TLS; it keeps its address over a restart."""

    def __init__(self, directory: Path, made: Path | None = None) -> None:
        self._directory = directory
        self._command = [*CLARION, "switch", "serve", "--config", str(json_file(directory, DOCUMENT))]
        if made is not None:
            self._command += [
                "--tls-certificate",
                f"{made}/s1/s1.pem",
                "--tls-client-ca",
                f"{made}/s1/ca.pem",
            ]
        self.address = f"{HOST}:0"
        self.start()

    def start(self) -> None:
        command = [*self._command, "--listen", self.address]
        self._process = Process(command, self._directory / "agent.log")
        self.address = self._process.await_text("serving P4Runtime").split()[3]

    def log(self) -> str:
        return self._process.log.read_text()

    def stop(self) -> None:
        self._process.stop()

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def tls_of(made: Path, name: str = "c1") -> TlsFiles:
    return TlsFiles(f"{made}/c1/ca.pem", f"{made}/{name}/{name}.pem", f"{made}/{name}/{name}.pem")


def device(address: str, tls: TlsFiles | None) -> P4Device:
    """A session of our own, with a device that the controller does not have."""
    return P4Device(Switch(0, "s2", address, 2, (1,), tls), pipeline.load(), 1)


async def joins(address: str, tls: TlsFiles | None) -> None:
    """A new connection, and mastership over it."""
    session = device(address, tls)
    try:
        assert isinstance(await session.open(), Mastership)
    finally:
        await session.close()


async def refusal(address: str, tls: TlsFiles | None) -> str:
    """Why a new connection is refused."""
    with pytest.raises(SwitchError) as caught:
        await joins(address, tls)
    return caught.value.reason


def serial_shown(address: str, made: Path) -> int:
    """The serial number of the certificate that a server shows to a new connection, and that c1 accepts."""
    context = ssl.create_default_context(cafile=made / "c1/ca.pem")
    context.load_cert_chain(made / "c1/c1.pem")
    context.set_alpn_protocols(["h2", "http/1.1"])
    host, _, port = address.rpartition(":")
    with (
        socket.create_connection((host, int(port)), PATIENCE_S) as plain,
        context.wrap_socket(plain, server_hostname=host) as secured,
    ):
        shown = secured.getpeercert(binary_form=True)
        assert shown is not None
        return x509.load_der_x509_certificate(shown).serial_number


def serial_of(made: Path, name: str) -> int:
    pem = (made / name / f"{name}.pem").read_bytes()
    return x509.load_pem_x509_certificates(pem)[0].serial_number


def issued(made: Path, name: str, role: PartyRole, *hosts: str, **options: Any) -> Signed:
    with KeyDirectory.opened(made) as directory:
        return certificates.issue(directory.authority, checked_party(name, role, hosts), **options)


EXPIRED = {"valid": timedelta(seconds=1)}  # counts from minutes ago


async def test_a_switch_is_refused_for_what_its_certificate_says(tmp_path: Path, made: Path) -> None:
    """The agent takes each file when it appears, without a restart."""
    stranger = certificates.issue(certificates.new_authority(), checked_party("s1", PartyRole.SWITCH, [HOST]))
    wrong = {
        "certificate has expired": issued(made, "s1", PartyRole.SWITCH, HOST, **EXPIRED),
        "IP address mismatch, certificate is not valid for '127.0.0.1'": issued(
            made, "s1", PartyRole.SWITCH, "switch2.example.org"
        ),
        "unable to get local issuer certificate": stranger,
        "certificate purpose": issued(made, "c2", PartyRole.CONTROLLER),
    }
    with Agent(tmp_path, made) as agent:
        await joins(agent.address, tls_of(made))
        for reason, each in wrong.items():
            (made / "s1/s1.pem").write_bytes(each.pem())
            said = await refusal(agent.address, tls_of(made))
            assert said.startswith(f"the certificate that {agent.address} shows is refused: ")
            assert reason in said
        (made / "s1/s1.pem").unlink()
        keys("setup", str(made), "--switch", f"s1={HOST}")
        await joins(agent.address, tls_of(made))


async def test_a_controller_is_refused_for_what_its_certificate_says(tmp_path: Path, made: Path) -> None:
    stranger = certificates.issue(certificates.new_authority(), checked_party("c1", PartyRole.CONTROLLER, []))
    wrong = {
        f"it expired on {datetime.now(timezone.utc):%Y-%m-%d}": issued(
            made, "c1", PartyRole.CONTROLLER, **EXPIRED
        ),
        "the switch does not trust who signed it": stranger,
        "it is one of a server, not of a client": issued(made, "s2", PartyRole.SWITCH, "switch2.example.org"),
    }
    ours = made / "c1/c1.pem"
    with Agent(tmp_path, made) as agent:
        for reason, each in wrong.items():
            ours.write_bytes(each.pem())
            said = await refusal(agent.address, tls_of(made))
            assert said == f"{agent.address} refuses the certificate {ours}: {reason}"
        other = tls_of(made, "s1")  # a switch's own certificate is no controller's
        assert "it is one of a server" in await refusal(agent.address, other)
        mixed = TlsFiles(str(made / "ca.pem"), str(made / "s1/s1.pem"), str(made / "c1/c1.pem"))
        assert "key values mismatch; correct the files" in await refusal(agent.address, mixed)
        ours.unlink()
        keys("setup", str(made), "--controller", "c1")
        await joins(agent.address, tls_of(made))


async def test_a_switch_without_tls_is_no_answer_to_one_who_wants_it(tmp_path: Path, made: Path) -> None:
    with Agent(tmp_path) as agent:
        assert "does the switch serve TLS there?" in await refusal(agent.address, tls_of(made))
        await joins(agent.address, None)


class Patches:
    """Changes a port over and over, in a thread, and counts."""

    def __init__(self, controller: ServedController) -> None:
        self._controller = controller
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.done = 0
        self.failed: list[Any] = []

    def _run(self) -> None:
        with self._controller.api() as api:
            while not self._stop.is_set():
                change = {"stamp": self.done % 2 == 0}
                status, document = api.ask("PATCH", "/v1/switches/s1/ports/1", change)
                self.done += 1
                if status != 200:
                    self.failed.append((status, document))

    def more(self) -> None:
        """Waits for changes that began after this call."""
        wanted = self.done + 5
        wait_until(lambda: self.done >= wanted or self.failed != [], "more changes", PATIENCE_S)

    def __enter__(self) -> Patches:
        self._thread.start()
        self.more()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def add_s1(controller: ServedController, address: str, made: Path) -> None:
    tls = tls_of(made)
    body = {"name": "s1", "address": address, "device_id": 1, "ports": [1, 2, 3]}
    body["tls"] = {"ca": tls.ca, "certificate": tls.certificate, "key": tls.key}
    with controller.api() as api:
        status, document = api.ask("POST", "/v1/switches", body)
        assert status == 201, document
        api.await_sync("s1")


@pytest.mark.slow
async def test_certificates_are_renewed_while_settings_change(tmp_path: Path, made: Path) -> None:
    """The connection of before lives on, new ones see the new certificate, and no change fails."""
    with Agent(tmp_path, made) as agent, ServedController(tmp_path) as controller:
        add_s1(controller, agent.address, made)
        with Patches(controller) as patches, controller.api() as api:
            for _ in range(3):
                before = serial_shown(agent.address, made)
                keys("renew", str(made), "s1", "c1")
                assert serial_shown(agent.address, made) == serial_of(made, "s1") != before
                await joins(agent.address, tls_of(made))
                patches.more()
            assert patches.failed == []
            assert api.get("/v1/switches/s1")["status"]["reconnects"] == 0
        assert agent.log().count("s1.pem: changed; new connections use it") == 3
        agent.stop()
        agent.start()  # the controller's next connection is with its new certificate
        with controller.api() as api:
            wait_until(
                lambda: api.get("/v1/switches/s1")["status"]["reconnects"] > 0 and api.in_sync("s1"),
                "s1 in sync again",
                PATIENCE_S,
            )


@pytest.mark.slow
async def test_the_authority_is_replaced_while_settings_change(tmp_path: Path, made: Path) -> None:
    old = tmp_path / "old"
    shutil.copytree(made, old)
    with Agent(tmp_path, made) as agent, ServedController(tmp_path) as controller:
        add_s1(controller, agent.address, made)
        with Patches(controller) as patches:
            for step in (["replace-authority"], ["renew"], ["drop-authority"]):
                keys(step[0], str(made), *step[1:])
                await joins(agent.address, tls_of(made))
                if step == ["renew"]:  # who has not been given the new certificate yet is still welcome
                    await joins(
                        agent.address, TlsFiles(f"{made}/ca.pem", f"{old}/c1/c1.pem", f"{old}/c1/c1.pem")
                    )
                patches.more()
            assert patches.failed == []
        assert "does not trust who signed it" in await refusal(
            agent.address, TlsFiles(f"{made}/ca.pem", f"{old}/c1/c1.pem", f"{old}/c1/c1.pem")
        )
        assert "unable to get local issuer" in await refusal(agent.address, tls_of(old))


def check_replacement(file: Path, address: str, log: Callable[[], str], made: Path) -> None:
    """The server takes what replaces the file, unless key and certificate are of different pairs."""
    before = serial_shown(address, made)
    other = issued(made, "x", PartyRole.SWITCH, HOST)
    key = file.read_bytes().partition(b"-----BEGIN CERTIFICATE")[0]
    file.write_bytes(key + certificates.pem_of([other.certificate]))

    def is_refused() -> bool:
        assert serial_shown(address, made) == before
        return "no certificate and its key; the certificate of before stays in use" in log()

    wait_until(is_refused, "the bad file is refused", PATIENCE_S)
    file.write_bytes(other.pem())
    serial = other.certificate.serial_number
    wait_until(lambda: serial_shown(address, made) == serial, "the new one is used", PATIENCE_S)
    assert "Traceback" not in log()


def test_a_bad_new_file_keeps_the_old_certificate_of_an_agent(tmp_path: Path, made: Path) -> None:
    with Agent(tmp_path, made) as agent:
        check_replacement(made / "s1/s1.pem", agent.address, agent.log, made)


def test_https_takes_a_new_certificate_while_it_serves(tmp_path: Path, made: Path) -> None:
    file = tmp_path / "https.pem"
    shutil.copy(made / "c1/c1.pem", file)
    with ServedController(tmp_path, None, "--tls-certificate", str(file)) as controller:
        check_replacement(file, controller.url.split("/")[2], lambda: controller.log, made)


def test_a_switch_that_was_added_without_tls_before_is_not_reached_in_the_clear(tmp_path: Path) -> None:
    store = Store.open(f"{tmp_path}/controller.db")
    old = Switch(0, "s1", "192.0.2.7:9559", 1, (1,))
    store.change_now(switches.add, Actor("ann", Role.ADMIN), old)
    store.dispose()
    with ServedController(tmp_path) as controller, controller.api() as api:
        wait_until(
            lambda: api.get("/v1/switches/s1")["status"]["state"] == "unreachable", "unreachable", PATIENCE_S
        )
        assert api.get("/v1/switches/s1")["status"]["reason"] == (
            "192.0.2.7:9559 is not this machine, and there is no TLS to it; give `tls` (`clarion keys` makes "
            "the files), or start the controller with --insecure-p4runtime"
        )
        status, document = api.ask("PATCH", "/v1/switches/s1", {"port_names": {"1": "up"}})
        assert (status, document["errors"][0]["pointer"]) == (422, "#/tls")


BMV2_FAULT = bmv2_installation.fault()


@pytest.mark.skipif(BMV2_FAULT is not None, reason=f"{bmv2_installation.PROGRAM}: {BMV2_FAULT}")
async def test_bmv2_and_the_controller_need_certificates_of_each_other(tmp_path: Path, made: Path) -> None:
    """Also after a restart of BMv2, which then gets its settings again."""
    files = made / "s1"
    switch = Bmv2(tmp_path, tls=(files / "ca.pem", files / "s1.pem"))
    with running(switch), ServedController(tmp_path) as controller:
        add_s1(controller, switch.address, made)
        assert await refusal(switch.address, None) != ""
        assert "it is one of a server, not of a client" in await refusal(switch.address, tls_of(made, "s1"))
        with controller.api() as api:
            wanted = {"stamp": True, "queue_limit_bytes": 250_000}
            assert api.ask("PATCH", "/v1/switches/s1/ports/2", wanted)[0] == 200
            switch.kill()
            switch.start()
            wait_until(
                lambda: api.get("/v1/switches/s1")["status"]["reconnects"] > 0 and api.in_sync("s1"),
                "s1 in sync again",
                PATIENCE_S,
            )
            effective = api.get("/v1/switches/s1/ports/2")["effective"]
            assert {key: effective[key] for key in wanted} == wanted
