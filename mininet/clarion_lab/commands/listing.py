# SPDX-License-Identifier: Apache-2.0
"""`clarion list`."""

from __future__ import annotations

import argparse

from clarion_lab.scenario.algorithms import ALGORITHMS
from clarion_lab.scenario.documents import read, shipped


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command has no options."""
    parser.set_defaults(run=_list)


def _list(_: argparse.Namespace) -> int:
    print("scenarios:")
    scenarios = shipped()
    width = max(map(len, scenarios))
    for name, path in scenarios.items():
        print(f"  {name:{width}} {' '.join(read(path)['description'].split())}")
    print("algorithms:")
    for algorithm in ALGORITHMS.values():
        print(f"  {algorithm.name:13} {algorithm.summary}")
    return 0
