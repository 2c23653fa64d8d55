# SPDX-License-Identifier: Apache-2.0
"""Table entries: from messages to changes of the switch, and back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from finsy.proto import p4r
from grpc import StatusCode

from clarion_agent import filters, values
from clarion_agent.program import Action, Program, Table
from clarion_agent.state import Entry, State
from clarion_agent.status import Refused, invalid
from clarion_contract.entries import argument_fault
from clarion_contract.settings import CPU_PORT, JUDGING, PORT_TABLES
from clarion_contract.target import Change, SetEntry


class Tables:
    """The tables of one switch."""

    def __init__(self, program: Program, ports: Mapping[int, str]) -> None:
        self._program = program
        self._ports = ports
        self._action_ids = {action.name: action.id for action in program.actions.values()}

    def write(self, kind: int, message: p4r.TableEntry, state: State) -> list[Change]:
        """Carries out an update on the state; returns the changes for the switch."""
        table = self._table(message.table_id)
        if message.is_const:
            raise invalid(f"{table.name}.is_const: an entry that is written cannot be constant")
        if message.is_default_action:
            self._write_default(kind, message, table)
            return []
        key = self._key(message, table)
        name = entity_name(table.name, key)
        if table.name == JUDGING:
            raise Refused(
                StatusCode.UNIMPLEMENTED,
                f"{name}: this switch judges its wires itself, by LLDP; read it only",
            )
        present = state.entries.get((table.name, key))
        if kind == p4r.Update.INSERT:
            if present is not None:
                raise Refused(StatusCode.ALREADY_EXISTS, f"{name}: exists; use MODIFY")
            if state.in_table(table.name) >= table.size:
                raise Refused(StatusCode.RESOURCE_EXHAUSTED, f"{name}: the table holds {table.size} entries")
        elif present is None:
            raise Refused(StatusCode.NOT_FOUND, f"{name}: does not exist")
        if kind == p4r.Update.DELETE:
            del state.entries[table.name, key]
            return [SetEntry(table.name, key, None)]
        _refuse_extras(message, name)
        entry = self._entry(message, table, name, present)
        state.entries[table.name, key] = entry
        return [SetEntry(table.name, key, entry.arguments)]

    def read(self, message: p4r.TableEntry, state: State) -> Iterator[p4r.TableEntry]:
        """The entries that pass the filters of section 9.1.6; NOT_FOUND for a key that is not there."""
        table = self._table(message.table_id) if message.table_id else None
        filters.check(message, table)
        tables = [table] if table else list(self._program.tables.values())
        found: Iterable[p4r.TableEntry]
        if message.is_default_action:
            _refuse_key(message, f"{tables[0].name} default")
            found = map(_default_message, tables)
        elif message.match:
            found = [self._by_key(message, tables[0], state)]
        else:
            found = self._all(tables, state)
        return (entry for entry in found if filters.passes(entry, message))

    def _by_key(self, message: p4r.TableEntry, table: Table, state: State) -> p4r.TableEntry:
        key = self._key(message, table)
        entry = state.entries.get((table.name, key))
        if entry is None:
            raise Refused(StatusCode.NOT_FOUND, f"{entity_name(table.name, key)}: does not exist")
        return self._message(table, key, entry)

    def _all(self, tables: Iterable[Table], state: State) -> Iterator[p4r.TableEntry]:
        wanted = {table.name: table for table in tables}
        for (name, key), entry in state.entries.items():
            if name in wanted:
                yield self._message(wanted[name], key, entry)

    def _table(self, table_id: int) -> Table:
        table = self._program.tables.get(table_id)
        if table is None:
            raise Refused(StatusCode.NOT_FOUND, f"table {table_id}: there is none of that id")
        return table

    def _key(self, message: p4r.TableEntry, table: Table) -> int:
        if table.key is None:
            raise invalid(f"{table.name}: has no key; it has a default entry only")
        if len(message.match) != 1 or message.match[0].field_id != table.key.id:
            raise invalid(f"{table.name}: match: give field {table.key.id} ({table.key.name}), once")
        if message.match[0].WhichOneof("field_match_type") != "exact":
            raise invalid(f"{table.name}.{table.key.name}: the match is exact")
        if message.priority:
            raise invalid(f"{table.name}: priority: leave it 0, the match is exact")
        key = values.decode(
            message.match[0].exact.value, table.key.bits, f"{table.name}: match: {table.key.name}"
        )
        if table.name in (*PORT_TABLES, JUDGING) and key not in self._ports:
            raise invalid(f"{entity_name(table.name, key)}: {self._no_port(key)}")
        return key

    def _no_port(self, port: int) -> str:
        has = ", ".join(map(str, sorted(self._ports)))
        return f"the switch has no port {port}; it has {has}"

    def _entry(self, message: p4r.TableEntry, table: Table, name: str, present: Entry | None) -> Entry:
        if present is not None and message.action.WhichOneof("type") is None:  # MODIFY keeps the action
            return Entry(present.action, present.arguments, message.metadata, message.controller_metadata)
        action = self._action(message, table, table.entry_actions, name)
        arguments = _arguments(message.action.action, action, name)
        self._check(table.name, name, arguments)
        return Entry(action.name, arguments, message.metadata, message.controller_metadata)

    def _action(self, message: p4r.TableEntry, table: Table, in_scope: Collection[int], name: str) -> Action:
        """The action of an entry, which must be the table's, and in scope (section 9.1.2)."""
        if message.action.WhichOneof("type") != "action":
            raise invalid(f"{name}: action: is missing, or not a single action")
        action_id = message.action.action.action_id
        if action_id in in_scope:
            return self._program.actions[action_id]
        is_of_table = action_id in table.entry_actions | table.default_actions
        action = self._program.actions.get(action_id)
        wrong = action.name if action else f"action {action_id}"
        what = "the default entry" if message.is_default_action else "entries"
        legal = ", ".join(self._program.actions[each].name for each in sorted(in_scope))
        raise Refused(
            StatusCode.PERMISSION_DENIED if is_of_table else StatusCode.INVALID_ARGUMENT,
            f"{name}: {wrong}: not an action for {what} of this table; use {legal}",
        )

    def _check(self, table: str, name: str, arguments: Mapping[str, int]) -> None:
        """The constraints of the P4 program on entries."""
        if table == "l2_forward":
            port = arguments["port"]
            if port not in self._ports and port != CPU_PORT:
                raise invalid(f"{name}.port: {self._no_port(port)}")
        fault = argument_fault(table, arguments) if table in PORT_TABLES else None
        if fault is not None:
            raise invalid(f"{name}.{fault}")

    def _write_default(self, kind: int, message: p4r.TableEntry, table: Table) -> None:
        name = f"{table.name} default"
        if kind != p4r.Update.MODIFY:
            raise invalid(f"{name}: can be modified only")
        _refuse_key(message, name)
        _refuse_extras(message, name)
        if table.const_default:
            raise Refused(StatusCode.PERMISSION_DENIED, f"{name}: is constant")
        if not message.HasField("action"):
            return  # a reset to the initial action, which is the present one
        action = self._action(message, table, table.default_actions, name)
        arguments = _arguments(message.action.action, action, name)
        initial = {
            argument.param_id: int.from_bytes(argument.value, "big") for argument in table.default.arguments
        }
        names = {parameter.name: parameter.id for parameter in action.parameters}
        if {names[each]: value for each, value in arguments.items()} != initial:
            raise Refused(
                StatusCode.UNIMPLEMENTED,
                f"{name}: this switch has no other clock than the initial one: it counts in ticks itself",
            )

    def _message(self, table: Table, key: int, entry: Entry) -> p4r.TableEntry:
        message = p4r.TableEntry(
            table_id=table.id, metadata=entry.metadata, controller_metadata=entry.controller_metadata
        )
        assert table.key is not None
        match = message.match.add(field_id=table.key.id)
        match.exact.value = values.encode(key)
        action = self._program.actions[self._action_ids[entry.action]]
        message.action.action.action_id = action.id
        for parameter in action.parameters:
            message.action.action.params.add(
                param_id=parameter.id, value=values.encode(entry.arguments[parameter.name])
            )
        return message


