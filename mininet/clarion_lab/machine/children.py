# SPDX-License-Identifier: Apache-2.0
"""Background processes of a run, recorded so that `clarion cleanup` finds them if the runner is killed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from typing import IO, Any

from clarion_base import processes
from clarion_lab.machine.state import RunState


def spawn(
    state: RunState,
    name: str,
    command: Sequence[str],
    stdout: int | IO[Any] = subprocess.DEVNULL,
    stderr: int | IO[Any] = subprocess.DEVNULL,
    prepare: Callable[[], None] = processes.die_with_parent,
) -> subprocess.Popen[bytes]:
    """Starts a background process of the run."""
    child = processes.background(command, stdout, stderr, prepare)
    state.process(name, child.pid)
    return child
