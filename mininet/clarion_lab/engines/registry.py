# SPDX-License-Identifier: Apache-2.0
"""The engines that can run a scenario: one small protocol, one registry."""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from clarion_base.errors import UserError
from clarion_lab.recording.progress import Progress
from clarion_lab.recording.recording import Recording
from clarion_lab.scenario.model import Scenario

if TYPE_CHECKING:
    from clarion_lab.controller.registration import Registrar

# Module and class; Mininet and P4Runtime are imported only by the engine that uses them.
ENGINES = {
    "emu": ("clarion_lab.engines.emulation", "EmulationEngine"),
    "bmv2": ("clarion_lab.engines.bmv2.engine", "Bmv2Engine"),
    "sim": ("clarion_lab.engines.simulation", "SimulationEngine"),
    "hls-sim": ("clarion_lab.engines.hls_sim", "HlsSimEngine"),
}
# Engines in virtual time: their runs need neither root nor the machine to themselves, so many run at once.
SIDE_BY_SIDE = frozenset(("sim",))


class Engine(Protocol):
    """What runs a scenario."""

    name: str

    def use_controller(self, registrar: Registrar) -> None:
        """From now on registers the switches of each run at a controller. UserError if it cannot."""

    def check(self, scenario: Scenario) -> None:
        """Raises UserError if the scenario is beyond this engine or this machine."""

    def session(self) -> AbstractContextManager[None]:
        """Held around all runs of a batch; refuses if the machine is taken."""

    def execute(self, scenario: Scenario, directory: Path, recording: Recording, progress: Progress) -> None:
        """Runs the scenario and fills the recording as it goes, so that a run that dies leaves what it
        had.
        """


def engine(name: str) -> Engine:
    """The engine of that name; UserError lists the legal ones."""
    if name not in ENGINES:
        raise UserError(f"--engine {name}: unknown engine; use {', '.join(ENGINES)}")
    module, class_name = ENGINES[name]
    made: Engine = getattr(import_module(module), class_name)()
    return made
