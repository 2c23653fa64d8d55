# SPDX-License-Identifier: Apache-2.0
"""Switches: which there are, and those that another controller of the store adds or changes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence

from clarion_base.errors import UserError
from clarion_control.facade.core import Core
from clarion_control.model import Actor, SwitchStatus
from clarion_control.store import audit, policies, ports, switches
from clarion_control.store.ports import Desired
from clarion_control.switch_input import checked_switch
from clarion_p4rt.switch import Switch, TlsFiles

LOG = logging.getLogger(__name__)

REFRESH_S = 1.0  # how soon changes by another controller of the same store are seen


class SwitchPart(Core):
    """Switches."""

    _seen_audit = 0
    _refresher: asyncio.Task[None] | None = None
    _membership: asyncio.Lock

    def switches(self) -> list[Switch]:
        """All switches, by name."""
        return [link.switch for link in self._fleet.links()]

    def switch(self, name: str) -> Switch:
        """A switch, or NotFoundError."""
        return self._fleet.link(name).switch

    def status(self, name: str) -> SwitchStatus:
        """How a switch is doing."""
        return self._fleet.link(name).current_status()

    async def add_switch(
        self,
        actor: Actor,
        *,
        name: str,
        address: str,
        device_id: int,
        ports: Sequence[int],
        tls: TlsFiles | None = None,
    ) -> Switch:
        """Adds a switch and begins to connect; what its ports have is adopted when it answers."""
        switch = checked_switch(name, address, device_id, ports, tls)
        return await self._carried_through(self._add_switch(actor, switch))

    async def remove_switch(self, actor: Actor, name: str) -> None:
        """Forgets a switch and what was desired of it; the switch itself stays as it is."""
        self._fleet.link(name)
        await self._carried_through(self._remove_switch(actor, name))

    async def _add_switch(self, actor: Actor, switch: Switch) -> Switch:
        async with self._membership:
            added = await self.store.change(switches.add, actor, switch)
            await self._fleet.remove(added.name)  # one that another controller has removed just now
            self._fleet.add(added, Desired({}, None, 0))
            return added

    async def _remove_switch(self, actor: Actor, name: str) -> None:
        async with self._membership:
            await self.store.change(switches.remove, actor, name)
            await self._fleet.remove(name)
            self._hub.forget_switch(name)

    async def _open_switches(self) -> None:
        """Begins to connect to all that are stored."""
        self._membership = asyncio.Lock()
        self._seen_audit = await self.store.read(audit.last_id)
        for switch in await self.store.read(switches.listed):
            self._fleet.add(switch, await self.store.read(ports.desired, switch))
            for policy in await self.store.read(policies.listed, switch):
                self._policy_ports[switch.name, policy.port] = policy.changed_us
        self._refresher = asyncio.create_task(self._refresh(), name="refresh from store")

    async def _refresh(self) -> None:
        """Sees what other controllers of the same store have changed."""
        while True:
            await asyncio.sleep(REFRESH_S)
            try:
                newest, touched = await self.store.read(audit.switches_since, self._seen_audit)
                if touched:
                    await self._reread(touched)
                self._seen_audit = newest
            except UserError as error:
                LOG.warning("%s", error)
            except Exception:  # the next time may be better, and nobody would notice that this task is gone
                LOG.exception("refresh from store")

    async def _reread(self, touched: Collection[str]) -> None:
        async with self._membership:
            stored = {switch.name: switch for switch in await self.store.read(switches.listed)}
            for name in touched:
                switch = stored.get(name)
                if switch is not None and self._fleet.knows(switch):
                    link = self._fleet.link(name)
                    link.desire(await self.store.read(ports.desired, switch))
                    await self._announce_policies(link)
                    continue
                await self._fleet.remove(name)
                if switch is None:
                    self._hub.forget_switch(name)
                else:
                    self._fleet.add(switch, await self.store.read(ports.desired, switch))
