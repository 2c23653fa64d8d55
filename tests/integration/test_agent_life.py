# SPDX-License-Identifier: Apache-2.0
"""`clarion switch serve`: start, stop, crashes on either side, TLS, and messages for failed starts."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import grpc
import pytest
import trustme

from fakes.p4runtime_messages import XCP, digest, group, insert, modify, table_entry
from integration.agent_net import (
    DEADLINE_S,
    DOCUMENT,
    MAC,
    SWITCH,
    AgentProcess,
    Client,
    SwitchProcess,
    end,
    json_file,
    switch_and_agent,
    until,
)

pytestmark = pytest.mark.skipif(not SWITCH.exists(), reason=f"{SWITCH}: not built")


def fill(client: Client) -> None:
    client.primary().write(
        insert(table_entry("xcp_port", 2, "set_xcp_port", XCP)),
        insert(table_entry("tag_port", 1, "set_tag_port", (1, 1, 3, 1))),
        insert(table_entry("l2_forward", MAC, "forward", (2,))),
        insert(group(1, 2, 3)),
        insert(digest("interval_report_t", size=7)),
    )


def everything(client: Client) -> list[bytes]:
    found = client.read(table_entry("", None), group(), digest(""))
    return sorted(entity.SerializeToString(deterministic=True) for entity in found)


def test_a_switch_that_comes_back_gets_its_entries_again(tmp_path: Path) -> None:
    with switch_and_agent(tmp_path) as (switch, agent), Client(agent.address) as client:
        fill(client)
        before = switch.entries()
        switch.kill()
        with pytest.raises(grpc.RpcError) as error:
            client.write(modify(table_entry("xcp_port", 2, "set_xcp_port", XCP)))
        assert error.value.code() == grpc.StatusCode.UNAVAILABLE
        assert "switch s1: clarion-switch" in (error.value.details() or "")
        switch.start()
        until(lambda: switch.entries() == before, "the entries are back")
        client.write(insert(table_entry("stamp_port", 2, "stamp")))
        assert switch.entries()["ports"][1]["stamp"] is True


def test_an_agent_that_comes_back_takes_over_what_the_switch_has(tmp_path: Path) -> None:
    switch = SwitchProcess(tmp_path)
    try:
        agent = AgentProcess("--control", str(switch.control))
        with Client(agent.address) as client:
            fill(client)
            before, state = everything(client), switch.entries()
            end(agent.process, signal.SIGKILL)
        agent = AgentProcess("--control", str(switch.control))
        try:
            assert switch.entries() == state
            with Client(agent.address) as client:
                assert everything(client) == before  # pipeline and digests too
        finally:
            assert end(agent.process)[0] == 0
    finally:
        end(switch.process)


def test_config_starts_the_switch_and_starts_it_again(tmp_path: Path) -> None:
    agent = AgentProcess("--config", str(json_file(tmp_path, DOCUMENT)))
    try:
        with Client(agent.address) as client:
            fill(client)
            before = everything(client)
            child = only_child(agent.process.pid)
            os.kill(child, signal.SIGKILL)
            again = until(lambda: only_child(agent.process.pid, other_than=child), "it is started again")

            def answers() -> bool:
                try:
                    client.write(modify(table_entry("l2_forward", MAC, "forward", (3,))))
                except grpc.RpcError:
                    return False
                return True

            until(answers, "it answers again")
            client.write(modify(table_entry("l2_forward", MAC, "forward", (2,))))
            assert everything(client) == before
    finally:
        code, errors = end(agent.process, signal.SIGINT)
    assert code == 0
    assert re.search("clarion-switch stopped with status -9: starting it again", errors)
    assert not Path(f"/proc/{again}").exists()


def test_a_killed_agent_leaves_nothing_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("CLARION_RUN_ROOT", str(tmp_path / "run"))
    config = str(json_file(tmp_path, DOCUMENT))
    killed = AgentProcess("--config", config)
    end(killed.process, signal.SIGKILL)
    agent = AgentProcess("--config", config)
    assert [path.stem for path in (tmp_path / "run" / "agent").iterdir()] == [str(agent.process.pid)]
    assert end(agent.process) == (0, "")
    assert list((tmp_path / "run" / "agent").iterdir()) == []
    assert list(temporary.iterdir()) == []


def only_child(pid: int, other_than: int = 0) -> int:
    """The child of a process, 0 if it has none."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    living = [int(each) for each in children if int(each) != other_than]
    return living[0] if living else 0


