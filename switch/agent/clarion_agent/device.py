# SPDX-License-Identifier: Apache-2.0
"""One switch as controllers see it: pipeline, entries, digests, and who may write.

Entries are kept here and in the switch. A switch that comes back gets them again; an agent that starts takes
over what the switch has, with the note that an earlier agent left there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from typing import Any, TypeVar

from finsy.proto import p4r
from grpc import StatusCode

from clarion_agent import digests, packets, pipeline
from clarion_agent.arbitration import Arbiter
from clarion_agent.digests import Collector
from clarion_agent.planner import ATOMICITIES, Plan, Planner, read_nothing
from clarion_agent.program import Program
from clarion_agent.replication import flood_change
from clarion_agent.state import DigestConfig, Entry, Pipeline, Replica, State
from clarion_agent.status import Refused, invalid
from clarion_contract.settings import ACTIONS, DISPROVE, FLOOD_BASE, JUDGING, PROVE, UNTIL
from clarion_contract.target import Change, Counts, Note, Present, Reset, SetEntry, Target, TargetError

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_Set = p4r.SetForwardingPipelineConfigRequest

COMPLAIN_EVERY_S = 10.0


class RefusedBatch(Exception):  # noqa: N818  (a reply, not a fault of ours)
    """A Write of which at least one update is wrong."""

    def __init__(self, plan: Plan) -> None:
        super().__init__("batch")
        self.plan = plan


class Device:
    """One switch: its pipeline, entries, digests and arbitration."""

    def __init__(self, device_id: int, target: Target, program: Program) -> None:
        self.id = device_id
        self.target = target
        self.arbiter = Arbiter(device_id)
        self._program = program
        self._planner = Planner(program, target)
        self._changing = asyncio.Lock()
        self._pipeline = Pipeline()  # the program that the switch always runs; no controller has set it yet
        self._noted = ""  # the note kept in the switch; empty: no controller has written to it
        self._saved: Pipeline | None = None
        self._state = State()
        self._collectors: dict[str, Collector] = {}
        self._lost = 0  # reports, since that was last logged
        self._complain_at = 0.0
        self._tasks: set[asyncio.Task[Any]] = set()
        target.listen(self)

    async def start(self) -> None:
        """Takes over the switch's present entries."""
        self._take_over(await self.target.present())
        await self._listen()

    def stop(self) -> None:
        """Sends no more digests."""
        for collector in self._collectors.values():
            collector.close()

    # Calls of controllers.

    async def set_pipeline(self, request: p4r.SetForwardingPipelineConfigRequest) -> None:
        """Carries out SetForwardingPipelineConfig."""
        self._authorize(request)
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
        """Write: all updates or none, whatever the atomicity of the request. RefusedBatch, Refused."""
        if request.atomicity not in ATOMICITIES:
            raise invalid(f"atomicity {request.atomicity}: is none")
        self._authorize(request)
        await self._to_the_end(self._write(request))

    async def read(self, request: p4r.ReadRequest) -> AsyncIterator[p4r.Entity]:
        """The entities that match, one kind after the other."""
        state = self._state  # replaced, never changed: all of the reply is of one moment
        planner = self._planner
        counts: Counts | None = None
        for entity in request.entities:
            what = entity.WhichOneof("entity")
            if what == "table_entry":
                for entry in planner.tables.read(entity.table_entry, await self._with_judged(entity, state)):
                    yield p4r.Entity(table_entry=entry)
            elif what == "packet_replication_engine_entry":
                for found in planner.replication.read(entity.packet_replication_engine_entry, state):
                    yield found
            elif what == "digest_entry":
                for found in digests.read(entity.digest_entry, self._program, state):
                    yield found
            elif what == "counter_entry":
                counts = await self.target.counters() if counts is None else counts
                for found in planner.arrays.read_counters(entity.counter_entry, counts):
                    yield found
            elif what == "register_entry":
                async for found in planner.arrays.read_registers(entity.register_entry):
                    yield found
            else:
                read_nothing(entity)

    async def packet_out(self, packet: p4r.PacketOut) -> None:
        """A frame for the switch to send or to forward."""
        port = packets.egress_port(packet, self._program, self.target.ports)
        try:
            await self.target.inject(packet.payload, port)
        except TargetError as error:
            raise (
                self._unavailable(error) if error.gone else invalid(f"packet_out: payload: {error}")
            ) from error

    def acknowledge(self, ack: p4r.DigestListAck) -> None:
        """A controller acknowledges a digest list."""
        digest = self._program.digests.get(ack.digest_id)
        collector = self._collectors.get(digest.name) if digest else None
        if collector is None:
            raise invalid(f"digest {digest.name if digest else ack.digest_id}: is not switched on")
        collector.acknowledge(ack.list_id)

    # Reports of the switch.

    def on_digest(self, name: str, members: tuple[int, ...]) -> None:
        """Adds a digest to its list."""
        collector = self._collectors.get(name)
        if collector is not None:
            collector.add(members)

    def on_packet(self, frame: bytes, port: int, time_us: int) -> None:
        """Sends a frame to the primary controllers as a PacketIn."""
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
            changes = self._difference(present)
            if changes:
                await self.target.apply(changes)

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
            note = self._note(given, state)
            try:
                await self.target.apply([*reset, note])
            except TargetError as error:
                raise self._unavailable(error) from error
            self._pipeline, self._state, self._saved, self._noted = given, state, None, note.text
            await self._listen()

    async def _write(self, request: p4r.WriteRequest) -> None:
        async with self._changing:
            self._authorize(request)  # there may be another primary by now
            plan = self._planner.plan(request.updates, self._state)
            if plan.refused():
                raise RefusedBatch(plan)
            note = self._note(self._pipeline, plan.state)
            noted: list[Change] = [] if note.text == self._noted else [note]
            try:
                if plan.changes or noted:
                    await self.target.apply([*plan.changes, *noted])
            except TargetError as error:
                if error.gone or not plan.changes:
                    raise self._unavailable(error) from error
                plan.blame(error)
                raise RefusedBatch(plan) from error
            self._state, self._noted = plan.state, note.text
            if noted:
                await self._listen()

    async def _with_judged(self, entity: p4r.Entity, state: State) -> State:
        """The state with what the switch itself found out about its wires, if that is read."""
        table = self._program.tables.get(entity.table_entry.table_id)
        if entity.table_entry.table_id and (table is None or table.name != JUDGING):
            return state
        merged = state.copy()
        for port, judged in (await self.target.judged()).items():
            action = PROVE if judged.is_proven else DISPROVE
            merged.entries[JUDGING, port] = Entry(action, {UNTIL: judged.until_us})
        return merged

    async def _listen(self) -> None:
        """Applies the digest configuration. Lists keep their numbers."""
        for collector in self._collectors.values():
            collector.flush()
        numbers = {name: collector.next_list for name, collector in self._collectors.items()}
        by_name = {digest.name: digest for digest in self._program.digests.values()}
        self._collectors = {
            name: Collector(by_name[name], config, numbers.get(name, 1), self._send_digests)
            for name, config in self._state.digests.items()
        }
        with contextlib.suppress(TargetError):  # subscribed again in on_connected
            await self.target.want(sorted(self._state.digests), packets=True)

    def _difference(self, present: Present) -> list[Change]:
        """The changes that bring the switch to our entries; all entries if it has none of ours."""
        note = self._note(self._pipeline, self._state)
        entries: Mapping[tuple[str, int], Mapping[str, int]] = present.entries
        flood = present.flood
        changes: list[Change] = []
        if not present.note:
            changes, entries, flood = [Reset()], {}, None
        for table, key in entries:
            if (table, key) not in self._state.entries:
                changes.append(SetEntry(table, key, None))
        for (table, key), entry in self._state.entries.items():
            if entries.get((table, key)) != entry.arguments:
                changes.append(SetEntry(table, key, entry.arguments))
        wanted = flood_change(self._state.group)
        if wanted.ports != flood:
            changes.append(wanted)
        if present.note != note.text:
            changes.append(note)
        return changes

    def _take_over(self, present: Present) -> None:
        self._state = State(
            {(table, key): Entry(ACTIONS[table], each) for (table, key), each in present.entries.items()}
        )
        if present.flood is not None:
            self._state.group = tuple(Replica(FLOOD_BASE + port, 0) for port in present.flood)
        self._noted = present.note
        if not present.note:
            return
        note = json.loads(present.note)
        self._pipeline = Pipeline(cookie=note["cookie"])
        self._state.digests = {name: DigestConfig(*each) for name, each in note["digests"].items()}
        if note["group"] is not None:
            self._state.group = tuple(Replica(*each) for each in note["group"])

    def _note(self, given: Pipeline, state: State) -> Note:
        group = state.group
        content = {
            "cookie": given.cookie,
            "digests": {
                name: [each.max_timeout_ns, each.max_list_size, each.ack_timeout_ns]
                for name, each in state.digests.items()
            },
            "group": None if group is None else [[each.port, each.instance, each.as_bytes] for each in group],
        }
        return Note(json.dumps(content, separators=(",", ":")))

    def _authorize(self, request: p4r.WriteRequest | p4r.SetForwardingPipelineConfigRequest) -> None:
        election_id = request.election_id if request.HasField("election_id") else None
        self.arbiter.authorize(request.role, election_id)

    def _unavailable(self, error: TargetError) -> Refused:
        code = StatusCode.UNAVAILABLE if error.gone else StatusCode.INTERNAL
        return Refused(code, f"switch {self.target.name}: {error}")

    def _send_digests(self, message: p4r.DigestList) -> None:
        self._send(p4r.StreamMessageResponse(digest=message))

    def _send(self, message: p4r.StreamMessageResponse) -> None:
        for controller in self.arbiter.primaries():
            controller.send(message)

    async def _to_the_end(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Finishes a change even if its client cancels: it must not be half recorded."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)
