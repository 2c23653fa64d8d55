# SPDX-License-Identifier: Apache-2.0
"""The 100 ms series: per flow from inet_diag and the agent, per port from the switches."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from clarion_base.errors import RunFailedError
from clarion_lab.engines.switches import Switches
from clarion_lab.hosts.agent import Agent, FlowKey
from clarion_lab.hosts.applications import Session
from clarion_lab.hosts.diag import NOTHING, NamespaceDiag, SocketState
from clarion_lab.hosts.programs import preface_bytes
from clarion_lab.hosts.proxies import Proxies
from clarion_lab.hosts.qdisc import DeviceDrops
from clarion_lab.recording.recording import FlowSample, LossRecord, Recording
from clarion_lab.scenario.flows import Flow
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Network

_UNPACED = 2**64 - 1  # the kernel's pacing rate of a socket that has none yet


class Gaps:
    """The longest time between two samples, of those that reach into the measured window."""

    def __init__(self, from_us: int, to_us: int) -> None:
        self.longest_us = 0
        self._window = from_us, to_us
        self._last_us = from_us  # where nothing is known before the first sample, a gap begins

    def add(self, now_us: int) -> None:
        """There is a sample of this time."""
        if now_us > self._window[0] and self._last_us < self._window[1]:
            self.longest_us = max(self.longest_us, now_us - self._last_us)
        self._last_us = now_us


class Sampler:
    """Appends one sample of everything to the recording at each call of `sample`."""

    def __init__(
        self,
        scenario: Scenario,
        network: Network,
        switches: Switches,
        agent: Agent,
        pids: dict[str, int],
        recording: Recording,
        now_us: Callable[[], int],
    ) -> None:
        """`now_us`: the run's clock."""
        self._scenario = scenario
        self._network = network
        self._switches = switches
        self._agent = agent
        self._recording = recording
        self._now_us = now_us
        self._diag = {host.name: NamespaceDiag(pids[host.name]) for host in network.hosts}
        self._keys: list[FlowKey] = [
            (ends.sender.address, ends.sport, ends.receiver.address, ends.dport) for ends in network.endpoints
        ]
        self._devices = {
            flow.number: DeviceDrops(pids[network.endpoints[flow.number].sender.name])
            for flow in scenario.flows
            if flow.device is not None
        }
        self._dropped = dict.fromkeys(self._devices, 0)
        self._dumped: dict[str, dict[tuple[str, int], SocketState]] = {}  # by host, of this sample
        self._states: dict[int, SocketState] = {}  # of applications, by flow, as last seen
        self._pending: dict[int, bool] = {}
        self._datagrams_until_us = max(
            (flow.stop_us + scenario.path_rtt_us(flow) for flow in scenario.flows if flow.udp), default=0
        )
        self._samples = 0
        self._cpu_s = 0.0
        self._gaps = Gaps(scenario.measure_from_us, scenario.duration_us)
        self._sessions: Mapping[int, Session] = {}
        self._proxies: Proxies | None = None
        self.delivered_bytes: dict[int, int] = {}  # by flow, as far as sampled

    def watch(self, sessions: Mapping[int, Session], proxies: Proxies) -> None:
        """Samples what applications receive, and what proxies take, too."""
        self._sessions = sessions
        self._proxies = proxies

    def sample(self) -> None:
        """Takes one sample of everything."""
        began = _cpu_seconds()
        now_us = self._now_us()
        self._gaps.add(now_us)
        self._dumped.clear()
        self._sample_agent()
        for flow in self._scenario.flows:
            if flow.udp is None and now_us >= flow.start_us - 10 * self._scenario.path_rtt_us(flow):
                self._sample_flow(flow)
        self._sample_devices(now_us)
        if self._proxies is not None:
            self._proxies.sample(now_us)
        self._switches.sample(self._now_us(), self._recording, now_us >= self._scenario.measure_from_us)
        self._samples += 1
        self._cpu_s += _cpu_seconds() - began
        self._recording.sampler = {
            "samples": self._samples,
            "cpu_s": round(self._cpu_s, 3),
            "longest_gap_s": round(self._gaps.longest_us / 1e6, 3),
        }

    def drained(self) -> bool:
        """Whether every flow that is still open had nothing left to send or to have acknowledged. What
        datagrams are in flight nobody knows: they are given one round trip.
        """
        return not any(self._pending.values()) and self._now_us() >= self._datagrams_until_us

    def finish(self) -> None:
        """Takes the agent's last word, closed flows included, and closes the sockets."""
        self._store(self._agent.final())
        self.close()

    def close(self) -> None:
        """Closes the netlink sockets."""
        for diag in self._diag.values():
            diag.close()
        for device in self._devices.values():
            device.close()

    def _sample_devices(self, now_us: int) -> None:
        """What the senders' own devices have dropped since the sample before."""
        for number, device in self._devices.items():
            total = device.total()
            name = self._network.endpoints[number].sender.device
            dropped = LossRecord(now_us, number, True, "local", name, 0, 0, 0)
            self._recording.incidents.extend([dropped] * (total - self._dropped[number]))
            self._dropped[number] = total

    def _sample_agent(self) -> None:
        self._store(self._agent.latest())

    def _store(self, latest: dict[FlowKey, dict[str, Any]]) -> None:
        for number, key in enumerate(self._keys):
            if key in latest:
                self._recording.agent[number] = latest[key]

    def _sample_flow(self, flow: Flow) -> None:
        """Each at its own time: on a busy machine a sample of many flows takes a while."""
        ends = self._network.endpoints[flow.number]
        source, sport, destination, dport = self._keys[flow.number]
        if self._scenario.proxy is not None:
            self._check_proxied(flow)
        if flow.application is not None:
            self._sample_application(flow, self._sessions[flow.number].received_bytes())
            return
        if self._scenario.proxy is not None:
            self._sample_proxied(flow)
            return
        receiver = self._diag[ends.receiver.name].query(destination, dport, source, sport)
        received_bytes = max(0, receiver.bytes_received - preface_bytes(flow)) if receiver else 0
        state = self._diag[ends.sender.name].query(source, sport, destination, dport)
        self._pending[flow.number] = state is not None and state.unacked_packets + state.notsent_bytes > 0
        if state is not None:
            self._store_sample(flow.number, self._now_us(), state, received_bytes, state.delivered_bytes)

    def _connections(self, host: str) -> dict[tuple[str, int], SocketState]:
        """All of a host by their ports, read once for each sample."""
        if host not in self._dumped:
            self._dumped[host] = self._diag[host].by_port()
        return self._dumped[host]

    def _check_proxied(self, flow: Flow) -> None:
        """RunFailedError if a connection goes past the proxies, which would be measured as theirs."""
        ends = self._network.endpoints[flow.number]
        server, client = (ends.receiver, ends.sender) if ends.dport else (ends.sender, ends.receiver)
        state = self._connections(server.name).get(("local", ends.dport or ends.sport))
        if state is not None and state.remote_address == client.address:
            raise RunFailedError(f"flow {flow.name}: its connection goes past the proxies")

    def _sample_application(self, flow: Flow, received_bytes: int) -> None:
        """The file as it grows, and the connection that carries it if that is one from end to end."""
        ends = self._network.endpoints[flow.number]
        state = None
        if self._scenario.proxy is None:
            key = ("remote", ends.dport) if ends.dport else ("local", ends.sport)
            state = self._connections(ends.sender.name).get(key)
            if state is not None:
                self._states[flow.number] = state
        state = self._states.get(flow.number, NOTHING)
        self._store_sample(flow.number, self._now_us(), state, received_bytes, received_bytes)

    def _sample_proxied(self, flow: Flow) -> None:
        """What the receiver has: the sender's connection ends at its proxy."""
        ends = self._network.endpoints[flow.number]
        state = self._connections(ends.receiver.name).get(("local", ends.dport))
        if state is not None:
            received = max(0, state.bytes_received - preface_bytes(flow))
            self._store_sample(flow.number, self._now_us(), NOTHING, received, received)

    def _store_sample(
        self, number: int, now_us: int, state: SocketState, received_bytes: int, delivered_bytes: int
    ) -> None:
        tags = self._recording.agent.get(number, {})
        if state is not NOTHING:
            self._recording.cookies[state.cookie] = number
        self.delivered_bytes[number] = delivered_bytes
        self._recording.flow_samples.append(
            FlowSample(
                now_us,
                number,
                delivered_bytes,
                state.bytes_acked,
                state.cwnd_packets,
                state.srtt_us,
                state.min_rtt_us,
                state.unacked_packets,
                state.notsent_bytes,
                state.retransmits,
                state.pacing_bytes_per_s if state.pacing_bytes_per_s != _UNPACED else 0,
                state.rwnd_limited_us,
                state.sndbuf_limited_us,
                tags.get("rev_corrupt", 0),
                tags.get("rev_congest", 0),
                received_bytes,
            )
        )


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system