def test_what_the_configuration_switched_on_is_an_entry(tmp_path: Path) -> None:
    """RECONCILE_AND_COMMIT keeps it, VERIFY_AND_COMMIT deletes it."""
    document: Any = {"lldp": False, "switches": [{"name": "s", "ports": [
        {"name": "a", "peer": "s:b", "number": 5, "rate_bps": 8_000_000, "xcp": {"enabled": True}},
        {"name": "b", "peer": "s:a", "number": 9}]}]}  # fmt: skip
    agent = AgentProcess("--config", str(json_file(tmp_path, document)))
    try:
        with Client(agent.address) as client:
            client.arbitrate(1)
            client.set_pipeline(5)
            entries = client.read(table_entry("", None))
            assert [entity.table_entry.match[0].exact.value for entity in entries] == [b"\5"]
            capacity = entries[0].table_entry.action.action.params[0].value
            assert int.from_bytes(capacity, "big") == 1_000_000
            client.set_pipeline(3)
            assert client.read(table_entry("", None)) == []
    finally:
        assert end(agent.process)[0] == 0


class Certificates:
    """A certificate authority, a server and a client signed by it, and a client of another authority."""

    def __init__(self, directory: Path) -> None:
        authority, other = trustme.CA(), trustme.CA()
        self.ca = directory / "ca.pem"
        authority.cert_pem.write_to_path(str(self.ca))
        self.server = self._issue(directory, "server", authority.issue_cert("127.0.0.1"))
        self.client = self._issue(directory, "client", authority.issue_cert("controller"))
        self.stranger = self._issue(directory, "stranger", other.issue_cert("controller"))

    def _issue(self, directory: Path, name: str, made: trustme.LeafCert) -> tuple[Path, Path]:
        certificate, key = directory / f"{name}.pem", directory / f"{name}.key"
        made.cert_chain_pems[0].write_to_path(str(certificate))
        made.private_key_pem.write_to_path(str(key))
        return certificate, key

    def credentials(self, pair: tuple[Path, Path] | None) -> grpc.ChannelCredentials:
        if pair is None:
            return grpc.ssl_channel_credentials(self.ca.read_bytes())
        return grpc.ssl_channel_credentials(self.ca.read_bytes(), pair[1].read_bytes(), pair[0].read_bytes())


def test_tls_and_mutual_tls(tmp_path: Path) -> None:
    files = Certificates(tmp_path)
    certificate, key = map(str, files.server)
    with switch_and_agent(tmp_path, "--tls-certificate", certificate, "--tls-key", key) as (_, agent):
        with Client(agent.address, credentials=files.credentials(None)) as client:
            client.primary()
        with Client(agent.address) as client:  # not TLS
            assert client.next("end").code() == grpc.StatusCode.UNAVAILABLE
    options = ["--tls-certificate", certificate, "--tls-key", key, "--tls-client-ca", str(files.ca)]
    with switch_and_agent(tmp_path, *options) as (_, agent):
        with Client(agent.address, credentials=files.credentials(files.client)) as client:
            client.primary()
        for wrong in (None, files.stranger):
            with Client(agent.address, credentials=files.credentials(wrong)) as client:
                assert client.next("end").code() == grpc.StatusCode.UNAVAILABLE


def refusal(*options: str) -> str:
    command = [sys.executable, "-m", "clarion", "switch", "serve", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    return done.stderr


def test_what_can_not_start_says_why_in_one_line(tmp_path: Path) -> None:
    config = str(json_file(tmp_path, DOCUMENT))
    files = Certificates(tmp_path)
    bad = tmp_path / "bad.json"
    bad.write_text('{"switches":[]}')
    not_pem = tmp_path / "not.pem"
    not_pem.write_text("hello")
    serve = ["--config", config]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for options, message in (
            (
                ["--control", str(tmp_path / "none")],
                f"--control: {tmp_path}/none: No such file or directory; start clarion-switch with --control "
                "first",
            ),
            (["--config", str(bad)], "clarion-switch: config: switches: must be a non-empty array"),
            ([*serve, "--listen", "9559"], "--listen: 9559: write HOST:PORT, such as 127.0.0.1:9559"),
            (
                [*serve, "--listen", address],
                f"--listen: {address}: cannot listen there; is the port in use, or the address not of this "
                "machine?",
            ),
            ([*serve, "--tls-key", config], "--tls-certificate: is missing; TLS needs certificate and key"),
            ([*serve, "--tls-client-ca", config], "--tls-client-ca: needs --tls-certificate and --tls-key"),
            (
                [*serve, "--tls-certificate", str(not_pem), "--tls-key", str(not_pem)],
                f"--tls-key: {not_pem}: not a PEM file",
            ),
            (
                [*serve, "--tls-certificate", "/none", "--tls-key", str(files.server[1])],
                "--tls-certificate: /none: No such file or directory",
            ),
            (
                [*serve, "--tls-certificate", str(files.server[0]), "--tls-key", str(files.client[1])],
                f"--tls-certificate, --tls-key: {files.server[0]}, {files.client[1]}: no certificate and "
                "its key",
            ),
        ):
            assert refusal(*options) == f"clarion: {message}\n"
