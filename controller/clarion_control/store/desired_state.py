# SPDX-License-Identifier: Apache-2.0
"""The desired state of switches: ports and forwarding. Each change is a version and an audit record."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select

from clarion_contract.settings import PortSettings
from clarion_contract.settings_json import from_json, to_json
from clarion_control.errors import NotFoundError, StaleVersionError
from clarion_control.model import Action, Actor, DesiredPort, Origin, Role
from clarion_control.store import audit, policies
from clarion_control.store.clock import now_us
from clarion_control.store.schema import desired_forwarding, desired_ports, switches
from clarion_p4rt.switch import Forwarding, Switch

CONTROLLER = Actor("controller", Role.ADMIN)

# The statements of a change of a port are made once: to put them together takes SQLAlchemy longer than SQLite
# takes to execute them.
_AT_SWITCH: Any = bindparam("at_switch")
_AT_PORT: Any = bindparam("at_port")
_PORT = (
    select(
        desired_ports.c.settings,
        desired_ports.c.version,
        desired_ports.c.changed_us,
        policies.active_at(switches.c.uid, _AT_PORT).label("is_governed"),
    )
    .select_from(
        switches.outerjoin(
            desired_ports,
            (desired_ports.c.switch_uid == switches.c.uid) & (desired_ports.c.port == _AT_PORT),
        )
    )
    .where(switches.c.uid == _AT_SWITCH)
)
_UPDATE_PORT = (
    desired_ports.update()
    .where(desired_ports.c.switch_uid == _AT_SWITCH, desired_ports.c.port == _AT_PORT)
    .values({name: bindparam(name) for name in ("settings", "version", "changed_us")})
)


@dataclass(frozen=True)
class DesiredState:
    """The desired state of one switch. Forwarding None leaves the present one; its version counts from 0."""

    ports: Mapping[int, DesiredPort]
    forwarding: Forwarding | None
    forwarding_version: int


def load(connection: Connection, switch: Switch) -> DesiredState:
    """The desired state of a switch."""
    query = select(desired_ports).where(desired_ports.c.switch_uid == switch.uid)
    ports = {
        row.port: DesiredPort(from_json(switch.name, row.port, row.settings), row.version, row.changed_us)
        for row in connection.execute(query)
    }
    query = select(desired_forwarding).where(desired_forwarding.c.switch_uid == switch.uid)
    row = connection.execute(query).first()
    if row is None:
        return DesiredState(ports, None, 0)
    return DesiredState(ports, forwarding_from_json(row.document), row.version)


def change_port(
    connection: Connection,
    actor: Actor,
    switch: Switch,
    port: int,
    transform: Callable[[PortSettings], PortSettings],
    *,
    if_version: int | None = None,
    origin: Origin = Origin.MANUAL,
    reason: str | None = None,
) -> DesiredPort:
    """Transforms the desired settings of a port; nothing happens if they stay the same.

    StaleVersionError if the port is not at `if_version` (0: it has none). A change by hand of a
    field that an active policy governs holds that policy.
    """
    key = {"at_switch": switch.uid, "at_port": port}
    row = connection.execute(_PORT, key).first()
    if row is None:
        raise NotFoundError("switch", switch.name)  # another controller has removed it
    is_new = row.version is None
    version = 0 if is_new else int(row.version)
    if if_version is not None and if_version != version:
        raise StaleVersionError(f"{switch.name} port {port}", version)
    before = PortSettings(port) if is_new else from_json(switch.name, port, row.settings)
    after = transform(before)
    if not is_new and after == before:
        return DesiredPort(after, version, row.changed_us)
    stored = DesiredPort(after, version + 1, now_us())
    document = to_json(after)
    values = {"settings": document, "version": stored.version, "changed_us": stored.changed_us}
    if is_new:
        connection.execute(desired_ports.insert(), {"switch_uid": switch.uid, "port": port, **values})
    else:
        connection.execute(_UPDATE_PORT, {**key, **values})
    audit.record(
        connection,
        actor,
        Action.PORT_CHANGE,
        origin=origin,
        switch=switch.name,
        port=port,
        before=None if is_new else {"version": version, **to_json(before)},
        after={"version": stored.version, **document},
        reason=reason,
    )
    if origin is Origin.MANUAL and row.is_governed:
        policies.hold(connection, actor, switch, port, before, after)
    return stored


def adopt(connection: Connection, switch: Switch, found: Mapping[int, PortSettings]) -> DesiredState:
    """Adopts the present settings as desired ones at ports that have none."""
    known = load(connection, switch).ports
    for port, settings in found.items():
        if port not in known:
            change_port(connection, CONTROLLER, switch, port, _always(settings), origin=Origin.ADOPTED)
    return load(connection, switch)


def change_forwarding(
    connection: Connection,
    actor: Actor,
    switch: Switch,
    forwarding: Forwarding | None,
    *,
    origin: Origin = Origin.MANUAL,
    if_version: int | None = None,
    reason: str | None = None,
) -> DesiredState:
    """Sets the forwarding of a switch; with None the controller no longer manages it."""
    _check_present(connection, switch)
    known = load(connection, switch)
    if if_version is not None and if_version != known.forwarding_version:
        raise StaleVersionError(f"{switch.name} forwarding", known.forwarding_version)
    if known.forwarding == forwarding:
        return known
    where = desired_forwarding.c.switch_uid == switch.uid
    values = {
        "document": forwarding_to_json(forwarding),
        "version": known.forwarding_version + 1,
        "changed_us": now_us(),
    }
    if known.forwarding_version:
        connection.execute(desired_forwarding.update().where(where).values(values))
    else:
        connection.execute(desired_forwarding.insert().values(switch_uid=switch.uid, **values))
    audit.record(
        connection,
        actor,
        Action.FORWARDING_CHANGE,
        origin=origin,
        switch=switch.name,
        before=forwarding_to_json(known.forwarding),
        after=forwarding_to_json(forwarding),
        reason=reason,
    )
    return DesiredState(known.ports, forwarding, known.forwarding_version + 1)


def revert_port(
    connection: Connection,
    switch: Switch,
    port: int,
    earlier: PortSettings,
    refused_version: int,
    reason: str,
) -> DesiredState:
    """After a refusal: restores earlier desired settings, unless newer ones were set meanwhile."""
    with contextlib.suppress(StaleVersionError, NotFoundError):
        change_port(
            connection,
            CONTROLLER,
            switch,
            port,
            _always(earlier),
            if_version=refused_version,
            origin=Origin.REVERT,
            reason=reason,
        )
    return load(connection, switch)


def revert_forwarding(
    connection: Connection, switch: Switch, earlier: Forwarding | None, refused_version: int, reason: str
) -> DesiredState:
    """After a refusal: as `revert_port`, for the forwarding."""
    with contextlib.suppress(StaleVersionError, NotFoundError):
        change_forwarding(
            connection,
            CONTROLLER,
            switch,
            earlier,
            if_version=refused_version,
            origin=Origin.REVERT,
            reason=reason,
        )
    return load(connection, switch)


def forwarding_to_json(forwarding: Forwarding | None) -> dict[str, Any] | None:
    """Forwarding as JSON, for the store and the audit."""
    if forwarding is None:
        return None
    return {"addresses": dict(forwarding.addresses), "flood_ports": list(forwarding.flood_ports)}


def forwarding_from_json(document: Mapping[str, Any] | None) -> Forwarding | None:
    """The inverse of `forwarding_to_json`."""
    if document is None:
        return None
    return Forwarding(dict(document["addresses"]), tuple(document["flood_ports"]))


def _check_present(connection: Connection, switch: Switch) -> None:
    """NotFoundError if another controller has removed the switch."""
    if not connection.execute(select(switches.c.uid).where(switches.c.uid == switch.uid)).first():
        raise NotFoundError("switch", switch.name)


def _always(settings: PortSettings) -> Callable[[PortSettings], PortSettings]:
    return lambda _: settings
