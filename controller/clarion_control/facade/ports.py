# SPDX-License-Identifier: Apache-2.0
"""Ports and forwarding: what they are to do, and what they do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clarion_contract.checks import checked_addresses, checked_ports
from clarion_contract.settings import PortSettings
from clarion_contract.settings_json import checked, merged
from clarion_control.facade.core import Core, check_writable
from clarion_control.fleet.goal import FORWARDING
from clarion_control.fleet.link import Link
from clarion_control.model import Actor, DesiredPort, Origin, PortState
from clarion_control.store import ports
from clarion_control.store.ports import Desired
from clarion_p4rt.switch import Forwarding


class PortPart(Core):
    """Settings of ports, and forwarding."""

    async def ports(self, name: str) -> list[PortState]:
        """All ports of a switch."""
        link = self._fleet.link(name)
        return [link.port(port) for port in link.switch.ports]

    async def port(self, name: str, port: int) -> PortState:
        """One port, or NotFoundError."""
        return self._port_link(name, port).port(port)

    async def set_port(
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
        link = self._port_link(name, settings.port)
        checked(name, link.switch.ports, settings)
        return await self._change_port(
            actor, link, settings.port, lambda _: settings, if_version, origin, reason, wait
        )

    async def change_port(
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
        """`set_port` with a merge patch (RFC 7396) of the port's JSON form, see settings_json."""
        link = self._port_link(name, port)

        def transform(settings: PortSettings) -> PortSettings:
            return checked(name, link.switch.ports, merged(name, settings, changes))

        return await self._change_port(actor, link, port, transform, if_version, origin, reason, wait)

    async def forwarding(self, name: str) -> Forwarding | None:
        """The static forwarding of a switch; None: the controller leaves it alone."""
        return self._fleet.link(name).forwarding()

    async def set_forwarding(
        self, actor: Actor, name: str, forwarding: Forwarding | None, *, wait: bool = True
    ) -> None:
        """Sets the static forwarding; errors as for `set_port`."""
        link = self._fleet.link(name)
        if forwarding is not None:
            checked_addresses(name, link.switch.ports, forwarding.addresses)
            checked_ports(name, ("flood_ports",), forwarding.flood_ports, link.switch.ports)
        check_writable(link, wait)

        async def store() -> Desired:
            desired = await self.store.change(ports.change_forwarding, actor, link.switch, forwarding)
            link.desire(desired)
            return desired

        desired = await self._carried_through(store())
        if wait:
            await self._applied(link, FORWARDING, desired.forwarding_version)

    async def _change_port(
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
        check_writable(link, wait)

        async def store() -> DesiredPort:
            stored = await self.store.change(
                ports.change,
                actor,
                link.switch,
                port,
                transform,
                if_version=if_version,
                origin=origin,
                reason=reason,
            )
            link.desire_port(port, stored)
            if origin is Origin.MANUAL and (link.switch.name, port) in self._policy_ports:
                await self._announce_policies(link, port)
            return stored

        stored = await self._carried_through(store())
        if wait:
            await self._applied(link, port, stored.version)
        return link.port(port)
