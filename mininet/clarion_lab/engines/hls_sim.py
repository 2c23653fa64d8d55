# SPDX-License-Identifier: Apache-2.0
"""The engine `hls-sim`: as `emu`, with the simulated FPGA block at every port of a switch."""

from __future__ import annotations

from pathlib import Path

from clarion_base import faults, paths
from clarion_base.errors import UserError
from clarion_base.faults import ScenarioError
from clarion_lab.controller.registration import Registrar
from clarion_lab.engines import truth
from clarion_lab.engines.emulation import EmbeddedSwitches, EmulationEngine
from clarion_lab.engines.host_engine import link_fields
from clarion_lab.engines.switch_process import SwitchProcess
from clarion_lab.engines.switches import Switches
from clarion_lab.machine import cpus
from clarion_lab.machine.state import RunState
from clarion_lab.recording.recording import Recording
from clarion_lab.scenario.frames import frame_bytes
from clarion_lab.scenario.links import DIRECTIONS, Link
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Network, switch_config

PROGRAM = "clarion-hls-sim"
MAX_RATE_BPS = 25_000_000  # through two switches; it takes about half a core then
MAX_PORTS = 7  # of a switch: units of the block in one register window
QUEUE_BEATS = 16384  # packet memory of a port, see hls/sim/CMakeLists.txt; a frame starts a beat of its own
BEAT_BYTES = 64


class HlsSimEngine(EmulationEngine):
    """Runs a scenario through the simulated FPGA block."""

    name = "hls-sim"
    has_applications = False
    measures = False
    max_rate_bps = MAX_RATE_BPS

    def use_controller(self, registrar: Registrar) -> None:
        """The block has no control socket for P4Runtime; its registers have a server of their own."""
        raise UserError(
            "--controller: engine hls-sim has cards in the place of switches; "
            "use --engine emu, or `clarion switch serve --nic /run/clarion/run-*/s1.bar` while it runs"
        )

    def limited_links(self, scenario: Scenario) -> list[tuple[faults.Path, Link]]:
        """The bottlenecks: they bound the packets, and a faster access link costs nothing."""
        return link_fields(scenario)[1:]

    def check_switches(self, scenario: Scenario, network: Network) -> None:
        """Refuses rates, queues and numbers of ports that the simulated block does not carry."""
        if scenario.router is not None:
            reason = "engine hls-sim has XCP only; use --engine emu or sim"
            raise ScenarioError(scenario.name, ("router", "law"), reason)
        paths.binary(PROGRAM)
        for switch, ports in network.switches.items():
            if len(ports) > MAX_PORTS:
                reason = f"{len(ports)} ports at {switch}: engine hls-sim has {MAX_PORTS}; use host-pairs"
                raise ScenarioError(scenario.name, ("flows",), reason)
        for path in scenario.disciplines():
            reason = "engine hls-sim has drop-tail queues only; use --engine emu or sim"
            raise ScenarioError(scenario.name, path, reason)
        if scenario.restarts:
            reason = "engine hls-sim starts nothing again; use --engine emu"
            raise ScenarioError(scenario.name, ("restarts",), reason)
        super().check_switches(scenario, network)
        self._check_queues(scenario)

    def switches(
        self, scenario: Scenario, network: Network, state: RunState, directory: Path, recording: Recording
    ) -> Switches:
        """One process for all; the registers of each switch are a file beside the run's record."""
        config = switch_config(scenario, network, str(directory / truth.LOG))
        cpu = cpus.of_switch()
        process = SwitchProcess(state, config, directory, PROGRAM, ["--bar", str(state.directory)], cpu)
        return EmbeddedSwitches(network, process, directory, cpu)

    def _check_queues(self, scenario: Scenario) -> None:
        frame = max(frame_bytes(flow.header) for flow in scenario.flows)
        room = QUEUE_BEATS // -(-frame // BEAT_BYTES) * frame
        for path, link in link_fields(scenario):
            size = max(scenario.queue_bytes(link, direction) for direction in DIRECTIONS)
            if link.rate_bps and size > room:
                reason = (
                    f"{size} bytes: the block's packet memory has room for {room} bytes"
                    f" in frames of {frame}; set a smaller queue"
                )
                raise ScenarioError(scenario.name, (*path, "queue"), reason)
