# SPDX-License-Identifier: Apache-2.0
"""The flows' traffic: a sender and a receiver per flow, started so that data begins at the flow's start:
iperf3, and for a transfer of a given size a program that knows when its last byte came (transfer.py).

iperf3 talks over a control connection first, which takes a handful of round trips before the first byte of
data; the client is launched that much earlier. Both ends' ports are fixed, so that every observer finds the
connection.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from clarion_base import processes
from clarion_base.errors import RunFailedError
from clarion_lab.hosts import transfer
from clarion_lab.machine import children
from clarion_lab.machine.state import RunState
from clarion_lab.recording import files
from clarion_lab.scenario.flows import Flow
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Endpoints, Network

TRANSFER = (sys.executable, str(Path(transfer.__file__)))
CONTROL_ROUND_TRIPS = 5  # measured: connect, cookie, parameters, data connection, start
LAUNCH_US = 30_000  # to start the program itself
LISTEN_TIMEOUT_S = 10.0
COOKIE_BYTES = 37  # with which iperf3 opens the data connection
TRANSFER_LEAD_US = 700_000  # to start Python twice on a busy machine, beside two round trips
SPARE_S = 60  # a client's own duration is this much longer than the flow's; see Traffic.advance


def lead_us(scenario: Scenario, flow: Flow) -> int:
    """How long before its first data a flow's client is launched."""
    if flow.size_bytes is not None:
        return 2 * scenario.path_rtt_us(flow) + TRANSFER_LEAD_US
    return CONTROL_ROUND_TRIPS * scenario.path_rtt_us(flow) + LAUNCH_US


