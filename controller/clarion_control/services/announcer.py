# SPDX-License-Identifier: Apache-2.0
"""Publishes changes of policies, each once, whichever controller of the store has made them."""

from __future__ import annotations

from clarion_control.fleet.live import Hub
from clarion_control.model import PolicyChange
from clarion_control.store import Store, policies
from clarion_control.store.clock import now_us
from clarion_p4rt.switch import Switch


class PolicyAnnouncer:
    """The time of the last published change by switch and port."""

    def __init__(self, store: Store, hub: Hub) -> None:
        self._store = store
        self._hub = hub
        self._published_us: dict[tuple[str, int], int] = {}

    async def skip_present(self, switch: Switch) -> None:
        """Takes the stored policies of a switch for published."""
        for policy in await self._store.read(policies.listed, switch):
            self._published_us[switch.name, policy.port] = policy.changed_us

    def has_policy(self, switch: Switch, port: int) -> bool:
        """Whether a policy was ever set at a port, as far as is known here."""
        return (switch.name, port) in self._published_us

    async def announce(self, switch: Switch, port: int | None = None) -> None:
        """Publishes policies changed since the last announcement."""
        published_us = dict(self._published_us)
        for policy in await self._store.read(policies.listed, switch, port):
            key = (policy.switch, policy.port)
            if policy.changed_us > published_us.get(key, 0):
                self._published_us[key] = max(self._published_us.get(key, 0), policy.changed_us)
                self._hub.publish(PolicyChange(now_us(), policy))
