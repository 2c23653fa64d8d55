# SPDX-License-Identifier: Apache-2.0
"""Settings as the table entries of p4/clarion.p4, and what to write so that a switch has exactly those.

The conversions are those of core/host_config.hpp, so that a P4 switch and the embedded one compute with
the same integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import Any

from finsy import P4MulticastGroupEntry, P4TableAction, P4TableEntry, P4TableMatch

from clarion_contract.settings import PortSettings, XcpSettings

PORT_TABLES = ("tag_port", "xcp_port", "stamp_port", "queue_port")
ACTIONS = {  # each table has one
    "tag_port": "set_tag_port",
    "xcp_port": "set_xcp_port",
    "stamp_port": "stamp",
    "queue_port": "set_queue_port",
    "l2_forward": "forward",
}
FLOOD_GROUP = 1
FLOOD_BASE = 256  # a flooded copy for port p is sent to 256 + p, from where it comes in again
COEFFICIENT_MAX = 2**18 - 1
TICKS_MAX = 2**32 - 1

Key = tuple[str, int]  # table and the value of its one key


def q16(coefficient: float) -> int:
    """A coefficient in units of 1/65536, to nearest, halves up."""
    return min(math.floor(coefficient * 65536 + 0.5), COEFFICIENT_MAX)


def interval_ticks(microseconds: int) -> int:
    """A bound of the control interval in ticks of 2^-28 s, rounded down: at least 1, at most 2^32 - 1."""
    return min(max(microseconds * 2**28 // 10**6, 1), TICKS_MAX)


def port_entries(port: PortSettings, xcp_epoch: int, tag_epoch: int) -> Iterator[P4TableEntry]:
    """The entries of one port; what is off has none."""
    if port.check or port.edge:
        yield _entry(
            "tag_port",
            port.port,
            P4TableAction("set_tag_port", check=int(port.check), edge=int(port.edge), epoch=tag_epoch),
        )
    if port.xcp is not None:
        yield _entry("xcp_port", port.port, _set_xcp_port(port.xcp, xcp_epoch))
    if port.stamp:
        yield _entry("stamp_port", port.port, P4TableAction("stamp"))
    if port.queue_limit_bytes is not None:
        action = P4TableAction("set_queue_port", limit_bytes=port.queue_limit_bytes)
        yield _entry("queue_port", port.port, action)


def port_settings(ports: Iterable[int], present: Iterable[P4TableEntry]) -> dict[int, PortSettings]:
    """The settings of these ports that entries of the port tables stand for: `port_entries` undone."""
    found: dict[int, dict[str, Any]] = {port: {} for port in ports}
    for entry in present:
        table, port = key_of(entry)
        if port not in found:
            continue
        given = arguments(entry)
        if table == "tag_port":
            found[port].update(check=bool(given["check"]), edge=bool(given["edge"]))
        elif table == "xcp_port":
            found[port]["xcp"] = _xcp_settings(given)
        elif table == "stamp_port":
            found[port]["stamp"] = True
        elif table == "queue_port":
            found[port]["queue_limit_bytes"] = given["limit_bytes"]
    return {port: PortSettings(port, **fields) for port, fields in found.items()}


def forward_entries(addresses: Mapping[int, int]) -> Iterator[P4TableEntry]:
    """Where each Ethernet address is to be found."""
    for address, port in addresses.items():
        action = P4TableAction("forward", port=port)
        yield P4TableEntry("l2_forward", match=P4TableMatch(dst_addr=address), action=action)


def flood_group(ports: Iterable[int]) -> P4MulticastGroupEntry:
    """The group of all ports that unknown addresses are flooded to."""
    return P4MulticastGroupEntry(FLOOD_GROUP, replicas=tuple(FLOOD_BASE + port for port in ports))


def key_of(entry: P4TableEntry) -> Key:
    """What makes an entry the same as another with a different action."""
    assert entry.match is not None
    (value,) = entry.match.values()
    return entry.table_id, value


def arguments(entry: P4TableEntry) -> Mapping[str, Any]:
    """The arguments of an entry's action."""
    assert isinstance(entry.action, P4TableAction)
    return entry.action.args


def changes(present: Iterable[P4TableEntry], wanted: Iterable[P4TableEntry]) -> list[Any]:
    """The updates that turn the present entries into the wanted: deletions, then changes, then new ones.

    They are copies, since an entry remembers what it was an update of.
    """
    before = {key_of(entry): entry for entry in present}
    after = {key_of(entry): entry for entry in wanted}
    deleted = [-copy(entry) for key, entry in before.items() if key not in after]
    modified = [~copy(entry) for key, entry in after.items() if key in before and before[key] != entry]
    inserted = [+copy(entry) for key, entry in after.items() if key not in before]
    return deleted + modified + inserted


def _entry(table: str, port: int, action: P4TableAction) -> P4TableEntry:
    return P4TableEntry(table, match=P4TableMatch(port=port), action=action)


def _set_xcp_port(xcp: XcpSettings, epoch: int) -> P4TableAction:
    return P4TableAction(
        "set_xcp_port",
        capacity=xcp.capacity_bps // 8,
        alpha=q16(xcp.alpha),
        beta=q16(xcp.beta),
        gamma=q16(xcp.gamma),
        min_interval=interval_ticks(xcp.min_interval_us),
        max_interval=interval_ticks(xcp.max_interval_us),
        epoch=epoch,
    )


def _xcp_settings(given: Mapping[str, Any]) -> XcpSettings:
    return XcpSettings(
        capacity_bps=given["capacity"] * 8,
        alpha=_decimal(given["alpha"]),
        beta=_decimal(given["beta"]),
        gamma=_decimal(given["gamma"]),
        min_interval_us=_microseconds(given["min_interval"]),
        max_interval_us=_microseconds(given["max_interval"]),
    )


def _decimal(units: int) -> float:
    """The shortest decimal fraction that is this many units of 1/65536: 0.4 rather than 0.399994."""
    return next(value for digits in range(1, 18) if q16(value := round(units / 65536, digits)) == units)


def _microseconds(ticks: int) -> int:
    """The least number of microseconds that is no fewer ticks."""
    return -(-ticks * 10**6 // 2**28)
