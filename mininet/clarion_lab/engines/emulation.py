# SPDX-License-Identifier: Apache-2.0
"""The engine `emu`: one embedded switch process carries all switches and links between Mininet's hosts."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clarion_base import faults
from clarion_base.faults import ScenarioError
from clarion_base.units import format_rate
from clarion_lab.controller.registration import Registrar
from clarion_lab.engines import truth
from clarion_lab.engines.host_engine import HostEngine, link_fields
from clarion_lab.engines.mininet_nodes import ClarionNet, ClarionSwitch
from clarion_lab.engines.switch_process import SwitchProcess, control_socket, unasked_drops
from clarion_lab.engines.switches import Switches, note_histogram
from clarion_lab.machine import cpus
from clarion_lab.machine.state import RunState
from clarion_lab.recording.progress import Progress
from clarion_lab.recording.recording import LossRecord, PortSample, Recording
from clarion_lab.scenario.links import DIRECTIONS, Link
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Network, embedded_cables, switch_config

MAX_RATE_BPS = 1_200_000_000  # what kernel TCP reaches through the switch process on two cores


class EmulationEngine(HostEngine):
    """Runs a scenario through the embedded switch."""

    name = "emu"
    has_applications = True
    max_rate_bps = MAX_RATE_BPS

    def __init__(self) -> None:
        self._registrar: Registrar | None = None

    def use_controller(self, registrar: Registrar) -> None:
        """Each run gets an agent that serves P4Runtime for its switches."""
        registrar.check()
        self._registrar = registrar

    def restart_controller(self) -> None:
        """Only of a controller that is the run's own, as `check_switches` has found it."""
        assert self._registrar is not None
        assert self._registrar.restart is not None
        self._registrar.restart()

    def attach(
        self,
        scenario: Scenario,
        network: Network,
        state: RunState,
        directory: Path,
        recording: Recording,
        progress: Progress,
    ) -> Callable[[], None]:
        """With a controller: an agent beside the switch process, and the switches registered."""
        if self._registrar is None:
            return super().attach(scenario, network, state, directory, recording, progress)
        progress.step("controller")
        registration = self._registrar.register(
            scenario, network, state, control_socket(state), directory, progress.check
        )
        recording.environment["controller"] = registration.describe()
        return registration.close

    def limited_links(self, scenario: Scenario) -> list[tuple[faults.Path, Link]]:
        """The links whose rate this machine must be able to carry, with their fields."""
        return link_fields(scenario)

    def check_switches(self, scenario: Scenario, network: Network) -> None:
        """Refuses rates that one switch process does not carry, and what needs or excludes a controller."""
        if scenario.topology == "graph" and self._registrar is not None:
            reason = "graph: its switches forward by routes of their own; leave --controller out"
            raise ScenarioError(scenario.name, ("topology",), reason)
        self._check_restarts(scenario)
        self._check_told(scenario)
        limit = format_rate(self.max_rate_bps)
        for path, link in self.limited_links(scenario):
            for key, rate_bps in _rates(link):
                if rate_bps > self.max_rate_bps:
                    reason = f"{format_rate(rate_bps)}: beyond the {limit} of engine {self.name}"
                    raise ScenarioError(scenario.name, (*path, *key), reason)
        total_bps = sum(link.fastest_bps for link in scenario.bottlenecks)
        if total_bps > self.max_rate_bps:
            reason = (
                f"{format_rate(total_bps)} in sum: beyond the {limit} of engine {self.name}'s one process"
            )
            raise ScenarioError(scenario.name, ("links", "bottleneck"), reason)

    def _check_restarts(self, scenario: Scenario) -> None:
        own = self._registrar is not None and self._registrar.restart is not None
        for index, restart in enumerate(scenario.restarts):
            if restart.switch is None and not own:
                reason = "restarts the run's own controller; leave --controller out"
                raise ScenarioError(scenario.name, ("restarts", index, "controller"), reason)

    def _check_told(self, scenario: Scenario) -> None:
        """The controller takes a step at the switch for a deviation, and sets the capacity of the start."""
        has_steps = any(link.rate_steps.steps for link in scenario.bottlenecks)
        told = scenario.xcp is not None and scenario.capacity == "told"
        if told and has_steps and self._registrar is not None:
            reason = "told: a controller sets the capacity; use start or measured, or no controller"
            raise ScenarioError(scenario.name, ("xcp", "capacity"), reason)

    def switches(
        self, scenario: Scenario, network: Network, state: RunState, directory: Path, recording: Recording
    ) -> Switches:
        """One process for all."""
        config = switch_config(scenario, network, str(directory / truth.LOG))
        cpu = cpus.of_switch()
        return EmbeddedSwitches(network, SwitchProcess(state, config, directory, cpu=cpu), directory, cpu)


