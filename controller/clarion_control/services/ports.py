# SPDX-License-Identifier: Apache-2.0
"""The settings of ports, desired and effective."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clarion_contract.settings import PortSettings
from clarion_contract.settings_json import checked, merged
from clarion_control.fleet.fleet import Fleet
from clarion_control.fleet.link import Link
from clarion_control.model import Actor, DesiredPort, Origin, PortState
from clarion_control.services.announcer import PolicyAnnouncer
from clarion_control.services.changes import Changes
from clarion_control.store import Store, desired_state


class Ports:
    """The ports of all switches."""

    def __init__(self, store: Store, fleet: Fleet, changes: Changes, announcer: PolicyAnnouncer) -> None:
        self._store = store
        self._fleet = fleet
        self._changes = changes
        self._announcer = announcer

    async def all(self, name: str) -> list[PortState]:
        """All ports of a switch."""
        link = self._fleet.link(name)
        return [link.port(port) for port in link.switch.ports]

    async def get(self, name: str, port: int) -> PortState:
        """One port, or NotFoundError."""
        return self._fleet.port_link(name, port).port(port)

    async def set(
        self,
        actor: Actor,
        name: str,
        settings: PortSettings,
        *,
        if_version: int | None = None,
        origin: Origin = Origin.MANUAL,
        reason: str | None = None,
        wait: bool = True,
    ) -> PortState:
        """Gives a port exactly these settings. Returns when the switch has confirmed, with `wait`; else as
        soon as they are stored, and then the switch need not be reachable.

        Nothing is stored after SettingsError, StaleVersionError, UnreachableError, NotPrimaryError. After
        ApplyPending they are stored, after RefusedError replaced by the earlier ones.
        """
        link = self._fleet.port_link(name, settings.port)
        checked(name, link.switch.ports, settings)
        return await self._change(
            actor, link, settings.port, lambda _: settings, if_version, origin, reason, wait
        )

    async def change(
        self,
        actor: Actor,
        name: str,
        port: int,
        changes: Mapping[str, Any],
        *,
        if_version: int | None = None,
        origin: Origin = Origin.MANUAL,
        reason: str | None = None,
        wait: bool = True,
    ) -> PortState:
        """`set` with a merge patch (RFC 7396) of the port's JSON form, see settings_json."""
        link = self._fleet.port_link(name, port)

        def transform(settings: PortSettings) -> PortSettings:
            return checked(name, link.switch.ports, merged(name, settings, changes))

        return await self._change(actor, link, port, transform, if_version, origin, reason, wait)

    async def _change(
        self,
        actor: Actor,
        link: Link,
        port: int,
        transform: Callable[[PortSettings], PortSettings],
        if_version: int | None,
        origin: Origin,
        reason: str | None,
        wait: bool,
    ) -> PortState:
        link.check_writable(at_once=wait)

        async def store() -> DesiredPort:
            stored = await self._store.change(
                desired_state.change_port,
                actor,
                link.switch,
                port,
                transform,
                if_version=if_version,
                origin=origin,
                reason=reason,
            )
            link.desire_port(port, stored)
            if origin is Origin.MANUAL and self._announcer.has_policy(link.switch, port):
                await self._announcer.announce(link.switch, port)
            return stored

        stored = await self._changes.finish(store())
        if wait:
            await self._changes.applied(link, port, stored.version)
        return link.port(port)
