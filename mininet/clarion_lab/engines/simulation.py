# SPDX-License-Identifier: Apache-2.0
"""The engine `sim`: switches, links and hosts in virtual time, in one process of an ordinary user."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clarion_base import paths, processes
from clarion_base.errors import UserError
from clarion_base.faults import Code, ScenarioError
from clarion_lab.engines import truth
from clarion_lab.engines.drain import drain_us
from clarion_lab.hosts import tuning
from clarion_lab.machine import requirements
from clarion_lab.recording.causes import LOSSES
from clarion_lab.recording.progress import Progress
from clarion_lab.recording.recording import (
    SAMPLE_US,
    FlowSample,
    LossRecord,
    PortSample,
    QueueHistogram,
    Recording,
    Reduction,
)
from clarion_lab.scenario.algorithms import MACHINES
from clarion_lab.scenario.flows import Flow
from clarion_lab.scenario.frames import MTU_BYTES
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Network, PlannedHost, plan, switch_config, wire_to

if TYPE_CHECKING:
    from clarion_lab.controller.registration import Registrar

PROGRAM = "clarion-sim"
CONFIG = "simulation.json"  # in the directory of the run, in which the program runs
BEGINNING_US = 1_000_000  # what the switches' clock shows as a run starts
LEAD_ROUND_TRIPS = 3  # that a connection is open before its first data, as iperf3's is


class SimulationEngine:
    """Runs a scenario in clarion-sim."""

    name = "sim"

    def use_controller(self, registrar: Registrar) -> None:
        """UserError: virtual time waits for nobody."""
        raise UserError("--controller: engine sim runs in virtual time; use --engine emu")

    def check(self, scenario: Scenario) -> None:
        """Refuses senders and events that the simulator lacks."""
        laws = _laws(paths.binary(PROGRAM))
        for flow in scenario.flows:
            is_machines = flow.algorithm.name.startswith(MACHINES)
            if flow.udp is None and (is_machines or flow.algorithm.kernel not in laws):
                reason = f"{flow.algorithm.name}: engine sim lacks this sender; use --engine emu"
                raise ScenarioError(scenario.name, ("flows",), reason)
        place = scenario.real_hosts_only
        if place is not None:
            reason = "engine sim has no real hosts; use --engine emu"
            raise ScenarioError(scenario.name, place, reason, Code.UNSUPPORTED)
        for index, restart in enumerate(scenario.restarts):
            if restart.switch is None:
                reason = "engine sim has no controller; use --engine emu"
                raise ScenarioError(scenario.name, ("restarts", index, "controller"), reason)
        _check_mtu(scenario)
        requirements.check_params(scenario)

    @contextlib.contextmanager
    def session(self) -> Iterator[None]:
        """Nothing of the machine is taken."""
        yield

    def execute(self, scenario: Scenario, directory: Path, recording: Recording, progress: Progress) -> None:
        """One process, whose samples are taken as they come."""
        network = plan(scenario)
        config = simulation_config(scenario, network, Path())  # wherever the run's files are moved
        (directory / CONFIG).write_text(json.dumps(config, indent=1) + "\n")
        command = [os.path.abspath(paths.binary(PROGRAM)), "--config", CONFIG]
        recording.commands.append(" ".join([PROGRAM, *command[1:]]))
        log = directory / "simulation.log"
        with log.open("wb") as errors:
            process = processes.background(command, stdout=subprocess.PIPE, stderr=errors, cwd=directory)
        try:
            with process:
                _take_all(process, log, scenario, network, recording, progress)
        finally:
            zero_us = BEGINNING_US + LEAD_ROUND_TRIPS * scenario.max_rtt_us
            for record in truth.read(directory / truth.LOG, network, zero_us):
                (recording.losses if record.cause in LOSSES else recording.incidents).append(record)


@lru_cache
def _laws(program: str) -> frozenset[str]:
    """The senders that the simulator has, by their names on a host."""
    return frozenset(processes.run_all([(PROGRAM, [program, "laws"])])[0].split())


def _check_mtu(scenario: Scenario) -> None:
    """Simulated hosts keep the size of their segments, whatever routers tell them."""
    for index, link in enumerate(scenario.bottlenecks):
        for direction in ("forward", "reverse"):
            mtu = scenario.hazards_of(link, direction).settings.get("mtu", {})
            if mtu.get("icmp") and mtu["bytes"] < MTU_BYTES:
                place = (*scenario.bottleneck_path(index), "hazards")
                reason = (
                    f"mtu: below {MTU_BYTES} with icmp, engine sim's hosts do not adapt; use --engine emu"
                )
                raise ScenarioError(scenario.name, place, reason)


def _take_all(
    process: subprocess.Popen[bytes],
    log: Path,
    scenario: Scenario,
    network: Network,
    recording: Recording,
    progress: Progress,
) -> None:
    """Until the process has told the end. Who stops the run has the process tell it at its next sample."""
    assert process.stdout is not None
    recording.reductions = []
    is_complete = False
    try:
        for line in process.stdout:
            is_complete = _take(json.loads(line), scenario, network, recording)
            progress.check()
            progress.at(recording.ended_us, scenario.duration_us, recording)
    except BaseException:
        process.terminate()
        for line in process.stdout:
            _take(json.loads(line), scenario, network, recording)
        raise
    if process.wait() != 0 or not is_complete:
        raise processes.ended(process, PROGRAM, log)


def _take(line: dict[str, Any], scenario: Scenario, network: Network, recording: Recording) -> bool:
    """A sample, or the end: True then."""
    if "finished_us" in line:
        _take_end(line, scenario, recording)
        return True
    assert recording.reductions is not None
    now_us = line["time_us"]
    recording.flow_samples.extend(FlowSample(now_us, *row) for row in line["flows"])
    recording.port_samples.extend(PortSample(now_us, *row) for row in line["ports"])
    for time_us, flow, *why in line["reductions"]:
        law = scenario.flows[flow].algorithm.kernel
        recording.reductions.append(Reduction(time_us, flow, law, *why))
    for time_us, flow in line["local_drops"]:
        device = network.endpoints[flow].sender.device
        recording.incidents.append(LossRecord(time_us, flow, True, "local", device, 0, 0, 0))
    recording.ended_us = min(now_us, scenario.duration_us)
    return False


def _take_end(end: dict[str, Any], scenario: Scenario, recording: Recording) -> None:
    for number, packets in end["sent_datagrams"].items():
        udp = scenario.flows[int(number)].udp
        assert udp is not None
        samples = recording.samples_of(int(number))
        recording.traffic[int(number)] = {
            "sent_bytes": packets * udp.payload_bytes,
            "received_bytes": samples[-1].received_bytes if samples else 0,
            "retransmits": None,
            "seconds": None,
        }
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
    tcp_of = defaultdict(list)
    for flow, ends in zip(scenario.flows, network.endpoints, strict=True):
        if flow.udp is None:
            tcp_of[ends.sender.name].append(flow)
            tcp_of[ends.receiver.name].append(flow)
    return {
        "network": config,
        "hosts": [_host(scenario, network, host, tcp_of[host.name]) for host in network.hosts],
        "flows": [_flow(scenario, network, flow) for flow in scenario.flows],
        "changes": _changes(network),
        "lead_us": LEAD_ROUND_TRIPS * scenario.max_rtt_us,
        "duration_us": scenario.duration_us,
        "measure_from_us": scenario.measure_from_us,
        "drain_us": drain_us(scenario),
        "sample_us": SAMPLE_US,
        "buffer_bytes": tuning.buffer_bytes(scenario),
        "pacing_percent": tuning.PACING_PERCENT,
        "ecn": scenario.ecn,
    }


def _host(scenario: Scenario, network: Network, host: PlannedHost, flows: Sequence[Flow]) -> dict[str, Any]:
    """`flows`: TCP, that begin or end there."""
    wire = wire_to(host.switch, scenario.access.wire, scenario)
    devices = [
        tuning.token_bucket(scenario, flow.device)
        for flow in flows
        if flow.device is not None and network.endpoints[flow.number].sender == host
    ]
    return {
        "name": host.name,
        "port": f"{host.switch}:{host.port}",
        "address": host.address,
        "mac": host.mac,
        "shim": any(flow.uses_agent for flow in flows),
        "tags": any(flow.tags for flow in flows),
        "wire": wire == "declared",
        **({"device": devices[0]} if devices else {}),
    }


def _flow(scenario: Scenario, network: Network, flow: Flow) -> dict[str, Any]:
    ends = network.endpoints[flow.number]
    config: dict[str, Any] = {
        "sender": ends.sender.name,
        "receiver": ends.receiver.name,
        "sport": ends.sport,
        "dport": ends.dport,
        "start_us": flow.start_us,
        "stop_us": flow.stop_us,
    }
    if flow.udp is not None:
        return config | {"udp": asdict(flow.udp)}
    config |= {
        "law": flow.algorithm.kernel,
        "sack": flow.algorithm.sack,
        "params": {name: int(value) for name, value in flow.params.items()},
    }
    if flow.algorithm.quick_start_bps is not None:
        config["quick_start_bps"] = flow.algorithm.quick_start_bps
    if flow.algorithm.xcp_ttl:
        config["xcp_ttl"] = True
    if flow.size_bytes is not None:
        config["size_bytes"] = flow.size_bytes
    if flow.bursts:
        config["bursts"] = [{"begin_us": begin_us, "end_us": end_us} for begin_us, end_us in flow.bursts]
    return config


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
