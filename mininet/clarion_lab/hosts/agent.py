# SPDX-License-Identifier: Apache-2.0
"""clarion-host on the hosts of a run: attach, per-flow statistics, detach."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Sequence
from typing import Any

from clarion_base import paths, processes
from clarion_base.errors import RunFailedError
from clarion_lab.machine import children
from clarion_lab.machine.attachments import attachments
from clarion_lab.machine.state import RunState
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Network, PlannedHost, wire_to

FlowKey = tuple[str, int, str, int]  # source, source port, destination, destination port


def attach_commands(scenario: Scenario, network: Network) -> list[tuple[PlannedHost, list[str]]]:
    """The options of `clarion-host attach`, without the namespace, for every host that carries the shim."""
    commands: dict[str, tuple[PlannedHost, list[str]]] = {}
    for flow, ends in zip(scenario.flows, network.endpoints, strict=True):
        if scenario.proxy is not None and scenario.proxy.uses_shim:
            for host in (ends.sender, ends.receiver):
                commands[host.name] = (host, ["--tags", "on", *_wire(scenario, host)])
        if not flow.uses_agent:
            continue
        options = ["--tags", "on" if flow.tags else "off"]
        if flow.algorithm.needs_agent:
            options += ["--cc", flow.algorithm.kernel]
            for key, value in flow.params.items():
                options += ["--set", f"{key}={value}"]
        for host in (ends.sender,) if flow.one_sided else (ends.sender, ends.receiver):
            commands[host.name] = (host, [*options, *_wire(scenario, host)])
    return list(commands.values())


def _wire(scenario: Scenario, host: PlannedHost) -> list[str]:
    wire = wire_to(host.switch, scenario.access.wire, scenario)
    return ["--wire"] if wire == "declared" else []


class Agent:
    """The shim on all hosts that need it, and the stream of its statistics."""

    def __init__(self, state: RunState, interval_ms: int) -> None:
        self._state = state
        self._interval_ms = interval_ms
        self._program = ""
        self._attached: list[tuple[str, str]] = []
        self._stats: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self._older: set[int] = set()  # connections from before this run, which the agent remembers
        self.commands: list[str] = []

    def attach(self, plans: Sequence[tuple[PlannedHost, list[str]]], pids: dict[str, int]) -> None:
        """Attaches every host, then starts the statistics; RunFailedError quotes the agent."""
        if not plans:
            return
        self._program = paths.binary("clarion-host")
        for host, options in plans:
            netns = f"pid:{pids[host.name]}"
            command = ["clarion-host", "attach", "--netns", netns, "--dev", host.device, *options]
            self._state.attached(netns, host.device)
            self._attached.append((netns, host.device))
            processes.run_all([(host.name, [self._program, *command[1:]])])
            self.commands.append(" ".join(command))
        self._older = {flow["cookie"] for flow in self._now()["flows"]}
        self._stats = children.spawn(
            self._state,
            "clarion-host stats",
            [self._program, "stats", "--json", "--interval-ms", str(self._interval_ms)],
            stdout=subprocess.PIPE,
        )
        assert self._stats.stdout is not None
        os.set_blocking(self._stats.stdout.fileno(), False)

    def latest(self) -> dict[FlowKey, dict[str, Any]]:
        """The newest complete sample since the last call, by flow; empty if there is none."""
        if self._stats is None or self._stats.stdout is None:
            return {}
        while chunk := self._stats.stdout.read(1 << 20):
            self._buffer += chunk
        if chunk == b"" and self._stats.poll() is not None:
            raise RunFailedError(f"clarion-host stats: stopped with status {self._stats.returncode}")
        lines = self._buffer.split(b"\n")
        self._buffer = lines[-1]
        if len(lines) < 2:
            return {}
        return self._by_flow(json.loads(lines[-2]))

    def final(self) -> dict[FlowKey, dict[str, Any]]:
        """A last sample, closed flows included."""
        if not self._attached or not self._program:
            return {}
        return self._by_flow(self._now())

    def _now(self) -> dict[str, Any]:
        output = processes.run_all([("stats", [self._program, "stats", "--json"])])[0]
        sample: dict[str, Any] = json.loads(output)
        return sample

    def _by_flow(self, sample: dict[str, Any]) -> dict[FlowKey, dict[str, Any]]:
        return by_flow([flow for flow in sample["flows"] if flow["cookie"] not in self._older])

    def detach(self) -> None:
        """Stops the statistics and takes the shim off all hosts."""
        if self._stats is not None:
            processes.stop([self._stats])
            if self._stats.stdout:
                self._stats.stdout.close()
        attached, self._attached = self._attached, []
        if not attached:
            return
        with contextlib.suppress(RunFailedError):  # what stays attached stays recorded, for cleanup
            processes.run_all(
                [
                    (f"detach {device}", [self._program, "detach", "--netns", netns, "--dev", device])
                    for netns, device in attached
                ]
            )
        with contextlib.suppress(RunFailedError):
            for netns, device in set(attached) - attachments(self._program):
                self._state.detached(netns, device)


def by_flow(flows: Sequence[dict[str, Any]]) -> dict[FlowKey, dict[str, Any]]:
    """The flow records of clarion-host, keyed by the connection's ends."""
    return {(flow["src"], flow["sport"], flow["dst"], flow["dport"]): flow for flow in flows}
