# SPDX-License-Identifier: Apache-2.0
"""Protocols that need routers of their own: what every shaped port does for one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clarion_base import units
from clarion_base.faults import Code
from clarion_lab.scenario import quantities
from clarion_lab.scenario.fields import parsed, refused

Reader = Callable[[Any], Any]

# By law and key of a scenario: the key of the switch's configuration, and what reads the value.
ROUTER_LAWS: Mapping[str, Mapping[str, tuple[str, Reader]]] = {
    "vcp": {
        "interval": ("interval_us", quantities.parse_short_time),
        "sample": ("sample_us", quantities.parse_short_time),
        "queue-gain": ("queue_gain", float),
        "queue-weight": ("queue_weight", float),
        "target": ("target", units.parse_fraction),
    },
    "quick-start": {
        "interval": ("interval_us", quantities.parse_short_time),
        "share": ("share", units.parse_fraction),
    },
    "ixcp": {"gamma": ("gamma", float)},
    "p-xcp": {},
    "jetmax": {
        "interval": ("interval_us", quantities.parse_short_time),
        "target": ("target", units.parse_fraction),
    },
    "maxnet": {
        "interval": ("interval_us", quantities.parse_short_time),
        "max-rtt": ("max_rtt_us", quantities.parse_short_time),
        "target": ("target", units.parse_fraction),
    },
    "xcp-i": {},
}
# Laws for which a switch without them is a router that does not know the option.
IP_ROUTERS = ("quick-start", "xcp-i")
MARKING = ("vcp",)  # laws that have the bits of ECN to themselves


@dataclass(frozen=True)
class RouterLaw:
    """The law of all shaped ports; settings as keys of the switch's configuration."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def switch_config(self) -> dict[str, Any]:
        """The switch's `router`."""
        return {"law": self.name, **self.settings}

    def of_others(self) -> RouterLaw | None:
        """What a switch that does not have the law does instead; None: nothing."""
        return RouterLaw(self.name, {"aware": False}) if self.name in IP_ROUTERS else None


def parse_router(document: Mapping[str, Any]) -> RouterLaw:
    """A scenario's `router`. FaultError names the key."""
    name = document["law"]
    known = ROUTER_LAWS[name]
    settings = {}
    for key in document:
        if key == "law":
            continue
        if key not in known:
            legal = ", ".join(known) or "none"
            raise refused((key,), f"{name} does not have it; its settings: {legal}", Code.UNKNOWN)
        setting, read = known[key]
        settings[setting] = parsed(document, key, read)
    return RouterLaw(name, settings)
