# SPDX-License-Identifier: Apache-2.0
"""Routers of iXCP and P-XCP with the senders of the kernel, in runs: what ports grant moves those."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from clarion_base import paths
from clarion_base.errors import RunFailedError
from clarion_switch.client import Client
from integration.switch_net import Json
from integration.undisturbed import undisturbed
from integration.waiting import wait_until

pytestmark = [pytest.mark.root, pytest.mark.timeout(300)]
SETTLES_S = 90.0  # from the command on: the network is built, the flows have started and shared


class Case(NamedTuple):
    """Two links in a row, flows over links `crosses`, and what the ports find out about them."""

    rates: tuple[str, str]
    flows: list[Json]
    reports: dict[tuple[str, str], float]  # by port and figure
    shares: tuple[float, ...]  # of the flows, max-min fair, Mbit/s of frames


# The slower link holds back what crosses both, and the faster one finds that out: one of its flows is its
# own. XCP leaves 7 % of it empty. P-XCP does not see what later links hold back: there the slower is first.
CASES = {
    "ixcp": Case(
        ("20 Mbit/s", "10 Mbit/s"),
        [{"crosses": [1, 2]}, {"crosses": [1, 1]}, {"crosses": [2, 2]}],
        {
            ("s1-right", "flows"): 2,
            ("s1-right", "own_flows"): 1,
            ("s2-right", "flows"): 2,
            ("s2-right", "own_flows"): 2,
        },
        (5, 15, 5),
    ),
    "p-xcp": Case(
        ("10 Mbit/s", "20 Mbit/s"),
        [{"crosses": [1, 2], "count": 2}, {"crosses": [2, 2]}],
        {
            ("s1-right", "flows"): 2,
            ("s1-right", "limited_share"): 0,
            ("s2-right", "flows"): 3,
            ("s2-right", "limited_share"): 2 / 3,
        },
        (5, 5, 10),
    ),
}


def scenario(law: str, case: Case) -> Json:
    bottleneck = [{"rate": rate, "rtt": "20 ms", "queue": "4 bdp"} for rate in case.rates]
    return {
        "description": f"{law} on two links in a row",
        "topology": "parking-lot",
        "algorithm": law,
        "router": {"law": law},
        "links": {"access": {"rtt": "2 ms"}, "bottleneck": bottleneck},
        "flows": case.flows,
        "duration": "20 s",
        "measure-from": "8 s",
    }


def reports(run: subprocess.Popen[str]) -> dict[str, Json]:
    """What the routers of the run's switch last reported, by port; empty while it is not there."""
    try:
        client = Client(paths.run_root() / f"run-{run.pid}" / "switch.sock")
    except RunFailedError:  # nothing listens there yet
        return {}
    try:
        switches = client.ask("stats")["switches"]
    finally:
        client.close()
    return {port["name"]: port["router"] for each in switches for port in each["ports"] if "router" in port}


def run_watched(case: Case, file: Path, out: Path) -> dict[str, Any]:
    """The summary of a run in which all figures of the case have been reported."""
    command = [sys.executable, "-m", "clarion", "run", str(file), "--engine", "emu", "--out", str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            seen: set[tuple[str, str]] = set()

            def found() -> bool:
                assert run.poll() is None, (case.reports.keys() - seen, run.communicate())
                last = reports(run)
                for (port, figure), value in case.reports.items():
                    if last.get(port, {}).get(figure) == pytest.approx(value, abs=0.25):
                        seen.add((port, figure))
                return seen == case.reports.keys()

            wait_until(found, f"the ports report {case.reports}", SETTLES_S)
            _, errors = run.communicate(timeout=120)
        finally:
            run.terminate()
    assert run.returncode == 0, errors
    summary: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return summary


@pytest.mark.parametrize("law", CASES)
def test_grants_move_the_senders_of_the_kernel(law: str, tmp_path: Path) -> None:
    case = CASES[law]
    file = tmp_path / "scenario.yaml"
    file.write_text(yaml.safe_dump(scenario(law, case)))
    summary = undisturbed(lambda attempt: run_watched(case, file, tmp_path / f"out-{attempt}"))
    forward = [port for port in summary["ports"] if port["role"].endswith("forward")]
    assert min(port["utilisation"] for port in forward) > 0.85, (forward, summary["sampler"])
    assert summary["totals"]["losses"]["data_queue"] == 0
    parts = [flow["goodput_bits_per_s"] for flow in summary["flows"]]
    for flow, part, share in zip(summary["flows"], parts, case.shares, strict=True):
        assert part / sum(parts) == pytest.approx(share / sum(case.shares), rel=0.15)
        assert (flow["sender_state"]["mode"], flow["sender_state"]["plain_fallbacks"]) == ("xcp", 0)
