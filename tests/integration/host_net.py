# SPDX-License-Identifier: Apache-2.0
"""Namespaces, links, sockets and a middlebox for the tests of the host agent."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import select
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from integration.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
AGENT = Path(os.environ.get("CLARION_HOST_BIN", ROOT / "build/cargo/release/clarion-host"))
PINS = Path("/sys/fs/bpf/clarion")
STATE = Path("/run/clarion/host")
PROTOCOL = 253
ETH_P_ALL = 3
CLONE_NEWNET = 0x40000000
SO_RCVBUFFORCE = 33
OPTION = bytes([254, 5, 0xC1, 0xA7])  # kind, length, ExID; a flag byte follows

Frame = bytes


def run(*command: str, check: bool = True) -> str:
    """Output of a command; a failure shows its error output."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if check and done.returncode:
        raise AssertionError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def agent(*arguments: str) -> str:
    return run(str(AGENT), *arguments)


def refused(*arguments: str) -> str:
    """The agent's refusal, one line."""
    done = subprocess.run([str(AGENT), *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


def stats() -> list[dict[str, Any]]:
    flows: list[dict[str, Any]] = json.loads(agent("stats", "--json"))["flows"]
    return flows


def flow_at(netns: str, port: int) -> dict[str, Any]:
    """The flow of a namespace with this port at either end."""
    found = [f for f in stats() if f["netns"] == netns and port in (f["sport"], f["dport"])]
    assert len(found) == 1, found
    return found[0]


def counters(netns: str) -> dict[str, int]:
    entries = json.loads(agent("list", "--json"))
    found: list[dict[str, int]] = [entry["counters"] for entry in entries if entry["netns"] == netns]
    assert len(found) == 1, entries
    return found[0]


_libc = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def inside(netns: str) -> Iterator[None]:
    """Sockets that this thread makes in here belong to the namespace."""
    with open("/proc/thread-self/ns/net") as home, open(f"/run/netns/{netns}") as target:
        assert _libc.setns(target.fileno(), CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
        try:
            yield
        finally:
            assert _libc.setns(home.fileno(), CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())


def keep_in_order(netns: str, device: str) -> None:
    """Makes a veth pair deliver packets in order, like a wire.

    A sender's packets leave from the CPU of its process or of an incoming ACK, and each CPU has a receive
    queue of its own: on a busy machine hundreds of packets are reordered, more than the sequence check
    tolerates.
    """
    queue = f"/sys/class/net/{device}/queues/rx-0/rps_cpus"
    run("ip", "netns", "exec", netns, "sh", "-c", f"echo 1 >{queue}")  # all to CPU 0


def packet_socket(netns: str, device: str) -> socket.socket:
    with inside(netns):
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        raw.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        raw.bind((device, ETH_P_ALL))
    return raw


@dataclass
class Host:
    """One end of the tests: a namespace with one device."""

    netns: str
    device: str
    ip4: str
    ip6: str

    def ip(self, *arguments: str) -> str:
        return run("ip", "-n", self.netns, *arguments)

    def execute(self, *command: str) -> str:
        return run("ip", "netns", "exec", self.netns, *command)

    def attach(self, *arguments: str) -> None:
        agent("attach", "--netns", self.netns, "--dev", self.device, *arguments)

    def detach(self) -> None:
        agent("detach", "--netns", self.netns, "--dev", self.device)

    def address(self, family: int) -> str:
        return self.ip4 if family == socket.AF_INET else self.ip6

    def listen(self, family: int, port: int, backlog: int = 16) -> socket.socket:
        with inside(self.netns):
            listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self.address(family), port))
        listener.listen(backlog)
        listener.settimeout(PATIENCE_S)
        return listener

    def connect(self, peer: Host, family: int, port: int) -> socket.socket:
        with inside(self.netns):
            connection = socket.socket(family, socket.SOCK_STREAM)
        connection.settimeout(PATIENCE_S)
        connection.connect((peer.address(family), port))
        return connection

    def surroundings(self) -> dict[str, str]:
        """All state that attaching may change."""
        return {
            "link": self.ip("-d", "link", "show", "dev", self.device),
            "routes": self.ip("-d", "route", "show", "table", "all"),
            "routes6": self.ip("-6", "route", "show", "table", "all"),
            "features": self.execute("ethtool", "-k", self.device),
            "qdiscs": self.execute("tc", "qdisc", "show"),
            "filters": self.execute("tc", "filter", "show", "dev", self.device, "egress"),
            "cc": self.execute("sysctl", "net.ipv4.tcp_congestion_control"),
            "mtu6": self.execute("sysctl", f"net.ipv6.conf.{self.device}.mtu"),
        }


@dataclass
class Pair:
    """Two hosts, by a veth pair or through a middlebox."""

    a: Host
    b: Host
    names: list[str] = field(default_factory=list)
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    @classmethod
    def make(cls, name: str, middlebox: bool = False) -> Pair:
        """Namespaces cho-NAME-a and -b, and -m between them for a middlebox."""
        a = Host(f"cho-{name}-a", "eth0", "10.77.0.1", "fd77::1")
        b = Host(f"cho-{name}-b", "eth0", "10.77.0.2", "fd77::2")
        names = [a.netns, b.netns] + ([f"cho-{name}-m"] if middlebox else [])
        for netns in names:
            run("ip", "netns", "del", netns, check=False)
            run("ip", "netns", "add", netns)
        if middlebox:
            for host, port in ((a, "left"), (b, "right")):
                run("ip", "link", "add", host.device, "netns", host.netns, "type", "veth",
                    "peer", "name", port, "netns", names[2])  # fmt: skip
                run("ip", "-n", names[2], "link", "set", port, "mtu", "2000", "up")
                keep_in_order(names[2], port)
                host.execute("ethtool", "-K", host.device, "tx", "off", "tso", "off", "gso", "off")
        else:
            run("ip", "link", "add", a.device, "netns", a.netns, "type", "veth",
                "peer", "name", b.device, "netns", b.netns)  # fmt: skip
        for host in (a, b):
            host.execute("sysctl", "-qw", f"net.ipv6.conf.{host.device}.accept_dad=0")
            # Packets in flight fit into the receive queue of a CPU (net.core.netdev_max_backlog, 1000).
            host.execute("sysctl", "-qw", "net.ipv4.tcp_rmem=4096 131072 262144")
            keep_in_order(host.netns, host.device)
            host.ip("address", "add", f"{host.ip4}/24", "dev", host.device)
            host.ip("address", "add", f"{host.ip6}/64", "dev", host.device, "nodad")
            host.ip("link", "set", "lo", "up")
            host.ip("link", "set", host.device, "up")
        return cls(a, b, names)

    def attach(self, *arguments: str) -> None:
        self.a.attach(*arguments)
        self.b.attach(*arguments)

    def flow(self, client: Host, server: Host, family: int, port: int) -> tuple[socket.socket, socket.socket]:
        """A connection that `client` opens to `server`: both ends, of the client first."""
        with server.listen(family, port) as listener:
            near = self._stack.enter_context(client.connect(server, family, port))
            far = self._stack.enter_context(listener.accept()[0])
        far.settimeout(PATIENCE_S)
        return near, far

    def sniff(self, host: Host) -> Sniffer:
        return self._stack.enter_context(contextlib.closing(Sniffer(host)))

    def middlebox(self, drops: Callable[[Frame], bool]) -> Middlebox:
        return self._stack.enter_context(contextlib.closing(Middlebox(self, drops)))

    def close(self) -> None:
        self._stack.close()
        for host in (self.a, self.b):
            run(str(AGENT), "detach", "--netns", host.netns, "--dev", host.device, check=False)
        for netns in self.names:
            run("ip", "netns", "del", netns, check=False)


def transfer(sender: socket.socket, receiver: socket.socket, payload: bytes) -> None:
    """Sends the payload and checks that it arrives complete and unchanged."""
    received = hashlib.sha256()

    def receive() -> None:
        left = len(payload)
        while left:
            chunk = receiver.recv(min(left, 1 << 20))
            if not chunk:
                return
            received.update(chunk)
            left -= len(chunk)

    reader = threading.Thread(target=receive)
    reader.start()
    sender.sendall(payload)
    reader.join(timeout=60)
    assert not reader.is_alive(), "transfer hangs"
    assert received.hexdigest() == hashlib.sha256(payload).hexdigest()


class Sniffer:
    """Frames that a device sends and receives, until closed."""

    def __init__(self, host: Host) -> None:
        self.frames: list[Frame] = []
        self._socket = packet_socket(host.netns, host.device)
        self._socket.settimeout(0.3)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                self.frames.append(self._socket.recv(65535))
            except TimeoutError:
                if self._stop.is_set():
                    return

    def stop(self) -> list[Frame]:
        """Stops when no frame has come for a moment; returns all frames."""
        self.close()
        return self.frames

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self._socket.close()


class Middlebox:
    """Forwards frames between the two hosts of a pair, except those that `drops` selects."""

    def __init__(self, pair: Pair, drops: Callable[[Frame], bool]) -> None:
        self.drops = drops
        self.rewrites: Callable[[Frame], Frame] = lambda frame: frame
        self.dropped: list[Frame] = []
        self._ports = [packet_socket(pair.names[2], port) for port in ("left", "right")]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        other = {self._ports[0]: self._ports[1], self._ports[1]: self._ports[0]}
        while not self._stop.is_set():
            for port in select.select(self._ports, [], [], 0.1)[0]:
                frame, address = port.recvfrom(65535)
                if address[2] == socket.PACKET_OUTGOING:
                    continue
                if self.drops(frame):
                    self.dropped.append(frame)
                    continue
                other[port].send(self.rewrites(frame))

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        for port in self._ports:
            port.close()


def ip_protocol(frame: Frame) -> int:
    """Protocol behind the IP header, -1 if the frame is not IP."""
    ethertype = int.from_bytes(frame[12:14], "big")
    if ethertype == 0x0800:
        return frame[23]
    return frame[20] if ethertype == 0x86DD else -1


def header_of(frame: Frame) -> bytes:
    """The Clarion header of a frame; empty if it has none."""
    if ip_protocol(frame) != PROTOCOL:
        return b""
    at = 14 + ((frame[14] & 0xF) * 4 if frame[12:14] == b"\x08\x00" else 40)
    return frame[at : at + frame[at + 1]]


def tcp_at(frame: Frame) -> int:
    """Where the TCP header of a plain frame begins."""
    return 14 + ((frame[14] & 0xF) * 4 if frame[12:14] == b"\x08\x00" else 40)


def tcp_flags(frame: Frame) -> int:
    """Without those of ECN."""
    return frame[tcp_at(frame) + 13] & 0x3F


def tcp_payload_bytes(frame: Frame) -> int:
    packet = 14 + int.from_bytes(frame[16:18], "big")
    if frame[12:14] == b"\x86\xdd":
        packet = 54 + int.from_bytes(frame[18:20], "big")
    return packet - tcp_at(frame) - (frame[tcp_at(frame) + 12] >> 4) * 4


def is_syn(frame: Frame) -> bool:
    """A plain SYN, not a SYN-ACK."""
    return ip_protocol(frame) == socket.IPPROTO_TCP and tcp_flags(frame) & 0x12 == 0x02


def checksum(data: bytes) -> int:
    """Internet checksum (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