def entity_name(table: str, key: int) -> str:
    """The name of an entry in messages, such as "xcp_port[3]"."""
    if table == "l2_forward":
        return f"{table}[{':'.join(f'{byte:02x}' for byte in key.to_bytes(6, 'big'))}]"
    return f"{table}[{key}]"


def _arguments(call: p4r.Action, action: Action, name: str) -> dict[str, int]:
    given = {parameter.param_id: parameter.value for parameter in call.params}
    known = {parameter.id for parameter in action.parameters}
    if len(given) != len(call.params) or not given.keys() <= known:
        raise invalid(f"{name}: {action.name}: a parameter is unknown, or there twice")
    arguments = {}
    for parameter in action.parameters:
        if parameter.id not in given:
            raise invalid(f"{name}.{parameter.name}: is missing")
        arguments[parameter.name] = values.decode(
            given[parameter.id], parameter.bits, f"{name}.{parameter.name}"
        )
    return arguments


def _refuse_extras(message: p4r.TableEntry, name: str) -> None:
    for field in ("meter_config", "counter_data", "meter_counter_data", "time_since_last_hit"):
        if message.HasField(field):
            raise invalid(f"{name}.{field}: the table has none")
    if message.idle_timeout_ns:
        raise invalid(f"{name}.idle_timeout_ns: entries of this table do not time out")


def _refuse_key(message: p4r.TableEntry, name: str) -> None:
    if message.match or message.priority:
        raise invalid(f"{name}: has neither match nor priority")


def _default_message(table: Table) -> p4r.TableEntry:
    message = p4r.TableEntry(table_id=table.id, is_default_action=True)
    message.action.action.action_id = table.default.action_id
    for argument in table.default.arguments:
        message.action.action.params.add(param_id=argument.param_id, value=argument.value)
    return message
