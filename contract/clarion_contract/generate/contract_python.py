# SPDX-License-Identifier: Apache-2.0
"""The contract as a Python module: the dataclasses of a port's settings, and their fields as data."""

from __future__ import annotations

from clarion_contract.generate import layout
from clarion_contract.generate.contract_model import Contract
from clarion_contract.setting import Setting

TYPES = {"flag": "bool", "whole": "int", "real": "float"}

MODULE = '''\
# SPDX-License-Identifier: Apache-2.0
# Made by `python -m clarion_contract.generate` from contract.yaml; do not edit.
"""The settings of a port in people's units, and what is known of each."""

from __future__ import annotations

from dataclasses import dataclass

from clarion_contract.setting import Argument, Setting, Stable, Table

PORTS = {ports}
CPU_PORT = {cpu_port}
FLOOD_GROUP = {flood_group}
FLOOD_BASE = {flood_base}
LAST_EPOCH = {last_epoch}

TABLES = {tables}
PORT_TABLES = tuple(TABLES)
ADDRESSES = {forwarding.table!r}
ACTIONS = {{name: table.action for name, table in TABLES.items()}} | {{ADDRESSES: {forwarding.action!r}}}
JUDGING = {judging.table!r}
PROVE, DISPROVE, UNTIL = {judging.proven!r}, {judging.disproved!r}, {judging.until!r}
AS_RECEIVED = {packets.as_received}  # egress port of a PacketOut that is forwarded by its address


@dataclass(frozen=True)
class XcpSettings:
    """A port's controllers."""

{xcp_members}

    @property
    def is_measured(self) -> bool:
        """Whether the port measures what its link carries, and hands that out."""
        return self.capacity_bps == 0


@dataclass(frozen=True)
class PortSettings:
    """All of a port; what is not given is off, a queue without limit included."""

    port: int
    xcp: XcpSettings | None = None
{port_members}


XCP = {xcp}

PORT = {port}
'''


def as_python(contract: Contract) -> str:
    """Return the module."""
    return layout.python(
        MODULE.format(
            ports=contract.ports,
            forwarding=contract.forwarding,
            judging=contract.judging,
            packets=contract.packets,
            cpu_port=contract.cpu_port,
            flood_group=contract.flood_group,
            flood_base=contract.flood_base,
            last_epoch=contract.last_epoch,
            tables=layout.source({table.name: table for table in contract.tables}),
            xcp_members="\n".join(map(_member, contract.xcp)),
            port_members="\n".join(map(_member, contract.port)),
            xcp=layout.source({field.name: field for field in contract.xcp}),
            port=layout.source({field.name: field for field in contract.port}),
        )
    )


def _member(field: Setting) -> str:
    type_ = TYPES[field.kind]
    if field.default is not None:
        return f"    {field.name}: {type_} = {field.default!r}"
    if field.table == "xcp_port":
        return f"    {field.name}: {type_}"
    return f"    {field.name}: {type_} | None = None"
