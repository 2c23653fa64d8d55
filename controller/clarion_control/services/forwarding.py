# SPDX-License-Identifier: Apache-2.0
"""The static forwarding of switches."""

from __future__ import annotations

from clarion_contract.checks import checked_addresses, checked_ports
from clarion_control.fleet.fleet import Fleet
from clarion_control.fleet.goal import FORWARDING
from clarion_control.model import Actor
from clarion_control.services.changes import Changes
from clarion_control.store import Store, desired_state
from clarion_control.store.desired_state import DesiredState
from clarion_p4rt.switch import Forwarding


class StaticForwarding:
    """The static forwarding of all switches."""

    def __init__(self, store: Store, fleet: Fleet, changes: Changes) -> None:
        self._store = store
        self._fleet = fleet
        self._changes = changes

    async def get(self, name: str) -> Forwarding | None:
        """The desired forwarding of a switch; None: the controller leaves it alone."""
        return self._fleet.link(name).forwarding()

    def version(self, name: str) -> int:
        """How often the desired forwarding of a switch has changed."""
        return self._fleet.link(name).forwarding_version()

    async def set(
        self,
        actor: Actor,
        name: str,
        forwarding: Forwarding | None,
        *,
        if_version: int | None = None,
        wait: bool = True,
    ) -> None:
        """Sets the forwarding of a switch; errors as for `Ports.set`."""
        link = self._fleet.link(name)
        if forwarding is not None:
            checked_addresses(name, link.switch.ports, forwarding.addresses)
            checked_ports(name, ("flood_ports",), forwarding.flood_ports, link.switch.ports)
        link.check_writable(at_once=wait)

        async def store() -> DesiredState:
            stored = await self._store.change(
                desired_state.change_forwarding, actor, link.switch, forwarding, if_version=if_version
            )
            link.desire(stored)
            return stored

        stored = await self._changes.finish(store())
        if wait:
            await self._changes.applied(link, FORWARDING, stored.forwarding_version)
