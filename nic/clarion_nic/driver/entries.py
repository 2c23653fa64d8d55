# SPDX-License-Identifier: Apache-2.0
"""Conversion of unit configurations to entries of the P4 program's tables, and back.

tag_port                         the ingress unit; without an entry its epoch is 0
xcp_port, stamp_port, queue_port the egress unit; without an entry the function is off, the queue unlimited
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clarion_contract.entries import xcp_arguments
from clarion_contract.settings import TABLES, XcpSettings
from clarion_nic.driver.limits import NO_LIMIT, Values

UNIT_OF = {name: table.unit for name, table in TABLES.items()}

Arguments = tuple[str, Mapping[str, int]]  # of an entry: table and arguments

_DEFAULTS = xcp_arguments(XcpSettings(0))
_XCP = (*_DEFAULTS, "epoch")

# A unit without entries. Controllers that are off have their defaults, but no capacity.
OFF: Mapping[str, Values] = {
    "ingress": {"check": 0, "edge": 0, "wire": 0, "epoch": 0},
    "egress": {
        "xcp": 0,
        "stamp": 0,
        "epoch": 0,
        **_DEFAULTS,
        "capacity": 0,
        "queue_limit": NO_LIMIT,
    },
}


def entries(kind: str, values: Values) -> Iterator[Arguments]:
    """The entries that a unit's configuration stands for."""
    if kind == "ingress":
        if any(values.values()):
            yield "tag_port", dict(values)
        return
    if values["xcp"]:
        yield "xcp_port", {name: values[name] for name in _XCP}
    if values["stamp"]:
        yield "stamp_port", {}
    if values["queue_limit"] != NO_LIMIT:
        yield "queue_port", {"limit_bytes": values["queue_limit"]}


def with_entry(values: Values, table: str, arguments: Mapping[str, int] | None) -> dict[str, int]:
    """A unit's configuration once it has this entry of a table, or has none in it."""
    changed = dict(values)
    if table == "tag_port":
        changed.update(OFF["ingress"] if arguments is None else arguments)
    elif table == "stamp_port":
        changed["stamp"] = int(arguments is not None)
    elif table == "queue_port":
        changed["queue_limit"] = NO_LIMIT if arguments is None else arguments["limit_bytes"]
    elif arguments is None:
        changed["xcp"] = 0  # the rest stays: the same epoch later continues the controllers
    else:
        changed.update(arguments, xcp=1)
    return changed