class Traffic:
    """All flows of a run; `clock` gives microseconds since the run's start and may be negative before it."""

    def __init__(
        self, scenario: Scenario, network: Network, state: RunState, pids: dict[str, int], directory: Path
    ) -> None:
        self._scenario = scenario
        self._network = network
        self._state = state
        self._pids = pids
        self._directory = directory / files.TRAFFIC
        self._servers: list[subprocess.Popen[bytes]] = []
        self._clients: dict[int, subprocess.Popen[bytes]] = {}
        self._waiting = sorted(scenario.flows, key=lambda flow: flow.start_us - lead_us(scenario, flow))
        self._ended: set[int] = set()  # completed or paused
        self.commands: list[str] = []

    @property
    def first_launch_us(self) -> int:
        """When the first client has to be launched, on the run's clock (negative)."""
        return min(0, min(flow.start_us - lead_us(self._scenario, flow) for flow in self._waiting))

    def listen(self) -> None:
        """Starts the receivers and waits until all of them listen."""
        self._directory.mkdir(exist_ok=True)
        for flow in self._scenario.flows:
            ends = self._ends(flow)
            sized = flow.size_bytes is not None
            command = ["iperf3", "--server", "--one-off", "--port", str(ends.dport)]
            if sized:
                command = [*TRANSFER, "receive", "--port", str(ends.dport)]
            self._servers.append(self._spawn(flow, "server", self._pids[ends.receiver.name], command, sized))
        deadline = time.monotonic() + LISTEN_TIMEOUT_S
        for flow in self._scenario.flows:
            ends = self._ends(flow)
            while not _listens(self._pids[ends.receiver.name], ends.dport):
                if time.monotonic() > deadline:
                    raise RunFailedError(
                        f"flow {flow.name}: its receiver does not listen on port {ends.dport}"
                    )
                time.sleep(0.01)

    def advance(self, now_us: int) -> None:
        """Launches the clients that are due, pauses those whose time is over, and notices those that ended.

        A client is paused, not ended: iperf3 would close the connection over the packets that are still under
        way, and the last losses would never be reported. RunFailedError if a client failed.
        """
        while (
            self._waiting and self._waiting[0].start_us - lead_us(self._scenario, self._waiting[0]) <= now_us
        ):
            self._launch(self._waiting.pop(0), now_us)
        for number, client in self._clients.items():
            flow = self._scenario.flows[number]
            if number in self._ended:
                continue
            if client.poll() is not None:
                self._ended.add(number)
                if client.returncode != 0:
                    raise RunFailedError(self._failure(flow))
            elif now_us >= flow.stop_us:
                client.send_signal(signal.SIGSTOP)
                self._ended.add(number)

    @property
    def all_ended(self) -> bool:
        """Whether every flow has sent what it had to send."""
        return not self._waiting and len(self._ended) == len(self._scenario.flows)

    def stop(self) -> None:
        """Ends all clients, which then write their reports, and all servers."""
        for client in self._clients.values():
            if client.poll() is None:
                client.send_signal(signal.SIGTERM)
                client.send_signal(signal.SIGCONT)
        processes.stop([*self._clients.values(), *self._servers])

    def reports(self) -> dict[int, dict[str, Any]]:
        """The programs' own totals per flow, as far as they came to report them."""
        reports = {}
        for flow in self._scenario.flows:
            report = self._report(flow)
            if flow.size_bytes is not None and "seconds" in report:
                received = self._received(flow).get("received_bytes", 0)
                reports[flow.number] = {**report, "received_bytes": received, "retransmits": None}
            end = report.get("end", {})
            if "sum_sent" in end and "sum_received" in end:
                reports[flow.number] = {
                    "sent_bytes": end["sum_sent"].get("bytes"),
                    "received_bytes": end["sum_received"].get("bytes"),
                    "retransmits": end["sum_sent"].get("retransmits"),
                    "seconds": end["sum_sent"].get("seconds"),
                }
        return reports

    def last_bytes_us(self) -> dict[int, int]:
        """When the transfers that are complete had their last byte at the receiver, on CLOCK_MONOTONIC."""
        found = {}
        for flow in self._scenario.flows:
            received = self._received(flow) if flow.size_bytes is not None else {}
            if received.get("received_bytes") == flow.size_bytes and "last_byte_ns" in received:
                found[flow.number] = received["last_byte_ns"] // 1000
        return found

    def _launch(self, flow: Flow, now_us: int) -> None:
        ends = self._ends(flow)
        if flow.size_bytes is None:
            command = self._iperf3(flow, ends)
        else:
            at_ns = time.monotonic_ns() + (flow.start_us - now_us) * 1000
            command = [*TRANSFER, "send", "--to", ends.receiver.address, "--law", flow.algorithm.kernel]
            for option, value in (
                ("port", ends.dport),
                ("source-port", ends.sport),
                ("bytes", flow.size_bytes),
                ("at-ns", at_ns),
            ):
                command += [f"--{option}", str(value)]
        self._clients[flow.number] = self._spawn(flow, "client", self._pids[ends.sender.name], command, True)
        self.commands.append(f"{ends.sender.name}: {' '.join(command)}")

    def _iperf3(self, flow: Flow, ends: Endpoints) -> list[str]:
        return [
            "iperf3",
            "--client",
            ends.receiver.address,
            "--port",
            str(ends.dport),
            "--cport",
            str(ends.sport),
            "--congestion",
            flow.algorithm.kernel,
            "--interval",
            "0",
            "--json",
            "--time",
            str((flow.stop_us - flow.start_us) // 1_000_000 + SPARE_S),
        ]

    def _spawn(
        self, flow: Flow, role: str, pid: int, command: list[str], keep: bool
    ) -> subprocess.Popen[bytes]:
        name = f"{'transfer' if flow.size_bytes is not None else 'iperf3'} {role} {flow.number + 1}"
        if not keep:
            return children.spawn(self._state, name, processes.in_namespace(pid, command))
        with self._file(flow, role).open("wb") as output:
            return children.spawn(self._state, name, processes.in_namespace(pid, command), stdout=output)

    def _ends(self, flow: Flow) -> Endpoints:
        return self._network.endpoints[flow.number]

    def _file(self, flow: Flow, role: str) -> Path:
        return self._directory / f"flow-{flow.number + 1}{'-received' if role == 'server' else ''}.json"

    def _received(self, flow: Flow) -> dict[str, Any]:
        return self._report(flow, "server")

    def _report(self, flow: Flow, role: str = "client") -> dict[str, Any]:
        try:
            report = json.loads(self._file(flow, role).read_text())
        except (OSError, ValueError):
            return {}
        return report if isinstance(report, dict) else {}

    def _failure(self, flow: Flow) -> str:
        said = self._report(flow).get("error", "stopped without a reason")
        return f"flow {flow.name}: its sender: {said}"


def _listens(pid: int, port: int) -> bool:
    """Whether a TCP socket listens on the port in the namespace of a process."""
    wanted = f":{port:04X}"
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[1].endswith(wanted):
                return True
    return False
