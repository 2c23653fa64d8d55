# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the command `clarion`, which runs nothing: its output and files are those of a real run.

The setting `description` selects its behaviour; the real builder takes any text there.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import NoReturn


def command() -> tuple[str, ...]:
    """The stand-in's command line."""
    return (sys.executable, "-S", __file__)


def main(arguments: list[str]) -> int:
    """Acts as `clarion run` or `clarion cleanup`."""
    if arguments[0] == "cleanup":
        with Path(os.environ["HOME"], "cleanups").open("a") as file:
            file.write("cleanup\n")
        return 0
    out = Path(arguments[arguments.index("--out") + 1])
    settings = dict(
        setting.split("=", 1) for flag, setting in itertools.pairwise(arguments) if flag == "--set"
    )
    return run(out, json.loads(settings.get("description", '"ends at once"')))


def interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """Ends the run, once: when a runner is killed, the kernel sends the signal for each of its threads."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def run(out: Path, behaviour: str) -> int:
    """One run with the given behaviour; its exit status."""
    out.mkdir(exist_ok=True)
    (out / "arguments.json").write_text(json.dumps(sys.argv[1:]))
    if behaviour == "fails":
        print("clarion: scenario smoke: links: nothing works", file=sys.stderr)
        return 1
    ignores = behaviour == "ignores signals"
    signal.signal(signal.SIGTERM, signal.SIG_IGN if ignores else interrupt)
    print("smoke: network", file=sys.stderr, flush=True)
    (out / "started").write_text(f"{os.getpid()}\n")
    try:
        while behaviour in ("goes on", "ignores signals"):
            with contextlib.suppress(BrokenPipeError):  # a runner that was killed reads no more
                print("smoke:   1.0 / 3 s   18.9 Mbit/s", end="\r", file=sys.stderr, flush=True)
            time.sleep(0.02)
    except KeyboardInterrupt:
        (out / "summary.json").write_text('{"state": "interrupted"}')
        print("clarion: stopped; partial results are in it", file=sys.stderr)
        return 143
    (out / "summary.json").write_text('{"state": "complete"}')
    (out / "iperf3").mkdir(exist_ok=True)
    (out / "iperf3" / "flow-1.json").write_text("{}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
