# SPDX-License-Identifier: Apache-2.0
"""The switches of the store: adding, removing, and following other controllers of the same store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence

from clarion_base import tasks
from clarion_base.errors import UserError
from clarion_control.errors import NotFoundError
from clarion_control.fleet.fleet import Fleet
from clarion_control.fleet.live import Hub
from clarion_control.model import Action, Actor, AuditRecord, SwitchStatus
from clarion_control.services.announcer import PolicyAnnouncer
from clarion_control.services.changes import Changes
from clarion_control.store import Store, audit, desired_state, switches
from clarion_control.store.desired_state import DesiredState
from clarion_control.switch_input import check_protected, checked_switch
from clarion_p4rt.switch import Switch, TlsFiles

LOG = logging.getLogger(__name__)

REFRESH_S = 1.0  # how soon changes by another controller of the same store are seen
RECORDS_AT_ONCE = 1000  # of the audit: there are many where the store was out of reach for a while


class Switches:
    """Membership of the fleet. `open` starts the links to all stored switches; `close` ends following."""

    def __init__(
        self,
        store: Store,
        fleet: Fleet,
        hub: Hub,
        changes: Changes,
        announcer: PolicyAnnouncer,
        *,
        insecure: bool,
    ) -> None:
        """`insecure`: switches of other machines need no TLS."""
        self._insecure = insecure
        self._store = store
        self._fleet = fleet
        self._hub = hub
        self._changes = changes
        self._announcer = announcer
        self._membership = asyncio.Lock()
        self._seen_audit = 0
        self._refresher: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Begins to connect to all stored switches."""
        self._seen_audit = await self._store.read(audit.last_id)
        for switch in await self._store.read(switches.listed):
            self._fleet.add(switch, await self._store.read(desired_state.load, switch))
            await self._announcer.skip_present(switch)
        self._refresher = asyncio.create_task(self._refresh(), name="refresh from store")

    async def close(self) -> None:
        """No longer follows the store."""
        if self._refresher is not None:
            await tasks.end(self._refresher)

    def all(self) -> list[Switch]:
        """All switches, by name."""
        return [link.switch for link in self._fleet.links()]

    def get(self, name: str) -> Switch:
        """A switch, or NotFoundError."""
        return self._fleet.link(name).switch

    def status(self, name: str) -> SwitchStatus:
        """The state of the session with a switch."""
        return self._fleet.link(name).current_status()

    async def add(
        self,
        actor: Actor,
        *,
        name: str,
        address: str,
        device_id: int,
        ports: Sequence[int],
        tls: TlsFiles | None = None,
        port_names: Mapping[int, str] | None = None,
    ) -> Switch:
        """Adds a switch and begins to connect; the settings of its ports are adopted when it answers."""
        switch = checked_switch(name, address, device_id, ports, tls, port_names)
        await self._check_protected(switch)
        return await self._changes.finish(self._add(actor, switch))

    async def change(self, actor: Actor, switch: Switch) -> Switch:
        """Changes the address, the TLS files and the names of the ports of a switch, which is reached anew.
        What is desired of it stays.
        """
        tls, names = switch.tls, switch.port_names
        checked = checked_switch(switch.name, switch.address, switch.device_id, switch.ports, tls, names)
        await self._check_protected(checked)
        return await self._changes.finish(self._change(actor, switch))

    async def remove(self, actor: Actor, name: str) -> None:
        """Forgets a switch and its desired state; the switch itself stays as it is."""
        self._fleet.link(name)
        await self._changes.finish(self._remove(actor, name))

    async def _add(self, actor: Actor, switch: Switch) -> Switch:
        async with self._membership:
            added = await self._store.change(switches.add, actor, switch)
            await self._fleet.remove(added.name)  # one that another controller has removed just now
            self._hub.forget_switch(added.name)
            self._fleet.add(added, DesiredState({}, None, 0))
            return added

    async def _check_protected(self, switch: Switch) -> None:
        if not self._insecure:
            await check_protected(switch)

    async def _change(self, actor: Actor, switch: Switch) -> Switch:
        async with self._membership:
            await self._store.change(switches.change, actor, switch)
            await self._replace(switch)
            return switch

    async def _remove(self, actor: Actor, name: str) -> None:
        async with self._membership:
            await self._store.change(switches.remove, actor, name)
            await self._fleet.remove(name)
            self._hub.forget_switch(name)

    async def _refresh(self) -> None:
        """Follows the changes of other controllers of the same store."""
        while True:
            await asyncio.sleep(REFRESH_S)
            try:
                while await self._read_on():
                    pass
            except UserError as error:
                LOG.warning("%s", error)
            except Exception:  # the next round may succeed; an ended task would go unnoticed
                LOG.exception("refresh from store")

    async def _read_on(self) -> bool:
        """Follows the next records of the audit; whether there may be more."""
        records = await self._store.read(audit.since, self._seen_audit, RECORDS_AT_ONCE)
        touched = {each.switch for each in records if each.switch and not self._is_known(each)}
        if touched:
            await self._reread(touched)
        if records:
            self._seen_audit = records[-1].id
        return len(records) == RECORDS_AT_ONCE

    def _is_known(self, record: AuditRecord) -> bool:
        """Whether the record is of a port version that is already known, such as this controller's own."""
        if record.action != Action.PORT_CHANGE.value or record.switch is None or record.port is None:
            return False
        try:
            desired = self._fleet.port_link(record.switch, record.port).port(record.port).desired
        except NotFoundError:
            return False
        made = (record.after or {}).get("version")
        return desired is not None and made is not None and made <= desired.version

    async def _reread(self, touched: Collection[str]) -> None:
        async with self._membership:
            stored = {switch.name: switch for switch in await self._store.read(switches.listed)}
            for name in touched:
                switch = stored.get(name)
                if switch is not None and self._fleet.knows(switch):
                    self._fleet.link(name).desire(await self._store.read(desired_state.load, switch))
                    await self._announcer.announce(switch)
                    continue
                if switch is not None:
                    await self._replace(switch)
                    continue
                await self._fleet.remove(name)
                self._hub.forget_switch(name)

    async def _replace(self, switch: Switch) -> None:
        """Reaches a switch as the store says now, or another one of its name."""
        desired = await self._store.read(desired_state.load, switch)
        link = await self._fleet.exchange(switch)
        self._hub.forget_switch(switch.name)
        link.start(desired)
