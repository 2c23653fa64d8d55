# SPDX-License-Identifier: Apache-2.0
"""`clarion cleanup`."""

from __future__ import annotations

import argparse

from clarion_base.commands import EXIT_FAILED
from clarion_lab.machine.cleanup import cleanup
from clarion_lab.machine.state import left_behind


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command has no options."""
    parser.set_defaults(run=_cleanup)


def _cleanup(_: argparse.Namespace) -> int:
    done = cleanup()
    print("\n".join(done) if done else "nothing to clean up")
    return EXIT_FAILED if left_behind() else 0
