# SPDX-License-Identifier: Apache-2.0
"""The servers under test. Each device has two ports, wired to each other."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from clarion_contract import pipeline
from clarion_lab.machine import bmv2_installation
from conformance.p4runtime.peer import Lab
from integration.agent_net import DEADLINE_S, SWITCH, Json, switch_and_agent
from integration.waiting import wait_until

QUICK_S = 2.0  # patience where a server is known to say nothing
DEVICES_PER_CHECK = 2


class Server(Protocol):
    """A P4Runtime server."""

    def lab(self, *, silent: bool) -> contextlib.AbstractContextManager[Lab]:
        """A device that no controller has spoken to. `silent`: the server is known not to answer."""

    def stop(self) -> None:
        """Ends what has been started."""


class Agent:
    """`clarion switch serve` with a clarion-switch of so many devices that each check has its own."""

    @staticmethod
    def fault() -> str | None:
        """Why it cannot run here."""
        return None if SWITCH.exists() else f"{SWITCH}: not built"

    def __init__(self, directory: Path, checks: int) -> None:
        self._started = contextlib.ExitStack()
        switches = [_switch(f"s{number}") for number in range(1, checks * DEVICES_PER_CHECK + 1)]
        document: Json = {"lldp": False, "switches": switches}
        _, agent = self._started.enter_context(switch_and_agent(directory, document=document))
        self._address = agent.address
        self._unused = iter(range(1, len(switches) + 1))

    @contextlib.contextmanager
    def lab(self, *, silent: bool) -> Iterator[Lab]:
        devices = [next(self._unused) for _ in range(DEVICES_PER_CHECK)]
        with contextlib.closing(Lab(self._address, devices, QUICK_S if silent else DEADLINE_S)) as lab:
            yield lab

    def stop(self) -> None:
        self._started.close()


class SimpleSwitchGrpc:
    """simple_switch_grpc, a process for each check, in a network namespace of its own."""

    # Without IPv6 no frames but those of the check are in the namespace.
    SETUP = (
        "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6 && ip link add p1 type veth peer name p2 && "
        "ip link set lo up && ip link set p1 up && ip link set p2 up && exec "
    )

    @staticmethod
    def fault() -> str | None:
        """Why it cannot run here."""
        fault = bmv2_installation.fault()
        if fault is not None:
            return f"{bmv2_installation.PROGRAM}: {fault}"
        done = subprocess.run(["unshare", "-rn", "true"], capture_output=True, text=True, check=False)
        return done.stderr.strip() or None

    def __init__(self, _directory: Path, _checks: int) -> None:
        self._config = (pipeline.directory() / pipeline.PROGRAM).read_bytes()

    @contextlib.contextmanager
    def lab(self, *, silent: bool) -> Iterator[Lab]:
        with tempfile.TemporaryDirectory() as made, self._started(Path(made)) as address:
            lab = Lab(address, [1], QUICK_S if silent else DEADLINE_S, self._config)
            with contextlib.closing(lab):
                yield lab

    @contextlib.contextmanager
    def _started(self, directory: Path) -> Iterator[str]:
        place = directory / "grpc.sock"  # a path that is short enough
        command = (
            f"{bmv2_installation.PROGRAM} --no-p4 --device-id 1 -i 1@p1 -i 2@p2 --thrift-port 9090 "
            f"--notifications-addr ipc://{directory}/notices.ipc --log-console --log-level error "
            f"-- --grpc-server-addr unix:{place} --cpu-port 63"
        )
        with (directory / "switch.log").open("wb") as log:
            child = subprocess.Popen(
                ["unshare", "-rn", "sh", "-c", self.SETUP + command], stdout=log, stderr=log
            )
        try:
            wait_until(lambda: _listens(place) or child.poll() is not None, f"{place}", DEADLINE_S)
            assert child.poll() is None, (directory / "switch.log").read_text()
            yield f"unix:{place}"
        finally:
            child.kill()
            child.wait()

    def stop(self) -> None:
        """There is nothing that outlives a check."""


SERVERS: dict[str, type[Agent] | type[SimpleSwitchGrpc]] = {
    "agent": Agent,
    "simple_switch_grpc": SimpleSwitchGrpc,
}


def _listens(place: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as caller:
        return caller.connect_ex(str(place)) == 0


def _switch(name: str) -> Json:
    ports = [
        {"name": "a", "peer": f"{name}:b", "rate_bps": 100_000_000},
        {"name": "b", "peer": f"{name}:a", "rate_bps": 100_000_000},
    ]
    return {"name": name, "ports": ports}
