# SPDX-License-Identifier: Apache-2.0
"""Attaching and detaching: changes to the device, and their complete reversal."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.host_net import AGENT, PINS, STATE, Host, Pair, agent, refused, run, transfer
from integration.waiting import wait_until

pytestmark = pytest.mark.root

PORT = 7003
LAWS = {"clarion_xcp", "clarion_boost", "clarion_fast"}


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair.make("att")
    yield made
    made.close()


@pytest.fixture
def host(pair: Pair) -> Host:
    """A host with routes of several kinds: plain, with an MTU, with a metric, in another table."""
    pair.a.ip("route", "add", "default", "via", pair.b.ip4)
    pair.a.ip("route", "add", "10.99.0.0/16", "via", pair.b.ip4, "mtu", "1400")
    pair.a.ip("route", "add", "10.98.0.0/16", "via", pair.b.ip4, "metric", "50", "advmss", "1000")
    pair.a.ip("route", "add", "10.97.0.0/16", "via", "10.77.5.5", "dev", pair.a.device, "onlink")
    pair.a.ip("route", "add", "default", "via", pair.b.ip4, "table", "77", "proto", "static")
    pair.a.ip("-6", "route", "add", "default", "via", pair.b.ip6)
    return pair.a


def link(host: Host) -> dict[str, object]:
    shown: list[dict[str, object]] = json.loads(host.ip("-d", "-j", "link", "show", "dev", host.device))
    return shown[0]


def available_laws() -> set[str]:
    return LAWS & set(run("sysctl", "-n", "net.ipv4.tcp_available_congestion_control").split())


def ours(host: Host) -> list[str]:
    """State files of attachments in the host's namespace."""
    inode = os.stat(f"/run/netns/{host.netns}").st_ino
    return [path.name for path in STATE.glob(f"{inode}-*.json")]


@pytest.mark.parametrize("headroom", ["raise", "route"])
def test_detach_puts_everything_back(host: Host, headroom: str) -> None:
    before = host.surroundings()
    host.attach("--cc", "clarion_boost", "--headroom", headroom)
    attached = host.surroundings()
    assert link(host)["mtu"] == (1532 if headroom == "raise" else 1500)
    assert link(host)["gso_max_segs"] == 1
    plain = 1500 if headroom == "raise" else 1468  # 1500 - 32
    assert (
        f"default via 10.77.0.2 dev eth0 table main proto boot scope global mtu {plain}" in attached["routes"]
    )
    assert f"via 10.77.0.2 dev eth0 table 77 proto static scope global mtu {plain}" in attached["routes"]
    assert (
        "10.99.0.0/16 via 10.77.0.2 dev eth0 table main proto boot scope global mtu 1400"
        in attached["routes"]
    )
    assert attached["mtu6"].split()[-1] == str(plain)
    assert "tx-checksum-ip-generic: off" in attached["features"]
    assert attached["cc"].split()[-1] == "clarion_boost"
    assert "clsact" in attached["qdiscs"]
    host.detach()
    assert host.surroundings() == before


def test_attaching_twice_takes_the_new_settings(host: Host) -> None:
    before = host.surroundings()
    host.attach("--cc", "reno", "--tags", "off")
    host.attach("--cc", "clarion_xcp", "--headroom", "route")
    assert link(host)["mtu"] == 1500
    assert host.execute("sysctl", "-n", "net.ipv4.tcp_congestion_control").strip() == "clarion_xcp"
    host.detach()
    assert host.surroundings() == before


def test_foreign_qdisc_and_filters_stay(host: Host) -> None:
    """A clsact qdisc with another program's filter existed before attaching."""
    host.execute("tc", "qdisc", "add", "dev", host.device, "clsact")
    match = ["protocol", "ip", "prio", "9", "u32", "match", "u32", "0", "0", "flowid", "1:1"]
    host.execute("tc", "filter", "add", "dev", host.device, "egress", *match)
    before = host.surroundings()
    host.attach()
    host.detach()
    assert host.surroundings() == before
    assert "u32" in before["filters"]


