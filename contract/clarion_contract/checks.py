# SPDX-License-Identifier: Apache-2.0
"""Checks of a port's settings before they reach a switch, with the same messages at every interface."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping

from clarion_base.faults import Code, Fault, Path
from clarion_contract.errors import SettingsError
from clarion_contract.setting import Setting
from clarion_contract.settings import PORT, PORTS, XCP, PortSettings, XcpSettings

# Of a setting that follows another: the value that fits.
FOLLOWED: Mapping[str, Callable[[float], float]] = {"beta": lambda alpha: alpha * alpha * math.sqrt(2)}

_ADDRESS = re.compile(r"[0-9a-f]{1,2}([:-])[0-9a-f]{1,2}(\1[0-9a-f]{1,2}){4}", re.IGNORECASE)
_MULTICAST = 1 << 40


def _name(setting: Setting) -> str:
    return setting.name


def checked_ports(
    switch: str, path: Path, ports: Iterable[int], known: Collection[int] | None = None
) -> list[int]:
    """The ports in ascending order; SettingsError for one that is not legal, not `known`, or there twice."""

    def refuse(reason: str, code: Code) -> SettingsError:
        return SettingsError(switch, Fault(path, f"port {port}: {reason}", code))

    listed: set[int] = set()
    for port in ports:
        if not isinstance(port, int) or isinstance(port, bool) or not 0 <= port < PORTS:
            raise refuse(f"use a number from 0 to {PORTS - 1}", Code.OUT_OF_RANGE)
        if known is not None and port not in known:
            has = ", ".join(map(str, sorted(known))) or "none"
            raise refuse(f"the switch has no such port; it has {has}", Code.NOT_FOUND)
        if port in listed:
            raise refuse("given twice; give it once", Code.CONFLICT)
        listed.add(port)
    return sorted(listed)


def checked_settings(
    switch: str, known: Collection[int], settings: Iterable[PortSettings]
) -> dict[int, PortSettings]:
    """The settings by port, or SettingsError for the first that may not reach the switch."""
    given = list(settings)
    checked_ports(switch, ("ports",), (each.port for each in given), known)
    for each in given:
        fault = port_fault(each)
        if fault is not None:
            raise SettingsError(switch, fault, each.port)
    return {each.port: each for each in given}


def checked_addresses(switch: str, known: Collection[int], addresses: Mapping[str, int]) -> dict[int, int]:
    """Port by Ethernet address as a number, or SettingsError."""
    checked: dict[int, int] = {}
    for text, port in addresses.items():
        path = ("addresses", str(text))

        def refuse(reason: str, code: Code, path: Path = path) -> SettingsError:
            return SettingsError(switch, Fault(path, reason, code))

        if not _ADDRESS.fullmatch(str(text)):
            raise refuse("not an Ethernet address; write it like 02:00:00:00:00:01", Code.INVALID)
        address = int.from_bytes(bytes(int(part, 16) for part in re.split("[:-]", str(text))), "big")
        if address & _MULTICAST:
            raise refuse("a group address goes to all ports; leave it out", Code.INVALID)
        if address in checked:
            raise refuse("given twice; give each address once", Code.CONFLICT)
        checked[address] = checked_ports(switch, path, [port], known)[0]
    return checked


def port_fault(settings: PortSettings) -> Fault | None:
    """The first fault of a port's settings."""
    if settings.xcp is not None:
        fault = xcp_fault(settings.xcp)
        if fault is not None:
            return fault.below("xcp")
    for field in PORT.values():
        value = getattr(settings, field.name)
        if field.kind != "flag" and value is not None and not field.holds(value):
            reason = f"{value}: {field.legal}, or none for no limit"
            return Fault((field.name,), reason, Code.OUT_OF_RANGE)
    return None


def xcp_fault(xcp: XcpSettings, named: Callable[[Setting], str] = _name) -> Fault | None:
    """The first fault of XCP's settings; `named` gives a setting's name at the interface in use."""
    for field in XCP.values():
        reason = None if field.kind == "flag" else _refusal(xcp, field, named)
        if reason is not None:
            return Fault((named(field),), f"{getattr(xcp, field.name)}: {reason}", Code.OUT_OF_RANGE)
    for field in XCP.values():
        if field.at_most and getattr(xcp, field.name) > getattr(xcp, field.at_most):
            reason = f"must be at most {named(XCP[field.at_most])}, {getattr(xcp, field.at_most)}"
            return Fault((named(field),), f"{getattr(xcp, field.name)}: {reason}", Code.CONFLICT)
    return None


def is_stable(xcp: XcpSettings) -> bool:
    """Whether policy recommends these settings."""
    return all(_is_stable(xcp, field) for field in XCP.values())


def _refusal(xcp: XcpSettings, field: Setting, named: Callable[[Setting], str]) -> str | None:
    value = getattr(xcp, field.name)
    if field.stable is not None and not xcp.allow_unstable:
        if not field.holds(value) or not _is_stable(xcp, field):
            says = field.stable.says(f"{_followed(xcp, field):.4g} ({field.stable.rule})")
            return f"{says}; with {named(XCP['allow_unstable'])} from {field.least} to {field.most}"
    elif not field.holds(value):
        return field.legal
    argument = field.argument
    if argument is not None and value > 0 and argument.encode(value) == 0:
        return f"the switch would round it to 0; use at least {argument.denominator}/{argument.numerator}"
    return None


def _is_stable(xcp: XcpSettings, field: Setting) -> bool:
    stable, value = field.stable, getattr(xcp, field.name)
    if stable is None:
        return True
    if stable.above is not None and stable.below is not None:
        return bool(stable.above < value < stable.below)
    fits = _followed(xcp, field)
    return bool(abs(value - fits) <= stable.within * fits)


def _followed(xcp: XcpSettings, field: Setting) -> float:
    """The value that fits what the field follows; 0 if it follows none."""
    if field.stable is None or not field.stable.follows:
        return 0.0
    return FOLLOWED[field.name](getattr(xcp, field.stable.follows))
