# SPDX-License-Identifier: Apache-2.0
"""Machines of the trials of high availability: a network namespace each, around a bridge that can be cut.

`a` and `b` have a controller, `db` PostgreSQL, `sw` the switches behind an agent, `cl` the clients.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import psycopg

from fakes import postgres
from integration.controller_net import CLARION, PATIENCE_S, Process
from integration.waiting import wait_until

ADDRESSES = {"a": "10.77.0.1", "b": "10.77.0.2", "db": "10.77.0.3", "sw": "10.77.0.4", "cl": "10.77.0.5"}
MACHINES = tuple(ADDRESSES)
HUB = "hub"
CLONE_NEWNET = 0x40000000
AGENT = Path(__file__).with_name("ha_agent.py")
_libc = ctypes.CDLL(None, use_errno=True)

Way = tuple[str, str]  # from one machine to another


class Net:
    """The namespaces. `cut` drops what goes the given ways, `unplug` pulls a machine's cable; `heal` undoes
    both.
    """

    def __init__(self) -> None:
        self._prefix = f"clarion-ha-{os.getpid()}-"

    def netns(self, machine: str) -> str:
        """The name of the namespace of a machine."""
        return self._prefix + machine

    def command(self, machine: str, *command: str) -> list[str]:
        """The command on a machine."""
        return ["ip", "netns", "exec", self.netns(machine), *command]

    def make(self) -> None:
        """Makes all namespaces and links."""
        for machine in (HUB, *MACHINES):
            _run("ip", "netns", "add", self.netns(machine))
        self._ip(HUB, "link add br0 type bridge")
        self._ip(HUB, "link set br0 up")
        for machine, address in ADDRESSES.items():
            far = f"peer name to-{machine} netns {self.netns(HUB)}"
            self._ip(machine, f"link add eth0 type veth {far}")
            self._ip(machine, f"address add {address}/24 dev eth0")
            self._ip(machine, "link set eth0 up")
            self._ip(machine, "link set lo up")
            self._ip(HUB, f"link set to-{machine} master br0 up")

    def remove(self) -> None:
        """Removes the namespaces with all that is in them."""
        for machine in (HUB, *MACHINES):
            _run("ip", "netns", "del", self.netns(machine), check=False)

    def enter(self, machine: str) -> None:
        """Moves this thread, and those that it starts later, to a machine."""
        with open(f"/run/netns/{self.netns(machine)}") as target:
            assert _libc.setns(target.fileno(), CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())

    def cut(self, ways: Iterable[Way]) -> None:
        """Drops all frames that go these ways, and no others."""
        rules = "".join(f'iifname "to-{here}" oifname "to-{there}" drop\n' for here, there in ways)
        table = f"table bridge cut {{ chain forward {{ type filter hook forward priority 0;\n{rules}}}\n}}\n"
        command = self.command(HUB, "nft", "-f", "-")
        subprocess.run(
            command, input=f"table bridge cut\ndelete table bridge cut\n{table}".encode(), check=True
        )

    def unplug(self, machine: str) -> None:
        """Takes the carrier away from a machine."""
        self._ip(HUB, f"link set to-{machine} down")

    def heal(self) -> None:
        """All machines reach each other again."""
        self.cut(())
        for machine in MACHINES:
            self._ip(HUB, f"link set to-{machine} up")

    def _ip(self, machine: str, arguments: str) -> None:
        _run("ip", "-n", self.netns(machine), *arguments.split())


def both_ways(here: str, *there: str) -> list[Way]:
    """All ways between a machine and others."""
    return [way for each in there for way in ((here, each), (each, here))]


class Database:
    """PostgreSQL on the machine `db`, with its data in a directory of its own."""

    url = f"postgresql://postgres@{ADDRESSES['db']}/postgres"

    def __init__(self, net: Net) -> None:
        self._net = net
        found = postgres.programs()
        assert found is not None, "no PostgreSQL server (apt install postgresql)"
        self._programs = found
        self._directory = Path(tempfile.mkdtemp(prefix="clarion-ha-pg-", dir="/tmp"))
        self._data = self._directory / "data"
        self._process: Process | None = None
        shutil.chown(self._directory, "postgres")
        _run(
            *self._as_postgres("initdb", "-D", str(self._data), "-U", "postgres", "-A", "trust", "--no-sync")
        )
        with (self._data / "pg_hba.conf").open("a") as rules:
            rules.write("host all all 10.77.0.0/24 trust\n")

    def start(self) -> None:
        """Starts or restarts the server; a killed one's children may hold its memory for a while."""

        def serves() -> bool:
            if self._process is None or self._process.child.poll() is not None:
                options = ["-c", f"listen_addresses={ADDRESSES['db']}", "-c", "max_connections=60"]
                options += ["-c", f"unix_socket_directories={self._directory}"]
                command = self._as_postgres("postgres", "-D", str(self._data), *options)
                self._process = Process(self._net.command("db", *command), self._directory / "log")
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.url, connect_timeout=2).close()
                return True
            return False

        wait_until(serves, "PostgreSQL serves", PATIENCE_S)

    def kill(self) -> None:
        """kill -9 of the postmaster; its children end by themselves."""
        assert self._process is not None
        self._process.kill()

    def remove(self) -> None:
        """Stops the server at once and removes its data."""
        if self._process is not None and self._process.child.poll() is None:
            self._process.child.send_signal(signal.SIGQUIT)
            self._process.child.wait(PATIENCE_S)
        shutil.rmtree(self._directory, ignore_errors=True)

    def _as_postgres(self, program: str, *arguments: str) -> list[str]:
        user = ["--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=QUIT"]
        return ["setpriv", *user, str(self._programs / program), *arguments]


