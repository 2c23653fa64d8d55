# SPDX-License-Identifier: Apache-2.0
"""The link to one switch: holds a session and makes the switch equal to its desired state.

It always writes the state that is desired now, never an earlier request. So it does not matter at which point
either side dies: the next session compares, and writes the differences.
"""

from __future__ import annotations

import asyncio
import logging
import random
from dataclasses import replace

from clarion_base.errors import UserError
from clarion_contract.neighbours import Wire
from clarion_contract.settings import PORT_TABLES, PortSettings
from clarion_control.errors import NotPrimaryError, RefusedError, UnreachableError
from clarion_control.fleet.events import Events
from clarion_control.fleet.goal import FORWARDING, Goal, Wanted, version, wanted_at
from clarion_control.fleet.pace import Pace
from clarion_control.fleet.standing import Standing
from clarion_control.model import DesiredPort, LinkState, PortCounters, PortState, SwitchStatus
from clarion_control.store import Store, desired_state
from clarion_control.store.clock import now_us
from clarion_control.store.desired_state import DesiredState
from clarion_p4rt.device import Device, DeviceFactory, Mastership, PacketIn
from clarion_p4rt.errors import FORWARDING_TABLE, MULTICAST_GROUP, SESSION_OVER, Entity, SwitchError
from clarion_p4rt.switch import Forwarding, Switch
from clarion_p4rt.wires import Wires

LOG = logging.getLogger(__name__)

FIRST_BACKOFF_S = 0.2


