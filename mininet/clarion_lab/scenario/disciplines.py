# SPDX-License-Identifier: Apache-2.0
"""The queue of a link: its limit, and the discipline that drops or marks before that is reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clarion_base import units
from clarion_base.faults import Code, Fault, FaultError
from clarion_lab.scenario import quantities
from clarion_lab.scenario.fields import parsed

DROP_TAIL = "drop-tail"
DEFAULT_LIMIT = "1 bdp"
RED_SHARES = {"min_bytes": 1 / 12, "max_bytes": 1 / 4}  # of the limit, where the scenario has no thresholds

Reader = Callable[[Any], Any]


_TIME, _SIZE, _THRESHOLD = quantities.parse_short_time, quantities.parse_room, quantities.parse_queue
_DELAY: Mapping[str, tuple[str, Reader]] = {"target": ("target_us", _TIME)}
_CODEL = {**_DELAY, "interval": ("interval_us", _TIME)}
_CONTROLLER: Mapping[str, tuple[str, Reader]] = {
    "update": ("update_us", _TIME),
    "alpha": ("alpha_hz", float),
    "beta": ("beta_hz", float),
}

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
        "min": ("min_bytes", _THRESHOLD),
        "max": ("max_bytes", _THRESHOLD),
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

    def check_thresholds(self, limit_bytes: Callable[[units.QueueLimit], int], queue_bytes: int) -> None:
        """FaultError if RED's thresholds in a queue of so many bytes are not in their order."""
        if self.name != "red":
            return
        given = {key: limit_bytes(self.settings[key]) for key in RED_SHARES if key in self.settings}
        least, most = (given.get(key, int(queue_bytes * share)) for key, share in RED_SHARES.items())
        if least >= most:
            key = "max" if "max_bytes" in given else "min"
            reason = f"{given[key + '_bytes']} bytes: min has to be below max; here {least} and {most} bytes"
            raise FaultError(Fault((key,), reason, Code.CONFLICT))


def parse_queue(document: Any) -> tuple[units.QueueLimit, Discipline]:
    """A link's `queue`: a limit, or an object with `limit`, `discipline` and its settings. FaultError names
    the key.
    """
    if not isinstance(document, Mapping):
        try:
            return quantities.parse_queue(document), Discipline()
        except ValueError as error:
            raise FaultError(Fault((), str(error))) from error
    limit = parsed({"limit": DEFAULT_LIMIT, **document}, "limit", quantities.parse_queue)
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
