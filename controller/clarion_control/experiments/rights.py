# SPDX-License-Identifier: Apache-2.0
"""What a run may do: the few capabilities that experiments need, and nothing of its starter's environment
but where things are. docs/operations.md says which experiments need which.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

CAPABILITIES = (
    "net_admin",  # devices, queueing disciplines, congestion control, eBPF programs on devices
    "net_raw",  # the switch's packet sockets
    "sys_admin",  # network namespaces, and loading eBPF programs
    "sys_chroot",  # to enter the mount namespaces of hosts
    "sys_nice",  # a switch that runs before ordinary processes
    "setuid",  # servers of applications, which serve as a user without rights
    "setgid",
    "chown",  # and own what they serve
    "dac_override",  # to remove that, and to read Clarion where it is installed in somebody's home
)
UMASK = 0o027  # results are for the runner's user and for the group of their directory
_KEPT = (
    "PATH", "LANG", "LC_ALL", "TZ", "PYTHONPATH",
    "CLARION_CACHE", "CLARION_HLS_SIM_BIN", "CLARION_HOST_BIN", "CLARION_P4_DIR", "CLARION_PROXY_BIN",
    "CLARION_RUN_ROOT", "CLARION_SIM_BIN", "CLARION_SWITCH_BIN",
)  # fmt: skip


def confined(command: Sequence[str]) -> list[str]:
    """The command with these rights at the most, also of all that it starts; it gets SIGTERM when its parent
    is gone, however that went. Code of our own between fork and exec could hang in a process that has
    threads, so a program does it.
    """
    rights = []
    if os.geteuid() == 0:
        kept = "".join(f",+{name}" for name in CAPABILITIES)
        rights = [f"--bounding-set=-all{kept}", "--inh-caps=-all", "--ambient-caps=-all"]
    return ["setpriv", *rights, "--no-new-privs", "--pdeathsig", "TERM", "--", *command]


def environment(home: Path) -> dict[str, str]:
    """That of a run; caches go below `home`."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "HOME": str(home)}
