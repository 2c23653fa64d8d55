# SPDX-License-Identifier: Apache-2.0
"""The flows' traffic: a sender and a receiver per flow (programs.py), started so that data begins at the
flow's start. Both ends' ports are fixed, so that every observer finds the connection.
"""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clarion_base import processes
from clarion_base.errors import RunFailedError
from clarion_lab.hosts import applications, programs
from clarion_lab.machine import children
from clarion_lab.machine.state import RunState
from clarion_lab.recording import files
from clarion_lab.recording.recording import FlowSample
from clarion_lab.scenario.flows import Flow
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Endpoints, Network

LISTEN_TIMEOUT_S = 10.0


class Traffic:
    """All flows of a run; times are microseconds since the run's start, negative before it."""

    def __init__(
        self, scenario: Scenario, network: Network, state: RunState, pids: dict[str, int], directory: Path
    ) -> None:
        self._scenario = scenario
        self._network = network
        self._state = state
        self._pids = pids
        self._directory = directory.resolve() / files.TRAFFIC  # for programs that start elsewhere
        self._servers: list[subprocess.Popen[bytes]] = []
        self._clients: dict[int, subprocess.Popen[bytes]] = {}
        self._waiting = sorted(scenario.flows, key=self._launch_us)
        self._ended: set[int] = set()  # completed or paused
        self._sessions = {
            flow.number: applications.session(scenario, flow, self._ends(flow), state.scratch())
            for flow in scenario.flows
            if flow.application is not None
        }
        self._sent: dict[int, str] = {}  # by flow with an application: the SHA-256 of its file
        self.commands: list[str] = []

    @property
    def first_launch_us(self) -> int:
        """When the first client has to be launched, on the run's clock (negative)."""
        return min(0, min(map(self._launch_us, self._waiting)))

    def listen(self) -> None:
        """Starts the receivers and servers, and waits until all of them listen."""
        self._directory.mkdir(exist_ok=True)
        for number, session in self._sessions.items():
            self._sent[number] = session.prepare(self._scenario.seed)
        for flow in self._scenario.flows:
            host, _ = self._listener(flow)
            self._servers.append(self._spawn_server(flow, self._pids[host]))
        deadline = time.monotonic() + LISTEN_TIMEOUT_S
        for flow, server in zip(self._scenario.flows, self._servers, strict=True):
            host, port = self._listener(flow)
            while not _listens(self._pids[host], port, flow.udp is not None):
                if server.poll() is not None or time.monotonic() > deadline:
                    raise RunFailedError(self._deaf(flow, port))
                time.sleep(0.01)

    def _listener(self, flow: Flow) -> tuple[str, int]:
        """The host and the port where a flow's receiver or server listens."""
        session = self._sessions.get(flow.number)
        if session is not None:
            return session.server.name, session.control_port
        ends = self._ends(flow)
        return ends.receiver.name, ends.dport

    def _spawn_server(self, flow: Flow, pid: int) -> subprocess.Popen[bytes]:
        session = self._sessions.get(flow.number)
        if session is None:
            command = programs.receiver(flow, self._ends(flow))
            return self._spawn(flow, "server", pid, command, programs.kind(flow) != "iperf3")
        command = session.server_command()
        self.commands.append(f"{session.server.name}: {' '.join(command)}")
        with session.server_log.open("wb") as log:
            name = f"{programs.kind(flow)} server {flow.number + 1}"
            inside = processes.in_namespace(pid, command)
            return children.spawn(self._state, name, inside, stdout=log, stderr=log)

    def _deaf(self, flow: Flow, port: int) -> str:
        session = self._sessions.get(flow.number)
        if session is None:
            return f"flow {flow.name}: its receiver does not listen on port {port}"
        said = processes.last_line(session.server_log.read_text(errors="replace"))
        return f"flow {flow.name}: its server does not listen on port {port}{': ' if said else ''}{said}"

    def advance(self, now_us: int) -> None:
        """Launches the clients that are due, pauses those whose time is over, and notices those that ended.

        A client is paused, not ended: iperf3 would close the connection over the packets that are still under
        way, and the last losses would never be reported. Datagrams end by themselves, an application is
        ended. RunFailedError if a client failed.
        """
        while self._waiting and self._launch_us(self._waiting[0]) <= now_us:
            self._launch(self._waiting.pop(0), now_us)
        for number, client in self._clients.items():
            flow = self._scenario.flows[number]
            if number in self._ended:
                continue
            if client.poll() is not None:
                self._ended.add(number)
                if client.returncode != 0:
                    raise RunFailedError(self._failure(flow))
            elif now_us >= flow.stop_us and flow.udp is None:
                client.send_signal(signal.SIGSTOP if flow.application is None else signal.SIGTERM)
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
        for flow, server in zip(self._scenario.flows, self._servers, strict=False):
            if flow.application is not None:
                server.kill()  # which ends all in its process namespace, and waits for nobody
        processes.stop([*self._clients.values(), *self._servers])

    def reports(self) -> dict[int, dict[str, Any]]:
        """The programs' own totals per flow, as far as they came to report them."""
        reports = {}
        for flow in self._scenario.flows:
            report = self._report(flow)
            if flow.application is not None:
                continue
            if programs.kind(flow) != "iperf3" and "seconds" in report:
                received = self._received(flow).get("received_bytes", 0)
                totals = {key: report[key] for key in ("sent_bytes", "seconds")}
                reports[flow.number] = {**totals, "received_bytes": received, "retransmits": None}
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
            if flow.application is not None:
                received = self._report(flow)
            if received.get("received_bytes") == flow.size_bytes and "last_byte_ns" in received:
                found[flow.number] = received["last_byte_ns"] // 1000
        return found

    @property
    def sessions(self) -> Mapping[int, applications.Session]:
        """The applications, by flow."""
        return self._sessions

    def outcomes(self, zero_us: int) -> dict[int, dict[str, Any]]:
        """What came of the applications, by flow; `zero_us` is the run's start on CLOCK_MONOTONIC."""
        return {
            number: applications.outcome(
                session, self._report(session.flow), self._sent.get(number, ""), zero_us
            )
            for number, session in self._sessions.items()
        }

    def datagram_samples(self, zero_us: int) -> list[FlowSample]:
        """What has come of each flow of datagrams, over time; `zero_us` is the run's start on
        CLOCK_MONOTONIC.
        """
        nothing = (0,) * (len(FlowSample._fields) - 5)
        return [
            FlowSample._make(
                (line["time_ns"] // 1000 - zero_us, flow.number, received, received, *nothing, received)
            )
            for flow in self._scenario.flows
            if flow.udp is not None
            for line in self._lines(flow, "server")
            if (received := line.get("received_bytes")) is not None
        ]

    def _launch_us(self, flow: Flow) -> int:
        return flow.start_us - programs.lead_us(self._scenario, flow)

    def _launch(self, flow: Flow, now_us: int) -> None:
        ends = self._ends(flow)
        burst_file = self._directory / f"flow-{flow.number + 1}-bursts.json"
        session = self._sessions.get(flow.number)
        if session is not None:
            at_ns = time.monotonic_ns() + (flow.start_us - now_us) * 1000
            command = session.client_command(at_ns)
            self._start_client(flow, session.client.name, command)
            return
        if flow.bursts:
            burst_file.write_text(json.dumps(flow.bursts))
        zero_ns = time.monotonic_ns() - now_us * 1000
        command = programs.sender(self._scenario, flow, ends, zero_ns, burst_file)
        self._start_client(flow, ends.sender.name, command)

    def _start_client(self, flow: Flow, host: str, command: list[str]) -> None:
        self._clients[flow.number] = self._spawn(flow, "client", self._pids[host], command, True)
        self.commands.append(f"{host}: {' '.join(command)}")

    def _spawn(
        self, flow: Flow, role: str, pid: int, command: list[str], keep: bool
    ) -> subprocess.Popen[bytes]:
        name = f"{programs.kind(flow)} {role} {flow.number + 1}"
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
        """What a program said last."""
        lines = self._lines(flow, role)
        return lines[-1] if lines else {}

    def _lines(self, flow: Flow, role: str) -> list[dict[str, Any]]:
        """All that it said: iperf3 one document, others one in each line. A torn last one is skipped."""
        found: list[dict[str, Any]] = []
        try:
            text = self._file(flow, role).read_text()
            documents = [text] if programs.kind(flow) == "iperf3" else text.splitlines()
            for document in documents:
                said = json.loads(document)
                found += [said] if isinstance(said, dict) else []
        except (OSError, ValueError):
            pass
        return found

    def _failure(self, flow: Flow) -> str:
        said = self._report(flow).get("error", "stopped without a reason")
        who = "sender" if flow.application is None else "client"
        return f"flow {flow.name}: its {who}: {said}"


def _listens(pid: int, port: int, udp: bool) -> bool:
    """Whether a socket listens on the port in the namespace of a process; one of UDP is bound, "closed"."""
    wanted = f":{port:04X}"
    tables, state = (("udp", "udp6"), "07") if udp else (("tcp", "tcp6"), "0A")
    for table in tables:
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == state and fields[1].endswith(wanted):
                return True
    return False
