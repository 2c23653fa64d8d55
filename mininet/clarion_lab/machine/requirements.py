# SPDX-License-Identifier: Apache-2.0
"""What a scenario needs of this machine, checked before anything is built."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from clarion_base import faults, paths, processes
from clarion_base.errors import UserError
from clarion_base.faults import Code, ScenarioError
from clarion_base.units import format_size
from clarion_lab.machine.doctor import APPLICATIONS, AVAILABLE, PROGRAMS
from clarion_lab.machine.state import SCRATCH_ROOT
from clarion_lab.scenario.algorithms import DEFAULT, OURS, Algorithm, lookup
from clarion_lab.scenario.model import Scenario

SPARE_BYTES = 64 << 20  # of the tmpfs of applications' files, for others
ACCURATE_ECN = Path("/proc/sys/net/ipv4/tcp_ecn_option")  # there since kernels have it


def check(scenario: Scenario, engine: str) -> None:
    """Raises UserError or ScenarioError for the first missing thing, with how to get it."""
    for name, remedy in PROGRAMS.items():
        if shutil.which(name) is None:
            raise UserError(f"engine {engine}: {name}: not found; {remedy}")
    paths.binary("clarion-switch")
    if any(flow.uses_agent for flow in scenario.flows):
        paths.binary("clarion-host")
    if scenario.tunnel:
        _check_programs("tunnel", scenario.tunnel)
    check_applications(scenario)
    check_proxy(scenario)
    check_congestion_controls(scenario)
    check_accurate_ecn(scenario)
    check_params(scenario)


def check_applications(scenario: Scenario) -> None:
    """The programs of the flows' applications, and room for their files."""
    for name in sorted({flow.application.name for flow in scenario.flows if flow.application}):
        _check_programs(f"application {name}", name)
    check_room(scenario)


def _check_programs(who: str, name: str) -> None:
    for program, remedy in APPLICATIONS[name].items():
        if shutil.which(program) is None:
            raise UserError(f"{who}: {program}: not found; {remedy}")


def check_room(scenario: Scenario, place: Path = SCRATCH_ROOT) -> None:
    """Every file is there twice, sent and received. UserError if the tmpfs has no room for that."""
    needed = 2 * sum(flow.size_bytes or 0 for flow in scenario.flows if flow.application) + SPARE_BYTES
    if needed == SPARE_BYTES:
        return
    try:
        found = os.statvfs(place)
    except OSError as error:
        raise UserError(f"{place}: {error.strerror}; applications move files on a tmpfs there") from error
    free = found.f_bavail * found.f_frsize
    if free < needed:
        reason = f"the files of this scenario need {format_size(needed)}; set a smaller size"
        raise UserError(f"{place}: has room for {format_size(free)}, {reason}")


def check_proxy(scenario: Scenario) -> None:
    """The proxy, the law that the scenario names, and what its transparent client calls."""
    if scenario.proxy is None:
        return
    program = paths.binary("clarion-proxy")
    _check_programs("proxy", "proxy")
    if scenario.proxy.uses_shim:
        paths.binary("clarion-host")
    listed = processes.run_all([("clarion-proxy laws", [program, "laws"])])[0]
    laws = [line.split()[0] for line in listed.splitlines() if line.strip()]
    if scenario.proxy.law not in laws:
        reason = f'"{scenario.proxy.law}": unknown law; use none, {", ".join(laws)}'
        raise ScenarioError(scenario.name, ("proxy", "law"), reason, Code.UNKNOWN)


def check_congestion_controls(scenario: Scenario, available: Path = AVAILABLE) -> None:
    """Every congestion control of the flows is Clarion's, built in, or a module that can be loaded."""
    for flow in scenario.flows:
        name, kernel = flow.algorithm.name, flow.algorithm.kernel
        if flow.udp is not None or flow.algorithm.needs_agent:
            continue
        if flow.algorithm.only_simulated:
            reason = f"{name}: runs in the simulator only; use --engine sim"
            raise ScenarioError(scenario.name, ("algorithm",), reason)
        if kernel in available.read_text().split():
            continue
        modprobe = shutil.which("modprobe")
        if modprobe:
            subprocess.run([modprobe, "-q", f"tcp_{kernel}"], capture_output=True, check=False)
        present = [each for each in available.read_text().split() if not each.startswith(OURS)]
        if kernel not in present:
            reason = f'"{name}": this kernel has no {kernel}; it has {", ".join(present)}'
            raise ScenarioError(scenario.name, ("algorithm",), reason)


def check_accurate_ecn(scenario: Scenario, sign: Path = ACCURATE_ECN) -> None:
    """A sender that counts marks needs a kernel whose TCP has them reported (RFC 9768)."""
    counting = [flow.algorithm.name for flow in scenario.flows if flow.algorithm.counts_marks]
    if counting and not sign.exists():
        reason = f"{counting[0]}: needs accurate ECN, which Linux has from 6.18 on; use --engine sim"
        raise ScenarioError(scenario.name, ("algorithm",), reason)


def check_params(scenario: Scenario) -> None:
    """Every parameter is one of the laws that it is given to, by clarion-host, and within its range."""
    given = list(_params(scenario.document))
    if not given:
        return
    listed = processes.run_all([("clarion-host", [paths.binary("clarion-host"), "params", "--json"])])[0]
    known = {parameter["name"]: parameter for parameter in json.loads(listed)}
    for path, value, laws in given:
        name = path[-1]
        for law in laws:
            legal = [each for each, parameter in known.items() if law.kernel in parameter["laws"]]
            if name not in legal:
                what = f"{law.name} has no such parameter" if name in known else "unknown"
                reason = f"{what}; use {', '.join(legal)}" if legal else f"{law.name} takes none"
                raise ScenarioError(scenario.name, path, reason, Code.UNKNOWN)
        low, high = known[name]["min"], known[name]["max"]
        if not (str(value).isascii() and str(value).isdigit() and low <= int(value) <= high):
            reason = f"{value}: use a whole number from {low} to {high}"
            raise ScenarioError(scenario.name, path, reason, Code.OUT_OF_RANGE)


def _params(document: Mapping[str, Any]) -> Iterator[tuple[faults.Path, Any, list[Algorithm]]]:
    """The parameters of the scenario and of its flow groups: path, value, and the laws that take it."""
    default = document.get("algorithm", DEFAULT)
    laws = [lookup(group.get("algorithm", default)) for group in document["flows"] if "udp" not in group]
    for name, value in document.get("params", {}).items():
        yield ("params", name), value, laws
    for number, group in enumerate(document["flows"]):
        for name, value in group.get("params", {}).items():
            yield ("flows", number, "params", name), value, [lookup(group.get("algorithm", default))]
