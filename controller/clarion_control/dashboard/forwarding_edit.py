# SPDX-License-Identifier: Apache-2.0
"""The forwarding of a switch as rows of text: reading them, and putting edits onto a newer table.

Addresses and ports are checked where REST has them checked, too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from clarion_contract.checks import checked_addresses, checked_ports
from clarion_contract.errors import SettingsError
from clarion_control.dashboard.switch_admin import port_list
from clarion_control.errors import FieldError
from clarion_p4rt.switch import Forwarding

NOTHING = Forwarding({}, ())


class EntryProblem(ValueError):  # noqa: N818 - what a form shows beside a field
    """Input that is not valid; `row` is its number, None: the ports for all other addresses."""

    def __init__(self, row: int | None, field: str, reason: str) -> None:
        super().__init__(reason)
        self.row = row
        self.field = field
        self.reason = reason


@dataclass(frozen=True)
class Row:
    """An entry as it is typed."""

    address: str = ""
    port: str = ""


def rows(forwarding: Forwarding) -> list[Row]:
    """The entries by address."""
    return [Row(address, str(port)) for address, port in sorted(forwarding.addresses.items())]


def flood(forwarding: Forwarding) -> str:
    """The ports for all other addresses, as `table` reads them."""
    return ", ".join(map(str, forwarding.flood_ports))


def table(switch: str, known: Collection[int], entered: Sequence[Row], flooded: str) -> Forwarding:
    """The forwarding that was entered, without rows that are empty; EntryProblem."""
    addresses: dict[str, int] = {}
    for number, row in enumerate(entered):
        if row == Row():
            continue
        try:
            if not row.port.isdecimal():
                raise EntryProblem(number, "port", "give the number of a port")
            checked_ports(switch, ("port",), [int(row.port)], known)
        except SettingsError as error:
            raise EntryProblem(number, "port", error.fault.reason) from None
        try:
            if row.address in addresses:
                raise EntryProblem(number, "address", "given twice; give each address once")
            addresses[row.address] = int(row.port)
            checked_addresses(switch, known, addresses)
        except SettingsError as error:
            raise EntryProblem(number, "address", error.fault.reason) from None
    try:
        ports = checked_ports(switch, ("flood_ports",), port_list(flooded), known)
    except FieldError as error:
        raise EntryProblem(None, "flood_ports", error.reason) from None
    except SettingsError as error:
        raise EntryProblem(None, "flood_ports", error.fault.reason) from None
    return Forwarding(addresses, tuple(ports))


def rebased(base: Forwarding, mine: Forwarding, theirs: Forwarding) -> Forwarding:
    """Their table with what I changed of the base; where both changed an entry, mine."""
    addresses = dict(theirs.addresses)
    for address in {*base.addresses, *mine.addresses}:
        port = mine.addresses.get(address)
        if port == base.addresses.get(address):
            continue
        if port is None:
            addresses.pop(address, None)
        else:
            addresses[address] = port
    same = set(mine.flood_ports) == set(base.flood_ports)
    return Forwarding(addresses, theirs.flood_ports if same else mine.flood_ports)


def differences(before: Forwarding | None, after: Forwarding | None) -> list[str]:
    """One line for each entry that differs."""
    if after is None:
        return ["the controller leaves the switch alone now"]
    old = before or NOTHING
    lines = []
    for address in sorted({*old.addresses, *after.addresses}):
        then, now = old.addresses.get(address), after.addresses.get(address)
        if then != now:
            lines.append(f"{address}: {_port(then)} → {_port(now)}")
    if flood(old) != flood(after):
        lines.append(f"all other addresses: ports {flood(old) or 'none'} → {flood(after) or 'none'}")
    return lines


def _port(port: int | None) -> str:
    return "none" if port is None else f"port {port}"
