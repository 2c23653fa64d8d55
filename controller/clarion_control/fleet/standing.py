# SPDX-License-Identifier: Apache-2.0
"""This controller among those of its store: who is there, and whether this one may lead.

A primary that the store does not answer takes no change, and cannot know what is desired. Where there are
other controllers it gives its switches up, so that one of them that has the store can lead.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from clarion_base import tasks
from clarion_base.errors import UserError
from clarion_control.errors import StoreError
from clarion_control.model import ControllerRecord
from clarion_control.store import Store, controllers

LOG = logging.getLogger(__name__)

BEAT_S = 1.0
LEASE_S = 4.0  # without an answer of the store; also how long a controller that is not heard counts as there
GONE = "store: no answer; another controller may lead meanwhile"


@dataclass(frozen=True)
class Me:
    """How this controller introduces itself."""

    name: str
    election_id: int
    url: str = ""


class Standing:
    """The controllers of the store as this one sees them. Clocks of different machines are not compared: a
    controller is there if its last word has changed within LEASE_S of ours.
    """

    def __init__(self, store: Store, me: Me) -> None:
        self.me = me
        self._store = store
        self._known: Sequence[ControllerRecord] = ()
        self._heard_s: dict[int, tuple[int, float]] = {}  # by election id: the word, and when it was new
        self._fit, self._unfit = asyncio.Event(), asyncio.Event()
        self._alarm: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Joins the others; UserError if one of another name has this election id."""
        await self._check_id()
        await self._beat()
        self._task = asyncio.create_task(self._run(), name="standing")

    async def close(self) -> None:
        """Leaves."""
        if self._task is not None:
            await tasks.end(self._task)
            with contextlib.suppress(UserError):
                await self._store.append(controllers.leave, self.me.election_id)
        if self._alarm is not None:
            self._alarm.cancel()

    def known(self) -> list[tuple[ControllerRecord, bool]]:
        """All controllers by name, each with whether it is there."""
        return [(each, self._is_there(each)) for each in self._known]

    def name_of(self, election_id: int | None) -> str | None:
        """The name of the controller with this election id; the id if it has not introduced itself."""
        if election_id is None:
            return None
        names = {each.election_id: each.name for each in self._known}
        return names.get(election_id, f"election id {election_id}")

    async def until_fit(self) -> None:
        """Waits until this controller may lead."""
        await self._fit.wait()

    async def while_fit(self) -> None:
        """Waits until it may not lead any more, and then raises StoreError."""
        await self._unfit.wait()
        raise StoreError(GONE)

    async def _check_id(self) -> None:
        """A controller that was killed may be in the store yet: one that says nothing new is not there."""
        earlier: ControllerRecord | None = None
        for _ in range(int(LEASE_S / BEAT_S)):
            found = await self._store.read(controllers.listed)
            same = [each for each in found if each.election_id == self.me.election_id]
            if not same or same[0].name == self.me.name:
                return
            if earlier is not None and same[0] != earlier:
                raise StoreError(
                    f"--election-id {self.me.election_id}: controller {same[0].name} of this store has it; "
                    "give another"
                )
            earlier = same[0]
            await asyncio.sleep(BEAT_S)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            try:
                await self._beat()
            except UserError as error:
                LOG.warning("%s", error)

    async def _beat(self) -> None:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        me = self.me
        self._known = await self._store.append(controllers.beat, me.name, me.election_id, me.url)
        for each in self._known:
            if self._heard_s.get(each.election_id, (None, 0.0))[0] != each.seen_us:
                self._heard_s[each.election_id] = each.seen_us, began_s
        if self._alarm is not None:
            self._alarm.cancel()
        if any(self._is_there(each) for each in self._known if each.election_id != me.election_id):
            self._alarm = loop.call_at(began_s + LEASE_S, self._lose)
        self._unfit.clear()
        self._fit.set()

    def _is_there(self, controller: ControllerRecord) -> bool:
        heard_s = self._heard_s[controller.election_id][1]
        return asyncio.get_running_loop().time() < heard_s + LEASE_S

    def _lose(self) -> None:
        self._fit.clear()
        self._unfit.set()
