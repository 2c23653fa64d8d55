# SPDX-License-Identifier: Apache-2.0
"""What a command may hold. All of it is checked here, so that a wrong value never reaches a card."""

from __future__ import annotations

from collections.abc import Mapping

from clarion_nic.driver import register_map as registers
from clarion_nic.driver.errors import RangeError

Values = Mapping[str, int]

# Of a queue: only packet memory is one.
NO_LIMIT = next(
    field.limit for field in registers.COMMANDS["egress"]["configure"] if field.name == "queue_limit"
)


def check(card: str, unit: str, kind: str, operation: str, values: Values) -> None:
    """RangeError for the first value that the unit has no register for, or that it must not get."""
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
    switch = "check" if kind == "ingress" else "xcp"
    if values[switch] and values["epoch"] == 0:
        raise RangeError(card, unit, "epoch", f"0: use 1 to 255 while {switch} is on")
    if kind == "ingress":
        return
    if values["min_interval"] == 0:
        raise RangeError(card, unit, "min_interval", "0: use at least 1")
    if values["max_interval"] < values["min_interval"]:
        least = values["min_interval"]
        raise RangeError(
            card, unit, "max_interval", f"{values['max_interval']}: use min_interval, {least}, or more"
        )
    if values["xcp"] and values["capacity"] == 0:
        raise RangeError(card, unit, "capacity", "0: use at least 1 while xcp is on")
