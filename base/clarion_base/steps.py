# SPDX-License-Identifier: Apache-2.0
"""The one way in which the scripts change anything: each step is shown, and left out in a dry run."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from clarion_base.errors import UserError

Word = str | Path  # of a command
GRACE_S = 5.0  # after SIGTERM, until SIGKILL
POLL_S = 0.05


class StepError(UserError):
    """A step that failed; the text names it and quotes its last line."""


class Steps:
    """Runs steps one after another, or only shows them."""

    def __init__(self, dry_run: bool) -> None:
        self.dry_run = dry_run

    def note(self, text: str) -> None:
        """Say what comes next."""
        say(f"# {text}")

    def need(self, fulfilled: bool, message: str) -> None:
        """Refuse to go on without something; a dry run says it and goes on, to show the rest."""
        if fulfilled:
            return
        if not self.dry_run:
            raise UserError(message)
        self.note(f"missing: {message}")

    def need_program(self, *names: str, get: str) -> str:
        """Return the first program of these that is there."""
        found = next((name for name in names if shutil.which(name)), None)
        self.need(found is not None, f"{' or '.join(names)}: not found on PATH; {get}")
        return found or names[0]

    def run(
        self,
        command: Sequence[Word],
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        capture: bool = False,
    ) -> str:
        """Run a command; returns what it printed if that is captured, which is empty in a dry run."""
        words = [str(word) for word in command]
        prefix = [f"{key}={shlex.quote(value)}" for key, value in (environment or {}).items()]
        place = [f"cd {shlex.quote(str(folder))} &&"] if folder else []
        say(" ".join(["+", *place, *prefix, shlex.join(words)]))
        if self.dry_run:
            return ""
        pipe = subprocess.PIPE if capture else None
        try:
            child = subprocess.Popen(
                words,
                cwd=folder,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,  # a tool that asks instead of failing must not wait for an answer
                stdout=pipe,
                stderr=pipe,
                text=True,
                errors="replace",
                start_new_session=True,  # so that an interrupt comes to us alone, and we end all of it
            )
        except OSError as error:
            raise StepError(f"{words[0]}: {error.strerror}") from error
        try:
            printed, complaint = child.communicate()
        except BaseException:
            _end(child)
            raise
        if child.returncode != 0:
            raise StepError(f"{words[0]}: ended with status {child.returncode}{_last_line(complaint)}")
        return printed or ""

    def set(self, path: Path, value: str) -> None:
        """Write a setting of the kernel."""
        say(f"+ echo {shlex.quote(value)} > {shlex.quote(str(path))}")
        if not self.dry_run:
            _write(path, value)

    def write(self, path: Path, text: str) -> None:
        """Write a file of our own; the text is shown."""
        say(f"+ write {shlex.quote(str(path))}")
        say("\n".join(f"  | {line}".rstrip() for line in text.splitlines()))
        if not self.dry_run:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, text)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StepError(f"{path}: {error.strerror}") from error


def _last_line(text: str | None) -> str:
    lines = (text or "").strip().splitlines()
    return f": {lines[-1]}" if lines else ""


def _end(child: subprocess.Popen[str]) -> None:
    """End a program with all that it has started: a tool behind a wrapper must not write on to a card."""
    try:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGTERM)
        end = time.monotonic() + GRACE_S
        while _group_lives(child) and time.monotonic() < end:
            time.sleep(POLL_S)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _group_lives(child: subprocess.Popen[str]) -> bool:
    child.poll()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, 0)
        return True
    return False


def say(text: str, stream: TextIO | None = None) -> None:
    """Print a line; a reader that is gone (a closed terminal, `| tee` after Ctrl-C) stops nothing."""
    stream = stream or sys.stdout
    try:
        print(text, file=stream, flush=True)
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # for what is printed later, and by the programs that are run
        os.close(nowhere)


def complain(script: str, error: object) -> None:
    """Print an error the way all scripts do."""
    say(f"{script}: {error}", sys.stderr)
