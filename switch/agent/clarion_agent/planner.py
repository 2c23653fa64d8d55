# SPDX-License-Identifier: Apache-2.0
"""Plans a Write: the state after it, the changes for the switch, and the faults of its updates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from finsy.proto import p4r
from grpc import StatusCode

from clarion_agent import digests
from clarion_agent.arrays import Arrays
from clarion_agent.program import Program
from clarion_agent.replication import Replication
from clarion_agent.roles import FULL, Access, denied
from clarion_agent.state import State
from clarion_agent.status import Refused, invalid
from clarion_agent.tables import Tables, entity_name
from clarion_base.faults import Fault
from clarion_contract.target import Change, SetEntry, Target, TargetError, TargetFaultError

ID_FIELDS = {  # of kinds that the program has none of
    "action_profile_member": "action_profile_id",
    "action_profile_group": "action_profile_id",
    "meter_entry": "meter_id",
    "value_set_entry": "value_set_id",
    "extern_entry": "extern_type_id",
}
IDS = {
    "table_entry": "table_id",
    "counter_entry": "counter_id",
    "register_entry": "register_id",
    "digest_entry": "digest_id",
    **ID_FIELDS,
}
MODIFIED_ONLY = ("counter_entry", "direct_counter_entry", "meter_entry", "direct_meter_entry")
KINDS = (p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE)


@dataclass
class Plan:
    """A planned batch. `errors` has one item per update."""

    state: State
    changes: list[Change] = field(default_factory=list)
    origins: list[int] = field(default_factory=list)  # the update that each change comes from
    errors: list[Refused | None] = field(default_factory=list)

    def refused(self) -> bool:
        """Whether any update is refused."""
        return any(error is not None for error in self.errors)

    def blame(self, error: TargetError) -> None:
        """Attributes the switch's refusal to its update."""
        match error:
            case TargetFaultError(fault=Fault(path=("changes", int(position), *rest)) as fault):
                name = _name_of(self.changes[position])
                fault = replace(fault, path=tuple(rest))
                self.errors[self.origins[position]] = invalid(f"{name}: the switch refused: {fault}")
            case _:
                self.errors[0] = invalid(f"the switch refused: {error}")


class Planner:
    """Plans the batches of one switch."""

    def __init__(self, program: Program, target: Target) -> None:
        self._program = program
        self.tables = Tables(program, target.ports)
        self.replication = Replication(target)
        self.arrays = Arrays(program, target)

    def plan(self, updates: Iterable[p4r.Update], state: State, access: Access = FULL) -> Plan:
        """Carries out the updates one after the other on a copy of the state; a refused one leaves it."""
        plan = Plan(state.copy())
        for position, update in enumerate(updates):
            try:
                self._check(update.entity, access)
                changes = self._update(update, plan.state)
            except Refused as error:
                plan.errors.append(error)
                continue
            plan.errors.append(None)
            plan.changes.extend(changes)
            plan.origins.extend([position] * len(changes))
        return plan

    def _check(self, entity: p4r.Entity, access: Access) -> None:
        if not access.allows(p4_id(entity, self._program)):
            raise denied(entity.WhichOneof("entity") or "entity")

    def _update(self, update: p4r.Update, state: State) -> list[Change]:
        kind = update.type
        if kind not in KINDS:
            raise invalid(f"update type {kind}: use INSERT, MODIFY or DELETE")
        entity = update.entity
        what = entity.WhichOneof("entity")
        if what in MODIFIED_ONLY and kind != p4r.Update.MODIFY:
            raise invalid(f"{what}: can be modified only")
        if what == "table_entry":
            return self.tables.write(kind, entity.table_entry, state)
        if what == "packet_replication_engine_entry":
            return self.replication.write(kind, entity.packet_replication_engine_entry, state)
        if what == "counter_entry":
            self.arrays.modify_counter(entity.counter_entry)
            return []
        if what == "register_entry":
            self.arrays.write_register(entity.register_entry)
        if what == "digest_entry":
            digests.write(kind, entity.digest_entry, self._program, state)
            return []
        raise no_such_entity(what)


def _name_of(change: Change) -> str:
    match change:
        case SetEntry(table=table, key=key):
            return entity_name(table, key)
        case _:
            return "multicast group 1"


def p4_id(entity: p4r.Entity, program: Program) -> int:
    """The id by which roles have access to an entity; 0: of all of its kind. The multicast group has none of
    its own: it goes with the table of addresses, of whose misses it takes care.
    """
    what = entity.WhichOneof("entity")
    if what == "packet_replication_engine_entry":
        return program.forwarding_id
    if what in IDS:
        number: int = getattr(getattr(entity, what), IDS[what])
        return number
    return 0


def no_such_entity(what: str | None) -> Refused:
    """The refusal of a kind of entity that the program has none of."""
    if what is None:
        return invalid("entity: is empty")
    return Refused(StatusCode.UNIMPLEMENTED, f"{what}: the program has none")


def read_nothing(entity: p4r.Entity) -> None:
    """Reads of kinds that the program has none of: a wildcard finds nothing, an id is NOT_FOUND."""
    what = entity.WhichOneof("entity")
    if what is None or what not in ID_FIELDS:
        raise no_such_entity(what)
    if getattr(getattr(entity, what), ID_FIELDS[what]):
        raise Refused(StatusCode.NOT_FOUND, f"{what}: the program has none")
