# SPDX-License-Identifier: Apache-2.0
"""A step whose output, both streams of it, goes to a file: it is long, and read by a parser."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from clarion_base.steps import StepError, Steps


def run(steps: Steps, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None) -> str:
    """Run a command in the log's folder; returns what it printed."""
    print("+", f"cd {shlex.quote(str(log.parent))} &&", shlex.join(command), ">", log.name, flush=True)
    if steps.dry_run:
        return ""
    try:
        with log.open("w", encoding="utf-8") as into:
            done = subprocess.run(
                command,
                cwd=log.parent,
                env={**os.environ, **(environment or {})},
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
