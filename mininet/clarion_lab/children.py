# SPDX-License-Identifier: Apache-2.0
"""Background processes of a run, recorded so that `clarion cleanup` finds them if the runner is killed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from typing import IO, Any

from clarion_base.processes import die_with_parent
from clarion_lab.state import RunState


def spawn(
    state: RunState,
    name: str,
    command: Sequence[str],
    stdout: int | IO[Any] = subprocess.DEVNULL,
    stderr: int | IO[Any] = subprocess.DEVNULL,
    prepare: Callable[[], None] = die_with_parent,
) -> subprocess.Popen[bytes]:
    """Starts a background process of the run, in a session of its own so that Ctrl-C reaches the runner
    only. `prepare` runs in it first.
    """
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
        preexec_fn=prepare,
    )
    state.process(name, child.pid)
    return child
