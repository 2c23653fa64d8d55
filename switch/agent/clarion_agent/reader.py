# SPDX-License-Identifier: Apache-2.0
"""Read: the entities of one switch that match, of those that a role may read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

from finsy.proto import p4r

from clarion_agent import digests
from clarion_agent.planner import Planner, p4_id, read_nothing
from clarion_agent.program import Program
from clarion_agent.roles import FULL, Access, denied
from clarion_agent.state import Entry, State
from clarion_agent.status import Refused
from clarion_contract.settings import DISPROVE, JUDGING, PROVE, UNTIL
from clarion_contract.target import Target


class RefusedRead(Exception):  # noqa: N818  (a reply, not a fault of ours)
    """A Read of which at least one request is wrong; those that are not have been answered."""

    def __init__(self, errors: list[Refused | None]) -> None:
        super().__init__("read")
        self.errors = errors


class Reader:
    """Reads from one switch."""

    def __init__(self, program: Program, planner: Planner, target: Target) -> None:
        self._program = program
        self._planner = planner
        self._target = target

    async def read(
        self, entities: Iterable[p4r.Entity], state: State, access: Access = FULL
    ) -> AsyncIterator[p4r.Entity]:
        """The entities that match, one request after the other. RefusedRead at the end if one is wrong."""
        errors: list[Refused | None] = []
        for entity in entities:
            try:
                self._check(entity, access)
                async for found in self._one(entity, state):
                    if access.allows(p4_id(found, self._program)):
                        yield found
            except Refused as error:
                errors.append(error)
            else:
                errors.append(None)
        if any(errors):
            raise RefusedRead(errors)

    def _check(self, entity: p4r.Entity, access: Access) -> None:
        """What is named must be the role's; of the rest it sees what is."""
        named = p4_id(entity, self._program)
        what = entity.WhichOneof("entity")
        if named and what != "packet_replication_engine_entry" and not access.allows(named):
            raise denied(what or "entity")

    async def _one(self, entity: p4r.Entity, state: State) -> AsyncIterator[p4r.Entity]:
        what = entity.WhichOneof("entity")
        if what == "table_entry":
            merged = await self._with_judged(entity, state)
            for entry in self._planner.tables.read(entity.table_entry, merged):
                yield p4r.Entity(table_entry=entry)
        elif what == "packet_replication_engine_entry":
            for found in self._planner.replication.read(entity.packet_replication_engine_entry, state):
                yield found
        elif what == "digest_entry":
            for found in digests.read(entity.digest_entry, self._program, state):
                yield found
        elif what == "counter_entry":
            async for found in self._planner.arrays.read_counters(entity.counter_entry):
                yield found
        elif what == "register_entry":
            async for found in self._planner.arrays.read_registers(entity.register_entry):
                yield found
        else:
            read_nothing(entity)

    async def _with_judged(self, entity: p4r.Entity, state: State) -> State:
        """The state with what the switch itself found out about its wires, if that is read."""
        table = self._program.tables.get(entity.table_entry.table_id)
        if entity.table_entry.table_id and (table is None or table.name != JUDGING):
            return state
        merged = state.copy()
        for port, judged in (await self._target.judged()).items():
            action = PROVE if judged.is_proven else DISPROVE
            merged.entries[JUDGING, port] = Entry(action, {UNTIL: judged.until_us})
        return merged
