# SPDX-License-Identifier: Apache-2.0
"""The controller: all that REST, the tuner and the dashboard may ask for.

A change is stored before it is sent, and what is sent is always what the store says: a crash of either side
at any moment loses nothing, and nothing happens twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from clarion.errors import UserError
from clarion_control.access import Access
from clarion_control.errors import ApplyPending, NotFoundError, StaleVersionError, SwitchError
from clarion_control.fleet.device import DeviceFactory, Reports
from clarion_control.fleet.fleet import Fleet
from clarion_control.fleet.link import FORWARDING, Link, Wanted
from clarion_control.fleet.live import Hub, Subscription
from clarion_control.fleet.recorder import Recorder
from clarion_control.model import (
    Actor,
    AuditRecord,
    Decision,
    DesiredPort,
    Drop,
    Experiment,
    Forwarding,
    Interval,
    IntervalSummary,
    Origin,
    Policy,
    PolicyChange,
    PolicyState,
    PortCounters,
    PortState,
    Role,
    StatusChange,
    Switch,
    SwitchStatus,
    TlsFiles,
    Token,
)
from clarion_control.settings import PortSettings, checked_addresses, checked_ports
from clarion_control.settings_json import checked, merged
from clarion_control.store import (
    Store,
    audit,
    decisions,
    experiments,
    policies,
    ports,
    switches,
    telemetry,
)
from clarion_control.store.clock import now_us
from clarion_control.store.ports import CONTROLLER, Desired
from clarion_control.switch_input import checked_switch
from clarion_control.telemetry import IntervalReport

LOG = logging.getLogger(__name__)
T = TypeVar("T")

REFRESH_S = 1.0  # how soon changes by another controller of the same store are seen


class Controller:
    """One controller of a fleet; `close` it, or use it as an async context manager."""

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
        """`open` is for everybody else."""
        self.store = store
        self.access = Access(store)
        self._fleet = Fleet(connect, self, compare_s=compare_every_s, counters_s=counters_every_s)
        self._hub = Hub()
        self._recorder = Recorder(store, history_s)
        self._apply_timeout_s = apply_timeout_s
        self._seen_audit = 0
        self._policy_ports: dict[tuple[str, int], int] = {}  # when a policy of the port was changed last
        self._membership = asyncio.Lock()
        self._refresher: asyncio.Task[None] | None = None
        self._changes: set[asyncio.Task[Any]] = set()

    @classmethod
    async def open(
        cls,
        store: Store,
        *,
        election_id: int = 1,
        compare_every_s: float = 10.0,
        counters_every_s: float = 2.0,
        history_s: float = 7 * 86400,
        apply_timeout_s: float = 5.0,
        connect: DeviceFactory | None = None,
    ) -> Controller:
        """Starts the links to all switches of the store. `connect` makes the session with a switch (tests).

        The store stays the caller's to close.
        """
        if connect is None:
            from clarion_control.fleet.p4_device import factory

            connect = factory(election_id)
        controller = cls(
            store,
            connect,
            compare_every_s=compare_every_s,
            counters_every_s=counters_every_s,
            history_s=history_s,
            apply_timeout_s=apply_timeout_s,
        )
        controller._seen_audit = await store.read(audit.last_id)
        for switch in await store.read(switches.listed):
            controller._fleet.add(switch, await store.read(ports.desired, switch))
            for policy in await store.read(policies.listed, switch):
                controller._policy_ports[switch.name, policy.port] = policy.changed_us
        controller._recorder.start()
        controller._refresher = asyncio.create_task(controller._refresh(), name="refresh from store")
        return controller

    async def __aenter__(self) -> Controller:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends all sessions; switches keep what they have. Changes under way are stored first."""
        if self._refresher is not None:
            self._refresher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._refresher
        if self._changes:
            await asyncio.wait(self._changes)
        await self._fleet.close()
        await self._recorder.close()
        self._hub.close()

    # Switches.

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

    # Ports.

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
            checked_ports(name, "flood_ports", forwarding.flood_ports, link.switch.ports)
        _check_writable(link, wait)

        async def store() -> Desired:
            desired = await self.store.change(ports.change_forwarding, actor, link.switch, forwarding)
            link.desire(desired)
            return desired

        desired = await self._carried_through(store())
        if wait:
            await self._applied(link, FORWARDING, desired.forwarding_version)

    # Telemetry.

    def latest(self, name: str, port: int) -> Interval | None:
        """The last report of a port since the controller started."""
        self._port_link(name, port)
        return self._hub.latest.get((name, port))

    def latest_counters(self, name: str, port: int) -> PortCounters | None:
        """The counters of a port as they were read last."""
        self._port_link(name, port)
        return self._hub.counters.get((name, port))

    async def intervals(
        self, name: str, port: int, *, from_us: int, to_us: int, limit: int
    ) -> list[Interval]:
        """The newest `limit` reports of a span of time, the oldest of them first."""
        link = self._port_link(name, port)
        return await self.store.read(telemetry.interval_list, link.switch, port, from_us, to_us, limit)

    async def interval_summaries(
        self, name: str, port: int, *, from_us: int, to_us: int, step_us: int, limit: int
    ) -> list[IntervalSummary]:
        """The reports of a span of time summed up in steps; steps without a report are left out."""
        link = self._port_link(name, port)
        return await self.store.read(
            telemetry.interval_summaries, link.switch, port, from_us, to_us, step_us, limit
        )

    async def drops(self, name: str, port: int | None, *, from_us: int, to_us: int, limit: int) -> list[Drop]:
        """The newest `limit` packets of a span of time that queues dropped, the oldest of them first."""
        link = self._fleet.link(name) if port is None else self._port_link(name, port)
        return await self.store.read(telemetry.drop_list, link.switch, port, from_us, to_us, limit)

    def subscribe(
        self,
        *,
        switch: str | None = None,
        port: int | None = None,
        kinds: Collection[str] | None = None,
        maxsize: int = 1000,
    ) -> Subscription:
        """Events from now on; `kinds` of interval, drop, counters, status. Close it, or use `with`."""
        return self._hub.subscribe(switch=switch, port=port, kinds=kinds, maxsize=maxsize)

    @property
    def reports_waiting(self) -> int:
        """Reports that are not in the store yet."""
        return self._recorder.waiting

    @property
    def reports_lost(self) -> int:
        """Reports that never will be, because the store did not take them."""
        return self._recorder.lost

    # The tuner.

    async def policies(self, name: str, port: int) -> list[Policy]:
        """The policies that were ever set at a port."""
        return await self.store.read(policies.listed, self._port_link(name, port).switch, port)

    async def all_policies(self, name: str) -> list[Policy]:
        """The policies of all ports of a switch."""
        return await self.store.read(policies.listed, self._fleet.link(name).switch)

    async def put_policy(
        self,
        actor: Actor,
        name: str,
        port: int,
        policy: str,
        state: PolicyState,
        parameters: Mapping[str, float],
        reason: str | None = None,
    ) -> Policy:
        """Sets a policy; `parameters` are complete and were checked by the tuner."""
        link = self._port_link(name, port)
        if policy not in policies.GOVERNED:
            raise NotFoundError("policy", policy)

        async def store() -> Policy:
            stored = await self.store.change(
                policies.put, actor, link.switch, port, policy, state, parameters, reason
            )
            await self._announce_policies(link, port)
            return stored

        return await self._carried_through(store())

    async def apply_decision(
        self,
        actor: Actor,
        name: str,
        port: int,
        policy: str,
        *,
        if_version: int | None,
        changes: Mapping[str, Any],
        summary: str,
        evidence: Mapping[str, Any],
        wait: bool = False,
    ) -> Decision:
        """Records a decision and makes its changes (merge patch; empty for a flag), both or neither.

        StaleVersionError or PolicyHeldError if somebody was there before; else errors as for `set_port`.
        """
        link = self._port_link(name, port)
        if changes:
            _check_writable(link, wait=True)

        async def store() -> tuple[Decision, DesiredPort | None]:
            decision, stored = await self.store.change(
                decisions.apply,
                actor,
                link.switch,
                port,
                policy,
                if_version=if_version,
                changes=changes,
                summary=summary,
                evidence=evidence,
            )
            if stored is not None:
                link.desire_port(port, stored)
            return decision, stored

        decision, stored = await self._carried_through(store())
        if wait and stored is not None:
            await self._applied(link, port, stored.version)
        return decision

    async def decisions(
        self,
        *,
        switch: str | None = None,
        port: int | None = None,
        policy: str | None = None,
        before_id: int | None = None,
        limit: int = 100,
    ) -> list[Decision]:
        """Decisions, the newest first."""
        return await self.store.read(decisions.listed, switch, port, policy, before_id, limit)

    async def decision(self, decision_id: int) -> Decision:
        """One decision, or NotFoundError."""
        return await self.store.read(decisions.get, decision_id)

    async def undo_decision(self, actor: Actor, decision_id: int, *, wait: bool = True) -> Decision:
        """Sets back what a decision changed, and holds the policy. UndoneError if that cannot be."""
        decision = await self.decision(decision_id)
        link = self._port_link(decision.switch, decision.port)
        _check_writable(link, wait)

        async def store() -> tuple[Decision, DesiredPort]:
            undone, stored = await self.store.change(decisions.undo, actor, link.switch, decision_id)
            link.desire_port(decision.port, stored)
            await self._announce_policies(link, decision.port)
            return undone, stored

        undone, stored = await self._carried_through(store())
        if wait:
            await self._applied(link, decision.port, stored.version)
        return undone

    # Audit, tokens, experiments.

    async def check_store(self) -> None:
        """StoreError unless the database answers."""
        await self.store.read(audit.last_id)

    async def note(
        self,
        actor: Actor,
        action: str,
        *,
        switch: str | None = None,
        port: int | None = None,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
        reason: str | None = None,
    ) -> None:
        """An audit record of something that is not the store's."""
        await self.store.change(
            audit.record,
            actor,
            action,
            switch=switch,
            port=port,
            before=before,
            after=after,
            reason=reason,
        )

    async def audit(
        self,
        *,
        switch: str | None = None,
        actor: str | None = None,
        before_id: int | None = None,
        limit: int = 100,
    ) -> list[AuditRecord]:
        """Changes, the newest first."""
        return await self.store.read(audit.listed, switch, actor, before_id, limit)

    async def create_token(
        self, actor: Actor, name: str, role: Role, expires_us: int | None = None
    ) -> tuple[Token, str]:
        """A new token and its text, which nobody can read again."""
        return await self.access.create(actor, name, role, expires_us)

    async def tokens(self) -> list[Token]:
        """All tokens, also revoked ones."""
        return await self.access.tokens()

    async def revoke_token(self, actor: Actor, token_id: int) -> Token:
        """Makes a token useless: here at once, with other controllers of the store within seconds."""
        return await self.access.revoke(actor, token_id)

    async def authenticate(self, text: str) -> Token | None:
        """The valid token with this text."""
        return await self.access.authenticate(text)

    async def create_experiment(
        self, actor: Actor, scenario: str, engine: str, settings: Sequence[str], repeat: int
    ) -> Experiment:
        """A new experiment, queued."""
        return await self.store.change(experiments.create, actor, scenario, engine, settings, repeat)

    async def update_experiment(self, experiment_id: int, **changes: Any) -> Experiment:
        """Changes any of state, started_us, ended_us, error, files."""
        return await self.store.change(experiments.update, experiment_id, **changes)

    async def experiments(self, *, before_id: int | None = None, limit: int = 100) -> list[Experiment]:
        """Experiments, the newest first."""
        return await self.store.read(experiments.listed, before_id, limit)

    async def experiment(self, experiment_id: int) -> Experiment:
        """One experiment, or NotFoundError."""
        return await self.store.read(experiments.get, experiment_id)

    # What the links need (fleet.link.Owner).

    async def desired(self, switch: Switch) -> Desired:
        """What the store says."""
        return await self.store.read(ports.desired, switch)

    async def adopt(self, switch: Switch, found: Mapping[int, PortSettings]) -> Desired:
        """Makes desired what was found, where nothing is."""
        known = {port: found.get(port, PortSettings(port)) for port in switch.ports}
        return await self.store.change(ports.adopt, switch, known)

    async def refused(
        self, switch: Switch, port: int, tried: Wanted, good: Wanted, error: SwitchError
    ) -> Desired:
        """Desires again what the switch took last, unless something newer is desired."""
        reason = f"the switch refused version {_version(tried)}: {error.message}"
        with contextlib.suppress(StaleVersionError, NotFoundError):
            if isinstance(good, DesiredPort):
                earlier = good.settings
                await self.store.change(
                    ports.change,
                    CONTROLLER,
                    switch,
                    port,
                    lambda _: earlier,
                    if_version=_version(tried),
                    origin=Origin.REVERT,
                    reason=reason,
                )
            else:
                await self.store.change(
                    ports.change_forwarding,
                    CONTROLLER,
                    switch,
                    good[0],
                    if_version=_version(tried),
                    origin=Origin.REVERT,
                    reason=reason,
                )
        return await self.desired(switch)

    def received(self, switch: Switch, reports: Reports) -> None:
        """Reports came in."""
        time_us = now_us()
        for report in reports:
            event: Interval | Drop
            if isinstance(report, IntervalReport):
                event = Interval(time_us, switch.name, report)
            else:
                event = Drop(time_us, switch.name, report)
            self._hub.publish(event)
            self._recorder.add(switch.uid, event)

    def counted(self, counters: PortCounters) -> None:
        """Counters were read."""
        self._hub.publish(counters)

    def changed(self, switch: Switch, status: SwitchStatus) -> None:
        """A link's state is another."""
        self._hub.publish(StatusChange(now_us(), switch.name, status))

    # Helpers.

    def _port_link(self, name: str, port: int) -> Link:
        link = self._fleet.link(name)
        if port not in link.switch.ports:
            has = ", ".join(map(str, link.switch.ports))
            raise NotFoundError("port", port, f"switch {name} has {has}")
        return link

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
        _check_writable(link, wait)

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

    async def _applied(self, link: Link, port: int, version: int) -> None:
        try:
            await asyncio.wait_for(link.applied(port, version), self._apply_timeout_s)
        except asyncio.TimeoutError:
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

    async def _add_switch(self, actor: Actor, switch: Switch) -> Switch:
        async with self._membership:
            added = await self.store.change(switches.add, actor, switch)
            self._fleet.add(added, Desired({}, None, 0))
            return added

    async def _remove_switch(self, actor: Actor, name: str) -> None:
        async with self._membership:
            await self.store.change(switches.remove, actor, name)
            await self._fleet.remove(name)
            self._hub.forget_switch(name)

    async def _announce_policies(self, link: Link, port: int | None = None) -> None:
        """Tells of the policies that were changed since they were told of last."""
        told = dict(self._policy_ports)
        for policy in await self.store.read(policies.listed, link.switch, port):
            key = (policy.switch, policy.port)
            if policy.changed_us > told.get(key, 0):
                self._policy_ports[key] = max(self._policy_ports.get(key, 0), policy.changed_us)
                self._hub.publish(PolicyChange(now_us(), policy))

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


def _check_writable(link: Link, wait: bool) -> None:
    """Without `wait` a switch that does not answer may get the change later; a backup never writes."""
    if wait:
        link.check_writable()
    else:
        link.check_not_backup()


def _version(wanted: Wanted) -> int:
    return wanted.version if isinstance(wanted, DesiredPort) else wanted[1]
