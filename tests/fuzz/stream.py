# SPDX-License-Identifier: Apache-2.0
"""The frames of a round, as the program `frame-fuzz` makes them for every target."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PROTOCOL = 253
ROUND_FRAMES = 65536
ORDINARY, MALFORMED, VALID = range(3)  # verdicts


class Judged(NamedTuple):
    """A frame, and what docs/wire-format.md says of it."""

    verdict: int
    format: int
    frame: bytes


def frames(program: Path, count: int, seed: int, first_round: int = 0) -> Iterator[Judged]:
    """Yield the first frames from a round on."""
    wanted = ["--count", str(count), "--seed", str(seed), "--first", str(first_round)]
    with subprocess.Popen([str(program), "frames", *wanted], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(count):
            head = process.stdout.read(4)
            yield Judged(head[2], head[3], process.stdout.read(int.from_bytes(head[:2], "little")))
