# SPDX-License-Identifier: Apache-2.0
"""The engine `sim`: switches, links and hosts in virtual time, in one process of an ordinary user."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clarion_base import paths, processes
from clarion_base.errors import RunFailedError, UserError
from clarion_base.faults import ScenarioError
from clarion_lab.engines import truth
from clarion_lab.engines.drain import drain_us
from clarion_lab.hosts import tuning
from clarion_lab.recording.causes import LOSSES
from clarion_lab.recording.progress import Progress
from clarion_lab.recording.recording import SAMPLE_US, FlowSample, PortSample, QueueHistogram, Recording, Reduction
from clarion_lab.scenario.model import Flow, Scenario
from clarion_lab.scenario.topology import Network, PlannedHost, plan, switch_config, wire_to

if TYPE_CHECKING:
    from clarion_lab.controller.registration import Registrar

PROGRAM = "clarion-sim"
BEGINNING_US = 1_000_000  # what the switches' clock shows as a run starts
LEAD_ROUND_TRIPS = 3  # that a connection is open before its first data, as iperf3's is
LAWS = ("clarion_xcp", "clarion_boost", "clarion_fast", "reno", "cubic", "bbr")


class SimulationEngine:
    """Runs a scenario in clarion-sim."""

    name = "sim"

    def use_controller(self, registrar: Registrar) -> None:
        """UserError: virtual time waits for nobody."""
        raise UserError("--controller: engine sim runs in virtual time; use --engine emu")

    def check(self, scenario: Scenario) -> None:
        """Refuses senders and events that the simulator lacks."""
        for flow in scenario.flows:
            if flow.algorithm.kernel not in LAWS:
                reason = f"{flow.algorithm.name}: not in engine sim; use --engine emu"
                raise ScenarioError(scenario.name, ("flows",), reason)
        paths.binary(PROGRAM)

    @contextlib.contextmanager
    def session(self) -> Iterator[None]:
        """Nothing of the machine is taken."""
        yield

    def execute(self, scenario: Scenario, directory: Path, recording: Recording, progress: Progress) -> None:
        """One process, whose samples are taken as they come."""
        network = plan(scenario)
        config = directory / "simulation.json"
        config.write_text(json.dumps(simulation_config(scenario, network, directory), indent=1) + "\n")
        command = [paths.binary(PROGRAM), "--config", str(config)]
        recording.commands.append(" ".join([PROGRAM, *command[1:]]))
        log = directory / "simulation.log"
        with log.open("wb") as errors, subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors
        ) as process:
            try:
                _take_all(process, scenario, recording, progress)
                if process.wait() != 0:
                    raise processes.ended(process, PROGRAM, log)
            finally:
                process.kill()
        zero_us = BEGINNING_US + LEAD_ROUND_TRIPS * scenario.max_rtt_us
        for record in truth.read(directory / truth.LOG, network, zero_us):
            (recording.losses if record.cause in LOSSES else recording.incidents).append(record)


def _take_all(
    process: subprocess.Popen[bytes], scenario: Scenario, recording: Recording, progress: Progress
) -> None:
    assert process.stdout is not None
    recording.reductions = []
    for line in process.stdout:
        sample: dict[str, Any] = json.loads(line)
        if "finished_us" in sample:
            _take_end(sample, recording)
            return
        now_us = sample["time_us"]
        recording.flow_samples.extend(FlowSample(now_us, *row) for row in sample["flows"])
        recording.port_samples.extend(PortSample(now_us, *row) for row in sample["ports"])
        assert recording.reductions is not None
        for time_us, flow, *why in sample["reductions"]:
            law = scenario.flows[flow].algorithm.kernel
            recording.reductions.append(Reduction(time_us, flow, law, *why))
        recording.ended_us = min(now_us, scenario.duration_us)
        progress.check()
        progress.at(now_us, scenario.duration_us, recording)
    raise RunFailedError(f"{PROGRAM}: ended early")


def _take_end(end: dict[str, Any], recording: Recording) -> None:
    recording.finished_us.update({int(flow): at_us for flow, at_us in end["finished_us"].items()})
    recording.agent.update({int(flow): record for flow, record in end["agent"].items()})
    for port, latest_us in end["queue_hist"].items():
        recording.histograms[port] = QueueHistogram(
            end["queue_hist_lower_edges_bytes"], end["queue_hist_at_window_start"].get(port, []), latest_us
        )


def simulation_config(scenario: Scenario, network: Network, directory: Path) -> dict[str, Any]:
    """The configuration of clarion-sim."""
    config = switch_config(scenario, network, str(directory / truth.LOG))
    config["lldp"] = False
    return {
        "network": config,
        "hosts": [_host(scenario, network, host) for host in network.hosts],
        "flows": [_flow(scenario, network, flow) for flow in scenario.flows],
        "changes": _changes(network),
        "lead_us": LEAD_ROUND_TRIPS * scenario.max_rtt_us,
        "duration_us": scenario.duration_us,
        "measure_from_us": scenario.measure_from_us,
        "drain_us": drain_us(scenario),
        "sample_us": SAMPLE_US,
        "buffer_bytes": tuning.buffer_bytes(scenario),
        "ecn": scenario.ecn,
    }


def _host(scenario: Scenario, network: Network, host: PlannedHost) -> dict[str, Any]:
    pairs = zip(scenario.flows, network.endpoints, strict=True)
    flows = [flow for flow, ends in pairs if host in (ends.sender, ends.receiver)]
    wire = wire_to(host.switch, scenario.access.wire, scenario)
    return {
        "name": host.name,
        "port": f"{host.switch}:{host.port}",
        "address": host.address,
        "mac": host.mac,
        "shim": any(flow.uses_agent for flow in flows),
        "tags": any(flow.tags for flow in flows),
        "wire": wire == "declared",
    }


def _flow(scenario: Scenario, network: Network, flow: Flow) -> dict[str, Any]:
    ends = network.endpoints[flow.number]
    config: dict[str, Any] = {
        "sender": ends.sender.name,
        "receiver": ends.receiver.name,
        "sport": ends.sport,
        "dport": ends.dport,
        "law": flow.algorithm.kernel,
        "params": {name: int(value) for name, value in flow.params.items()},
        "start_us": flow.start_us,
        "stop_us": flow.stop_us,
    }
    return config | ({"size_bytes": flow.size_bytes} if flow.size_bytes is not None else {})


def _changes(network: Network) -> list[dict[str, Any]]:
    changes = [
        {"at_us": change.at_us, "command": {"cmd": "set", "port": f"{switch}:{port.name}", **change.settings}}
        for switch, ports in network.switches.items()
        for port in ports
        for change in port.changes
    ]
    restarts = [
        {
            "at_us": restart.at_us,
            "command": {"cmd": "restart", "switch": restart.switch, "down_us": restart.down_us},
        }
        for restart in network.restarts
    ]
    return [*changes, *restarts]
