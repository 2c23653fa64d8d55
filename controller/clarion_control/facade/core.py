# SPDX-License-Identifier: Apache-2.0
"""What all parts of the controller share."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from clarion_control.access import Access
from clarion_control.errors import ApplyPending, NotFoundError
from clarion_control.facade.owner import LinkOwner
from clarion_control.fleet.fleet import Fleet
from clarion_control.fleet.goal import FORWARDING, LinkClosedError
from clarion_control.fleet.link import Link
from clarion_control.fleet.live import Hub
from clarion_control.fleet.recorder import Recorder
from clarion_control.model import PolicyChange
from clarion_control.store import Store, policies
from clarion_control.store.clock import now_us
from clarion_p4rt.device import DeviceFactory

T = TypeVar("T")


class Core:
    """Store, links and events."""

    def __init__(
        self,
        store: Store,
        connect: DeviceFactory,
        *,
        compare_every_s: float,
        counters_every_s: float,
        history_s: float,
        apply_timeout_s: float,
    ) -> None:
        """`Controller.open` is for everybody else."""
        self.store = store
        self._access = Access(store)
        self._hub = Hub()
        self._recorder = Recorder(store, history_s)
        owner = LinkOwner(store, self._hub, self._recorder)
        self._fleet = Fleet(connect, owner, compare_s=compare_every_s, counters_s=counters_every_s)
        self._apply_timeout_s = apply_timeout_s
        self._policy_ports: dict[tuple[str, int], int] = {}  # when a policy of the port was changed last
        self._changes: set[asyncio.Task[Any]] = set()

    def _port_link(self, name: str, port: int) -> Link:
        link = self._fleet.link(name)
        if port not in link.switch.ports:
            has = ", ".join(map(str, link.switch.ports))
            raise NotFoundError("port", port, f"switch {name} has {has}")
        return link

    async def _applied(self, link: Link, port: int, version: int) -> None:
        try:
            await asyncio.wait_for(link.applied(port, version), self._apply_timeout_s)
        except (asyncio.TimeoutError, LinkClosedError):
            raise ApplyPending(link.switch.name, None if port == FORWARDING else port) from None

    async def _carried_through(self, change: Coroutine[Any, Any, T]) -> T:
        """Finishes a change even if whoever asked for it has gone: store and memory must not differ."""
        task = asyncio.create_task(change)
        self._changes.add(task)
        task.add_done_callback(self._carried)
        return await asyncio.shield(task)

    def _carried(self, task: asyncio.Task[Any]) -> None:
        self._changes.discard(task)
        if not task.cancelled():
            task.exception()  # whoever still waits gets it; if nobody does, nobody wants it

    async def _announce_policies(self, link: Link, port: int | None = None) -> None:
        """Tells of the policies that were changed since they were told of last."""
        told = dict(self._policy_ports)
        for policy in await self.store.read(policies.listed, link.switch, port):
            key = (policy.switch, policy.port)
            if policy.changed_us > told.get(key, 0):
                self._policy_ports[key] = max(self._policy_ports.get(key, 0), policy.changed_us)
                self._hub.publish(PolicyChange(now_us(), policy))


def check_writable(link: Link, wait: bool) -> None:
    """Without `wait` a switch that does not answer may get the change later; a backup never writes."""
    if wait:
        link.check_writable()
    else:
        link.check_not_backup()