class Link:
    """The task that keeps a switch equal to its desired state, and the state of both."""

    def __init__(
        self,
        switch: Switch,
        store: Store,
        events: Events,
        connect: DeviceFactory,
        gate: asyncio.Semaphore,
        pace: Pace,
        standing: Standing,
    ) -> None:
        self.switch = switch
        self.status = SwitchStatus(LinkState.CONNECTING, now_us())
        self.reports = 0
        self.last_report_us: int | None = None
        self._store = store
        self._events = events
        self._connect = connect
        self._gate = gate
        self._pace = pace
        self._standing = standing
        self._primary: int | None = None
        self._goal = Goal()
        self.wires = Wires(
            switch,
            lambda: self._goal.effective,
            is_writable=self.is_live,
            hello_s=lambda: pace.hello_s,
        )
        self._wake = asyncio.Event()
        self._mastership: Mastership | None = None  # None: no session
        self._demotions = 0
        self._task: asyncio.Task[None] | None = None

    def start(self, desired: DesiredState) -> None:
        """Begins to connect."""
        self._goal.desire(desired)
        self._task = asyncio.create_task(self._run(), name=f"link {self.switch.name}")

    async def close(self) -> None:
        """Ends the session; the switch keeps what it has."""
        while self._task is not None and not self._task.done():
            self._task.cancel()  # more than once: before Python 3.12 wait_for may swallow it
            await asyncio.wait([self._task], timeout=0.2)
        self._goal.give_up()

    def current_status(self) -> SwitchStatus:
        """The status with the figures of this moment."""
        return replace(
            self.status, reports=self.reports, last_report_us=self.last_report_us, primary=self._primary
        )

    def is_live(self) -> bool:
        """Whether this controller is primary and the switch runs the program: only then it hears LLDP."""
        states = (LinkState.IN_SYNC, LinkState.REFUSED)
        return self._mastership is Mastership.PRIMARY and self.status.state in states

    def port(self, port: int) -> PortState:
        """DesiredState and effective state of a port."""
        return self._goal.port(self.switch, port, self.wire(port))

    def wire(self, port: int) -> Wire | None:
        """The wire at a port; None while it is not known."""
        settings = self._goal.effective.get(port)
        if settings is None or not self.is_live():
            return None
        return Wire(settings.wire, self.wires.verdict(port))

    def forwarding(self) -> Forwarding | None:
        """The desired forwarding."""
        return self._goal.desired.forwarding

    def forwarding_version(self) -> int:
        """How often that has changed."""
        return self._goal.desired.forwarding_version

    def check_writable(self, *, at_once: bool) -> None:
        """NotPrimaryError at a backup, which never writes; UnreachableError if the switch would not get a
        change at once but later.
        """
        if self.status.state is LinkState.BACKUP:
            raise NotPrimaryError(self.switch.name, self._standing.name_of(self._primary))
        if at_once and self.status.state in (LinkState.UNREACHABLE, LinkState.CONNECTING):
            raise UnreachableError(self.switch.name, self.status.reason or "still connecting; try again")

    def desire(self, desired: DesiredState) -> None:
        """Takes a newer desired state; versions older than those known are ignored."""
        if self._goal.desire(desired):
            self._wake.set()

    def desire_port(self, port: int, wanted: DesiredPort) -> None:
        """`desire` for a single port."""
        self.desire(DesiredState({port: wanted}, None, 0))

    async def applied(self, port: int, version: int) -> None:
        """Waits until the switch has confirmed this version or a newer one; RefusedError if it refuses."""
        await self._goal.applied(port, version)

    # The task.

    async def _run(self) -> None:
        backoff_s = FIRST_BACKOFF_S
        while True:
            await self._standing.until_fit()
            state, reason = await self._one_session()
            if self.status.state in (LinkState.IN_SYNC, LinkState.BACKUP):
                backoff_s = FIRST_BACKOFF_S
            self._goal.doubt()
            reconnects = self.status.reconnects + 1
            self._set_state(state, reason, reconnects=reconnects)
            await asyncio.sleep(backoff_s * random.uniform(0.5, 1.0))
            backoff_s = min(2 * backoff_s, self._pace.retry_s)

    async def _one_session(self) -> tuple[LinkState, str]:
        """Holds one session until it ends; returns the state of the link then, and the reason."""
        self._mastership = None
        device = self._connect(self.switch)
        tasks: list[asyncio.Task[None]] = []
        try:
            async with self._gate:
                self._mastership = await device.open()
                self._primary = device.primary
            work = (
                self._keep_equal(device),
                self._receive(device),
                self._count(device),
                self.wires.keep(device),
                self._standing.while_fit(),
            )
            tasks = [asyncio.create_task(each) for each in work]
            # A request under way when the stream breaks may get no answer; it is given up at once.
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in tasks:
                if task.done():
                    task.result()  # raises what ended it
            return LinkState.UNREACHABLE, "session ended"
        except SwitchError as error:
            if self._mastership is None or error.code in SESSION_OVER:
                return LinkState.UNREACHABLE, error.reason
            return LinkState.REFUSED, f"{error.entity}: {error.reason}"
        except UserError as error:  # of the store, for one
            return LinkState.UNREACHABLE, str(error)
        except Exception as error:
            LOG.exception("link %s", self.switch.name)
            return LinkState.UNREACHABLE, f"internal error: {type(error).__name__}"
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await device.close()
            self._primary = None

    async def _keep_equal(self, device: Device) -> None:
        loop = asyncio.get_running_loop()
        compared = -float("inf")
        subscribed_s = 0.0
        leads_since: int | None = None  # the demotions until then; None: does not lead
        ahead_s = random.uniform(0, self._pace.compare_s)  # switches that connected together go separate ways
        while True:
            self._wake.clear()
            if self._mastership is Mastership.BACKUP:
                if leads_since is not None or self.status.state is not LinkState.BACKUP:
                    leads_since = None
                    self._goal.doubt()
                    self._set_state(LinkState.BACKUP)
                self._goal.effective = dict(await device.read())
                self.desire(await self._store.read(desired_state.load, self.switch))
                compared = loop.time()
            else:
                if leads_since != self._demotions:  # or it was backup for a moment
                    leads_since, subscribed_s, compared = self._demotions, 0.0, -float("inf")
                    self._set_state(LinkState.SYNCING)
                    await device.prepare()
                    self.desire(await self._store.read(desired_state.load, self.switch))
                if loop.time() >= compared + self._pace.compare_s:
                    if subscribed_s != self._pace.reports_s:
                        subscribed_s = self._pace.reports_s
                        await device.subscribe(subscribed_s)
                    await self._compare(device)
                    compared, ahead_s = loop.time() - ahead_s, 0.0
                await self._write(device)
            alarm = loop.call_at(compared + self._pace.compare_s, self._wake.set)
            try:
                await self._wake.wait()
            finally:
                alarm.cancel()

    async def _compare(self, device: Device) -> None:
        """Reads the settings of the switch anew, after a possible restart; ports without desired settings
        adopt them.
        """
        found = dict(await device.read())
        self._goal.effective = found
        if any(port not in self._goal.desired.ports for port in self.switch.ports):
            known = {port: found.get(port, PortSettings(port)) for port in self.switch.ports}
            self.desire(await self._store.change(desired_state.adopt, self.switch, known))

    async def _write(self, device: Device) -> None:
        """Writes the desired state; what the switch refuses is replaced by its last confirmed state."""
        while True:
            tried = self._goal.desired
            try:
                await device.write(self._goal.settings(), tried.forwarding)
            except SwitchError as error:
                if error.code in SESSION_OVER:
                    raise
                if not await self._take_back(device, tried, error):
                    return
            else:
                self._goal.confirm(tried)
                if self.status.state is not LinkState.IN_SYNC:
                    self._set_state(LinkState.IN_SYNC)
                return

    async def _take_back(self, device: Device, tried: DesiredState, error: SwitchError) -> bool:
        """Reverts the refused settings; True if the desired state has changed and a retry is due."""
        self._set_state(LinkState.REFUSED, f"{error.entity}: {error.reason}")
        refusal = RefusedError(self.switch.name, error.entity, error.reason)
        changed = False
        for port in _suspects(tried, error.entity):
            wanted = wanted_at(tried, port)
            good = self._goal.last_good(port)
            if wanted is None or (good is not None and version(good) == version(wanted)):
                continue
            if good is not None:
                self.desire(await self._revert(port, wanted, good, error))
                changed = changed or wanted_at(self._goal.desired, port) != wanted
            self._goal.settle(port, version(wanted), refusal)
        self._goal.effective = dict(await device.read())
        return changed

    async def _revert(self, port: int, refused: Wanted, good: Wanted, error: SwitchError) -> DesiredState:
        """Desires the last confirmed settings again, unless newer ones are desired by now."""
        reason = f"the switch refused version {version(refused)}: {error.reason}"
        if isinstance(good, DesiredPort):
            return await self._store.change(
                desired_state.revert_port, self.switch, port, good.settings, version(refused), reason
            )
        return await self._store.change(
            desired_state.revert_forwarding, self.switch, good[0], version(refused), reason
        )

    async def _receive(self, device: Device) -> None:
        while True:
            message = await device.receive()
            if isinstance(message, Mastership):
                self._mastership, self._primary = message, device.primary
                self._demotions += message is Mastership.BACKUP
                self._wake.set()
            elif isinstance(message, PacketIn):
                self.wires.hear(message)
            else:
                self.reports += len(message)
                self.last_report_us = now_us()
                self._events.reported(self.switch, message)

    async def _count(self, device: Device) -> None:
        """Reads counters now and then, which also shows whether the switch is there yet. A switch without
        any stays connected.
        """
        while True:
            await asyncio.sleep(self._pace.counters_s * random.uniform(0.8, 1.0))
            try:
                cells = await device.counters()
            except SwitchError as error:
                if error.code in SESSION_OVER:
                    raise
                continue
            time_us = now_us()
            for port, each in cells.items():
                counters = PortCounters(time_us, self.switch.name, port, each.packets, each.bytes)
                self._events.counted(counters)

    def _set_state(self, state: LinkState, reason: str | None = None, reconnects: int | None = None) -> None:
        kept = self.status.reconnects if reconnects is None else reconnects
        if (state, reason) == (self.status.state, self.status.reason):
            self.status = replace(self.status, reconnects=kept)
            return
        self.status = SwitchStatus(state, now_us(), reason, kept)
        self._events.state_changed(self.switch, self.current_status())


def _suspects(tried: DesiredState, refused: Entity) -> list[int]:
    """The ports, or the forwarding, that a refused entity belongs to; all if that is not clear."""
    if refused.table in PORT_TABLES and refused.key is not None:
        return [refused.key]
    if refused.table in (FORWARDING_TABLE, MULTICAST_GROUP):
        return [FORWARDING]
    return [*tried.ports, FORWARDING]
