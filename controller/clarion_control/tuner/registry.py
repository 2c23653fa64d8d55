# SPDX-License-Identifier: Apache-2.0
"""The policies that there are. REST, the dashboard, the store and docs/tuner.md take them from here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from clarion_control.errors import FieldError, NotFoundError
from clarion_control.tuner import capacity, convergence, noise, stability
from clarion_control.tuner.policy import Parameter, PolicySpec

# In the order of consultation: when one changes the port, the others wait for the next round.
POLICIES: Mapping[str, PolicySpec] = {
    each.SPEC.name: each.SPEC for each in (capacity, stability, convergence, noise)
}


def policy(name: str) -> PolicySpec:
    """The policy of that name; NotFoundError if there is none."""
    if name not in POLICIES:
        raise NotFoundError("policy", name)
    return POLICIES[name]


def checked_parameters(name: str, given: Mapping[str, Any]) -> dict[str, float]:
    """All parameters of a policy, defaults filled in; FieldError names the first that cannot be."""
    spec = policy(name)
    known = {parameter.name: parameter for parameter in spec.parameters}
    for key in given:
        if key not in known:
            raise FieldError(
                f"parameters.{key}", f"policy {name} has no such parameter; it has {', '.join(known)}"
            )
    values = {key: _checked(parameter, given.get(key, parameter.default)) for key, parameter in known.items()}
    for low, high in _ORDERED:
        if low in values and high in values and values[low] > values[high]:
            raise FieldError(f"parameters.{low}", f"must be at most {high}, which is {values[high]:g}")
    return values


_ORDERED = (
    ("min_capacity_bps", "max_capacity_bps"),
    ("first_step_up", "max_step_up"),
    ("probe_wait_s", "probe_wait_max_s"),
    ("alpha_min", "alpha_max"),
    ("gamma_settled", "gamma_unfair"),
    ("leave", "enter"),
)


def _checked(parameter: Parameter, value: object) -> float:
    unit = f" {parameter.unit}" if parameter.unit else ""
    field = f"parameters.{parameter.name}"
    kind = "whole number" if parameter.whole else "number"
    bounds = f"use a {kind} from {parameter.low:.15g} to {parameter.high:.15g}{unit}"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FieldError(field, bounds)
    if not math.isfinite(value) or not parameter.low <= value <= parameter.high:
        raise FieldError(field, bounds)
    if parameter.whole and value != int(value):
        raise FieldError(field, bounds)
    return int(value) if parameter.whole else float(value)
