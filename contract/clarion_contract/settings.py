# SPDX-License-Identifier: Apache-2.0
"""The settings of a switch's ports in people's units, and what is refused before a switch hears of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from finsy import MACAddress

from clarion_contract.errors import SettingsError

__all__ = [
    "PortSettings",
    "SettingsError",
    "XcpSettings",
    "checked_addresses",
    "checked_ports",
    "checked_settings",
]

PORTS = 64  # ports 0 to 63, as in p4/clarion.p4
MAX_CAPACITY_BPS = 8 * (2**38 - 1) + 7  # the data plane counts whole bytes/s, in 38 bits
MAX_QUEUE_BYTES = 2**40 - 1
MAX_INTERVAL_US = 16_000_000  # 2^32 ticks of 2^-28 s
MAX_ALPHA = math.pi / (4 * math.sqrt(2))  # beyond it the control loop oscillates (Katabi et al. 2002)
BETA_TOLERANCE = 0.01
COEFFICIENT_UNIT = 65536  # coefficients travel in units of 1/65536

Refuse = Callable[[str, str], SettingsError]  # field of the entry and reason


@dataclass(frozen=True)
class XcpSettings:
    """A port's controllers: capacity in bit/s, bounds of the control interval in microseconds."""

    capacity_bps: int
    alpha: float = 0.4
    beta: float = 0.226
    gamma: float = 0.1
    min_interval_us: int = 1000
    max_interval_us: int = 1_000_000


@dataclass(frozen=True)
class PortSettings:
    """All of a port; what is not given is off, a queue without limit included."""

    port: int
    xcp: XcpSettings | None = None
    stamp: bool = False
    check: bool = False
    edge: bool = False
    queue_limit_bytes: int | None = None


def checked_ports(
    switch: str, entry: str, ports: Iterable[int], known: Collection[int] | None = None
) -> list[int]:
    """The ports in ascending order; SettingsError for one that is not legal, not `known`, or there twice."""
    listed: set[int] = set()
    for port in ports:
        if not _whole(port) or not 0 <= port < PORTS:
            raise SettingsError(switch, entry, f"port {port}: use a number from 0 to {PORTS - 1}")
        if known is not None and port not in known:
            has = ", ".join(map(str, sorted(known))) or "none"
            raise SettingsError(switch, entry, f"port {port}: the switch has no such port; it has {has}")
        if port in listed:
            raise SettingsError(switch, entry, f"port {port}: given twice; give it once")
        listed.add(port)
    return sorted(listed)


def checked_settings(
    switch: str, known: Collection[int], settings: Iterable[PortSettings]
) -> dict[int, PortSettings]:
    """The settings by port, or SettingsError for the first that may not reach the switch."""
    given = list(settings)
    checked_ports(switch, "ports", (each.port for each in given), known)
    for each in given:
        if each.xcp is not None:
            _check_xcp(switch, each.port, each.xcp)
        _check_queue(switch, each.port, each.queue_limit_bytes)
    return {each.port: each for each in given}


def checked_addresses(switch: str, known: Collection[int], addresses: Mapping[str, int]) -> dict[int, int]:
    """Port by Ethernet address as a number, or SettingsError."""
    checked: dict[int, int] = {}
    for text, port in addresses.items():
        entry = f"l2_forward[{text}]"
        try:
            address = MACAddress(str(text))
        except ValueError:
            raise SettingsError(
                switch, entry, "not an Ethernet address; write it like 02:00:00:00:00:01"
            ) from None
        if address.is_multicast:
            raise SettingsError(switch, entry, "a group address goes to all ports; leave it out")
        if int(address) in checked:
            raise SettingsError(switch, entry, "given twice; give each address once")
        checked[int(address)] = checked_ports(switch, entry, [port], known)[0]
    return checked


def _check_xcp(switch: str, port: int, xcp: XcpSettings) -> None:
    def refuse(field: str, reason: str) -> SettingsError:
        return SettingsError(switch, f"xcp_port[{port}].{field}", f"{getattr(xcp, field)}: {reason}")

    if not _whole(xcp.capacity_bps) or not 8 <= xcp.capacity_bps <= MAX_CAPACITY_BPS:
        raise refuse("capacity_bps", f"use a whole number of bit/s from 8 to {MAX_CAPACITY_BPS}")
    _check_coefficients(xcp, refuse)
    for field in ("min_interval_us", "max_interval_us"):
        if not _whole(getattr(xcp, field)) or not 1 <= getattr(xcp, field) <= MAX_INTERVAL_US:
            raise refuse(field, f"use a whole number of microseconds from 1 to {MAX_INTERVAL_US}")
    if xcp.min_interval_us > xcp.max_interval_us:
        raise refuse("min_interval_us", f"must be at most max_interval_us, {xcp.max_interval_us}")


def _check_coefficients(xcp: XcpSettings, refuse: Refuse) -> None:
    if not _number(xcp.alpha) or not 0 < xcp.alpha < MAX_ALPHA:
        reason = "must be above 0 and below 0.5553 (pi/(4*sqrt 2)), or the control loop is not stable"
        raise refuse("alpha", reason)
    right = xcp.alpha**2 * math.sqrt(2)
    if not _number(xcp.beta) or not abs(xcp.beta - right) <= BETA_TOLERANCE * right:
        reason = f"must be {right:.4g} (alpha^2*sqrt 2) within 1 %, or the control loop is not stable"
        raise refuse("beta", reason)
    if not _number(xcp.gamma) or not 0 < xcp.gamma < 1:
        raise refuse("gamma", "must be above 0 and below 1: the share of the traffic that is shuffled")
    for field in ("alpha", "beta", "gamma"):
        if getattr(xcp, field) * COEFFICIENT_UNIT < 0.5:
            raise refuse(field, f"the switch would round it to 0; use at least 1/{COEFFICIENT_UNIT}")


def _check_queue(switch: str, port: int, limit: int | None) -> None:
    if limit is not None and (not _whole(limit) or not 1 <= limit <= MAX_QUEUE_BYTES):
        raise SettingsError(
            switch,
            f"queue_port[{port}].queue_limit_bytes",
            f"{limit}: use a whole number of bytes from 1 to {MAX_QUEUE_BYTES}, or None for no limit",
        )


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
