# SPDX-License-Identifier: Apache-2.0
"""What the units of a port are set to as entries of the P4 program's tables, and back.

tag_port                         the ingress unit; without an entry its epoch is 0
xcp_port, stamp_port, queue_port the egress unit; without an entry the function is off, the queue unlimited
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clarion_nic.driver.limits import NO_LIMIT, Values

UNIT_OF = {"tag_port": "ingress", "xcp_port": "egress", "stamp_port": "egress", "queue_port": "egress"}
XCP = ("capacity", "alpha", "beta", "gamma", "min_interval", "max_interval", "epoch")

Entry = tuple[str, Mapping[str, int]]  # table and arguments

# A unit that no entry is about. The parameters of controllers that are off are those of core/config.hpp.
OFF: Mapping[str, Values] = {
    "ingress": {"check": 0, "edge": 0, "epoch": 0},
    "egress": {
        "xcp": 0,
        "stamp": 0,
        "epoch": 0,
        "capacity": 0,
        "alpha": 26214,
        "beta": 14811,
        "gamma": 6554,
        "min_interval": 268_435,
        "max_interval": 1 << 28,
        "queue_limit": NO_LIMIT,
    },
}


def entries(kind: str, values: Values) -> Iterator[Entry]:
    """The entries that a unit's configuration stands for."""
    if kind == "ingress":
        if any(values.values()):
            yield "tag_port", dict(values)
        return
    if values["xcp"]:
        yield "xcp_port", {name: values[name] for name in XCP}
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
        changed["xcp"] = 0  # the rest stays, so that the same epoch again goes on where it was
    else:
        changed.update(arguments, xcp=1)
    return changed
