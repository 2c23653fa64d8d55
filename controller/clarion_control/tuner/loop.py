# SPDX-License-Identifier: Apache-2.0
"""The tuner's loop: consults the active policies of each port in turn, and carries out their proposals.

All lasting state is in the store: active policies, their parameters, and with each decision the memory of the
policy that made it. The state here is rebuilt by the next process.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clarion_base import tasks
from clarion_base.errors import UserError
from clarion_control.controller import Controller
from clarion_control.errors import (
    NotFoundError,
    NotPrimaryError,
    PolicyHeldError,
    StaleVersionError,
    UnreachableError,
)
from clarion_control.fleet.live import Subscription
from clarion_control.model import ActivePolicy, Actor, Interval, LinkState, PortCounters, Role
from clarion_control.store.clock import now_us
from clarion_control.tuner.history import PortHistory
from clarion_control.tuner.policy import HISTORY, NOTHING, Memory, PolicySpec, Proposal, View
from clarion_control.tuner.registry import POLICIES, checked_parameters

LOG = logging.getLogger(__name__)
ACTOR = Actor("tuner", Role.OPERATOR)
LOOK_EVERY_S = 0.25
REFRESH_EVERY_US = 1_000_000  # how soon a change of a policy is noticed
SHARE = 0.2  # of the time may go into policies; beyond it the turn of a port comes less often
WAITING_MAX = 20_000  # events between two looks
REBUILD_US = 600_000_000  # reports of the store older than this say nothing about now
MEMORY = "memory"  # of the policy, in a decision's evidence

Key = tuple[str, int]  # switch and port


@dataclass
class _Acting:
    """A policy at a port."""

    spec: PolicySpec | None  # None: unusable, see `problem`
    parameters: Mapping[str, float]
    changed_us: int
    memory: Memory = field(default_factory=dict)
    observed: Mapping[str, Any] = field(default_factory=dict)
    problem: str | None = None


@dataclass
class _Port:
    """A port with at least one policy."""

    switch_uid: int
    history: PortHistory = field(default_factory=PortHistory)
    acting: dict[str, _Acting] = field(default_factory=dict)


class Tuner:
    """The policies of all ports of a controller. `start` it and `close` it."""

    def __init__(
        self,
        controller: Controller,
        *,
        look_every_s: float = LOOK_EVERY_S,
        policies: Mapping[str, PolicySpec] = POLICIES,
        clock: Callable[[], int] = now_us,
    ) -> None:
        self._controller = controller
        self._look_every_s = look_every_s
        self._specs = policies
        self._clock = clock
        self._ports: dict[Key, _Port] = {}
        self._sent: dict[str, dict[int, tuple[int, int]]] = {}  # by switch and port: packets and bytes
        self._turns: deque[Key] = deque()
        self._events: Subscription | None = None
        self._refreshed_us = 0
        self._trouble: str | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Returns at once; policies that were active before a restart follow soon."""
        self._task = asyncio.create_task(self._run(), name="tuner")

    async def close(self) -> None:
        """Ends it; a decision under way is carried out."""
        if self._task is not None:
            await tasks.end(self._task)
        self._unsubscribe()

    def health(self) -> dict[str, str]:
        """Present problems, by "switch/port/policy", or "tuner" for all of it; empty if there are none."""
        found = {
            f"{switch}/{number}/{name}": acting.problem
            for (switch, number), port in self._ports.items()
            for name, acting in port.acting.items()
            if acting.problem
        }
        return found | ({"tuner": self._trouble} if self._trouble else {})

    def observed(self, switch: str, port: int) -> dict[str, Mapping[str, Any]]:
        """The last observations of each active policy of a port."""
        known = self._ports.get((switch, port))
        return {} if known is None else {name: acting.observed for name, acting in known.acting.items()}

    async def _run(self) -> None:
        while True:
            began_s = time.monotonic()
            try:
                await self.look()
                self._trouble = None
            except UserError as error:
                self._note_trouble(str(error))
            except Exception as error:
                LOG.exception("tuner")
                self._note_trouble(f"{type(error).__name__}: {error}")
            await asyncio.sleep(max(0.01, self._look_every_s - (time.monotonic() - began_s)))

    async def look(self) -> None:
        """One round: new events, then the ports in turn."""
        if self._clock() - self._refreshed_us >= REFRESH_EVERY_US:
            self._refreshed_us = self._clock()
            await self._refresh()
        for event in self._events.take() if self._events else ():
            if isinstance(event, Interval):
                port = self._ports.get((event.switch, event.report.port))
                if port is not None:
                    port.history.interval(event)
            elif isinstance(event, PortCounters):
                self._count(event)
        deadline_s = time.monotonic() + SHARE * self._look_every_s
        for _ in range(len(self._turns)):
            key = self._turns[0]
            self._turns.rotate(-1)
            if key in self._ports and self._ports[key].history.fresh:
                await self._consult(key, self._ports[key])
                if time.monotonic() > deadline_s:
                    break

    async def _refresh(self) -> None:
        """Follows the active policies of the store."""
        rows = await self._controller.tuning.active_policies()
        wanted: dict[Key, dict[str, ActivePolicy]] = {}
        for row in rows:
            wanted.setdefault((row.switch, row.port), {})[row.name] = row
        for key in [key for key in self._ports if key not in wanted]:
            del self._ports[key]
        if wanted and self._events is None:  # before the store is read, so that nothing is missed
            self._events = self._controller.telemetry.subscribe(
                kinds=["interval", "counters"], maxsize=WAITING_MAX
            )
        for key, found in wanted.items():
            uid = next(iter(found.values())).switch_uid
            if key not in self._ports or self._ports[key].switch_uid != uid:
                self._ports[key] = await self._rebuilt(key, uid)
            acting = self._ports[key].acting
            for name in [name for name in acting if name not in found]:
                del acting[name]
            for name, row in found.items():
                if name not in acting or acting[name].changed_us != row.changed_us:
                    acting[name] = await self._begun(row, acting.get(name))
        self._turns = deque([key for key in self._turns if key in self._ports])
        self._turns.extend(self._ports.keys() - set(self._turns))
        self._sent = {switch: self._sent.get(switch, {}) for switch, _ in self._ports}
        if not self._ports:
            self._unsubscribe()

    async def _rebuilt(self, key: Key, uid: int) -> _Port:
        """A port with its stored reports."""
        port = _Port(uid)
        now = self._clock()
        with contextlib.suppress(NotFoundError):  # another process has added the switch just now
            before = await self._controller.telemetry.intervals(
                *key, from_us=now - REBUILD_US, to_us=now, limit=HISTORY
            )
            port.history.before(before)
        return port

    async def _begun(self, row: ActivePolicy, before: _Acting | None) -> _Acting:
        """A policy with its memory, or that of its last decision."""
        memory = before.memory if before else await self._remembered(row)
        try:
            parameters = checked_parameters(row.name, row.parameters)
        except UserError as error:  # stored by an older or newer version
            return _Acting(None, {}, row.changed_us, memory, problem=str(error))
        return _Acting(self._specs.get(row.name), parameters, row.changed_us, memory)

    async def _remembered(self, row: ActivePolicy) -> Memory:
        decisions = await self._controller.tuning.decisions(
            switch=row.switch, port=row.port, policy=row.name, limit=1
        )
        found = decisions[0].evidence.get(MEMORY) if decisions else None
        return found if isinstance(found, Mapping) else NOTHING

    def _count(self, event: PortCounters) -> None:
        sent = self._sent.get(event.switch)
        if sent is None:
            return
        sent[event.port] = (event.packets.get("tx", 0), event.bytes.get("tx", 0))
        port = self._ports.get((event.switch, event.port))
        if port is not None:
            others = [counts for number, counts in sent.items() if number != event.port]
            port.history.counters(
                event, sum(packets for packets, _ in others), sum(size for _, size in others)
            )

    async def _consult(self, key: Key, port: _Port) -> None:
        """Consults the policies of one port, until one of them has changed it."""
        port.history.fresh = False
        try:
            if self._controller.switches.status(key[0]).state is not LinkState.IN_SYNC:
                return
            state = await self._controller.ports.get(*key)
            measured_bps = self._controller.telemetry.measured_bps(*key)
        except NotFoundError:
            return
        desired = state.desired
        if desired is None or not state.applied:
            return
        view = port.history.view(self._clock(), desired.settings, desired.changed_us, measured_bps)
        for name, spec in self._specs.items():
            acting = port.acting.get(name)
            if acting is None or acting.spec is None:
                continue
            if await self._consult_one(key, spec, acting, view, desired.version):
                return

    async def _consult_one(
        self, key: Key, spec: PolicySpec, acting: _Acting, view: View, version: int
    ) -> bool:
        """Whether the policy has changed the port. One that fails does not keep the others from acting."""
        try:
            verdict = spec.judge(view, acting.parameters, acting.memory)
            acting.observed = verdict.observed
            acting.memory = verdict.memory_if_not
            if verdict.proposal is not None:
                await self._carry_out(key, spec.name, verdict.proposal, verdict.memory, version)
                acting.memory = verdict.memory
            acting.problem = None
        except (StaleVersionError, PolicyHeldError, NotPrimaryError, UnreachableError):
            return True  # another change came first, or the switch has just gone: the view is out of date
        except Exception as error:
            self._note_problem(key, spec.name, acting, error)
            return False
        return verdict.proposal is not None and bool(verdict.proposal.changes)

    async def _carry_out(
        self, key: Key, policy: str, proposal: Proposal, memory: Memory, version: int
    ) -> None:
        await self._controller.tuning.apply_decision(
            ACTOR,
            *key,
            policy,
            if_version=version if proposal.changes else None,
            changes=proposal.changes,
            summary=proposal.summary,
            evidence={**proposal.evidence, MEMORY: dict(memory)},
        )

    def _note_problem(self, key: Key, policy: str, acting: _Acting, error: Exception) -> None:
        """One line for a problem, however often it comes back."""
        problem = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
        if problem != acting.problem:
            foreseen = isinstance(error, UserError)
            LOG.warning("%s port %d: policy %s: %s", *key, policy, problem, exc_info=not foreseen)
        acting.problem = problem

    def _note_trouble(self, trouble: str) -> None:
        if trouble != self._trouble:
            LOG.warning("tuner: %s", trouble)
        self._trouble = trouble

    def _unsubscribe(self) -> None:
        if self._events is not None:
            self._events.close()
            self._events = None
