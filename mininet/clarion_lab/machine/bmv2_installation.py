# SPDX-License-Identifier: Apache-2.0
"""BMv2's programs on this machine: whether they start, and have the libraries that Clarion needs."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping

from clarion_base import processes

PROGRAM = "simple_switch_grpc"
REMEDY = "p4lang's packages for Debian and Ubuntu have it: docs/p4.md"
# Options that a switch has only with a library; without it, it takes their values for something else.
LIBRARIES = {"--notifications-addr": "nanomsg", "--thrift-port": "Thrift"}
PATIENCE_S = 20.0


def fault(program: str = PROGRAM, libraries: Mapping[str, str] = LIBRARIES) -> str | None:
    """Why a program cannot be used, in one line; None if it can."""
    path = shutil.which(program)
    if path is None:
        return f"not found; {REMEDY}"
    try:
        said = subprocess.run(
            [path, "--help"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"does not start: {error}"
    if said.returncode != 0:
        return f"does not start: {processes.last_line(said.stdout) or f'status {said.returncode}'}"
    absent = [library for option, library in libraries.items() if option not in said.stdout]
    return f"built without {' and '.join(absent)}; docs/p4.md says how to build it" if absent else None
