# SPDX-License-Identifier: Apache-2.0
"""The switches: what of Clarion each has, its XCP, and when it starts again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clarion_base.faults import Code, FaultError
from clarion_contract.checks import xcp_fault
from clarion_contract.settings import XCP, XcpSettings
from clarion_contract.settings_json import xcp_members
from clarion_lab.scenario import quantities
from clarion_lab.scenario.documents import Document
from clarion_lab.scenario.fields import below, optional, parsed, refused

MAX_DOWN_US = 60_000_000  # of a switch that starts again

# The capacity of a port is its link's rate, or measured: `capacity` says which.
XCP_KEYS = {setting.key("-"): setting for name, setting in XCP.items() if name != "capacity_bps"}


@dataclass(frozen=True)
class SwitchSettings:
    """What a switch is: with both false one that knows nothing of Clarion."""

    tagging: bool
    xcp: bool
    generation: int | None = None  # of its XCP; None: that of the scenario
    router: bool = True  # whether it has the scenario's law for routers


@dataclass(frozen=True)
class Restart:
    """A switch, or the controller if `switch` is None, that starts again."""

    at_us: int
    switch: str | None
    down_us: int


def parse_switches(document: Document, names: Sequence[str]) -> dict[str, SwitchSettings]:
    """All switches by name, `names` in their order. FaultError names the field."""
    given = document.get("switches", {})
    for name in given:
        if name not in names:
            raise refused(("switches", name), f"unknown switch; use {', '.join(names)}", Code.UNKNOWN)
    default = {"tagging": document.get("tagging", True), "xcp": True}
    return {name: SwitchSettings(**{**default, **given.get(name, {})}) for name in names}


def parse_xcp(document: Mapping[str, Any]) -> XcpSettings | None:
    """The controllers of every shaped port, but for its capacity; None: off. FaultError names the key."""
    given: dict[str, Any] = {"capacity_bps": XCP["capacity_bps"].most}
    for key, setting in XCP_KEYS.items():
        if key in document and setting.unit == "us":
            given[setting.name] = parsed(document, key, quantities.parse_time)
        elif key in document:
            given[setting.name] = document[key]
    xcp = XcpSettings(**xcp_members(given))
    fault = xcp_fault(xcp, lambda setting: setting.key("-"))
    if fault is not None:
        raise FaultError(fault)
    return xcp if document.get("enabled", True) else None


def parse_restarts(document: Document, names: Sequence[str], duration_us: int) -> tuple[Restart, ...]:
    """What starts again, in the order of the document. FaultError names the field."""
    found = []
    for index, entry in enumerate(document.get("restarts", ())):
        with below("restarts", index):
            found.append(_restart(entry, names, duration_us))
    return tuple(found)


def _restart(entry: Mapping[str, Any], names: Sequence[str], duration_us: int) -> Restart:
    if ("switch" in entry) == ("controller" in entry):
        raise refused(("switch",), "give one of switch and controller", Code.CONFLICT)
    if entry.get("controller") is False:
        raise refused(("controller",), "must be true")
    if "controller" in entry and "for" in entry:
        raise refused(("for",), "a controller is back as soon as it has started", Code.CONFLICT)
    if "switch" in entry and entry["switch"] not in names:
        raise refused(("switch",), f'"{entry["switch"]}": use {", ".join(names)}', Code.UNKNOWN)
    at_us = parsed(entry, "at", quantities.parse_time)
    if not 0 < at_us < duration_us:
        raise refused(("at",), "must lie above 0 s and before duration", Code.OUT_OF_RANGE)
    down_us = optional(entry, "for", quantities.parse_time, 0)
    if down_us > MAX_DOWN_US:
        raise refused(("for",), "must be at most 60 s", Code.OUT_OF_RANGE)
    return Restart(at_us, entry.get("switch"), down_us)
