# SPDX-License-Identifier: Apache-2.0
"""A copy of this machine for commands that change one: systemd is its process 1, its files are written to
memory, its network is its own, and all of its processes end with it.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from clarion_base.paths import ROOT
from clarion_base.processes import die_with_parent
from integration.controller_net import PATIENCE_S, Process
from integration.waiting import wait_until

SYSTEMD = Path("/lib/systemd/systemd")
HOSTS = {"controller.example.org": "192.0.2.1", "switch1.example.org": "192.0.2.2"}
TARGETS = ("sysinit", "basic", "multi-user", "network-online", "shutdown")
_NAMESPACES = ("--mount", "--net", "--uts", "--ipc", "--cgroup", "--pid")

# By process 1: the directory for its files, its units, and what it shares with this machine, read-only. What
# counts for all of the kernel (/proc/sys, /sys, devices) is closed to it, and it knows none of this machine's
# units.
_BOOT = r"""
umask 022
files=$1 boot=$2; shift 2
mount --make-rprivate /
mount -t tmpfs machine "$files"
mkdir "$files/upper" "$files/work" "$files/root"
mount -t overlay -o "lowerdir=/,upperdir=$files/upper,workdir=$files/work" machine "$files/root"
cd "$files/root"
for each in dev run tmp; do mount -t tmpfs -o mode=0755 machine "$each"; done
chmod 1777 tmp
mkdir dev/pts
mkdir -m 1777 dev/shm
for each in null zero full random urandom; do touch "dev/$each"; mount --bind "/dev/$each" "dev/$each"; done
ln -s /proc/self/fd dev/fd
mount -t proc proc proc
mount -o bind,ro proc/sys proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
for each in "$@"; do mkdir -p ".$each"; mount --bind -o ro "$each" ".$each"; done
rm -rf etc/systemd/system
cp -r "$boot" etc/systemd/system
chmod -R a+rX etc/systemd/system
ip link set lo up
exec chroot . env -i container=clarion SYSTEMD_UNIT_PATH=/etc/systemd/system "$0" --system \
    --unit=basic.target --log-target=null --show-status=0