def test_first_loads_and_last_unloads(pair: Pair) -> None:
    if PINS.exists():
        pytest.skip("something else is attached on this machine")
    allowed = run("sysctl", "-n", "net.ipv4.tcp_allowed_congestion_control")
    pair.attach("--cc", "clarion_xcp")
    assert available_laws() == LAWS
    pair.a.detach()
    assert available_laws() == LAWS
    assert (PINS / "handshake").exists()
    pair.b.detach()
    assert not PINS.exists()
    assert available_laws() == set()
    assert run("sysctl", "-n", "net.ipv4.tcp_allowed_congestion_control") == allowed
    assert not list(STATE.glob("*.json"))


def test_a_socket_may_choose_its_law(pair: Pair) -> None:
    pair.attach("--cc", "reno")
    with pair.b.listen(socket.AF_INET, PORT) as listener:
        near = pair.a.connect(pair.b, socket.AF_INET, PORT)
        far, _ = listener.accept()
    with near, far:
        os.seteuid(65534)  # any process may
        try:
            near.setsockopt(socket.IPPROTO_TCP, 13, b"clarion_fast")  # TCP_CONGESTION
        finally:
            os.seteuid(0)
        transfer(near, far, os.urandom(100_000))
        assert near.getsockopt(socket.IPPROTO_TCP, 13, 16).rstrip(b"\0") == b"clarion_fast"


def test_sockets_keep_their_law_past_the_detach(pair: Pair) -> None:
    pair.attach("--cc", "clarion_xcp")
    near, far = pair.flow(pair.a, pair.b, socket.AF_INET, PORT)
    pair.a.detach()
    pair.b.detach()
    transfer(near, far, os.urandom(100_000))
    transfer(far, near, os.urandom(100_000))


