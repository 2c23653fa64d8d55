# SPDX-License-Identifier: Apache-2.0
"""A port's settings in people's units: `clarion nic set 1 capacity=100G stamp=on`.

What is legal, how units become integers and when an epoch counts up are the controller's rules, applied here
to a card without a controller.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clarion_base import units
from clarion_base.errors import UserError
from clarion_contract import settings, settings_json
from clarion_contract.entries import Entry, port_settings
from clarion_contract.epochs import Epochs, next_epoch
from clarion_contract.errors import SettingsError
from clarion_contract.setting import Setting
from clarion_contract.settings import PortSettings
from clarion_contract.target import SetEntry, TargetFaultError
from clarion_nic.driver.card import Card
from clarion_nic.driver.entries import entries
from clarion_nic.driver.transaction import Transaction

_SHORT_RATE = re.compile(r"[0-9.]+\s*[kMG]")


def on_or_off(text: str) -> bool:
    """The value of a flag: on or off."""
    if text not in ("on", "off"):
        raise ValueError(f'"{text}": use on or off')
    return text == "on"


def rate(text: str) -> int:
    """A rate in bit/s; 100G is short for 100 Gbit/s."""
    return units.parse_rate(f"{text}bit/s" if _SHORT_RATE.fullmatch(text.strip()) else text)


def coefficient(text: str) -> float:
    """A number such as 0.4."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f'"{text}": use a number such as 0.4') from None


def whole(text: str) -> int:
    """A whole number such as 2."""
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ValueError(f'"{text}": use a whole number')
    return int(text)


def size(text: str) -> int | None:
    """A size in bytes; "none" stands for the size of packet memory."""
    return None if text == "none" else units.parse_size(text)


Parser = Callable[[str], Any]
_PARSERS: Mapping[str, Parser] = {"bit/s": rate, "us": units.parse_time, "B": size, "": coefficient}


XCP = {field.key(): field for field in settings.XCP.values()}
PORT = {field.key(): field for field in settings.PORT.values()}
KEYS = ("xcp", *XCP, *PORT)


def parsed(assignments: Sequence[str]) -> dict[str, Any]:
    """KEY=VALUE as a merge patch of settings. UserError names the key."""
    changes: dict[str, Any] = {}
    xcp: dict[str, Any] = {}
    seen: set[str] = set()
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        key = name.strip().replace("-", "_")
        if not equals or key not in KEYS:
            raise UserError(f"{assignment}: write KEY=VALUE with one of {', '.join(KEYS)}")
        if key in seen:
            raise UserError(f"{key}: is given twice")
        seen.add(key)
        try:
            if key in XCP:
                xcp[XCP[key].name] = _value(XCP[key], text.strip())
            elif key in PORT:
                changes[PORT[key].name] = _value(PORT[key], text.strip())
            else:
                changes[key] = on_or_off(text.strip())
        except ValueError as error:
            raise UserError(f"{key}: {error}") from None
    return _with_xcp(changes, xcp)


def _value(field: Setting, text: str) -> Any:
    if field.kind == "flag":
        return on_or_off(text)
    if field.zero and text == field.zero:
        return text
    return whole(text) if field.kind == "whole" and not field.unit else _PARSERS[field.unit](text)


def _with_xcp(changes: dict[str, Any], xcp: Mapping[str, Any]) -> dict[str, Any]:
    """Any setting of XCP switches XCP on, unless it is switched off explicitly."""
    on = changes.pop("xcp", None)
    if on is False:
        if xcp:
            given = next(key for key, field in XCP.items() if field.name in xcp)
            raise UserError(f"xcp: off, and {given} is given as well")
        changes["xcp"] = None
    elif on or xcp:
        changes["xcp"] = xcp
    return changes


def present(card: Card, port: int) -> PortSettings:
    """The present settings of a port."""
    return port_settings([port], _entries(card, port))[port]


def change(card: Card, port: int, changes: Mapping[str, Any]) -> PortSettings:
    """Applies the given changes, all or none; other settings stay. UserError names the field."""
    if port not in card.ports:
        raise UserError(f"{card.name}: port {port}: the card has ports 0 to {len(card.ports) - 1}")
    with card.exclusive():
        try:
            wanted = settings_json.merged(card.name, present(card, port), changes)
            settings_json.checked(card.name, card.ports, wanted)
            transaction = Transaction(card, _updates(card, wanted))
        except SettingsError as error:
            name = error.fault.path[-1]
            key = next((key for key, field in (XCP | PORT).items() if field.name == name), name)
            raise UserError(f"{card.name}: port {port}: {key}: {error.fault.reason}") from None
        except TargetFaultError as error:
            name = error.fault.path[-1]
            reason = error.fault.reason if name == "port" else f"{name}: {error.fault.reason}"
            raise UserError(f"{card.name}: port {port}: {reason}") from None
        transaction.carry_out(lambda: None)
        return present(card, port)


def _entries(card: Card, port: int) -> list[Entry]:
    return [
        Entry(table, port, given)
        for unit in card.units.values()
        if unit.port == port
        for table, given in entries(unit.kind, card.configuration(unit))
    ]


def _updates(card: Card, wanted: PortSettings) -> list[SetEntry]:
    """All four entries of a port; new epochs restart the functions that are switched on."""
    before = _entries(card, wanted.port)
    after = Epochs(fresh=False).entries(before, {wanted.port: wanted})
    given = {entry.table: dict(entry.arguments) for entry in after}
    egress = card.units.get(("egress", wanted.port))
    if egress is not None and "xcp_port" in given and not card.configuration(egress)["xcp"]:
        xcp = given["xcp_port"]
        if xcp["epoch"] == card.read(egress, ("running_epoch",))["running_epoch"]:
            xcp["epoch"] = next_epoch(xcp["epoch"])
    return [SetEntry(table, wanted.port, given.get(table)) for table in settings.PORT_TABLES]
