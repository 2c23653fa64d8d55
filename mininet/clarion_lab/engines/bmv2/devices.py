# SPDX-License-Identifier: Apache-2.0
"""The devices of BMv2: what clarion-switch sets on its own devices by itself, BMv2 has to be given."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from clarion_base import processes
from clarion_lab.hosts.tuning import OFFLOADS_OFF
from clarion_lab.machine.state import ifindex

MTU_BYTES = 1600  # room for Clarion's header outside of a packet of 1500
# With any of these on, libpcap gives a frame room for 64 KiB and its ring holds 32 frames instead of 1024.
OFFLOADS = (*OFFLOADS_OFF, "rx")


def prepare(devices: Iterable[str]) -> None:
    """Before BMv2 opens them: MTU, offloads and the kernel's own IPv6 off, one CPU per device, up."""
    lines = ["set -e"]
    for device in devices:
        lines += [
            f"ip link set {device} mtu {MTU_BYTES} up",
            f"ethtool -K {device} {' '.join(f'{name} off' for name in OFFLOADS)} >/dev/null",
        ]
        _write(Path("/proc/sys/net/ipv6/conf", device, "disable_ipv6"), "1")
        _write(Path("/sys/class/net", device, "queues/rx-0/rps_cpus"), f"{1 << _cpu(device):x}")
    processes.run_all([("devices", ["sh", "-c", "\n".join(lines)])])


def _cpu(device: str) -> int:
    """One CPU takes all that a device receives, or the frames of a flow would overtake each other: a host
    sends from whatever CPU it runs on. The two ends of a pair have consecutive indices, so pairs spread.
    """
    return (ifindex(device) or 0) // 2 % min(os.cpu_count() or 1, 32)


def _write(path: Path, value: str) -> None:
    if path.exists():  # a kernel without IPv6 or packet steering needs neither
        path.write_text(value)
