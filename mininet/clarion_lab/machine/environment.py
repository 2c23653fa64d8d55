# SPDX-License-Identifier: Apache-2.0
"""The machine and the versions that a result was made with."""

from __future__ import annotations

import copy
import hashlib
import platform
import subprocess
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from clarion_base import __version__
from clarion_base.paths import ROOT, find_binary

GLOBAL_SYSCTLS = (
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.core.netdev_max_backlog",
    "net.core.default_qdisc",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_available_congestion_control",
)
PROGRAMS = ("clarion-switch", "clarion-host", "clarion-proxy", "clarion-sim", "clarion-hls-sim")


def describe() -> dict[str, Any]:
    """Kernel, processor, versions, git state and the global sysctls that matter, all read and none
    changed. All but the sysctls are read once per process.
    """
    return {
        **copy.deepcopy(_unchanging()),
        "sysctls": {name: sysctl(name) for name in GLOBAL_SYSCTLS},
    }


@lru_cache
def _unchanging() -> dict[str, Any]:
    return {
        "kernel": platform.release(),
        "machine": platform.machine(),
        "processor": _processor(),
        "processors": _processor_count(),
        "system": _os_name(),
        "versions": {
            "clarion": __version__,
            "python": platform.python_version(),
            "mininet": _installed("mininet"),
            "iperf3": _first_line(["iperf3", "--version"]),
            "lftp": _first_line(["lftp", "--version"]),
            "vsftpd": _first_line(["sh", "-c", "vsftpd -v 0>&1"]),  # which answers on its standard input
            "curl": _first_line(["curl", "--version"]),
            **{name: _digest(name) for name in PROGRAMS},
        },
        "git": git_state(),
    }


def sysctl(name: str) -> str | None:
    """The value of a sysctl in this namespace, or None if the kernel has none of that name."""
    try:
        return " ".join(Path("/proc/sys", *name.split(".")).read_text().split())
    except OSError:
        return None


def git_state() -> dict[str, Any] | None:
    """Commit and whether the work tree differs from it; None outside a git checkout."""
    commit = _first_line(["git", "-C", str(ROOT), "rev-parse", "HEAD"])
    if commit is None:
        return None
    changed = _first_line(["git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no"])
    return {"commit": commit, "modified": changed is not None}


def _first_line(command: list[str]) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    lines = done.stdout.splitlines()
    return lines[0].strip() if lines else None


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _digest(name: str) -> str | None:
    """The start of a program's SHA-256, which distinguishes its builds."""
    path = find_binary(name)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path else None


def _processor() -> str | None:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return None


def _processor_count() -> int:
    return Path("/proc/cpuinfo").read_text().count("processor\t")


def _os_name() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None
