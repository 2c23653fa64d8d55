# SPDX-License-Identifier: Apache-2.0
"""Settings as the entries of a switch's port tables, and back.

The conversions are those of core/xcp_settings.hpp, so that a P4 switch and the embedded one compute with
the same integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from clarion_base.faults import Code, Fault
from clarion_contract.checks import is_stable
from clarion_contract.setting import Argument, Setting
from clarion_contract.settings import LAST_EPOCH, PORT, TABLES, XCP, PortSettings, XcpSettings


@dataclass(frozen=True)
class Entry:
    """An entry of a table whose one key is a number, with the arguments of the table's action."""

    table: str
    key: int
    arguments: Mapping[str, int]


def port_entries(port: PortSettings, xcp_epoch: int, tag_epoch: int) -> Iterator[Entry]:
    """The table entries of one port; a function that is off has none."""
    if port.check or port.edge or port.wire:
        yield Entry("tag_port", port.port, {**_arguments(port, "tag_port"), "epoch": tag_epoch})
    if port.xcp is not None:
        yield Entry("xcp_port", port.port, {**xcp_arguments(port.xcp), "epoch": xcp_epoch})
    if port.stamp:
        yield Entry("stamp_port", port.port, {})
    if port.queue_limit_bytes is not None:
        yield Entry("queue_port", port.port, _arguments(port, "queue_port"))


def xcp_arguments(xcp: XcpSettings) -> dict[str, int]:
    """XCP's settings as arguments of the action: the data plane's integers."""
    return _arguments(xcp, "xcp_port")


def argument_fault(table: str, arguments: Mapping[str, int]) -> Fault | None:
    """The first of a table's arguments that makes no sense to the data plane although its width holds it."""
    if TABLES[table].has_epoch and arguments["epoch"] == 0:
        return Fault(("epoch",), f"0: use 1 to {LAST_EPOCH}", Code.OUT_OF_RANGE)
    known = {field.name: argument for field, argument in _fields(table)}
    for field, argument in _fields(table):
        value = arguments[argument.name]
        if value < argument.least:
            return Fault((argument.name,), f"{value}: use at least {argument.least}", Code.OUT_OF_RANGE)
        if value > argument.encode(field.most):
            most = argument.encode(field.most)
            return Fault((argument.name,), f"{value}: use at most {most}", Code.OUT_OF_RANGE)
    for field, argument in _fields(table):
        if field.at_most:
            bound = known[field.at_most].name
            value, most = arguments[argument.name], arguments[bound]
            if value > most:
                return Fault((argument.name,), f"{value}: exceeds {bound}, {most}", Code.CONFLICT)
    return None


def port_settings(ports: Iterable[int], present: Iterable[Entry]) -> dict[int, PortSettings]:
    """The settings by port that entries of the port tables stand for: the inverse of `port_entries`."""
    found: dict[int, dict[str, Any]] = {port: {} for port in ports}
    for entry in present:
        if entry.key not in found:
            continue
        if entry.table == "xcp_port":
            found[entry.key]["xcp"] = _xcp_settings(entry.arguments)
            continue
        if entry.table == "stamp_port":
            found[entry.key]["stamp"] = True
        for field, argument in _fields(entry.table):
            value = argument.decode(entry.arguments[argument.name])
            found[entry.key][field.name] = bool(value) if field.kind == "flag" else value
    return {port: PortSettings(port, **fields) for port, fields in found.items()}


def forward_entries(addresses: Mapping[int, int]) -> Iterator[Entry]:
    """An entry for each Ethernet address, with the port that it is forwarded to."""
    for address, port in addresses.items():
        yield Entry("l2_forward", address, {"port": port})


def _fields(table: str) -> list[tuple[Setting, Argument]]:
    """The settings that are arguments of a table's action, in its order."""
    return [
        (field, field.argument)
        for field in (*XCP.values(), *PORT.values())
        if field.table == table and field.argument is not None
    ]


def _arguments(settings: PortSettings | XcpSettings, table: str) -> dict[str, int]:
    return {
        argument.name: argument.encode(getattr(settings, field.name)) for field, argument in _fields(table)
    }


def _xcp_settings(given: Mapping[str, int]) -> XcpSettings:
    """An unstable entry counts as allowed, because its writer must have allowed it."""
    xcp = XcpSettings(
        **{field.name: argument.decode(given[argument.name]) for field, argument in _fields("xcp_port")}
    )
    return xcp if is_stable(xcp) else replace(xcp, allow_unstable=True)
