# SPDX-License-Identifier: Apache-2.0
"""Namespaces, frames and a running clarion-switch for its tests."""

from __future__ import annotations

import csv
import ctypes
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from integration.waiting import PATIENCE_S, wait_until

ROOT = Path(__file__).resolve().parents[2]
SWITCH = Path(os.environ.get("CLARION_SWITCH_BIN", ROOT / "build/cpp/switch/clarion-switch"))
SWITCH_NETNS = "csw-sw"
CLONE_NEWNET = 0x40000000
SO_RCVBUFFORCE = 33
SOL_PACKET = 263
PACKET_AUXDATA = 8
PACKET_IGNORE_OUTGOING = 23
ETH_P_ALL = 3
ETHERTYPE = 0x88B5  # IEEE 802.1 local experimental
QUIET_S = 0.3  # for events that must not occur

Json = dict[str, Any]


def run(*command: str, check: bool = True) -> str:
    """Output of a command; a failure shows its error output."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if check and done.returncode:
        raise AssertionError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def tcp_memory_is_short() -> bool:
    """Whether the kernel keeps TCP windows small, for instance because closed sockets still hold memory."""
    used = re.search(r"^TCP: .*\bmem (\d+)", Path("/proc/net/sockstat").read_text(), re.MULTILINE)
    limits = Path("/proc/sys/net/ipv4/tcp_mem")  # only in the initial network namespace
    if used is None or not limits.exists():
        return False
    return int(used[1]) > 0.8 * int(limits.read_text().split()[0])


@contextmanager
def inside(netns: str) -> Iterator[None]:
    """Sockets opened in this block belong to the namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/thread-self/ns/net") as back, open(f"/run/netns/{netns}") as there:
        assert libc.setns(there.fileno(), CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
        try:
            yield
        finally:
            assert libc.setns(back.fileno(), CLONE_NEWNET) == 0


class Host:
    """A namespace with one device, eth0, whose other end is the switch's netdev csw-<n>.

    Without IPv6 its kernel sends no frames of its own, from which the switch would learn its address.
    """

    def __init__(self, number: int, offloads: bool = False, ipv6: bool = False) -> None:
        self.netns = f"csw-h{number}"
        self.netdev = f"csw-{number}"
        self.ipv4 = f"10.99.0.{number}"
        self.ipv6 = f"fd99::{number}"
        run("ip", "netns", "add", self.netns)
        run("ip", "link", "add", self.netdev, "netns", SWITCH_NETNS, "type", "veth", "peer", "name", "eth0",
            "netns", self.netns)  # fmt: skip
        if not ipv6:
            self.inside("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
        # One CPU handles all received frames, so that none is reordered when the switch changes CPUs.
        self.inside("sh", "-c", "echo 1 >/sys/class/net/eth0/queues/rx-0/rps_cpus")
        for command in (
            f"addr add {self.ipv4}/24 dev eth0",
            *([f"addr add {self.ipv6}/64 dev eth0 nodad"] if ipv6 else []),
            "link set eth0 mtu 1600",
            "link set lo up",
            "link set eth0 gso_max_segs 1",
            "link set eth0 up",
        ):
            run("ip", "-n", self.netns, *command.split())
        # The kernel's default may be a paced algorithm, whose timers are expensive on virtual machines.
        self.inside("sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno")
        for buffers in ("tcp_rmem", "tcp_wmem"):
            self.inside("sysctl", "-qw", f"net.ipv4.{buffers}=4096 131072 33554432")
        if not offloads:
            self.inside("ethtool", "-K", "eth0", "tx", "off", "tso", "off", "gso", "off", "gro", "off")
        with inside(self.netns):
            self.raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
            self.raw.bind(("eth0", ETHERTYPE))
        self.raw.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        self.mac: bytes = self.raw.getsockname()[4]

    def inside(self, *command: str) -> str:
        """Runs a command in the namespace."""
        return run("ip", "netns", "exec", self.netns, *command)

    def frame(self, to: bytes, length: int = 100, tag: bytes = b"") -> bytes:
        """An Ethernet frame of this host with the experimental type."""
        head = to + self.mac + struct.pack("!H", ETHERTYPE) + tag
        return head + bytes(max(0, length - len(head)))

    def received(self, count: int = 0) -> list[bytes]:
        """The experimental frames: waits long for `count`, then briefly for any further ones."""
        frames: list[bytes] = []
        while select.select([self.raw], [], [], PATIENCE_S if len(frames) < count else QUIET_S)[0]:
            frames.append(self.raw.recv(65535))
        return frames

    def catch_all(self) -> socket.socket:
        """A socket that sees every frame the device receives."""
        with inside(self.netns):
            made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            made.bind(("eth0", ETH_P_ALL))
        made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        made.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        return made

    def drain(self, catching: socket.socket, sender: bytes, count: int) -> list[bytes]:
        """The captured frames of one sender; waits like `received`."""
        frames: list[bytes] = []
        while select.select([catching], [], [], PATIENCE_S if len(frames) < count else QUIET_S)[0]:
            frame = catching.recv(65535)
            if frame[6:12] == sender and frame[:6] == self.mac:
                frames.append(frame)
        return frames

    def udp(self, family: socket.AddressFamily, port: int = 0) -> socket.socket:
        """A UDP socket of this host."""
        with inside(self.netns):
            made = socket.socket(family, socket.SOCK_DGRAM)
        made.bind(("", port))
        made.settimeout(PATIENCE_S)
        return made


class Network:
    """Hosts around one switch process. Everything is named csw-*."""

    def __init__(self, hosts: int, offloads: bool = False, ipv6: bool = False) -> None:
        self.clean()
        run("ip", "netns", "add", SWITCH_NETNS)
        self.hosts = [Host(i + 1, offloads, ipv6) for i in range(hosts)]

    @staticmethod
    def clean() -> None:
        """Removes what is left of this or an earlier test; the devices go with their namespaces."""
        for name in os.listdir("/run/netns") if Path("/run/netns").is_dir() else []:
            if name.startswith("csw-"):
                run("ip", "netns", "del", name, check=False)

    def close(self) -> None:
        """Closes the sockets and removes the namespaces."""
        for host in self.hosts:
            host.raw.close()
        self.clean()


class Switch:
    """A clarion-switch in its namespace, or in another."""

    def __init__(
        self, directory: Path, document: Json, binary: Path = SWITCH, netns: str = SWITCH_NETNS
    ) -> None:
        self.truth_path = directory / "truth.csv"
        self.socket_path = directory / "switch.sock"
        config = directory / "switch.json"
        config.write_text(json.dumps({"truth_log": str(self.truth_path), **document}))
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", netns, str(binary), "--config", str(config), "--control",
             str(self.socket_path)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
        assert self.process.stdout is not None
        if self.process.stdout.readline() != "ready\n":
            raise AssertionError(self.process.communicate(timeout=PATIENCE_S)[1])
        self.control = socket.socket(socket.AF_UNIX)
        self.control.connect(str(self.socket_path))
        self.replies = self.control.makefile()

    def command(self, **command: Any) -> Json:
        """Sends one command line; returns the reply."""
        self.control.sendall(json.dumps(command).encode() + b"\n")
        reply: Json = json.loads(self.replies.readline())
        return reply

    def ports(self) -> dict[str, Json]:
        """Statistics by port name; names are unique in these tests."""
        return {port["name"]: port for sw in self.command(cmd="stats")["switches"] for port in sw["ports"]}

    def pass_on(self, entry: str, leave: str, count: int) -> int:
        """Waits until `count` frames in all have come in by a port and none waits at the other.

        Returns the number of frames that the other port has handed to its device.
        """
        seen: dict[str, Json] = {}

        def is_over() -> bool:
            seen.update(self.ports())
            came = seen[entry]["rx_packets"] + seen[entry]["ingress_lost_packets"]
            waiting = seen[leave]["queue_packets"] + seen[leave]["wire_packets"]
            return bool(came >= count and waiting == 0)

        wait_until(is_over, f"{count} frames through the switch")
        sent: int = seen[leave]["tx_packets"] - seen[leave]["wire_lost_packets"]
        return sent

    def stop(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Exit code and error output."""
        self.replies.close()
        self.control.close()
        if self.process.poll() is None:
            self.process.send_signal(how)
        errors = self.process.communicate(timeout=20)[1]
        return self.process.returncode, errors

    def truth(self) -> list[dict[str, str]]:
        """The truth log; complete after stop()."""
        with self.truth_path.open() as file:
            return list(csv.DictReader(file))


@contextmanager
def switch(
    directory: Path, document: Json, binary: Path = SWITCH, netns: str = SWITCH_NETNS
) -> Iterator[Switch]:
    """A switch that must end cleanly and silently."""
    running = Switch(directory, document, binary, netns)
    try:
        yield running
    finally:
        code, errors = running.stop()
    assert (code, errors) == (0, "")


def one_switch(*ports: Json, **top: Any) -> Json:
    """A document with one switch; port i is at host i and is named p<i>."""
    filled = [{"name": f"p{i + 1}", "netdev": f"csw-{i + 1}", **port} for i, port in enumerate(ports)]
    return {**top, "switches": [{"name": "s1", "ports": filled}]}


@contextmanager
def echo(server: Host, family: socket.AddressFamily, port: int = 7) -> Iterator[None]:
    """A UDP echo service."""
    listening = server.udp(family, port)

    def serve() -> None:
        while True:
            data, sender = listening.recvfrom(2048)
            if data == b"stop":
                return
            listening.sendto(data, sender)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        with inside(server.netns), socket.socket(family, socket.SOCK_DGRAM) as stopper:
            stopper.sendto(b"stop", ("127.0.0.1" if family == socket.AF_INET else "::1", port))
        thread.join()
        listening.close()


def shortest_round_trip_s(client: Host, address: str, at_most_s: float, port: int = 7) -> float:
    """The shortest of 20 UDP round trips, or of up to 500 until one takes at most `at_most_s`.

    On a busy machine only the shortest one is due to the switch.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    times: list[float] = []
    with client.udp(family) as sending:
        while len(times) < 20 or (len(times) < 500 and min(times) > at_most_s):
            start = time.monotonic()
            sending.sendto(b"x" * 100, (address, port))
            sending.recv(2048)
            times.append(time.monotonic() - start)
    return min(times)
