# SPDX-License-Identifier: Apache-2.0
"""The process that carries the wires between BMv2 switches; its losses by the ports of the topology."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clarion_lab.engines import truth
from clarion_lab.engines.bmv2.wires import Cabling, wire_config
from clarion_lab.engines.switch_process import SwitchProcess, unasked_drops
from clarion_lab.machine.state import RunState
from clarion_lab.recording.recording import LossRecord
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Network


class WireProcess:
    """One clarion-switch that emulates delay and loss of all wires; without wires there is no process."""

    def __init__(
        self, scenario: Scenario, network: Network, cabling: Cabling, state: RunState, directory: Path
    ) -> None:
        self._network = network
        self._ends = cabling.ends()
        self._truth_log = directory / "truth.csv"
        config = wire_config(scenario, cabling.wires, str(self._truth_log))
        self._process = SwitchProcess(state, config, directory) if cabling.wires else None
        self.lost: Mapping[str, int] = {}  # packets lost by the loss model, by sending port
        self.unasked: Mapping[str, int] = {}  # packets lost because the machine was too slow, by port

    def start(self) -> None:
        """Returns when the wires carry frames."""
        if self._process is not None:
            self._process.start()

    def check(self) -> None:
        """RunFailedError if the process has died."""
        if self._process is not None:
            self._process.check()

    def sample(self) -> None:
        """Updates `lost` and `unasked` from the process's statistics."""
        if self._process is None:
            return
        lost: Counter[str] = Counter()
        unasked: Counter[str] = Counter()
        for name, port in self._ports(self._process.ask("stats")):
            end = self._ends[name]
            unasked[end.port] += unasked_drops(port)
            if end.leaving:
                lost[end.port] += port["wire_lost_packets"]
        self.lost, self.unasked = lost, unasked

    def stop(self) -> None:
        """Stops the process."""
        if self._process is not None:
            self._process.stop()

    def truth(self, zero_us: int) -> list[LossRecord]:
        """Every loss in the truth log, in time since `zero_us`."""
        ports = {name: end.port for name, end in self._ends.items()}
        return truth.read(self._truth_log, self._network, zero_us, ports)

    @staticmethod
    def _ports(stats: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        return [(port["name"], port) for wire in stats["switches"] for port in wire["ports"]]
