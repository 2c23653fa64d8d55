# SPDX-License-Identifier: Apache-2.0
"""The process: start, and wait until it forwards."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from clarion_base import paths, processes

PROGRAM = "clarion-switch"
READY = re.compile(r"^ready$", re.MULTILINE)
READY_TIMEOUT_S = 30.0


def start(
    config: Path,
    control: Path,
    stderr: int | IO[Any],
    program: str = PROGRAM,
    options: Sequence[str] = (),
    cpu: int | None = None,
) -> subprocess.Popen[bytes]:
    """Starts clarion-switch, or a program that takes its place, with its control socket at `control`. With
    `cpu` it is bound to that one, and others take in what its devices receive.
    """
    command = [paths.binary(program), "--config", str(config), "--control", str(control), *options]
    if cpu is not None:
        command = ["taskset", "--cpu-list", str(cpu), *command]
    return processes.background(command, stdout=subprocess.PIPE, stderr=stderr)


def await_ready(child: subprocess.Popen[bytes], program: str = PROGRAM, log: Path | None = None) -> None:
    """Returns when it forwards. RunFailedError in its own words if it ends, from `log` or from its pipe."""
    processes.await_output(child, program, READY, READY_TIMEOUT_S, log)
