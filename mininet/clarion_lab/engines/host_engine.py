# SPDX-License-Identifier: Apache-2.0
"""What the engines with real hosts share: Mininet hosts with kernel TCP, traffic, sampling, taking down.

An engine adds the switches between the hosts (`switches.py`) and their limits.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path

from clarion_base import faults, processes
from clarion_base.errors import UserError
from clarion_base.faults import Code, ScenarioError
from clarion_lab.controller.registration import Registrar
from clarion_lab.engines.drain import drain_us
from clarion_lab.engines.sampling import Sampler
from clarion_lab.engines.switches import Switches
from clarion_lab.hosts import tuning
from clarion_lab.hosts.agent import Agent, attach_commands
from clarion_lab.hosts.decisions import DecisionStream
from clarion_lab.hosts.proxies import Proxies
from clarion_lab.hosts.traffic import Traffic
from clarion_lab.hosts.tunnels import Tunnels
from clarion_lab.machine import requirements
from clarion_lab.machine.cleanup import tidy, undo
from clarion_lab.machine.state import RunState, machine_lock
from clarion_lab.recording.causes import LOSSES
from clarion_lab.recording.progress import Progress
from clarion_lab.recording.recording import SAMPLE_US, LossRecord, Recording
from clarion_lab.scenario.links import Link
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Network, PlannedHost, plan

MAX_HOSTS = 400
MAX_FLOWS = 1000
MAX_APPLICATIONS = 100  # each with a server and a client of its own
PINGS = 3


class HostEngine(ABC):
    """Builds the network, runs the flows in real time, samples, and takes everything down again."""

    name: str
    measures = True  # whether its ports can measure their capacity
    has_applications = False  # and proxies
    max_datagrams_per_s = 20_000  # of UDP: what Python sends and receives beside the rest

    @abstractmethod
    def check_switches(self, scenario: Scenario, network: Network) -> None:
        """Refuses what the engine's switches do not carry, and a machine that lacks them."""

    @abstractmethod
    def switches(
        self, scenario: Scenario, network: Network, state: RunState, directory: Path, recording: Recording
    ) -> Switches:
        """The switches of one run, not built yet."""

    def use_controller(self, registrar: Registrar) -> None:
        """UserError: an engine's switches have no controller unless it says otherwise."""
        raise UserError(f"--controller: engine {self.name} programs its switches itself; use --engine emu")

    def attach(
        self,
        scenario: Scenario,
        network: Network,
        state: RunState,
        directory: Path,
        recording: Recording,
        progress: Progress,
    ) -> Callable[[], None]:
        """Registers the running switches at a controller if there is one; returns its undoing."""
        return _nothing

    def restart_controller(self) -> None:
        """Starts the run's own controller again."""
        raise UserError(f"restarts: engine {self.name} has no controller; use --engine emu")

    def check(self, scenario: Scenario) -> None:
        """Refuses rates and sizes that this engine does not carry, and a machine that lacks its parts."""
        network = plan(scenario)
        self._check_xcp(scenario)
        self.check_switches(scenario, network)
        if len(network.hosts) > MAX_HOSTS:
            reason = f"{len(network.hosts)} hosts: engine {self.name} makes {MAX_HOSTS}; use host-pairs"
            raise ScenarioError(scenario.name, ("flows",), reason)
        self._check_traffic(scenario)
        place = scenario.real_hosts_only
        if place is not None and not self.has_applications:
            reason = f"engine {self.name} does not have it; use --engine emu"
            raise ScenarioError(scenario.name, place, reason, Code.UNSUPPORTED)
        if os.geteuid() != 0:
            raise UserError(f"engine {self.name}: needs root for network namespaces; run with sudo")
        requirements.check(scenario, self.name)

    def _check_traffic(self, scenario: Scenario) -> None:
        if len(scenario.flows) > MAX_FLOWS:
            reason = f"{len(scenario.flows)} in all: engine {self.name} runs {MAX_FLOWS}; use --engine sim"
            raise ScenarioError(scenario.name, ("flows",), reason)
        applications = [flow for flow in scenario.flows if flow.application is not None]
        if len(applications) > MAX_APPLICATIONS:
            reason = f"{len(applications)} applications: engine {self.name} runs {MAX_APPLICATIONS}"
            raise ScenarioError(scenario.name, ("flows",), reason)
        per_s = sum(flow.udp.packets_per_s for flow in scenario.flows if flow.udp is not None)
        if per_s > self.max_datagrams_per_s:
            most = self.max_datagrams_per_s
            reason = f"{per_s:.0f} datagrams/s: engine {self.name} sends {most} in all; use --engine sim"
            raise ScenarioError(scenario.name, ("flows",), reason, Code.UNSUPPORTED)

    def _check_xcp(self, scenario: Scenario) -> None:
        if scenario.xcp and scenario.capacity == "measured" and not self.measures:
            reason = f"measured: engine {self.name} measures none; use start or told, or --engine emu or sim"
            raise ScenarioError(scenario.name, ("xcp", "capacity"), reason)

    @contextlib.contextmanager
    def session(self) -> Iterator[None]:
        """The machine's one run lock, on a machine without leftovers of dead runs."""
        with machine_lock():
            if tidy():
                print("clarion: cleaned up after an earlier run that was killed", file=sys.stderr)
            try:
                yield
            finally:
                with contextlib.suppress(UserError):  # a second try; what stays keeps its record
                    undo()

    def execute(self, scenario: Scenario, directory: Path, recording: Recording, progress: Progress) -> None:
        """One run, from an empty machine to an empty machine."""
        network = plan(scenario)
        with RunState() as state, contextlib.ExitStack() as stack:
            progress.step("network")
            switches = self.switches(scenario, network, state, directory, recording)
            state.will_create(switches.devices())
            net = switches.build(progress.check)
            stack.callback(net.stop)
            state.created()
            net.start()
            stack.callback(self.attach(scenario, network, state, directory, recording, progress))
            pids = {host.name: net[host.name].pid for host in network.hosts}
            for name, pid in pids.items():
                state.process(f"mininet:{name}", pid)
            tune(scenario, network, pids, switches.cpu)
            recording.environment["hosts"] = tuning.described(scenario, switches.cpu)

            progress.step("idle round trip")
            measure_idle_rtt(scenario, network, pids, recording)
            progress.check()
            progress.step("senders")
            agent = Agent(state, SAMPLE_US // 1000)
            stack.callback(agent.detach)
            agent.attach(attach_commands(scenario, network), pids)
            recording.commands.extend(agent.commands)
            stream = DecisionStream(state, directory)
            stack.callback(stream.stop)
            stream.start(pids[name] for name in {ends.sender.name for ends in network.endpoints})
            tunnels = Tunnels(scenario, network, state, pids, directory)
            stack.callback(tunnels.stop)
            tunnels.start()
            recording.commands.extend(tunnels.commands)
            proxies = Proxies(scenario, network, state, pids, directory)
            stack.callback(proxies.stop)
            traffic = Traffic(scenario, network, state, pids, directory)
            stack.callback(traffic.stop)
            traffic.listen()
            try:
                proxies.start()
            finally:
                recording.commands.extend(proxies.commands)
            clock = _Clock(traffic.first_launch_us)
            sampler = Sampler(scenario, network, switches, agent, pids, recording, clock.now_us)
            sampler.watch(traffic.sessions, proxies)
            stack.callback(sampler.close)
            proxies.begin()
            try:
                due = _ControllerRestarts(scenario, self.restart_controller)
                run_flows(scenario, network, traffic, sampler, switches, recording, progress, clock, due)
                sampler.finish()
                switches.finish()
                recording.proxies = proxies.results(sampler.delivered_bytes)
                traffic.stop()
                tunnels.check()
            finally:
                recording.proxies = recording.proxies or proxies.results(sampler.delivered_bytes)
                recording.ended_us = max(recording.ended_us, min(clock.now_us(), scenario.duration_us))
                recording.commands.extend(traffic.commands)
                switches.stop()
                stream.stop()
                _note_truth(recording, switches.truth(clock.zero_us))
                _note_reductions(recording, stream, clock.zero_us)
                recording.traffic.update(traffic.reports())
                recording.applications.update(traffic.outcomes(clock.zero_us))
                recording.flow_samples.extend(traffic.datagram_samples(clock.zero_us))
                for number, last_us in traffic.last_bytes_us().items():
                    recording.finished_us[number] = last_us - clock.zero_us


def _note_truth(recording: Recording, records: list[LossRecord]) -> None:
    for record in records:
        (recording.losses if record.cause in LOSSES else recording.incidents).append(record)


def _note_reductions(recording: Recording, stream: DecisionStream, zero_us: int) -> None:
    recording.reductions = stream.reductions(zero_us, recording.cookies)
    recording.reductions_fault = stream.fault
    if stream.fault:
        print(f"clarion: decisions are not recorded: {stream.fault}", file=sys.stderr)


def _nothing() -> None:
    """Without a controller there is nothing to undo."""


class _Clock:
    """The run's clock: microseconds since its start, which lies `-first_us` ahead.

    It counts CLOCK_MONOTONIC, as the switches do, so `zero_us` also places the losses that they report.
    """

    def __init__(self, first_us: int) -> None:
        self.zero_us = time.monotonic_ns() // 1000 - first_us

    def now_us(self) -> int:
        return time.monotonic_ns() // 1000 - self.zero_us


class _ControllerRestarts:
    """Starts the controller again when it is time; late by a sample at most."""

    def __init__(self, scenario: Scenario, restart: Callable[[], None]) -> None:
        self._due_us = sorted(each.at_us for each in scenario.restarts if each.switch is None)
        self._restart = restart

    def advance(self, now_us: int) -> None:
        while self._due_us and self._due_us[0] <= now_us:
            self._due_us.pop(0)
            self._restart()


def run_flows(
    scenario: Scenario,
    network: Network,
    traffic: Traffic,
    sampler: Sampler,
    switches: Switches,
    recording: Recording,
    progress: Progress,
    clock: _Clock,
    controller: _ControllerRestarts,
) -> None:
    """The measured part: launches flows when due and samples every 100 ms until the duration is over."""
    switches.plan_changes(clock.zero_us)
    end_us = scenario.duration_us + drain_us(scenario)
    tick = traffic.first_launch_us // SAMPLE_US
    while clock.now_us() < end_us and not (traffic.all_ended and sampler.drained()):
        switches.check()
        progress.check()
        traffic.advance(clock.now_us())
        now_us = clock.now_us()
        controller.advance(now_us)
        sampler.sample()
        progress.at(now_us, scenario.duration_us, recording)
        recording.ended_us = min(now_us, scenario.duration_us)
        tick = max(tick + 1, clock.now_us() // SAMPLE_US)
        time.sleep(max(0.0, (tick * SAMPLE_US - clock.now_us()) / 1e6))
    sampler.sample()


def link_fields(scenario: Scenario) -> list[tuple[faults.Path, Link]]:
    """Every link with its place in the scenario, for messages."""
    bottlenecks = enumerate(scenario.bottlenecks)
    return [
        (("links", "access"), scenario.access),
        *((scenario.bottleneck_path(index), link) for index, link in bottlenecks),
    ]


def tune(scenario: Scenario, network: Network, pids: dict[str, int], switch_cpu: int | None) -> None:
    """Tunes every host, side by side."""
    senders = {ends.sender.name: flow for flow, ends in zip(scenario.flows, network.endpoints, strict=True)}
    processes.run_all(
        [
            (
                f"tuning {host.name}",
                processes.in_namespace(
                    pids[host.name],
                    ["sh", "-c", tuning.script(scenario, host, network.neighbour(host), senders, switch_cpu)],
                ),
            )
            for host in network.hosts
        ]
    )


def measure_idle_rtt(
    scenario: Scenario, network: Network, pids: dict[str, int], recording: Recording
) -> None:
    """Pings once per host pair: teaches the switches the way and records the empty path's round trip.

    On a path with heavy errors all pings may be lost; the flow then has no idle round trip.
    """
    pairs: dict[tuple[str, str], list[int]] = {}
    hosts: dict[str, PlannedHost] = {host.name: host for host in network.hosts}
    for number, ends in enumerate(network.endpoints):
        pairs.setdefault((ends.sender.name, ends.receiver.name), []).append(number)
    wait_s = max(1.0, 2 * scenario.max_rtt_us / 1e6)
    commands = []
    for sender, receiver in pairs:
        ping = [
            "ping",
            "-n",
            "-q",
            "-c",
            str(PINGS),
            "-i",
            "0.2",
            "-W",
            f"{wait_s:.1f}",
            hosts[receiver].address,
        ]
        commands.append((f"ping from {sender}", ["sh", "-c", " ".join(ping) + " || true"]))
    outputs = processes.run_all(
        [
            (name, processes.in_namespace(pids[sender], command))
            for (name, command), (sender, _) in zip(commands, pairs, strict=True)
        ]
    )
    for output, numbers in zip(outputs, pairs.values(), strict=True):
        found = re.search(r"= ([0-9.]+)/", output)
        if found:
            for number in numbers:
                recording.idle_rtt_us[number] = float(found[1]) * 1000