class Controller:
    """`clarion controller serve` on a machine, always with the same name, address and election id."""

    def __init__(self, net: Net, directory: Path, machine: str, election_id: int) -> None:
        self.machine = machine
        self.address = f"{ADDRESSES[machine]}:8080"
        self.log = directory / f"controller-{machine}.log"
        self._command = net.command(
            machine, *CLARION, "controller", "serve", "--store", Database.url, "--listen", self.address,
            "--name", machine, "--election-id", str(election_id), "--insecure-http", "--no-dashboard",
            "--no-experiments", "--no-tuner", "--requests-per-minute", "100000000",
            *in_the_clear("controller"),
        )  # fmt: skip
        self.process: Process | None = None

    def start(self) -> None:
        """Starts or restarts it."""
        self.process = Process(self._command, self.log)
        self.process.await_text("API at")

    def kill(self) -> None:
        """kill -9."""
        assert self.process is not None
        self.process.kill()

    def signal(self, number: signal.Signals) -> None:
        """Stops its clock with SIGSTOP, and lets it run on with SIGCONT."""
        assert self.process is not None
        self.process.child.send_signal(number)

    def stop(self) -> None:
        """Ends it, stopped or not."""
        if self.process is not None:
            self.process.kill()


class Agent:
    """Two embedded switches behind an agent that writes down who is primary and who writes."""

    address = f"{ADDRESSES['sw']}:9559"

    def __init__(self, net: Net, directory: Path, config: Path) -> None:
        self.trace = directory / "trace"
        self._directory = directory
        self._command = net.command(
            "sw", "env", f"TMPDIR={directory}", f"CLARION_TRACE={self.trace}",
            sys.executable, str(AGENT), "switch", "serve", "--config", str(config),
            "--listen", self.address, *in_the_clear("switch"),
        )  # fmt: skip
        self._process: Process | None = None

    def start(self) -> None:
        """Starts or restarts agent and switches."""
        self._process = Process(self._command, self._directory / "agent.log")
        self._process.await_text("serving P4Runtime")

    def kill(self) -> None:
        """kill -9 of the agent; its switches die with it."""
        assert self._process is not None
        self._process.kill()

    def stop(self) -> None:
        """Ends it."""
        if self._process is not None:
            self._process.stop()


def in_the_clear(program: str) -> Sequence[str]:
    """Options of `clarion PROGRAM serve` for P4Runtime without TLS between machines."""
    options = {"controller": "--insecure-p4runtime", "switch": "--insecure"}
    return [options[program]]


@contextlib.contextmanager
def network() -> Iterator[Net]:
    """The namespaces, removed in any case; this thread is on the machine `cl` meanwhile."""
    net = Net()
    with open("/proc/thread-self/ns/net") as home:
        try:
            net.make()
            net.enter("cl")
            yield net
        finally:
            assert _libc.setns(home.fileno(), CLONE_NEWNET) == 0
            net.remove()


def _run(*command: str, check: bool = True) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, cwd="/")
    assert not check or done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"
