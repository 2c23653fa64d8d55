# SPDX-License-Identifier: Apache-2.0
"""`clarion list`."""

from __future__ import annotations

import argparse

from clarion_lab.scenario.algorithms import GROUPS, MACHINES
from clarion_lab.scenario.documents import read, shipped


def add_options(parser: argparse.ArgumentParser) -> None:
    """What to list."""
    parser.add_argument(
        "what", nargs="?", choices=("scenarios", "senders"), help="one of the two lists; both if not given"
    )
    parser.set_defaults(run=_list)


def _list(options: argparse.Namespace) -> int:
    if options.what != "senders":
        _list_scenarios()
    if options.what != "scenarios":
        _list_senders()
    return 0


def _list_scenarios() -> None:
    print("scenarios:")
    scenarios = shipped()
    width = max(map(len, scenarios))
    for name, path in scenarios.items():
        print(f"  {name:{width}} {' '.join(read(path)['description'].split())}")


def _list_senders() -> None:
    print("senders (algorithm in a scenario):")
    width = max(len(each.name) for group in GROUPS.values() for each in group)
    for name, group in GROUPS.items():
        print(f"  {name}")
        for each in group:
            where = "; simulator only" if each.only_simulated else ""
            print(f"    {each.name:{width}} {each.summary}{where} ({each.source})")
    print(f"  the machine's own\n    {MACHINES + 'NAME':{width}} any congestion control of this kernel")
