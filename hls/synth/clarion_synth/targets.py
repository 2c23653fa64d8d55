# SPDX-License-Identifier: Apache-2.0
"""The numbers that synthesis has to hold: hls/synth/targets.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from clarion_base.errors import UserError

SYNTH = Path(__file__).resolve().parents[1]
ROOT = SYNTH.parents[1]
FILE = SYNTH / "targets.yaml"
STREAM_CLOCKS = 2  # from a write to the read


@dataclass(frozen=True)
class Process:
    """One function that runs beside the others."""

    name: str
    file: str
    ii: int
    latency: int


@dataclass(frozen=True)
class Top:
    """One block that is synthesised."""

    name: str
    processes: tuple[Process, ...]
    way: tuple[Process, ...]
    waits: int
    latency: int

    def way_clocks(self) -> int:
        """Return the latency that the processes' bounds add up to."""
        return sum(process.latency for process in self.way) + STREAM_CLOCKS * (len(self.way) - 1) + self.waits


@dataclass(frozen=True)
class Targets:
    """Everything that is held."""

    clock_ns: float
    uncertainty_ns: float
    tops: tuple[Top, ...]

    def process(self, name: str) -> Process:
        """Return a process by its name."""
        return next(process for top in self.tops for process in top.processes if process.name == name)


def load(path: Path = FILE) -> Targets:
    """Read the file."""
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
        return _targets(values)
    except KeyError as error:
        raise UserError(f"{path.name}: {error.args[0]}: missing, or not the name of a process") from error
    except (OSError, TypeError, ValueError, yaml.YAMLError) as error:
        raise UserError(f"{path.name}: {error}") from error


def _targets(values: dict[str, Any]) -> Targets:
    known = {name: Process(name, **fields) for name, fields in values["processes"].items()}
    tops = tuple(
        Top(
            name=name,
            processes=tuple(known[each] for each in fields["processes"]),
            way=tuple(known[each] for each in fields["way"]),
            waits=int(fields["waits"]),
            latency=int(fields["latency"]),
        )
        for name, fields in values["tops"].items()
    )
    return Targets(float(values["clock_ns"]), float(values["uncertainty_ns"]), tops)
