# SPDX-License-Identifier: Apache-2.0
"""All BMv2 switches of a run and the wires between them, as the rest of a run sees them."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from clarion_base import processes
from clarion_base.errors import RunFailedError
from clarion_contract.telemetry import QueueDrop
from clarion_lab.engines import truth
from clarion_lab.engines.bmv2.control import ControlPlane
from clarion_lab.engines.bmv2.plans import switch_plans
from clarion_lab.engines.bmv2.process import Bmv2Process, Bmv2Switch
from clarion_lab.engines.bmv2.receive_rings import ReceiveRings
from clarion_lab.engines.bmv2.runtime import Runtime
from clarion_lab.engines.bmv2.series import PortSeries
from clarion_lab.engines.bmv2.shaping import shapings
from clarion_lab.engines.bmv2.wire_process import WireProcess
from clarion_lab.engines.bmv2.wires import NODE, cabling
from clarion_lab.engines.mininet_nodes import ClarionNet, ClarionSwitch
from clarion_lab.machine.state import RunState
from clarion_lab.recording.recording import LossRecord, Recording
from clarion_lab.scenario.frames import FORMAT_BYTES, ack_frame_bytes
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Network

REPORTS_TIMEOUT_S = 5.0  # for the last reports of dropped packets; they come up to 0.3 s late


class Bmv2Switches:
    """A simple_switch_grpc per switch, one clarion-switch for all wires, one thread that controls them."""

    cpu: int | None = None  # its threads want all

    def __init__(
        self, scenario: Scenario, network: Network, state: RunState, directory: Path, recording: Recording
    ) -> None:
        self._network = network
        self._names = {switch: [port.name for port in ports] for switch, ports in network.switches.items()}
        self._plans = switch_plans(scenario, network)
        self._shapings = shapings(scenario, network)
        self._cabling = cabling(network)
        self._wires = WireProcess(scenario, network, self._cabling, state, directory)
        self._processes = [Bmv2Process(state, plan.name, plan.device_id, directory) for plan in self._plans]
        self._control = ControlPlane()
        self._runtimes: dict[str, Runtime] = {}
        self._rings: list[ReceiveRings] = []
        self._clock_zero_us: dict[str, int] = {}
        self._series = PortSeries(self._names)
        self._drops: list[tuple[str, QueueDrop]] = []
        for ports in self._shapings.values():
            recording.packet_queues.update({shaping.port: shaping.described() for shaping in ports})

    def devices(self) -> list[str]:
        """BMv2's ports, and both ends of every wire."""
        return self._cabling.devices(host.name for host in self._network.hosts)

    def build(self, check: Callable[[], None]) -> Any:
        """Hosts, a Mininet switch per process, and one node that holds all wires."""
        switches: dict[str, Callable[..., Any]] = {
            process.name: partial(Bmv2Switch, process=process, ports=self._names[process.name])
            for process in self._processes
        }
        if self._cabling.wires:
            switches[NODE] = partial(ClarionSwitch, dpid="ffff")
        return ClarionNet(self._network.hosts, switches, self._cabling.cables, self, check)

    def start(self) -> None:
        """Follows the start of the processes: program, entries, rates; then the wires."""
        for process in self._processes:
            process.await_ready()
        addresses = [f"127.0.0.1:{process.grpc_port}" for process in self._processes]
        self._control.start(dict(zip(addresses, self._plans, strict=True)))
        for process in self._processes:
            runtime = self._runtimes[process.name] = Runtime(process.name, process.thrift_port)
            runtime.shape(self._shapings[process.name])
            self._clock_zero_us[process.name] = runtime.clock_zero_us()
            self._rings.append(ReceiveRings(process.pid))
        self._wires.start()
        processes.run_first()  # BMv2 does: on a busy machine samples would come late, and fewer of them

    def check(self) -> None:
        """RunFailedError if a process has died or a session broke."""
        for process in self._processes:
            process.check()
        self._wires.check()
        self._control.check()

    def plan_changes(self, zero_us: int) -> None:
        """Nothing: the engine refuses scenarios in which anything changes."""

    def sample(self, now_us: int, recording: Recording, window_open: bool) -> None:
        """Queries all switches before it reads the first answer."""
        self._collect()
        for switch, runtime in self._runtimes.items():
            runtime.ask(len(self._names[switch]))
        self._wires.sample()
        for switch, runtime in self._runtimes.items():
            found = runtime.answer()
            self._series.take(now_us, switch, found, self._wires.lost, recording, window_open)
        drops = {port: count for rings in self._rings for port, count in rings.drops().items()}
        for port, count in drops.items():
            recording.unasked_drops[port] = count + self._wires.unasked.get(port, 0)

    def finish(self) -> None:
        """Waits until every dropped packet has been reported; RunFailedError if reports are missing."""
        expected = self._series.dropped_packets()
        deadline = time.monotonic() + REPORTS_TIMEOUT_S
        while len(self._drops) < expected:
            if time.monotonic() > deadline:
                missing = expected - len(self._drops)
                raise RunFailedError(f"BMv2: {missing} of {expected} reports of dropped packets are missing")
            time.sleep(0.02)
            self._control.check()
            self._collect()

    def stop(self) -> None:
        """Stops whatever runs, in the order that leaves no session hanging."""
        processes.run_ordinary()
        self._control.stop()
        self._collect()
        for runtime in self._runtimes.values():
            runtime.close()
        for rings in self._rings:
            rings.close()
        self._runtimes, self._rings = {}, []
        for process in self._processes:
            process.stop()
        self._wires.stop()

    def truth(self, zero_us: int) -> list[LossRecord]:
        """The wires' log and the switches' reports, in the order of time."""
        flows = truth.FlowTable(self._network)
        dropped = [
            _loss(flows, drop.time_us + self._clock_zero_us[switch] - zero_us, self._names[switch], drop)
            for switch, drop in self._drops
        ]
        return sorted([*self._wires.truth(zero_us), *dropped], key=lambda loss: loss.time_us)

    def _collect(self) -> None:
        for switch, report in self._control.reports():
            if isinstance(report, QueueDrop):
                self._drops.append((switch, report))
            else:
                self._series.note_interval(switch, report)


def _loss(flows: truth.FlowTable, time_us: int, ports: list[str], drop: QueueDrop) -> LossRecord:
    flow, forward = flows.find(
        drop.protocol, drop.source, drop.source_port, drop.destination, drop.destination_port
    )
    # Only the length is reported: taken for a TCP segment with the options that Linux uses on every one.
    empty_bytes = ack_frame_bytes("none") + FORMAT_BYTES[drop.format]
    return LossRecord(
        time_us=time_us,
        flow=flow,
        forward=forward,
        cause="queue",
        port=ports[drop.port - 1],
        bytes=drop.frame_bytes,
        payload_bytes=max(0, drop.frame_bytes - empty_bytes) if forward else 0,
        header=drop.format,
    )
