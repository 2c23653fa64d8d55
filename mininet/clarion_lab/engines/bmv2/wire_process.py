# SPDX-License-Identifier: Apache-2.0
"""The process that carries the wires, and its statistics and losses by the ports of the plan."""

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
    """The wires of a network, which delay or lose; without any there is no process."""

    def __init__(
        self, scenario: Scenario, network: Network, cabling: Cabling, state: RunState, directory: Path
    ) -> None:
        self._network = network
        self._ends = cabling.ends()
        self._truth_log = directory / "truth.csv"
        config = wire_config(scenario, cabling.wires, str(self._truth_log))
        self._process = SwitchProcess(state, config, directory) if cabling.wires else None
        self.lost: Mapping[str, int] = {}  # packets that a wire lost, by the port that sent them
        self.unasked: Mapping[str, int] = {}  # packets that the process was too slow for

    def start(self) -> None:
        """Returns when the wires carry frames."""
        if self._process is not None:
            self._process.start()

    def check(self) -> None:
        """RunFailedError if the process has died."""
        if self._process is not None:
            self._process.check()

    def sample(self) -> None:
        """Brings `lost` and `unasked` up to date."""
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

    def losses(self, zero_us: int) -> list[LossRecord]:
        """The losses in the process's log."""
        ports = {name: end.port for name, end in self._ends.items()}
        return truth.read(self._truth_log, self._network, zero_us, ports)

    @staticmethod
    def _ports(stats: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        return [(port["name"], port) for wire in stats["switches"] for port in wire["ports"]]
