# SPDX-License-Identifier: Apache-2.0
"""The tunnels of a run: Debian's openvpn, unmodified, in user space at both hosts of a pair, with a static
key of the run's own. TCP runs through it from end to end.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from clarion_base import processes
from clarion_base.errors import RunFailedError
from clarion_lab.hosts import tuning
from clarion_lab.machine import children
from clarion_lab.machine.state import RunState
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Network, PlannedHost
from clarion_lab.scenario.tunnel import PORT, inner_address

PROGRAM = "openvpn"
DEVICE = "clarion-tun"
READY = "Initialization Sequence Completed"
READY_S = 20.0  # beside round trips
READY_ROUND_TRIPS = 10
# Of its UDP socket and of its device, so that what comes in a burst is not lost there.
SOCKET_BYTES = 4 << 20
QUEUE_PACKETS = 20_000


def arguments(host: PlannedHost, peer: PlannedHost, key: Path) -> list[str]:
    """The command line of one end."""
    return [
        *("--dev", DEVICE, "--dev-type", "tun", "--proto", "udp"),
        *("--local", host.address, "--lport", str(PORT)),
        *("--remote", peer.address, "--rport", str(PORT)),
        *("--ifconfig", inner_address(host.address), inner_address(peer.address)),
        *("--secret", str(key), "--cipher", "AES-256-CBC", "--auth", "SHA256"),
        *("--sndbuf", str(SOCKET_BYTES), "--rcvbuf", str(SOCKET_BYTES), "--txqueuelen", str(QUEUE_PACKETS)),
        *("--ping", "1", "--verb", "1"),
    ]


class Tunnels:
    """All tunnels of a run; none where the scenario has none."""

    def __init__(
        self, scenario: Scenario, network: Network, state: RunState, pids: Mapping[str, int], directory: Path
    ) -> None:
        self._scenario = scenario
        self._network = network
        self._state = state
        self._pids = pids
        self._directory = directory
        self._running: dict[str, tuple[subprocess.Popen[bytes], Path]] = {}
        self.commands: list[str] = []

    def start(self) -> None:
        """Makes the key, starts both ends of each and waits until they have spoken. RunFailedError in the
        words of one that fails.
        """
        if not self._scenario.tunnel:
            return
        key = self._state.directory / "tunnel.key"
        processes.run_all([(f"{PROGRAM} --genkey", [PROGRAM, "--genkey", "secret", str(key)])])
        for host in self._network.hosts:
            self._spawn(host, arguments(host, self._network.neighbour(host), key))
        self._await_ready()
        processes.run_all(
            [
                (f"tuning {host.name}", processes.in_namespace(self._pids[host.name], ["sh", "-c", command]))
                for host in self._network.hosts
                for command in tuning.default_sender(self._scenario, host, DEVICE)
            ]
        )

    def check(self) -> None:
        """RunFailedError if one has died."""
        for name, (child, log) in self._running.items():
            if child.poll() is not None:
                raise processes.ended(child, f"{PROGRAM} {name}", log)

    def stop(self) -> None:
        """Ends all."""
        processes.stop([child for child, _ in self._running.values()])

    def _spawn(self, host: PlannedHost, options: list[str]) -> None:
        log = self._directory / f"tunnel-{host.name}.log"
        command = processes.in_namespace(self._pids[host.name], [PROGRAM, *options])
        with log.open("wb") as output:
            child = children.spawn(
                self._state, f"{PROGRAM} {host.name}", command, stdout=output, stderr=output
            )
        self._running[host.name] = child, log
        self.commands.append(f"{host.name}: {PROGRAM} {' '.join(options)}")

    def _await_ready(self) -> None:
        wait_s = READY_S + READY_ROUND_TRIPS * self._scenario.max_rtt_us / 1e6
        deadline_s = time.monotonic() + wait_s
        for name, (_, log) in self._running.items():
            while READY not in log.read_text(errors="replace"):
                self.check()
                if time.monotonic() > deadline_s:
                    raise RunFailedError(f"{PROGRAM} {name}: not ready after {wait_s:g} s; see {log}")
                time.sleep(0.02)
