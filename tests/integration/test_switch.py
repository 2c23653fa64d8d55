# SPDX-License-Identifier: Apache-2.0
"""The embedded switch between real devices: forwarding, link emulation, statistics, control."""

from __future__ import annotations

import json
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.switch_net import (
    PACKET_AUXDATA,
    SOL_PACKET,
    SWITCH,
    Host,
    Json,
    Network,
    Switch,
    echo,
    one_switch,
    run,
    shortest_round_trip_s,
    switch,
    tcp_memory_is_short,
)
from integration.waiting import wait_until

pytestmark = pytest.mark.root

BROADCAST = b"\xff" * 6


@pytest.fixture
def three() -> Iterator[Network]:
    network = Network(3)
    yield network
    network.close()


@pytest.fixture
def two() -> Iterator[Network]:
    network = Network(2)
    yield network
    network.close()


@pytest.fixture
def two_with_ipv6() -> Iterator[Network]:
    network = Network(2, ipv6=True)
    yield network
    network.close()


def test_floods_until_it_has_learned(three: Network, tmp_path: Path) -> None:
    a, b, c = three.hosts
    with switch(tmp_path, one_switch({}, {}, {})):
        unknown = a.frame(b.mac)
        a.raw.send(unknown)
        assert (b.received(1), c.received(1)) == ([unknown], [unknown])
        group = a.frame(BROADCAST)
        a.raw.send(group)
        assert (b.received(1), c.received(1)) == ([group], [group])
        assert a.received() == []
        answer = b.frame(a.mac)
        b.raw.send(answer)
        assert (a.received(1), c.received()) == ([answer], [])


def test_unicast_to_a_learned_host_uses_one_port(three: Network, tmp_path: Path) -> None:
    a, b, c = three.hosts
    with switch(tmp_path, one_switch({}, {}, {})) as running:
        b.raw.send(b.frame(a.mac))
        assert len(c.received(1)) == 1
        before = running.ports()["p3"]["tx_packets"]
        for _ in range(50):
            a.raw.send(a.frame(b.mac))
        assert len(b.received(50)) == 50
        assert running.ports()["p3"]["tx_packets"] == before
        assert c.received() == []


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_delay_and_rate_make_the_round_trip(
    two_with_ipv6: Network, tmp_path: Path, family: socket.AddressFamily
) -> None:
    # 20 ms + 30 ms; a 142-byte frame at 10 Mbit/s lasts 0.11 ms, twice.
    near, far = two_with_ipv6.hosts
    document = one_switch(
        {"rate_bps": 10_000_000, "delay_us": 30_000}, {"rate_bps": 10_000_000, "delay_us": 20_000}
    )
    with switch(tmp_path, document), echo(far, family):
        shortest = shortest_round_trip_s(near, far.ipv4 if family == socket.AF_INET else far.ipv6, 0.0512)
    assert 0.05023 <= shortest <= 0.0512  # within 2 %


def goodput_bps(near: Host, far: Host) -> float:
    """Goodput of CUBIC over four seconds, after three of start-up. BBR, the default of some, would pause."""
    server = subprocess.Popen(
        ["ip", "netns", "exec", far.netns, "iperf3", "-s", "-1"], stdout=subprocess.DEVNULL
    )
    wait_until(lambda: ":5201" in far.inside("ss", "-Hltn"), "iperf3 listens")
    result = json.loads(near.inside("iperf3", "-c", far.ipv4, "-C", "cubic", "-t", "4", "-O", "3", "-J"))
    server.wait(timeout=10)
    return float(result["end"]["sum_received"]["bits_per_second"])


def test_tcp_fills_the_link(two: Network, tmp_path: Path) -> None:
    if tcp_memory_is_short():
        pytest.skip("other sockets hold most of net.ipv4.tcp_mem, so windows stay small")
    # 100 Mbit/s carry 100 * 1448 / 1514 = 95.64 Mbit/s of payload in full-sized segments.
    near, far = two.hosts
    for host in two.hosts:
        run("ip", "-n", host.netns, "link", "set", "eth0", "mtu", "1500")
    document = one_switch(
        {"delay_us": 10_000}, {"rate_bps": 100_000_000, "queue_bytes": 250_000, "delay_us": 10_000}
    )
    most_bps = 0.0
    with switch(tmp_path, document) as running:
        for _ in range(3):  # a stall of the machine can only lower it
            most_bps = max(most_bps, goodput_bps(near, far))
            assert most_bps <= 1.02 * 95.64e6
            if most_bps >= 0.98 * 95.64e6:
                break
        ports = running.ports()
    assert most_bps >= 0.98 * 95.64e6
    assert ports["p1"]["rx_kernel_drops"] == 0
    assert ports["p2"]["queue_max_bytes"] <= 250_000


