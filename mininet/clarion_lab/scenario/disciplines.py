# SPDX-License-Identifier: Apache-2.0
"""The queue of a link: its limit, and the discipline that drops or marks before that is reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clarion_base import units
from clarion_base.faults import Code, Fault, FaultError
from clarion_lab.scenario.fields import parsed

DROP_TAIL = "drop-tail"
DEFAULT_LIMIT = "1 bdp"

Reader = Callable[[Any], Any]


def _above_0(parser: Callable[[Any], int]) -> Reader:
    def read(text: Any) -> int:
        value = parser(text)
        if value == 0:
            raise ValueError("must be above 0")
        return value

    return read


def _threshold(text: Any) -> units.QueueLimit:
    limit = units.parse_queue(text)
    if limit.amount == 0:
        raise ValueError("must be above 0")
    return limit


_TIME, _SIZE = _above_0(units.parse_time), _above_0(units.parse_size)
_DELAY = {"target": ("target_us", _TIME)}
_CODEL = {**_DELAY, "interval": ("interval_us", _TIME)}
_CONTROLLER = {"update": ("update_us", _TIME), "alpha": ("alpha_hz", float), "beta": ("beta_hz", float)}

# By discipline and key of a scenario: the key of the switch's configuration, and what reads the value.
DISCIPLINES: Mapping[str, Mapping[str, tuple[str, Reader]]] = {
    DROP_TAIL: {},
    "codel": _CODEL,
    "fq-codel": {**_CODEL, "quantum": ("quantum_bytes", _SIZE), "flows": ("flows", int)},
    "pie": {
        **_DELAY,
        **_CONTROLLER,
        "burst": ("burst_us", _TIME),
        "mark-up-to": ("mark_up_to", units.parse_fraction),
    },
    "red": {
        "min": ("min_bytes", _threshold),
        "max": ("max_bytes", _threshold),
        "max-probability": ("max_probability", units.parse_fraction),
        "weight": ("weight", units.parse_fraction),
        "gentle": ("gentle", bool),
    },
    "dual-pi2": {
        **_DELAY,
        **_CONTROLLER,
        "step": ("step_us", _TIME),
        "step-range": ("step_range_us", _TIME),
        "coupling": ("coupling", float),
    },
}


@dataclass(frozen=True)
class Discipline:
    """What a queue does beside dropping what does not fit; settings as keys of the switch's configuration."""

    name: str = DROP_TAIL
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.name != DROP_TAIL

    def switch_config(self, ecn: bool, limit_bytes: Callable[[units.QueueLimit], int]) -> dict[str, Any]:
        """The switch's `discipline`; `limit_bytes` turns a threshold into bytes."""
        settings = {
            key: limit_bytes(value) if isinstance(value, units.QueueLimit) else value
            for key, value in self.settings.items()
        }
        return {"name": self.name, **settings} | ({"ecn": True} if ecn else {})


def parse_queue(document: Any) -> tuple[units.QueueLimit, Discipline]:
    """A link's `queue`: a limit, or an object with `limit`, `discipline` and its settings. FaultError names
    the key.
    """
    if not isinstance(document, Mapping):
        try:
            return units.parse_queue(document), Discipline()
        except ValueError as error:
            raise FaultError(Fault((), str(error))) from error
    limit = parsed({"limit": DEFAULT_LIMIT, **document}, "limit", units.parse_queue)
    name = document.get("discipline", DROP_TAIL)
    known = DISCIPLINES[name]
    settings = {}
    for key in document:
        if key in ("limit", "discipline"):
            continue
        if key not in known:
            legal = ", ".join(known) or "none"
            raise FaultError(Fault((key,), f"{name} does not have it; its settings: {legal}", Code.UNKNOWN))
        setting, read = known[key]
        settings[setting] = parsed(document, key, read)
    return limit, Discipline(name, settings)