class EmbeddedSwitches:
    """The embedded switch process, its statistics and its truth log."""

    def __init__(
        self, network: Network, process: SwitchProcess, directory: Path, cpu: int | None = None
    ) -> None:
        self.cpu = cpu
        self._network = network
        self._truth_log = directory / truth.LOG
        self._process = process
        self._edges: list[int] = []

    def devices(self) -> list[str]:
        """The switch's end of every host's link."""
        return [host.port for host in self._network.hosts]

    def build(self, check: Callable[[], None]) -> Any:
        """Hosts around the one process."""
        switches = dict.fromkeys(self._network.switches, ClarionSwitch)
        cables = embedded_cables(self._network)
        return ClarionNet(self._network.hosts, switches, cables, self._process, check)

    def check(self) -> None:
        """RunFailedError if the process has died."""
        self._process.check()

    def plan_changes(self, zero_us: int) -> None:
        """The process carries every change out at its time, to the microsecond."""
        for switch, ports in self._network.switches.items():
            for port in ports:
                for change in port.changes:
                    at_us = zero_us + change.at_us
                    self._process.ask("set", port=f"{switch}:{port.name}", at_us=at_us, **change.settings)
        for restart in self._network.restarts:
            at_us = zero_us + restart.at_us
            self._process.ask("restart", switch=restart.switch, at_us=at_us, down_us=restart.down_us)

    def sample(self, now_us: int, recording: Recording, window_open: bool) -> None:
        """One command on the control socket reads all ports. What it says is of the time of its answer: a
        machine that stands still answers late.
        """
        if not self._edges:
            self._edges = self._process.ask("info")["queue_hist_lower_edges_bytes"]
        asked_ns = time.monotonic_ns()
        stats = self._process.ask("stats")
        now_us += (time.monotonic_ns() - asked_ns) // 1000
        recording.switch_late_us.append((now_us, stats["late_us"]))
        for switch in stats["switches"]:
            for port in switch["ports"]:
                recording.port_samples.append(_port_sample(now_us, port))
                recording.unasked_drops[port["name"]] = unasked_drops(port)
                note_histogram(recording, port["name"], self._edges, port["queue_hist"], window_open)

    def finish(self) -> None:
        """Nothing to wait for: the truth log is complete when the process has stopped."""

    def stop(self) -> None:
        """Stops the process."""
        self._process.stop()

    def truth(self, zero_us: int) -> list[LossRecord]:
        """What the truth log says."""
        return truth.read(self._truth_log, self._network, zero_us)


def _rates(link: Link) -> list[tuple[faults.Path, int]]:
    """Every rate that a link takes, with the key that gives it."""
    steps = enumerate(link.rate_steps.steps)
    stepped = ((("rate-steps", index, "rate"), rate_bps) for index, (_, rate_bps) in steps)
    if link.reverse_rate_bps is None:
        return [(("rate",), link.rate_bps), *stepped]
    return [(("rate", direction), link.rate_of(direction)) for direction in DIRECTIONS]


def _port_sample(now_us: int, port: dict[str, Any]) -> PortSample:
    xcp = port.get("xcp") or {}
    return PortSample(
        now_us,
        port["name"],
        port["tx_bytes"],
        port["tx_packets"],
        port["queue_bytes"],
        port["queue_byte_us"],
        port["drop_packets"],
        port["wire_lost_packets"],
        xcp.get("phi_bytes_per_s", 0),
        xcp.get("avg_rtt_us", 0),
    )