def test_several_switches_in_one_process(two: Network, tmp_path: Path) -> None:
    near, far = two.hosts
    document: Json = {
        "switches": [
            {"name": "s1", "ports": [
                {"name": "h1", "netdev": "csw-1", "ingress_delay_us": 1_000},
                {"name": "right", "peer": "s2:left", "rate_bps": 100_000_000, "delay_us": 5_000}]},
            {"name": "s2", "ports": [
                {"name": "left", "peer": "s1:right", "delay_us": 5_000},
                {"name": "middle", "peer": "s3:left", "delay_us": 7_000}]},
            {"name": "s3", "ports": [
                {"name": "left", "peer": "s2:middle", "delay_us": 7_000},
                {"name": "h2", "netdev": "csw-2", "delay_us": 5_000}]},
        ]
    }  # fmt: skip
    with switch(tmp_path, document) as running, echo(far, socket.AF_INET):
        shortest = shortest_round_trip_s(near, far.ipv4, 0.0306)
        ports = {
            sw["name"]: {p["name"]: p for p in sw["ports"]} for sw in running.command(cmd="stats")["switches"]
        }
    assert 0.030 <= shortest <= 0.0306  # 1 + 5 + 7 + 5 there, 7 + 5 back: 30 ms
    assert ports["s1"]["right"]["tx_packets"] == ports["s2"]["left"]["rx_packets"] >= 21


def test_time_in_which_the_switch_could_not_work_is_counted(two: Network, tmp_path: Path) -> None:
    """Stopped with a frame waiting, as on a machine that is not run for a while."""
    near, far = two.hosts
    with switch(tmp_path, one_switch({}, {})) as running, echo(far, socket.AF_INET):
        shortest_round_trip_s(near, far.ipv4, 0.005)
        before_us = running.command(cmd="stats")["late_us"]
        running.process.send_signal(signal.SIGSTOP)
        try:
            with near.udp(socket.AF_INET) as sender:
                sender.sendto(b"waits", (far.ipv4, 7))
            time.sleep(0.5)
        finally:
            running.process.send_signal(signal.SIGCONT)
        wait_until(
            lambda: running.command(cmd="stats")["late_us"] > before_us + 300_000, "the stop is counted", 20
        )


def test_set_changes_a_running_port(two: Network, tmp_path: Path) -> None:
    near, far = two.hosts
    with switch(tmp_path, one_switch({}, {})) as running, echo(far, socket.AF_INET):
        assert shortest_round_trip_s(near, far.ipv4, 0.005) < 0.005
        assert running.command(cmd="set", port="s1:p2", delay_us=40_000) == {"ok": True}
        assert 0.040 <= shortest_round_trip_s(near, far.ipv4, 0.0408) <= 0.0408
        refused = running.command(cmd="set", port="s1:p2", delay_us=0, loss={"model": "packet", "rate": 2})
        assert refused == {
            "ok": False,
            "fault": {
                "path": ["loss", "rate"],
                "code": "out_of_range",
                "reason": "must be a number from 0.0 to 1.0, not 2",
            },
        }
        assert shortest_round_trip_s(near, far.ipv4, 1) >= 0.040  # no part of it was applied
        running.command(cmd="set", port="s1:p2", loss={"model": "packet", "rate": 1})
        near.raw.send(near.frame(far.mac))
        wait_until(lambda: running.ports()["p2"]["wire_lost_packets"] == 1, "lost frame")
        assert far.received() == []
        running.command(cmd="set", port="s1:p2", loss={"model": "none"})
        near.raw.send(near.frame(far.mac))
        assert len(far.received(1)) == 1


