# SPDX-License-Identifier: Apache-2.0
"""Ranges of the fields of commands, checked here so that a wrong value never reaches a card."""

from __future__ import annotations

from collections.abc import Mapping

from clarion_contract.entries import argument_fault
from clarion_contract.settings import XCP
from clarion_nic.driver import register_map as registers
from clarion_nic.driver.errors import RangeError

Values = Mapping[str, int]

# Of a queue: only packet memory is one.
NO_LIMIT = next(
    field.limit for field in registers.COMMANDS["egress"]["configure"] if field.name == "queue_limit"
)

# Of each kind of unit: the table with the same arguments, and the field that switches the function on.
FUNCTIONS = {"ingress": ("tag_port", "check"), "egress": ("xcp_port", "xcp")}
# Legal values for the fields that may be 0 while the function is off. The others are in use even then.
IDLE: Mapping[str, Values] = {"ingress": {"epoch": 1}, "egress": {"epoch": 1}}

# Arguments of which 0 is a word, and the word: what it means a card does not do.
WORDS = {
    setting.argument.name: setting.zero
    for setting in XCP.values()
    if setting.argument is not None and setting.zero
}


def check(card: str, unit: str, kind: str, operation: str, values: Values) -> None:
    """RangeError for the first value that the unit has no register for, or that is out of range."""
    fields = {field.name: field for field in registers.COMMANDS[kind][operation]}
    for name in values:
        if name not in fields:
            raise RangeError(card, unit, name, f"there is no such field; there are {', '.join(fields)}")
    for name, field in fields.items():
        if name not in values:
            raise RangeError(card, unit, name, "is missing")
        if not 0 <= values[name] <= field.limit:
            raise RangeError(card, unit, name, f"{values[name]}: use 0 to {field.limit}")
    if operation == "configure":
        _check_configuration(card, unit, kind, values)


def _check_configuration(card: str, unit: str, kind: str, values: Values) -> None:
    """Apply the limits that a P4 switch has for the entries of this function."""
    table, function = FUNCTIONS[kind]
    for name in WORDS:
        if name in values and values[name] == 0 and values[function]:
            raise RangeError(card, unit, name, f"0: use at least 1 while {function} is on")
    fault = argument_fault(table, values if values[function] else {**values, **IDLE[kind]})
    if fault is not None:
        name = str(fault.path[0])
        when = f" while {function} is on" if name in IDLE[kind] else ""
        raise RangeError(card, unit, name, f"{fault.reason}{when}")
