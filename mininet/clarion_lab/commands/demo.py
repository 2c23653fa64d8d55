# SPDX-License-Identifier: Apache-2.0
"""`clarion demo`."""

from __future__ import annotations

import argparse
import sys

from clarion_lab.commands import run
from clarion_lab.controller.demo import DemoController
from clarion_lab.scenario.algorithms import DEMO

SETTINGS = ("duration=25 s", "measure-from=15 s")  # six runs in four minutes


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `clarion run`, without a scenario and sweeps."""
    run.add_run_options(parser)
    parser.set_defaults(run=_demo)


def _demo(options: argparse.Namespace) -> int:
    options.set = [*SETTINGS, *options.set]
    if options.engine != "emu" or options.controller is not None:
        return _run(options)
    with DemoController() as controller:
        options.controller, options.token_file = controller.url, controller.token_file
        options.tune = ["noise", *options.tune]
        print(f"dashboard, while the demo runs: {controller.sign_in}", file=sys.stderr)
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    return run.run_batch(options, "geo", [("algorithm", list(DEMO))])
