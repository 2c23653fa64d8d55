# SPDX-License-Identifier: Apache-2.0
"""`clarion doctor`: what this machine has and lacks, and how to get it on Debian or Ubuntu."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from clarion_base.errors import UserError
from clarion_base.paths import find_binary
from clarion_lab.machine import bmv2_installation

MINIMUM_KERNEL = (6, 1)
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
PROGRAMS = {  # what a run calls, and how to get it
    "mnexec": "apt install mininet",
    "iperf3": "apt install iperf3",
    "ping": "apt install iputils-ping",
    "ethtool": "apt install ethtool",
    "ip": "apt install iproute2",
}

APPLICATIONS = {  # the same by what asks for it: an application, a tunnel, a proxy
    "ftp": {"vsftpd": "apt install vsftpd", "lftp": "apt install lftp"},
    "http": {"curl": "apt install curl"},
    "openvpn": {"openvpn": "apt install openvpn"},
    "proxy": {"nft": "apt install nftables"},
}


@dataclass(frozen=True)
class Check:
    """One thing to look for; `needed` things decide the exit status of the command."""

    name: str
    needed: bool
    probe: Callable[[], str | None]  # what was found, or None; UserError if that is of no use
    remedy: str


@dataclass(frozen=True)
class Finding:
    """The answer to one check."""

    name: str
    needed: bool
    found: str | None
    remedy: str

    @property
    def line(self) -> str:
        """As printed."""
        if self.found is not None:
            return f"ok       {self.name}: {self.found}"
        return f"{'missing ' if self.needed else 'optional'} {self.name}: {self.remedy}"


def examine() -> list[Finding]:
    """Every check, answered."""
    return [_finding(check) for check in CHECKS]


def ready(findings: list[Finding]) -> bool:
    """Whether the engine emu can run."""
    return all(finding.found is not None for finding in findings if finding.needed)


def _finding(check: Check) -> Finding:
    try:
        return Finding(check.name, check.needed, check.probe(), check.remedy)
    except UserError as error:
        return Finding(check.name, check.needed, None, str(error))


def _root() -> str | None:
    return "yes" if os.geteuid() == 0 else None


def _kernel() -> str | None:
    found = re.match(r"(\d+)\.(\d+)", platform.release())
    return platform.release() if found and (int(found[1]), int(found[2])) >= MINIMUM_KERNEL else None


def _btf() -> str | None:
    path = Path("/sys/kernel/btf/vmlinux")
    return f"{path.stat().st_size} bytes" if path.exists() else None


def _struct_ops() -> str | None:
    """A kernel that takes struct_ops congestion control names bpf_struct_ops_tcp_congestion_ops in its
    BTF.
    """
    try:
        types = Path("/sys/kernel/btf/vmlinux").read_bytes()
    except OSError:
        return None
    return "tcp_congestion_ops" if b"\0bpf_struct_ops_tcp_congestion_ops\0" in types else None


def _cgroup2() -> str | None:
    for line in Path("/proc/mounts").read_text().splitlines():
        fields = line.split()
        if fields[2] == "cgroup2":
            return fields[1]
    return None


def _bpffs() -> str | None:
    mounts = Path("/proc/mounts").read_text().splitlines()
    return "/sys/fs/bpf" if any(line.split()[1:3] == ["/sys/fs/bpf", "bpf"] for line in mounts) else None


def _program(name: str, *arguments: str) -> Callable[[], str | None]:
    def probe() -> str | None:
        path = shutil.which(name)
        if path is None or not arguments:
            return path
        try:
            done = subprocess.run([path, *arguments], capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.SubprocessError):
            return path
        return (done.stdout + done.stderr).strip().splitlines()[0] if done.stdout + done.stderr else path

    return probe


def _bmv2() -> str | None:
    if fault := bmv2_installation.fault():
        raise UserError(f"for engine bmv2; {fault}")
    return _program(bmv2_installation.PROGRAM, "--version")()


def _module(name: str) -> Callable[[], str | None]:
    return lambda: name if find_spec(name) else None


def _built(name: str) -> Callable[[], str | None]:
    def probe() -> str | None:
        path = find_binary(name)
        return str(path) if path else None

    return probe


def _qdisc(kind: str) -> Callable[[], str | None]:
    """Whether the kernel has a queueing discipline: tried on the loopback of a namespace of its own."""

    def probe() -> str | None:
        if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("tc"):
            return None
        arguments = ["delay", "1ms"] if kind == "netem" else []
        command = ["unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", kind, *arguments]
        return (
            kind
            if subprocess.run(command, capture_output=True, check=False, timeout=10).returncode == 0
            else None
        )

    return probe


def _congestion(name: str) -> Callable[[], str | None]:
    def probe() -> str | None:
        return name if name in AVAILABLE.read_text().split() else None

    return probe


CHECKS = (
    Check("root", True, _root, "run with sudo"),
    Check("kernel", True, _kernel, "6.1 or newer; on Ubuntu 22.04: apt install linux-generic-hwe-22.04"),
    Check(
        "BTF",
        True,
        _btf,
        "a kernel with CONFIG_DEBUG_INFO_BTF=y; Debian's and Ubuntu's stock kernels have it",
    ),
    Check(
        "struct_ops", True, _struct_ops, "a kernel with CONFIG_BPF_JIT=y and BTF; the stock kernels have it"
    ),
    Check("cgroup2", True, _cgroup2, "mount -t cgroup2 none /sys/fs/cgroup/unified"),
    Check("bpffs", False, _bpffs, "mounted by clarion-host; by hand: mount -t bpf bpf /sys/fs/bpf"),
    Check("bbr", False, _congestion("bbr"), "modprobe tcp_bbr"),
    Check("tc", True, _program("tc", "-V"), PROGRAMS["ip"]),
    Check("ethtool", True, _program("ethtool", "--version"), PROGRAMS["ethtool"]),
    Check("sysctl", True, _program("sysctl", "--version"), "apt install procps"),
    Check("ping", True, _program("ping", "-V"), PROGRAMS["ping"]),
    Check(
        "Mininet",
        True,
        _module("mininet.net"),
        "apt install mininet; make the venv with --system-site-packages",
    ),
    Check("mnexec", True, _program("mnexec"), PROGRAMS["mnexec"]),
    Check("iperf3", True, _program("iperf3", "--version"), PROGRAMS["iperf3"]),
    Check("clarion-switch", True, _built("clarion-switch"), "make build"),
    Check("clarion-host", True, _built("clarion-host"), "make build"),
    Check("clarion-proxy", False, _built("clarion-proxy"), "for scenarios with a proxy; make build"),
    Check(
        "nft",
        False,
        _program("nft", "--version"),
        f"for scenarios with a proxy; {APPLICATIONS['proxy']['nft']}",
    ),
    Check("vsftpd", False, _program("vsftpd"), f"for application: ftp; {APPLICATIONS['ftp']['vsftpd']}"),
    Check(
        "lftp", False, _program("lftp", "--version"), f"for application: ftp; {APPLICATIONS['ftp']['lftp']}"
    ),
    Check(
        "openvpn",
        False,
        _program("openvpn", "--version"),
        f"for tunnel: openvpn; {APPLICATIONS['openvpn']['openvpn']}",
    ),
    Check(
        "curl", False, _program("curl", "--version"), f"for application: http; {APPLICATIONS['http']['curl']}"
    ),
    Check("clarion-sim", False, _built("clarion-sim"), "for engine sim; make build"),
    Check(
        "clarion-hls-sim", False, _built("clarion-hls-sim"), "for engine hls-sim; make build, with verilator"
    ),
    Check("netem", False, _qdisc("netem"), "not needed: the switch emulates links; modprobe sch_netem"),
    Check(
        "p4c",
        False,
        _program("p4c", "--version"),
        f"to compile p4/ again; {bmv2_installation.REMEDY}",
    ),
    Check(bmv2_installation.PROGRAM, False, _bmv2, f"for engine bmv2; {bmv2_installation.REMEDY}"),
)
