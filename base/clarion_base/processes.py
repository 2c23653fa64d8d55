# SPDX-License-Identifier: Apache-2.0
"""Child processes that die with their parent and are stopped in bounded time."""

from __future__ import annotations

import concurrent.futures
import contextlib
import ctypes
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

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
    process to process; any other process that takes the CPU between two of them makes it late.
    """
    die_with_parent()
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def in_namespace(pid: int | None, command: Sequence[str]) -> list[str]:
    """The command inside the network namespace of a process (Mininet's mnexec), or as it is."""
    return [*([] if pid is None else ["mnexec", "-a", str(pid)]), *command]


def in_network(pid: int, command: Sequence[str]) -> list[str]:
    """The same, but with the files of this machine: Mininet's hosts have mounts of their own."""
    return ["nsenter", f"--net=/proc/{pid}/ns/net", *command]


def background(
    command: Sequence[str],
    stdout: int | IO[Any] = subprocess.DEVNULL,
    stderr: int | IO[Any] = subprocess.DEVNULL,
    prepare: Callable[[], None] = die_with_parent,
    stdin: int | IO[Any] = subprocess.DEVNULL,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Starts a child in a session of its own, so that Ctrl-C reaches its parent only. `prepare` runs in it
    first. With `die_with_parent` it ends with the calling thread.
    """
    return subprocess.Popen(
        command,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
        preexec_fn=prepare,
        cwd=cwd,
        env=env,
    )


def await_output(
    child: subprocess.Popen[bytes],
    name: str,
    pattern: re.Pattern[str],
    timeout_s: float,
    log: Path | None = None,
) -> re.Match[str]:
    """Waits until the lines on a child's standard output, a pipe, match; reads that pipe to its end, so that
    the child can go on writing. RunFailedError in the child's last words (see `ended`) if it ends before, and
    at the deadline.
    """
    assert child.stdout is not None
    deadline_s = time.monotonic() + timeout_s
    match: concurrent.futures.Future[re.Match[str]] = concurrent.futures.Future()
    reader = threading.Thread(target=_read, args=(child.stdout, pattern, match), name=name, daemon=True)
    reader.start()
    try:
        return match.result(timeout_s)
    except EOFError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(max(0.0, deadline_s - time.monotonic()))
            raise ended(child, name, log) from None
    except concurrent.futures.TimeoutError:
        pass
    raise RunFailedError(f"{name}: not ready after {timeout_s:g} s")


def _read(
    output: IO[bytes], pattern: re.Pattern[str], match: concurrent.futures.Future[re.Match[str]]
) -> None:
    printed = ""
    with output:
        for line in output:
            if match.done():
                continue
            printed += line.decode(errors="replace")
            found = pattern.search(printed)
            if found is not None:
                match.set_result(found)
    if not match.done():
        match.set_exception(EOFError())


def ended(child: subprocess.Popen[bytes], name: str, log: Path | None = None) -> RunFailedError:
    """The error for a child that has ended: the last line of its error output, which went to `log` or to a
    pipe, or else its status.
    """
    written = b""
    if log is not None:
        written = log.read_bytes()
    elif child.stderr is not None:
        with child.stderr:
            written = child.stderr.read()
    said = last_line(written.decode(errors="replace"))
    return RunFailedError(said or f"{name}: stopped with status {child.returncode}")


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
    """The last line that is not blank, without the space around it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
