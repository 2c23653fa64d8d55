# SPDX-License-Identifier: Apache-2.0
"""Desired and effective state of a switch, and the waiters for their equality. No I/O."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from clarion_contract.neighbours import Wire
from clarion_contract.settings import PortSettings
from clarion_control.errors import RefusedError
from clarion_control.model import DesiredPort, PortState
from clarion_control.store.desired_state import DesiredState
from clarion_p4rt.switch import Forwarding, Switch

FORWARDING = -1  # stands for a port number where forwarding is meant

Wanted = DesiredPort | tuple[Forwarding | None, int]


class LinkClosedError(Exception):
    """The link has ended, nothing will be confirmed. (Cancelling would look like a cancelled waiter.)"""


class Goal:
    """Desired, confirmed and effective state of one switch."""

    def __init__(self) -> None:
        self.desired = DesiredState({}, None, 0)
        self.effective: dict[int, PortSettings] = {}
        self._confirmed: dict[int, Wanted] = {}  # in this session
        self._good: dict[int, Wanted] = {}  # in any session
        self._waiters: dict[int, list[tuple[int, asyncio.Future[None]]]] = {}

    def port(self, switch: Switch, port: int, wire: Wire | None) -> PortState:
        """DesiredState and effective state of a port."""
        desired = self.desired.ports.get(port)
        confirmed = self._confirmed.get(port)
        return PortState(
            switch,
            port,
            desired,
            self.effective.get(port),
            desired is not None and confirmed is not None and version(confirmed) == desired.version,
            wire,
        )

    def settings(self) -> Mapping[int, PortSettings]:
        """The desired settings by port."""
        return {port: wanted.settings for port, wanted in self.desired.ports.items()}

    def desire(self, desired: DesiredState) -> bool:
        """Takes a newer desired state; whether anything is new. Versions older than those known are
        ignored, since two changes may overtake each other on their way here.
        """
        ports = dict(self.desired.ports)
        for port, wanted in desired.ports.items():
            if port not in ports or ports[port].version < wanted.version:
                ports[port] = wanted
        newest = desired if desired.forwarding_version > self.desired.forwarding_version else self.desired
        merged = DesiredState(ports, newest.forwarding, newest.forwarding_version)
        changed = merged != self.desired
        self.desired = merged
        return changed

    def confirm(self, written: DesiredState) -> None:
        """The switch has confirmed all of this."""
        items: dict[int, Wanted] = dict(written.ports)
        items[FORWARDING] = (written.forwarding, written.forwarding_version)
        for port, wanted in items.items():
            self._confirmed[port] = self._good[port] = wanted
            if isinstance(wanted, DesiredPort):
                self.effective[port] = wanted.settings
            if self._waiters.get(port):
                self.settle(port, version(wanted), None)

    def doubt(self) -> None:
        """The session is over: nothing is confirmed any more."""
        self._confirmed.clear()

    def last_good(self, port: int) -> Wanted | None:
        """The last confirmed state of a port, or of the forwarding."""
        return self._good.get(port)

    async def applied(self, port: int, wanted: int) -> None:
        """Waits until this version or a newer one is confirmed; RefusedError if it is refused."""
        confirmed = self._confirmed.get(port)
        if confirmed is not None and version(confirmed) >= wanted:
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (wanted, waiter)
        self._waiters.setdefault(port, []).append(entry)
        try:
            await waiter
        finally:
            self._waiters[port].remove(entry)

    def settle(self, port: int, up_to: int, refusal: RefusedError | None) -> None:
        """Ends the waiting for versions up to this one."""
        for wanted, waiter in self._waiters.get(port, ()):
            if wanted <= up_to and not waiter.done():
                if refusal is None:
                    waiter.set_result(None)
                else:
                    waiter.set_exception(refusal)

    def give_up(self) -> None:
        """Ends all waiting with LinkClosedError."""
        for waiters in self._waiters.values():
            for _, waiter in waiters:
                if not waiter.done():
                    waiter.set_exception(LinkClosedError())


def version(wanted: Wanted) -> int:
    """The version of the state of a port, or of the forwarding."""
    return wanted.version if isinstance(wanted, DesiredPort) else wanted[1]


def wanted_at(desired: DesiredState, port: int) -> Wanted | None:
    """The desired state of a port, or of the forwarding."""
    if port == FORWARDING:
        return (desired.forwarding, desired.forwarding_version)
    return desired.ports.get(port)