@pytest.mark.parametrize("delay_ms", [0, 1, 2, 4, 6, 8, 10, 12, 15, 20, 40, 80, 160])
def test_killed_attach_is_undone(host: Host, delay_ms: int) -> None:
    """kill -9 at some point of attaching; detach --all restores the device."""
    before = host.surroundings()
    command = [str(AGENT), "attach", "--netns", host.netns, "--dev", host.device, "--cc", "clarion_xcp"]
    process = subprocess.Popen(command)
    time.sleep(delay_ms / 1e3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    if ours(host):
        host.detach()
    assert host.surroundings() == before
    assert ours(host) == []


def test_attach_after_a_killed_attach(host: Host) -> None:
    before = host.surroundings()
    command = [str(AGENT), "attach", "--netns", host.netns, "--dev", host.device]
    process = subprocess.Popen(command)
    time.sleep(0.008)
    process.send_signal(signal.SIGKILL)
    process.wait()
    host.attach()
    assert link(host)["mtu"] == 1532
    host.detach()
    assert host.surroundings() == before


def test_lost_devices_and_namespaces_are_forgotten(pair: Pair) -> None:
    pair.attach()
    pair.a.ip("link", "del", pair.a.device)  # takes the other end with it
    pair.a.detach()
    assert ours(pair.a) == []
    assert len(ours(pair.b)) == 1
    inode = os.stat(f"/run/netns/{pair.b.netns}").st_ino
    run("ip", "netns", "del", pair.b.netns)
    pair.b.detach()
    assert not list(STATE.glob(f"{inode}-*.json"))


def test_detach_lost_forgets_only_what_is_gone(pair: Pair) -> None:
    living = Pair.make("live")
    try:
        pair.attach()
        living.a.attach()
        pair.a.ip("link", "del", pair.a.device)  # takes the other end with it
        shown = agent("detach", "--lost").splitlines()
        assert {f"forgot eth0 in {host.netns}: gone" for host in (pair.a, pair.b)} <= set(shown)
        assert ours(pair.a) + ours(pair.b) == []
        assert len(ours(living.a)) == 1
        assert PINS.exists()
        living.a.ip("link", "del", living.a.device)
        assert f"forgot eth0 in {living.a.netns}: gone" in agent("detach", "--lost")
        assert PINS.exists() == bool(list(STATE.glob("*.json")))  # unloaded with the last one
    finally:
        living.close()


def test_many_attach_at_once() -> None:
    """Ten pairs, twenty agents side by side, as when a Mininet topology starts."""
    pairs = [Pair.make(f"many{number}") for number in range(10)]
    try:
        hosts = [host for made in pairs for host in (made.a, made.b)]
        before = [host.surroundings() for host in hosts]
        started = [
            subprocess.Popen(
                [str(AGENT), "attach", "--netns", host.netns, "--dev", host.device, "--cc", "reno"]
            )
            for host in hosts
        ]
        assert [process.wait(timeout=60) for process in started] == [0] * 20
        assert {entry["netns"] for entry in json.loads(agent("list", "--json"))} >= {h.netns for h in hosts}
        stopped = [
            subprocess.Popen([str(AGENT), "detach", "--netns", host.netns, "--dev", host.device])
            for host in hosts
        ]
        assert [process.wait(timeout=60) for process in stopped] == [0] * 20
        assert [host.surroundings() for host in hosts] == before
    finally:
        for made in pairs:
            made.close()


def test_namespace_of_a_process(pair: Pair) -> None:
    """Mininet's hosts have no name: they are reached by the id of their shell."""
    with subprocess.Popen(["ip", "netns", "exec", pair.a.netns, "sleep", "60"]) as process:
        there = Path(f"/run/netns/{pair.a.netns}")
        wait_until(lambda: Path(f"/proc/{process.pid}/ns/net").stat().st_ino == there.stat().st_ino)
        agent("attach", "--netns", f"pid:{process.pid}", "--dev", pair.a.device)
        assert link(pair.a)["mtu"] == 1532
        agent("detach", "--netns", f"pid:{process.pid}", "--dev", pair.a.device)
        process.kill()
    assert link(pair.a)["mtu"] == 1500


def test_parameters_of_a_namespace(pair: Pair) -> None:
    known = {entry["name"]: entry for entry in json.loads(agent("params", "--json"))}
    entry = known["fast_alpha_packets"]
    assert entry["min"] <= entry["default"] <= entry["max"]
    pair.a.attach("--set", "fast_alpha_packets=77", "--set", "xcp_loss=1")
    shown = json.loads(agent("list", "--json"))
    assert [e["parameters"] for e in shown if e["netns"] == pair.a.netns] == [
        {"fast_alpha_packets": 77, "xcp_loss": 1}
    ]


REFUSALS = [
    (["--cc", "turbo"], "--cc turbo: unknown; legal are"),
    (["--set", "speed=9"], "--set speed: no such parameter; legal are"),
    (["--set", "fast_alpha_packets=0"], '--set fast_alpha_packets: "0" is not a number from 1 to 10000'),
    (["--set", "fast_alpha_packets"], "--set fast_alpha_packets: write KEY=VALUE"),
]


@pytest.mark.parametrize(("arguments", "reason"), REFUSALS, ids=lambda value: str(value)[:30])
def test_refusals_change_nothing(host: Host, arguments: list[str], reason: str) -> None:
    before = host.surroundings()
    assert reason in refused("attach", "--netns", host.netns, "--dev", host.device, *arguments)
    assert host.surroundings() == before
    assert ours(host) == []


def test_refuses_what_does_not_exist(host: Host) -> None:
    missing = refused("attach", "--netns", "cho-none", "--dev", "eth0")
    assert "--netns cho-none: no such namespace" in missing
    assert "--dev eth9: no such device" in refused("attach", "--netns", host.netns, "--dev", "eth9")
    assert "not an Ethernet device" in refused("attach", "--netns", host.netns, "--dev", "lo")
    assert "not attached" in refused("detach", "--netns", host.netns, "--dev", "eth0")


def test_refuses_an_mtu_that_the_driver_does_not_allow(host: Host) -> None:
    """A veth's largest MTU is 65535: 65504 + 32 = 65536 does not fit."""
    host.ip("link", "set", host.device, "mtu", "65504")
    before = host.surroundings()
    reason = refused("attach", "--netns", host.netns, "--dev", host.device)
    assert "MTU cannot be raised from 65504 to 65536" in reason
    assert "--headroom route" in reason
    assert host.surroundings() == before
    host.attach("--headroom", "route")
    host.detach()
    assert host.surroundings() == before


def test_laws_of_another_mount_namespace_are_refused_and_left_alone(pair: Pair) -> None:
    """The names of the laws are global to the kernel; pins and state files are those of a mount namespace."""
    if PINS.exists():
        pytest.skip("something else is attached on this machine")
    with subprocess.Popen(
        ["unshare", "--mount", "sh", "-c",
         f"mount -t tmpfs none {STATE.parent} && umount /sys/fs/bpf && mount -t bpf none /sys/fs/bpf"
         " && echo ready && exec sleep 60"],
        stdout=subprocess.PIPE,
    ) as container:  # fmt: skip
        assert container.stdout is not None
        assert container.stdout.readline() == b"ready\n"
        there = ["nsenter", "--mount", f"--target={container.pid}", str(AGENT)]
        device = ["--netns", pair.b.netns, "--dev", pair.b.device]
        before = pair.b.surroundings()
        pair.a.attach("--cc", "clarion_xcp")
        done = subprocess.run([*there, "attach", *device], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1
        assert "clarion_xcp belongs to the clarion-host of another mount namespace, that of process " in (
            done.stderr
        )
        run(*there, "detach", "--all")
        assert available_laws() == LAWS
        assert pair.b.surroundings() == before
        pair.a.detach()
        run(*there, "attach", *device)  # the laws are free again
        refusal = refused("attach", *device)
        assert f"that of process {container.pid} (sleep): attach there, or detach there first" in refusal
        run(*there, "detach", "--all")
        container.kill()
    assert available_laws() == set()


def test_laws_without_a_pin_are_taken_out_by_detach_all(pair: Pair) -> None:
    """The pins were removed by hand. Another mount namespace with the same BPF file system holds none."""
    if PINS.exists():
        pytest.skip("something else is attached on this machine")
    with subprocess.Popen(["unshare", "--mount", "sleep", "60"]) as service:
        try:
            pair.a.attach("--cc", "clarion_xcp")
            for law in LAWS:
                (PINS / law).unlink()
            reason = refused("attach", "--netns", pair.b.netns, "--dev", pair.b.device)
            assert "is registered, but its pin is gone: clarion-host detach --all unregisters it" in reason
            agent("detach", "--all")
            assert available_laws() == set()
            pair.b.attach("--cc", "clarion_xcp")
        finally:
            service.kill()
            agent("detach", "--all")  # a law without a pin would refuse every attachment of the later tests


def test_programs_of_another_build_are_refused(pair: Pair, tmp_path: Path) -> None:
    """Two attachments never run different programs without a word: the second build is refused."""
    other = tmp_path / "clarion-host"
    other.write_bytes(AGENT.read_bytes().replace(b"next_bucket", b"nxet_bucket"))
    other.chmod(0o755)
    assert other.read_bytes() != AGENT.read_bytes()
    pair.a.attach()
    command = [str(other), "attach", "--netns", pair.b.netns, "--dev", pair.b.device]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    # an attachment of the same build that somebody else left on this machine may be named in place of pair.a
    assert re.fullmatch(
        r"clarion-host: \S+ in \S+ runs the programs of /\S+/clarion-host, which differ from"
        r" those of this one: attach with it, or detach --all first\n",
        done.stderr,
    )
    assert ours(pair.b) == []


def test_one_protocol_number_per_machine(pair: Pair) -> None:
    pair.a.attach()
    reason = refused("attach", "--netns", pair.b.netns, "--dev", pair.b.device, "--protocol", "254")
    assert "--protocol 254" in reason
