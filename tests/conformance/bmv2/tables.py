# SPDX-License-Identifier: Apache-2.0
"""Tables and conditionals as Python functions that each return the next one, and the entries of a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.bmv2.actions import Lines
from conformance.bmv2.expressions import Expressions
from conformance.bmv2.layout import Json, UnsupportedError, Values

Entry = tuple[Callable[..., None], tuple[int, ...], Any]  # action, its data, the next node
Ternary = tuple[int, tuple[int, ...], tuple[int, ...], Entry]  # priority, values, masks


class Table:
    """The entries of one table; an entry is found by a key of one integer per field."""

    def __init__(self, description: Json, actions: list[Json], widths: list[int]) -> None:
        self.name: str = description["name"]
        self.description = description
        self.actions = {action["name"].rsplit(".", 1)[-1]: action for action in actions}
        self.widths = widths
        kinds = {key["match_type"] for key in description["key"]}
        if not kinds <= {"exact", "ternary"} or description["type"] != "simple":
            raise UnsupportedError(f"table {self.name}: keys of {sorted(kinds)}, type {description['type']}")
        self.is_exact = "ternary" not in kinds
        self.exact: dict[Any, Entry] = {}
        self.ternary: list[Ternary] = []
        self.default: Entry | None = None
        self._functions: dict[str, Any] = {}

    def link(self, functions: dict[str, Any]) -> None:
        """Take the compiled functions, then the program's constant entries."""
        self._functions = functions
        by_id = {action["id"]: name for name, action in self.actions.items()}
        default = self.description["default_entry"]
        data = [int(text, 16) for text in default["action_data"]]
        self.set_default(by_id[default["action_id"]], *data)
        for entry in self.description.get("entries", ()):
            action = entry["action_entry"]
            data = [int(text, 16) for text in action["action_data"]]
            keys = entry["match_key"]
            values = tuple(int(key["key"], 16) for key in keys)
            made = self._entry(by_id[action["action_id"]], tuple(data), hit=True)
            if self.is_exact:
                self.exact[values if len(values) > 1 else values[0]] = made
            else:
                masks = tuple(
                    int(key["mask"], 16) if "mask" in key else (1 << width) - 1
                    for key, width in zip(keys, self.widths, strict=True)
                )
                self.ternary.append((entry["priority"], values, masks, made))
        self.ternary.sort(key=lambda entry: entry[0])

    def _entry(self, action: str, data: tuple[int, ...], hit: bool) -> Entry:
        if action not in self.actions:
            raise ValueError(f"{self.name}: action: {action} is none of {sorted(self.actions)}")
        description = self.actions[action]
        parameters = description["runtime_data"]
        if len(parameters) != len(data):
            raise ValueError(f"{self.name}: {action}: {len(parameters)} parameters, {len(data)} given")
        for parameter, value in zip(parameters, data, strict=True):
            if not 0 <= value < 1 << parameter["bitwidth"]:
                raise ValueError(f"{self.name}: {action}: {parameter['name']}: {value} does not fit")
        following = self.description["next_tables"]
        special = "__HIT__" if hit else "__MISS__"
        name = following[special] if special in following else following[description["name"]]
        next_node = None if name is None else self._functions[name]
        function: Callable[..., None] = self._functions[f"action_{description['id']}"]
        return function, data, next_node

    def add(self, key: int | tuple[int, ...], action: str, *data: int) -> None:
        """Put in or replace an exact entry."""
        if not self.is_exact:
            raise ValueError(f"{self.name}: its keys are not exact")
        self.exact[key] = self._entry(action, data, hit=True)

    def remove(self, key: int | tuple[int, ...]) -> None:
        """Take an exact entry out, if it is there."""
        self.exact.pop(key, None)

    def set_default(self, action: str, *data: int) -> None:
        """Set the default action."""
        self.default = self._entry(action, data, hit=False)

    def find(self, *key: int) -> Entry:
        """Return the first matching ternary entry, or the default one."""
        for _, values, masks, entry in self.ternary:
            if all(k & m == v & m for k, v, m in zip(key, values, masks, strict=True)):
                return entry
        assert self.default is not None
        return self.default


class Pipelines:
    """Translates the control flow of one program."""

    def __init__(self, program: Json, expressions: Expressions) -> None:
        self.expressions = expressions
        self.pipelines = {pipeline["name"]: pipeline for pipeline in program["pipelines"]}
        actions = {action["id"]: action for action in program["actions"]}
        self.tables: list[Table] = []
        self.nodes: dict[str, str] = {}
        for pipeline in program["pipelines"]:
            if pipeline.get("action_calls") or pipeline["action_profiles"]:
                raise UnsupportedError("action calls or action profiles in a pipeline")
            for node in (*pipeline["tables"], *pipeline["conditionals"]):
                self.nodes[node["name"]] = f"node_{len(self.nodes)}"
            for table in pipeline["tables"]:
                widths = [expressions.layout.field(*key["target"]).width or 0 for key in table["key"]]
                usable = [actions[number] for number in table["action_ids"]]
                self.tables.append(Table(table, usable, widths))

    def source(self) -> Lines:
        """Return the functions of all nodes."""
        lines: Lines = []
        for number, table in enumerate(self.tables):
            lines += self._table(number, table)
        for pipeline in self.pipelines.values():
            for node in pipeline["conditionals"]:
                lines += [
                    f"def {self.nodes[node['name']]}(v):",
                    f"    if {self.expressions.truth(node['expression'])}:",
                    f"        return {self._next(node['true_next'])}",
                    f"    return {self._next(node['false_next'])}",
                ]
        return lines

    def _next(self, name: str | None) -> str:
        return "None" if name is None else self.nodes[name]

    def _table(self, number: int, table: Table) -> Lines:
        lines = [f"def {self.nodes[table.name]}(v):"]
        slots = [self.expressions.layout.field(*key["target"]).slot for key in table.description["key"]]
        key = ", ".join(f"v[{slot}]" for slot in slots)
        if not slots:
            lines.append(f"    action, data, following = table_{number}.default")
        elif table.is_exact:
            wanted = key if len(slots) == 1 else f"({key})"
            lines.append(f"    found = table_{number}.exact.get({wanted}) or table_{number}.default")
            lines.append("    action, data, following = found")
        else:
            lines.append(f"    action, data, following = table_{number}.find({key})")
        return [*lines, "    action(v, *data)", "    return following"]

    def first(self, pipeline: str) -> str:
        """Return the name of the function that a pipeline begins with."""
        return self._next(self.pipelines[pipeline]["init_table"])


def run(node: Callable[[Values], Any] | None, values: Values, exit_slot: int) -> None:
    """Take a packet through a pipeline."""
    while node is not None and not values[exit_slot]:
        node = node(values)
