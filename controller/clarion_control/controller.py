# SPDX-License-Identifier: Apache-2.0
"""The controller: the services behind REST, the tuner and the dashboard.

A change is stored before it is sent, and the store alone says what is sent: a crash of either side at any
moment loses nothing, and nothing happens twice.
"""

from __future__ import annotations

import socket

from clarion_control.fleet.events import Events
from clarion_control.fleet.fleet import Fleet
from clarion_control.fleet.live import Hub
from clarion_control.fleet.recorder import Recorder
from clarion_control.fleet.standing import Me, Standing
from clarion_control.services.access import AccessLog
from clarion_control.services.announcer import PolicyAnnouncer
from clarion_control.services.changes import Changes
from clarion_control.services.forwarding import StaticForwarding
from clarion_control.services.ports import Ports
from clarion_control.services.records import Records
from clarion_control.services.switches import Switches
from clarion_control.services.telemetry import Telemetry
from clarion_control.services.tokens import Tokens
from clarion_control.services.topology import Topology
from clarion_control.services.tuning import Tuning
from clarion_control.store import Store
from clarion_p4rt.device import DeviceFactory
from clarion_p4rt.p4_device import factory


class Controller:
    """One controller of a fleet; `close` it, or use it as an async context manager."""

    def __init__(
        self,
        store: Store,
        connect: DeviceFactory,
        me: Me,
        *,
        compare_every_s: float,
        counters_every_s: float,
        history_s: float,
        apply_timeout_s: float,
        insecure: bool,
    ) -> None:
        """Use `Controller.open`."""
        self.store_operations = store.operations
        self._hub = Hub()
        self._recorder = Recorder(store, history_s)
        self.standing = Standing(store, me)
        self._fleet = Fleet(
            store,
            Events(self._hub, self._recorder),
            connect,
            self.standing,
            compare_s=compare_every_s,
            counters_s=counters_every_s,
        )
        self._changes = Changes(apply_timeout_s)
        announcer = PolicyAnnouncer(store, self._hub)
        self.switches = Switches(store, self._fleet, self._hub, self._changes, announcer, insecure=insecure)
        self.ports = Ports(store, self._fleet, self._changes, announcer)
        self.forwarding = StaticForwarding(store, self._fleet, self._changes)
        self.telemetry = Telemetry(store, self._fleet, self._hub, self._recorder)
        self.topology = Topology(self._fleet, self._hub)
        self.tuning = Tuning(store, self._fleet, self._changes, announcer)
        self.records = Records(store)
        self.tokens = Tokens(store)
        self.access = AccessLog(store)

    @classmethod
    async def open(
        cls,
        store: Store,
        *,
        election_id: int = 1,
        name: str | None = None,
        url: str = "",
        compare_every_s: float = 10.0,
        counters_every_s: float = 2.0,
        history_s: float = 7 * 86400,
        apply_timeout_s: float = 5.0,
        insecure: bool = False,
        connect: DeviceFactory | None = None,
    ) -> Controller:
        """Starts the links to all switches of the store. `insecure`: switches of other machines need no TLS.
        Other controllers know this one by `name` (None: of the machine) and `url`. `connect` makes the
        session with a switch (tests).

        The store stays the caller's to close.
        """
        controller = cls(
            store,
            factory(election_id, insecure=insecure) if connect is None else connect,
            Me(name or socket.gethostname(), election_id, url),
            compare_every_s=compare_every_s,
            counters_every_s=counters_every_s,
            history_s=history_s,
            apply_timeout_s=apply_timeout_s,
            insecure=insecure,
        )
        await controller.standing.open()
        await controller.tokens.open()
        controller.access.start()
        await controller.switches.open()
        controller._recorder.start()
        return controller

    async def __aenter__(self) -> Controller:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends all sessions; switches keep their entries. Changes under way are stored first."""
        await self.switches.close()
        await self._changes.close()
        await self._fleet.close()
        await self.standing.close()
        await self._recorder.close()
        await self.access.close()
        await self.tokens.close()
        self._hub.close()
