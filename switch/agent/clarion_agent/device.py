# SPDX-License-Identifier: Apache-2.0
"""One switch as controllers see it: pipeline, entries, digests, and who may write.

Entries are kept here and in the switch. A switch that comes back gets them again; an agent that starts takes
over what the switch has, with the note that an earlier agent left there.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any, TypeVar

from finsy.proto import p4r
from grpc import StatusCode

from clarion_agent import note, packets, pipeline, restoring
from clarion_agent.arbitration import Arbiter, Controller
from clarion_agent.digests import Collectors
from clarion_agent.planner import Plan, Planner
from clarion_agent.program import Program
from clarion_agent.reader import Reader
from clarion_agent.replication import flood_change
from clarion_agent.roles import FULL, Access, denied
from clarion_agent.state import Pipeline, State
from clarion_agent.status import Refused, invalid
from clarion_contract.target import Change, Present, Reset, SetFlood, Target, TargetError

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_Set = p4r.SetForwardingPipelineConfigRequest
_Write = p4r.WriteRequest

COMPLAIN_EVERY_S = 10.0
LINKS_EVERY_S = 0.1  # between two looks at the links, while a replica has backups


class RefusedBatch(Exception):  # noqa: N818  (a reply, not a fault of ours)
    """A Write of which at least one update is wrong."""

    def __init__(self, plan: Plan, *, others_written: bool = False) -> None:
        super().__init__("batch")
        self.plan = plan
        self.others_written = others_written


class Device:
    """One switch: its pipeline, entries, digests and arbitration."""

    def __init__(self, device_id: int, target: Target, program: Program) -> None:
        self.id = device_id
        self.target = target
        self.arbiter = Arbiter(device_id, program.ids.values())
        self._program = program
        self._planner = Planner(program, target)
        self._reader = Reader(program, self._planner, target)
        self._changing = asyncio.Lock()
        self._pipeline: Pipeline | None = None  # None: no controller has set one
        self._noted = ""  # the note kept in the switch; empty: no controller has written to it
        self._saved: Pipeline | None = None
        self._state = State()
        self._flood: tuple[int, ...] | None = None  # the ports that the switch has
        self._digests = Collectors(program, self._send_digests)
        self._lost = 0  # reports, since that was last logged
        self._complain_at = 0.0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._watcher: asyncio.Task[None] | None = None
        target.listen(self)

    async def start(self) -> None:
        """Takes over the switch's present entries."""
        self._take_over(await self.target.present())
        await self._listen()

    def stop(self) -> None:
        """Sends no more digests."""
        self._digests.close()
        if self._watcher is not None:
            self._watcher.cancel()

    # Calls of controllers.

    async def arbitrate(
        self, controller: Controller, update: p4r.MasterArbitrationUpdate, *, first: bool
    ) -> None:
        """Arbitrates once the Writes that have begun are finished."""
        async with self._changing:
            self.arbiter.arbitrate(controller, update, first=first)

    async def set_pipeline(self, request: p4r.SetForwardingPipelineConfigRequest) -> None:
        """Carries out SetForwardingPipelineConfig."""
        if not self._authorize(request).can_push_pipeline:
            raise denied("pipeline")
        given = pipeline.verified(self._program, request)
        if request.action == _Set.VERIFY:
            return
        if request.action == _Set.VERIFY_AND_SAVE:
            self._saved = given
            return
        await self._to_the_end(self._commit(request, given))

    def get_pipeline(
        self, request: p4r.GetForwardingPipelineConfigRequest
    ) -> p4r.GetForwardingPipelineConfigResponse:
        """Answers GetForwardingPipelineConfig."""
        return pipeline.reply(self._program, self._pipeline, request)

    async def write(self, request: p4r.WriteRequest) -> None:
        """Write, with the atomicity of the request. RefusedBatch, Refused."""
        self._authorize(request)
        self._check_pipeline()
        if request.atomicity not in _Write.Atomicity.values():
            raise invalid(f"atomicity {request.atomicity}: is none")
        await self._to_the_end(self._write(request))

    def read(self, request: p4r.ReadRequest) -> AsyncIterator[p4r.Entity]:
        """The entities that match; all of the reply is of one moment. RefusedRead at its end, Refused."""
        access = self.arbiter.access(request.role)
        self._check_pipeline()
        return self._reader.read(request.entities, self._state, access)  # the state is replaced, not changed

    async def packet_out(self, packet: p4r.PacketOut, access: Access = FULL) -> None:
        """A frame for the switch to send or to forward."""
        self._check_pipeline()
        if not access.allows(self._program.packet_out_id):
            raise denied("packet_out")
        port = packets.egress_port(packet, self._program, self.target.ports)
        try:
            await self.target.inject(packet.payload, port)
        except TargetError as error:
            raise (
                self._unavailable(error) if error.gone else invalid(f"packet_out: payload: {error}")
            ) from error

    def acknowledge(self, ack: p4r.DigestListAck, access: Access = FULL) -> None:
        """A controller acknowledges a digest list."""
        self._digests.acknowledge(ack, access)

    # Reports of the switch.

    def on_digest(self, name: str, members: tuple[int, ...]) -> None:
        """Adds a digest to its list."""
        self._digests.add(name, members)

    def on_packet(self, frame: bytes, port: int, time_us: int) -> None:
        """Sends a frame to the primary controllers as a PacketIn, once they have set a pipeline."""
        if self._pipeline is not None:
            self._send(packets.packet_in(self._program, frame, port, time_us))

    def on_lost(self, count: int) -> None:
        """Counts and logs reports that were lost because the agent was too slow."""
        self._lost += count
        now = time.monotonic()
        if now >= self._complain_at:
            _log.warning("%s: %d reports lost: the agent does not keep up", self.target.name, self._lost)
            self._lost, self._complain_at = 0, now + COMPLAIN_EVERY_S

    async def on_connected(self) -> None:
        """Restores the entries of controllers, if any, on a switch that is back."""
        async with self._changing:
            present = await self.target.present()
            if not self._noted:
                self._take_over(present)
                return
            noted = note.write(self._pipeline, self._state)
            wanted = flood_change(self._state.group, self.target.down())
            changes = restoring.changes(present, self._state, noted, wanted)
            if changes:
                await self._apply(changes)

    # Inside.

    async def _commit(self, request: p4r.SetForwardingPipelineConfigRequest, given: Pipeline | None) -> None:
        clear = request.action == _Set.VERIFY_AND_COMMIT
        async with self._changing:
            self._authorize(request)  # there may be another primary by now
            if given is None:
                given = self._saved
                if given is None:
                    raise Refused(StatusCode.NOT_FOUND, "config: none was saved; use VERIFY_AND_SAVE first")
            state = State() if clear else self._state
            reset: list[Change] = [Reset()] if clear else []
            noted = note.write(given, state)
            try:
                await self._apply([*reset, noted])
            except TargetError as error:
                raise self._unavailable(error) from error
            self._pipeline, self._saved = given, None
            self._keep(state, noted.text)
            await self._listen()

    async def _write(self, request: p4r.WriteRequest) -> None:
        async with self._changing:
            access = self._authorize(request)  # there may be another primary by now
            plan = self._planner.plan(request.updates, self._state, access)
            if request.atomicity == _Write.CONTINUE_ON_ERROR:
                await self._write_valid(plan, request.updates, access)
                return
            if plan.refused():
                raise RefusedBatch(plan)
            if request.atomicity == _Write.DATAPLANE_ATOMIC and not self.target.is_atomic(plan.changes):
                raise Refused(
                    StatusCode.UNIMPLEMENTED,
                    f"switch {self.target.name}: cannot carry out this batch between two packets; write it "
                    "in parts, or with ROLLBACK_ON_ERROR",
                )
            await self._carry_out(plan)

    async def _write_valid(self, plan: Plan, updates: Sequence[p4r.Update], access: Access) -> None:
        """Carries out the updates that are in order: all at once, if the switch takes them all."""
        try:
            await self._carry_out(plan)
        except RefusedBatch:
            plan = await self._one_by_one(updates, access)
        if plan.refused():
            raise RefusedBatch(plan, others_written=True)

    async def _one_by_one(self, updates: Sequence[p4r.Update], access: Access) -> Plan:
        errors: list[Refused | None] = []
        for update in updates:
            plan = self._planner.plan([update], self._state, access)
            try:
                await self._carry_out(plan)
            except RefusedBatch:
                pass  # the plan has the error
            except Refused as error:
                plan.errors = [error]
            errors += plan.errors
        return Plan(self._state, errors=errors)

    async def _carry_out(self, plan: Plan) -> None:
        """Carries out the changes of a plan, all or none."""
        noted = note.write(self._pipeline, plan.state)
        is_new = noted.text != self._noted
        changes = [*plan.changes, noted] if is_new else plan.changes
        try:
            if changes:
                await self._apply(changes)
        except TargetError as error:
            if error.gone or not plan.changes:
                raise self._unavailable(error) from error
            plan.blame(error)
            raise RefusedBatch(plan) from error
        self._keep(plan.state, noted.text)
        if is_new:
            await self._listen()

    async def _apply(self, changes: Sequence[Change]) -> None:
        await self.target.apply(changes)
        for change in changes:
            if isinstance(change, Reset):
                self._flood = None
            elif isinstance(change, SetFlood):
                self._flood = change.ports

    def _keep(self, state: State, noted: str) -> None:
        """Takes a state that the switch has, and watches links as long as something depends on them."""
        self._state, self._noted = state, noted
        depends = any(replica.backups for replica in state.group or ())
        if depends and self._watcher is None:
            self._watcher = asyncio.create_task(self._watch_links(), name=f"links of {self.target.name}")
        elif not depends and self._watcher is not None:
            self._watcher.cancel()
            self._watcher = None

    async def _watch_links(self) -> None:
        while True:
            await asyncio.sleep(LINKS_EVERY_S)
            await self._to_the_end(self._follow_links())

    async def _follow_links(self) -> None:
        """Has each copy go to the most preferred port that has a link."""
        async with self._changing:
            wanted = flood_change(self._state.group, self.target.down())
            if wanted.ports != self._flood:
                with contextlib.suppress(TargetError):  # tried again at the next look
                    await self._apply([wanted])

    async def _listen(self) -> None:
        """Applies the digest configuration."""
        self._digests.configure(self._state.digests)
        with contextlib.suppress(TargetError):  # subscribed again in on_connected
            await self.target.want(sorted(self._state.digests), packets=True)

    def _take_over(self, present: Present) -> None:
        try:
            self._pipeline, state = note.read(present)
        except note.UnreadableError:
            self._pipeline, state = None, note.of_switch(present)
            _log.warning(
                "%s: the note of an agent of another version cannot be read; the switch keeps its entries, "
                "and controllers have to set the pipeline config again",
                self.target.name,
            )
        self._flood = present.flood
        self._keep(state, present.note if self._pipeline else "")

    def _check_pipeline(self) -> None:
        if self._pipeline is None:
            raise Refused(
                StatusCode.FAILED_PRECONDITION,
                f"device {self.id}: no forwarding pipeline config is set; use SetForwardingPipelineConfig",
            )

    def _authorize(self, request: p4r.WriteRequest | p4r.SetForwardingPipelineConfigRequest) -> Access:
        """What the sender may do, if it is the primary of its role."""
        election_id = request.election_id if request.HasField("election_id") else None
        return self.arbiter.authorize(request.role, election_id)

    def _unavailable(self, error: TargetError) -> Refused:
        code = StatusCode.UNAVAILABLE if error.gone else StatusCode.INTERNAL
        return Refused(code, f"switch {self.target.name}: {error}")

    def _send_digests(self, message: p4r.DigestList) -> None:
        self._send(p4r.StreamMessageResponse(digest=message))

    def _send(self, message: p4r.StreamMessageResponse) -> None:
        for controller, access in self.arbiter.primaries():
            if access.receives(message):
                controller.send(message)

    async def _to_the_end(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Finishes a change even if its client cancels: it must not be half recorded."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)
