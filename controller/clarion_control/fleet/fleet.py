# SPDX-License-Identifier: Apache-2.0
"""The links to all switches."""

from __future__ import annotations

import asyncio

from clarion_contract.lldp import HELLO_EVERY_S
from clarion_control.errors import NotFoundError
from clarion_control.fleet.events import Events
from clarion_control.fleet.link import Link
from clarion_control.fleet.pace import Pace
from clarion_control.fleet.standing import Standing
from clarion_control.store import Store
from clarion_control.store.desired_state import DesiredState
from clarion_p4rt.device import DeviceFactory
from clarion_p4rt.switch import Switch

CONNECTING_AT_ONCE = 32
COMPARES_PER_S = 20.0  # of all switches together
COUNTER_POLLS_PER_S = 20.0  # a change waits for those that come in its way
RETRIES_PER_S = 200.0  # when all are away
REPORT_LISTS_PER_S = 1000.0
HELLOS_PER_S = 2000.0


class Fleet:
    """Switches by name, each with its link."""

    def __init__(
        self,
        store: Store,
        events: Events,
        connect: DeviceFactory,
        standing: Standing,
        *,
        compare_s: float,
        counters_s: float,
    ) -> None:
        self._store = store
        self._events = events
        self._connect = connect
        self._standing = standing
        self._compare_s = compare_s
        self._counters_s = counters_s
        self._links: dict[str, Link] = {}
        self._gate = asyncio.Semaphore(CONNECTING_AT_ONCE)
        self._pace = Pace(compare_s, counters_s)

    def link(self, name: str) -> Link:
        """The link to a switch; NotFoundError if there is no such switch."""
        if name not in self._links:
            raise NotFoundError("switch", name)
        return self._links[name]

    def port_link(self, name: str, port: int | None) -> Link:
        """The link to a switch, which must have this port unless it is None; else NotFoundError."""
        link = self.link(name)
        if port is not None and port not in link.switch.ports:
            has = ", ".join(map(str, link.switch.ports))
            raise NotFoundError("port", port, f"switch {name} has {has}")
        return link

    def links(self) -> list[Link]:
        """All links, by name."""
        return [self._links[name] for name in sorted(self._links)]

    def knows(self, switch: Switch) -> bool:
        """Whether there is a link to this very switch, not only to one of its name."""
        return switch.name in self._links and self._links[switch.name].switch == switch

    def add(self, switch: Switch, desired: DesiredState) -> None:
        """Begins to connect to a switch."""
        link = self._links[switch.name] = self._link(switch)
        self._set_pace()
        link.start(desired)

    async def exchange(self, switch: Switch) -> Link:
        """A link, yet to be started, in the place of the one of that name, which ends."""
        earlier = self._links.get(switch.name)
        link = self._links[switch.name] = self._link(switch)
        self._set_pace()
        if earlier is not None:
            await earlier.close()
        return link

    def _link(self, switch: Switch) -> Link:
        return Link(switch, self._store, self._events, self._connect, self._gate, self._pace, self._standing)

    async def remove(self, name: str) -> None:
        """Ends the link; the switch keeps what it has."""
        link = self._links.pop(name, None)
        self._set_pace()
        if link is not None:
            await link.close()

    async def close(self) -> None:
        """Ends all links."""
        links, self._links = list(self._links.values()), {}
        await asyncio.gather(*(link.close() for link in links))

    def _set_pace(self) -> None:
        """Periodic work costs the same however many switches there are."""
        self._pace.compare_s = max(self._compare_s, len(self._links) / COMPARES_PER_S)
        self._pace.retry_s = max(Pace.retry_s, len(self._links) / RETRIES_PER_S)
        reports_s = len(self._links) / REPORT_LISTS_PER_S
        self._pace.reports_s = max(round(reports_s, 1), 0.1)  # few steps: each costs every switch a write
        self._pace.counters_s = max(self._counters_s, len(self._links) / COUNTER_POLLS_PER_S)
        ports = sum(len(link.switch.ports) for link in self._links.values())
        self._pace.hello_s = max(HELLO_EVERY_S, ports / HELLOS_PER_S)
