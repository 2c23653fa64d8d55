# SPDX-License-Identifier: Apache-2.0
"""The one way in which the scripts change anything: each step is shown, and left out in a dry run."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from clarion.errors import UserError

Word = str | Path  # of a command


class StepError(UserError):
    """A step that failed; the text names it and says what it said last."""


class Steps:
    """Runs steps one after another, or only shows them."""

    def __init__(self, dry_run: bool) -> None:
        self.dry_run = dry_run

    def note(self, text: str) -> None:
        """Say what comes next."""
        print(f"# {text}", flush=True)

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
        print("+", *place, *prefix, shlex.join(words), flush=True)
        if self.dry_run:
            return ""
        try:
            done = subprocess.run(
                words,
                cwd=folder,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,  # a tool that asks instead of failing must not wait for an answer
                stdout=subprocess.PIPE if capture else None,
                stderr=subprocess.PIPE if capture else None,
                text=True,
                check=False,
            )
        except OSError as error:
            raise StepError(f"{words[0]}: {error.strerror}") from error
        if done.returncode != 0:
            raise StepError(f"{words[0]}: ended with status {done.returncode}{_last_line(done.stderr)}")
        return done.stdout or ""

    def set(self, path: Path, value: str) -> None:
        """Write a setting of the kernel."""
        print("+", f"echo {shlex.quote(value)} > {shlex.quote(str(path))}", flush=True)
        if not self.dry_run:
            _write(path, value)

    def write(self, path: Path, text: str) -> None:
        """Write a file of our own; the text is shown."""
        print("+", f"write {shlex.quote(str(path))}", flush=True)
        print(*(f"  | {line}".rstrip() for line in text.splitlines()), sep="\n", flush=True)
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


def complain(script: str, error: object) -> None:
    """Print an error the way all scripts do."""
    print(f"{script}: {error}", file=sys.stderr)