"""

_SUDO = """#!/bin/sh
[ "$1" = -u ] || exit 2
user=$2; shift 2
exec runuser -u "$user" -- env "$@"
"""
# The clone is given what this tree has built.
_MAKE = """#!/bin/sh
[ "$1 $3" = "-C build" ] && cd "$2" && grep -q ^build: Makefile || exit 2
ln -sfn {root}/.venv .venv && ln -sfn {root}/build build
"""


def _shared() -> list[str]:
    """This tree, its Python and what it has built."""
    return sorted({str(ROOT), *(str((ROOT / name).resolve()) for name in (".venv", "build"))})


class Machine:
    """Runs commands as root of the copy, in its directory /root. Stand-ins take the places of `sudo` and
    `make`.
    """

    def __init__(self, directory: Path, group: Path) -> None:
        self._directory = directory
        files, boot = directory / "machine", directory / "units"
        files.mkdir()
        self._lay_out(boot)
        unshare = ["unshare", *_NAMESPACES, "--fork", "--kill-child"]
        enter = 'echo $$ >"$0/cgroup.procs"; exec "$@"'
        init = ["bash", "-ec", _BOOT, str(SYSTEMD), str(files), str(boot), *_shared()]
        with (directory / "boot.log").open("wb") as log:
            self._boot = subprocess.Popen(
                ["sh", "-ec", enter, str(group), *unshare, *init],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent,
            )
        self._started: list[Process] = []

    @staticmethod
    def _lay_out(boot: Path) -> None:
        """The only units that the machine has."""
        boot.mkdir()
        for name in TARGETS:
            unit = f"[Unit]\nDescription={name}\nDefaultDependencies=no\n"
            (boot / f"{name}.target").write_text(unit)
        (boot / "service.d").mkdir()
        log = "[Service]\nStandardOutput=append:/run/%N.log\nStandardError=append:/run/%N.log\n"
        sources = os.environ.get("PYTHONPATH", "")  # of this tree, if it is not the one that is installed
        # Where this tree is, units may have hidden (PrivateTmp, ProtectHome), and what is inaccessible takes
        # no mounts.
        seen = f"BindReadOnlyPaths={' '.join(_shared())}\n"
        if any(each.startswith(("/home/", "/root/")) for each in _shared()):
            seen += "ProtectHome=tmpfs\n"
        (boot / "service.d/tree.conf").write_text(f'{log}{seen}Environment="PYTHONPATH={sources}"\n')

    def await_boot(self) -> None:
        """Returns when systemd takes jobs."""
        children = Path(f"/proc/{self._boot.pid}/task/{self._boot.pid}/children")

        def is_up() -> bool:
            assert self._boot.poll() is None, (self._directory / "boot.log").read_text()
            first = children.read_text().split()
            if not first or Path(f"/proc/{first[0]}/comm").read_text() != "systemd\n":
                return False
            self._enter = ["nsenter", f"--target={first[0]}", *_NAMESPACES, "--root", "--wd"]
            self._root = Path(f"/proc/{first[0]}/root")
            return not subprocess.run(
                self._command("systemctl is-active basic.target"), capture_output=True
            ).returncode

        wait_until(is_up, "systemd as process 1", PATIENCE_S)
        self.write(
            "/etc/hosts", "127.0.0.1 localhost\n" + "".join(f"{HOSTS[name]} {name}\n" for name in HOSTS)
        )
        for name, text in (("sudo", _SUDO), ("make", _MAKE)):
            self.write(f"/usr/local/bin/{name}", text.format(root=ROOT), 0o755)
        self.run("".join(f"ip address add {address}/32 dev lo\n" for address in HOSTS.values()))

    def path(self, name: str) -> Path:
        """A file of the machine, as it is seen from here."""
        return self._root / name.lstrip("/")

    def write(self, name: str, text: str, mode: int = 0o644) -> None:
        """Writes a file of the machine."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def _command(self, script: str) -> list[str]:
        places = f"/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:{Path(sys.executable).parent}"
        variables = ["HOME=/root", f"PATH={places}", f"PYTHONPATH={os.environ.get('PYTHONPATH', '')}"]
        shell = ["bash", "-euo", "pipefail", "-c", f"umask 022\n{script}"]
        return [*self._enter, "env", "-i", "-C", "/root", *variables, *shell]

    def run(self, script: str, status: int = 0) -> str:
        """The output of a script. AssertionError with it, and with stderr, for another exit status."""
        done = subprocess.run(
            self._command(script),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=4 * PATIENCE_S,
        )
        assert done.returncode == status, f"{script}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def start(self, script: str, text: str) -> Process:
        """Starts a script, and waits until a line of what it says has the text."""
        made = Process(self._command(script), self._directory / f"{len(self._started)}.log")
        self._started.append(made)
        made.await_text(text)
        return made

    def end(self) -> None:
        """Kills all processes; the files are gone with them."""
        self._boot.kill()
        self._boot.wait()
        for process in self._started:
            process.kill()


def _own_group() -> Path:
    """Where this process is in the hierarchy of cgroup v2."""
    mounts = Path("/proc/self/mountinfo").read_text()
    found = re.search(r"^\S+ \S+ \S+ \S+ (\S+) .* - cgroup2 ", mounts, re.MULTILINE)
    [own] = re.findall(r"^0::/(.*)$", Path("/proc/self/cgroup").read_text(), re.MULTILINE)
    assert found is not None, "systemd needs cgroup v2"
    return Path(found[1]) / str(own)


def _remove(group: Path) -> bool:
    """Whether the group could be removed: the kernel may still be about the end of its last process."""
    for directory, _, _ in os.walk(group, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(directory)
    return not group.exists()


@contextlib.contextmanager
def machine(logs: Path) -> Iterator[Machine]:
    """A machine that has booted; nothing of it stays."""
    group = Path(tempfile.mkdtemp(prefix="clarion-", dir=_own_group()))
    try:
        made = Machine(logs, group)
        try:
            made.await_boot()
            yield made
        finally:
            made.end()
    finally:
        wait_until(lambda: _remove(group), f"{group} removed", PATIENCE_S)
