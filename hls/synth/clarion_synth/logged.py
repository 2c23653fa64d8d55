# SPDX-License-Identifier: Apache-2.0
"""A step whose output, both streams of it, goes to a file: it is long, and read by a parser."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from clarion_base.steps import StepError, Steps


def run(steps: Steps, command: Sequence[str], log: Path, folder: Path) -> str:
    """Run a command in a folder; returns what it printed."""
    print(
        "+", f"cd {shlex.quote(str(folder))} &&", shlex.join(command), ">", shlex.quote(str(log)), flush=True
    )
    if steps.dry_run:
        return ""
    try:
        with log.open("w", encoding="utf-8") as into:
            done = subprocess.run(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=into,
                stderr=subprocess.STDOUT,
                check=False,
            )
    except OSError as error:
        raise StepError(f"{command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        raise StepError(f"{command[0]}: ended with status {done.returncode}; see {log}")
    return log.read_text(encoding="utf-8", errors="replace")
