# SPDX-License-Identifier: Apache-2.0
"""Child processes that die with their parent and are stopped in bounded time."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
from collections.abc import Iterable, Sequence

from clarion_base.errors import RunFailedError

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """Runs in the child before exec: a SIGKILL of the runner takes its children along."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def run_first() -> None:
    """From now on the calling thread runs before ordinary processes, but not what it starts; without the
    permission nothing changes.
    """
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))


def run_ordinary() -> None:
    """Undoes `run_first`."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def punctual_switch() -> None:
    """Runs in the child of a switch before exec. A switch hands each packet from thread to thread and from
    process to process; whoever may take the CPU between two of them makes it late.
    """
    die_with_parent()
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def in_namespace(pid: int | None, command: Sequence[str]) -> list[str]:
    """The command inside the network namespace of a process (Mininet's mnexec), or as it is."""
    return [*([] if pid is None else ["mnexec", "-a", str(pid)]), *command]


def stop(children: Iterable[subprocess.Popen[bytes]], grace_s: float = 3.0) -> None:
    """SIGTERM to all, then SIGKILL to those that are left after the grace period."""
    alive = [child for child in children if child.poll() is None]
    for child in alive:
        child.terminate()
    for child in alive:
        try:
            child.wait(grace_s)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def run_all(commands: Sequence[tuple[str, Sequence[str]]], timeout_s: float = 60.0) -> list[str]:
    """Runs named commands side by side and returns their outputs; RunFailedError quotes the first that
    fails.
    """
    children = [
        (
            name,
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent,
                text=True,
            ),
        )
        for name, command in commands
    ]
    outputs = []
    failure = ""
    for name, child in children:
        try:
            output = child.communicate(timeout=timeout_s)[0]
        except subprocess.TimeoutExpired:
            child.kill()
            output = child.communicate()[0] + f"no answer in {timeout_s:g} s"
        outputs.append(output)
        if child.returncode != 0 and not failure:
            failure = f"{name}: {last_line(output) or f'exit status {child.returncode}'}"
    if failure:
        raise RunFailedError(failure)
    return outputs


def last_line(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
