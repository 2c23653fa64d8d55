# SPDX-License-Identifier: Apache-2.0
"""The switches of the controller."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, select

from clarion_control.errors import ExistsError, NotFoundError
from clarion_control.model import Action, Actor
from clarion_control.store import audit
from clarion_control.store.clock import now_us
from clarion_control.store.schema import switches
from clarion_p4rt.switch import Switch, TlsFiles


def listed(connection: Connection) -> list[Switch]:
    """All switches, by name."""
    return [_switch(row) for row in connection.execute(select(switches).order_by(switches.c.name))]


def add(connection: Connection, actor: Actor, switch: Switch) -> Switch:
    """Adds a switch, with a uid and the time; ExistsError for a name in use."""
    if connection.execute(select(switches.c.uid).where(switches.c.name == switch.name)).first():
        raise ExistsError("switch", switch.name)
    values = {
        "name": switch.name,
        "address": switch.address,
        "device_id": switch.device_id,
        "ports": list(switch.ports),
        "port_names": _names_document(switch),
        "tls": None if switch.tls is None else asdict(switch.tls),
        "added_us": now_us(),
    }
    row = connection.execute(switches.insert().values(values).returning(switches)).one()
    added = _switch(row)
    audit.record(connection, actor, Action.SWITCH_ADD, switch=added.name, after=_document(added))
    return added


def change(connection: Connection, actor: Actor, switch: Switch) -> Switch:
    """Gives the switch of this uid this address, these TLS files and names of ports; NotFoundError if there
    is none.
    """
    row = connection.execute(select(switches).where(switches.c.uid == switch.uid)).first()
    if row is None:
        raise NotFoundError("switch", switch.name)
    before = _switch(row)
    values = {
        "address": switch.address,
        "port_names": _names_document(switch),
        "tls": None if switch.tls is None else asdict(switch.tls),
    }
    connection.execute(switches.update().where(switches.c.uid == switch.uid).values(values))
    audit.record(
        connection,
        actor,
        Action.SWITCH_CHANGE,
        switch=switch.name,
        before=_document(before),
        after=_document(switch),
    )
    return switch


def remove(connection: Connection, actor: Actor, name: str) -> Switch:
    """Removes a switch with its desired state; NotFoundError if there is none."""
    row = connection.execute(switches.delete().where(switches.c.name == name).returning(switches)).first()
    if row is None:
        raise NotFoundError("switch", name)
    removed = _switch(row)
    audit.record(connection, actor, Action.SWITCH_REMOVE, switch=name, before=_document(removed))
    return removed


def _switch(row: Row[Any]) -> Switch:
    return Switch(
        uid=row.uid,
        name=row.name,
        address=row.address,
        device_id=row.device_id,
        ports=tuple(row.ports),
        tls=None if row.tls is None else TlsFiles(**row.tls),
        added_us=row.added_us,
        port_names={int(port): name for port, name in (row.port_names or {}).items()},
    )


def _document(switch: Switch) -> dict[str, Any]:
    return {
        "uid": switch.uid,
        "address": switch.address,
        "device_id": switch.device_id,
        "ports": list(switch.ports),
        "port_names": _names_document(switch),
        "tls": None if switch.tls is None else asdict(switch.tls),
    }


def _names_document(switch: Switch) -> dict[str, str]:
    return {str(port): name for port, name in switch.port_names.items()}
