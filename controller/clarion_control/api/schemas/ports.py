# SPDX-License-Identifier: Apache-2.0
"""Settings of ports. The ranges are only stated: `settings.py` checks them, and says why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from pydantic import ConfigDict, Field

from clarion_contract import settings_json
from clarion_contract.settings import (
    MAX_ALPHA,
    MAX_CAPACITY_BPS,
    MAX_INTERVAL_US,
    MAX_QUEUE_BYTES,
    PORTS,
    XcpSettings,
)
from clarion_control.api.schemas.base import Model, Whole, time_field
from clarion_control.model import PortState
from clarion_p4rt.switch import Forwarding

DEFAULTS: Mapping[str, Any] = {field.name: field.default for field in fields(XcpSettings)}

CAPACITY = "Capacity that XCP hands out, in bit/s."
ALPHA = "How fast spare capacity is handed out: the part of it per mean round-trip time."
BETA = (
    "How fast a standing queue is drained. Must be alpha^2 * sqrt(2) within 1 %, which it becomes"
    " if alpha is given without it."
)
GAMMA = "Part of the traffic that is shuffled between flows per interval, for fairness."
MIN_INTERVAL = "Lower bound of the control interval, in us."
MAX_INTERVAL = "Upper bound of the control interval, in us; at least the lower one."
STAMP = "Number the packets that leave, so that the next hop sees what the wire lost."
CHECK = "Count what the wire into this port lost."
EDGE = "A host is attached: zero what it claims about losses."
QUEUE_LIMIT = "Most bytes that wait for the port; null for no limit but the switch's own."

CAPACITY_RANGE = {"minimum": 8, "maximum": MAX_CAPACITY_BPS}
ALPHA_RANGE = {"exclusiveMinimum": 0, "exclusiveMaximum": MAX_ALPHA}
GAMMA_RANGE = {"exclusiveMinimum": 0, "exclusiveMaximum": 1}
INTERVAL_RANGE = {"minimum": 1, "maximum": MAX_INTERVAL_US}
QUEUE_RANGE = {"minimum": 1, "maximum": MAX_QUEUE_BYTES}

EXAMPLE: dict[str, Any] = {
    "xcp": {**DEFAULTS, "capacity_bps": 100_000_000},
    "stamp": True,
    "check": True,
    "edge": False,
    "queue_limit_bytes": 1_500_000,
}


def stated(description: str, limits: Mapping[str, Any] | None = None, **more: Any) -> Any:
    """A field with a range that its schema states."""
    return Field(description=description, json_schema_extra=dict(limits or {}), **more)


class Xcp(Model):
    """XCP's controllers at a port."""

    capacity_bps: int = stated(CAPACITY, CAPACITY_RANGE)
    alpha: float = stated(ALPHA, ALPHA_RANGE)
    beta: float = stated(BETA)
    gamma: float = stated(GAMMA, GAMMA_RANGE)
    min_interval_us: int = stated(MIN_INTERVAL, INTERVAL_RANGE)
    max_interval_us: int = stated(MAX_INTERVAL, INTERVAL_RANGE)


class Settings(Model):
    """All settings of a port."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    xcp: Xcp | None = Field(description="null: no XCP; flows through this port get no feedback from it.")
    stamp: bool = Field(description=STAMP)
    check: bool = Field(description=CHECK)
    edge: bool = Field(description=EDGE)
    queue_limit_bytes: int | None = stated(QUEUE_LIMIT, QUEUE_RANGE)


class NewXcp(Model):
    """XCP's controllers; what is left out has its default."""

    capacity_bps: Whole = stated(CAPACITY, CAPACITY_RANGE)
    alpha: float = stated(ALPHA, ALPHA_RANGE, default=DEFAULTS["alpha"])
    beta: float | None = stated(BETA, default=None)
    gamma: float = stated(GAMMA, GAMMA_RANGE, default=DEFAULTS["gamma"])
    min_interval_us: Whole = stated(MIN_INTERVAL, INTERVAL_RANGE, default=DEFAULTS["min_interval_us"])
    max_interval_us: Whole = stated(MAX_INTERVAL, INTERVAL_RANGE, default=DEFAULTS["max_interval_us"])


class NewSettings(Model):
    """All settings of a port; what is left out is off."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    xcp: NewXcp | None = Field(None, description="null: no XCP.")
    stamp: bool = Field(False, description=STAMP)
    check: bool = Field(False, description=CHECK)
    edge: bool = Field(False, description=EDGE)
    queue_limit_bytes: Whole | None = stated(QUEUE_LIMIT, QUEUE_RANGE, default=None)


class XcpChanges(Model):
    """Changes of XCP's controllers; null gives a field its default."""

    capacity_bps: Whole | None = stated(CAPACITY, CAPACITY_RANGE, default=None)
    alpha: float | None = stated(ALPHA, ALPHA_RANGE, default=None)
    beta: float | None = stated(BETA, default=None)
    gamma: float | None = stated(GAMMA, GAMMA_RANGE, default=None)
    min_interval_us: Whole | None = stated(MIN_INTERVAL, INTERVAL_RANGE, default=None)
    max_interval_us: Whole | None = stated(MAX_INTERVAL, INTERVAL_RANGE, default=None)


class SettingsChanges(Model):
    """A merge patch (RFC 7396): what is left out stays, null switches off or gives the default."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"xcp": {"alpha": 0.3}}]})

    xcp: XcpChanges | None = Field(None, description="null: no XCP.")
    stamp: bool | None = Field(None, description=STAMP)
    check: bool | None = Field(None, description=CHECK)
    edge: bool | None = Field(None, description=EDGE)
    queue_limit_bytes: Whole | None = stated(QUEUE_LIMIT, QUEUE_RANGE, default=None)


class Port(Model):
    """What a port is to do, and what the switch says that it does."""

    switch: str = Field(description="Name of its switch.", examples=["s1"])
    port: int = Field(description="Its number at the switch.", examples=[1])
    desired: Settings | None = Field(
        description="What it is to do; null while the switch was not reached yet and nobody set anything."
    )
    effective: Settings | None = Field(description="What the switch confirmed last; null if not known.")
    applied: bool = Field(description="Whether the switch has confirmed what is desired.")
    version: int = Field(
        description="Counts the changes of what is desired; 0 before the first. Part of the ETag.", ge=0
    )
    changed_us: int | None = time_field("Last change of what is desired")

    @classmethod
    def of(cls, state: PortState) -> Port:
        """From the controller's record."""
        desired = state.desired
        return cls(
            switch=state.switch.name,
            port=state.port,
            desired=None if desired is None else _settings(settings_json.to_json(desired.settings)),
            effective=None if state.effective is None else _settings(settings_json.to_json(state.effective)),
            applied=state.applied,
            version=0 if desired is None else desired.version,
            changed_us=None if desired is None else desired.changed_us,
        )


class Ports(Model):
    """The ports of a switch, ascending."""

    items: list[Port]


class ForwardingTable(Model):
    """Static forwarding of a switch."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"addresses": {"02:00:00:00:00:01": 1}, "flood_ports": [1, 2]}]}
    )

    addresses: dict[str, Whole] = Field(description="Port by Ethernet address.")
    flood_ports: list[Whole] = Field(
        description="Ports to which frames for all other addresses go.", max_length=PORTS
    )

    @classmethod
    def of(cls, forwarding: Forwarding) -> ForwardingTable:
        """From the controller's record."""
        return cls(addresses=dict(forwarding.addresses), flood_ports=list(forwarding.flood_ports))


def _settings(document: Mapping[str, Any]) -> Settings:
    return Settings.model_validate(document)