def test_unfinished_checksums_are_completed(tmp_path: Path) -> None:
    # With offloads on, a host leaves the checksum to the device, and a veth pair does not compute it.
    network = Network(2, offloads=True, ipv6=True)
    near, far = network.hosts
    try:
        with switch(tmp_path, one_switch({}, {})) as running:
            for family, address in ((socket.AF_INET, far.ipv4), (socket.AF_INET6, far.ipv6)):
                with echo(far, family):
                    shortest_round_trip_s(near, address, 1)
            assert running.ports()["p1"]["rx_checksums_completed"] >= 40
    finally:
        network.close()


def test_vlan_tags_survive(two: Network, tmp_path: Path) -> None:
    # The kernel removes the tag at the first device and passes it as metadata of the frame.
    near, far = two.hosts
    tagged = far.mac + near.mac + bytes.fromhex("8100 2005 88b5") + bytes(range(50))
    with switch(tmp_path, one_switch({}, {})), far.catch_all() as catching:
        catching.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        near.raw.send(tagged)
        while True:
            frame, ancillary, _, _ = catching.recvmsg(2048, 256)
            if frame[6:12] == near.mac and frame[12:14] == b"\x88\xb5":
                break
    tci, tpid = struct.unpack("HH", ancillary[0][2][16:20])
    assert (tci, tpid) == (0x2005, 0x8100)
    assert frame[14:] == bytes(range(50))


def test_stops_cleanly_and_replaces_a_stale_socket(two: Network, tmp_path: Path) -> None:
    document = one_switch({}, {"loss": {"model": "packet", "rate": 1}})
    killed = Switch(tmp_path, document)
    assert killed.stop(signal.SIGKILL)[0] == -signal.SIGKILL
    assert killed.socket_path.exists()
    again = Switch(tmp_path, document)
    near, far = two.hosts
    near.raw.send(near.frame(far.mac))
    wait_until(lambda: again.ports()["p2"]["wire_lost_packets"] >= 1, "lost frame")
    assert again.stop() == (0, "")
    assert not again.socket_path.exists()
    assert again.truth()[-1]["cause"] == "wire"


def test_refuses_a_socket_in_use(two: Network, tmp_path: Path) -> None:
    with switch(tmp_path, one_switch({}, {})) as running:
        code, errors = refusal(tmp_path / "switch.json", running.socket_path)
    assert code == 2
    # Two switches could share the devices, so only the socket can tell.
    assert errors == f"clarion-switch: config: --control: another process listens on {running.socket_path}\n"


def refusal(config: Path, control: Path) -> tuple[int, str]:
    """Exit code and error output of a switch that must not start."""
    done = subprocess.run(
        ["ip", "netns", "exec", "csw-sw", str(SWITCH), "--config", str(config), "--control", str(control)],
        capture_output=True, text=True, timeout=20)  # fmt: skip
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "{path}: not JSON, see byte 2"),
        ("{}", "switches: is missing"),
        (json.dumps(one_switch({"tag": {"stmp": True}})),
         "switches[0].ports[0].tag.stmp: unknown key; known here: stamp, check, edge"),
        (json.dumps(one_switch({"netdev": "csw-none"})),
         "switches[0].ports[0].netdev: no network device 'csw-none' in this network namespace"),
        (json.dumps(one_switch({}, truth_log="/no/such/place.csv")),
         "truth_log: cannot write /no/such/place.csv: No such file or directory"),
    ],
)  # fmt: skip
def test_refuses_a_bad_configuration_in_one_line(
    two: Network, tmp_path: Path, text: str, message: str
) -> None:
    config = tmp_path / "bad.json"
    config.write_text(text)
    code, errors = refusal(config, tmp_path / "s.sock")
    assert code == 2
    assert (
        errors
        == f"clarion-switch: config: {message.format(path=config) if '{path}' in message else message}\n"
    )


def test_stays_within_its_share_of_the_processor_when_idle(two: Network, tmp_path: Path) -> None:
    with switch(tmp_path, one_switch({}, {})) as running:
        stat = Path(f"/proc/{running.process.pid}/schedstat")
        before = int(stat.read_text().split()[0])
        time.sleep(1)
        used_ns = int(stat.read_text().split()[0]) - before
    assert used_ns < 20_000_000  # 2 % of the second
