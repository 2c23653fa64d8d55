# SPDX-License-Identifier: Apache-2.0
"""The engine `bmv2`: a simple_switch_grpc per switch runs the P4 program between Mininet's hosts."""

from __future__ import annotations

from pathlib import Path

from clarion_base import faults
from clarion_base.errors import UserError
from clarion_base.faults import ScenarioError
from clarion_base.units import format_rate
from clarion_contract import pipeline
from clarion_lab.engines.bmv2 import plans
from clarion_lab.engines.bmv2.shaping import shapings
from clarion_lab.engines.bmv2.switches import Bmv2Switches
from clarion_lab.engines.host_engine import HostEngine, link_fields
from clarion_lab.engines.switches import Switches
from clarion_lab.machine import bmv2_installation
from clarion_lab.machine.state import RunState
from clarion_lab.recording.recording import Recording
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Network, bottleneck_ports

MAX_PORTS = 62  # of a switch: the program knows 0 to 63, and the last stays free
MAX_PACKETS_PER_S = 12_000  # full-sized ones through a port; what BMv2 carries with this program


class Bmv2Engine(HostEngine):
    """Runs a scenario through BMv2."""

    name = "bmv2"
    measures = False

    def check_switches(self, scenario: Scenario, network: Network) -> None:
        """Refuses what BMv2 or the program does not carry, and a machine without them."""
        for switch, ports in network.switches.items():
            if len(ports) > MAX_PORTS:
                reason = f"{len(ports)} ports at {switch}: engine bmv2 has {MAX_PORTS}; use host-pairs"
                raise ScenarioError(scenario.name, ("flows",), reason)
        if scenario.topology == "graph":
            reason = "graph: engine bmv2 has dumbbell and parking-lot only; use --engine emu or sim"
            raise ScenarioError(scenario.name, ("topology",), reason)
        for path in scenario.disciplines():
            reason = "engine bmv2 has drop-tail queues only; use --engine emu or sim"
            raise ScenarioError(scenario.name, path, reason)
        if scenario.router is not None:
            reason = "engine bmv2 has XCP only; use --engine emu or sim"
            raise ScenarioError(scenario.name, ("router", "law"), reason)
        if any(flow.udp is not None for flow in scenario.flows):
            reason = "protocol: udp: engine bmv2 has queues for packets of one size; use --engine emu or sim"
            raise ScenarioError(scenario.name, ("flows",), reason)
        beyond = scenario.emulated_only()
        if beyond is not None:
            raise ScenarioError(
                scenario.name, beyond, "engine bmv2 does not have it; use --engine emu or sim"
            )
        self._check_rates(scenario, network)
        plans.check_settings(scenario, network)
        if fault := bmv2_installation.fault():
            raise UserError(f"engine bmv2: {bmv2_installation.PROGRAM}: {fault}")
        pipeline.load()

    def switches(
        self, scenario: Scenario, network: Network, state: RunState, directory: Path, recording: Recording
    ) -> Switches:
        """One process per switch, and one for the wires."""
        return Bmv2Switches(scenario, network, state, directory, recording)

    def _check_rates(self, scenario: Scenario, network: Network) -> None:
        for ports in shapings(scenario, network).values():
            for shaping in ports:
                if shaping.carries_data and shaping.rate_pps > MAX_PACKETS_PER_S:
                    rate_bps = int(MAX_PACKETS_PER_S * shaping.frame_bytes * 8)
                    reason = (
                        f"{format_rate(shaping.rate_bps)} at {shaping.port}: {shaping.rate_pps} packets/s are"
                        f" beyond the {MAX_PACKETS_PER_S} of engine bmv2; use at most {format_rate(rate_bps)}"
                    )
                    raise ScenarioError(scenario.name, (*_link(scenario, shaping.port), "rate"), reason)


def _link(scenario: Scenario, port: str) -> faults.Path:
    """Where the scenario has the link behind a port."""
    for index, (path, _) in enumerate(link_fields(scenario)):
        if index > 0 and port in bottleneck_ports(index - 1):
            return path
    return ("links", "access")
