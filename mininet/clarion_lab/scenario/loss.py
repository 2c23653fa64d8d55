# SPDX-License-Identifier: Apache-2.0
"""Loss models of a link: as scenarios state them, as the switch is configured, and their mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clarion_base.faults import Code, Fault, FaultError
from clarion_base.units import parse_fraction

_KEYS = {
    "none": (),
    "packet": ("rate",),
    "bit": ("rate",),
    "gilbert-elliott": ("p", "r", "good-loss", "bad-loss"),
}
_DEFAULTS = {"good-loss": 0.0, "bad-loss": 1.0}


@dataclass(frozen=True)
class LossModel:
    """One direction's errors; parameters are probabilities per packet, or per bit for `bit`."""

    model: str = "none"
    parameters: Mapping[str, float] = field(default_factory=dict)

    def mean_packet_loss(self, frame_bytes: int) -> float:
        """The long-run share of frames of that size that are lost."""
        given = self.parameters
        if self.model == "packet":
            return given["rate"]
        if self.model == "bit":
            return 1 - (1 - given["rate"]) ** (8 * frame_bytes)
        if self.model == "gilbert-elliott":
            bad_share = given["p"] / (given["p"] + given["r"]) if given["p"] + given["r"] > 0 else 0.0
            return bad_share * given["bad-loss"] + (1 - bad_share) * given["good-loss"]
        return 0.0

    def switch_config(self) -> dict[str, Any]:
        """The switch's `loss` object."""
        return {"model": self.model} | {
            key.replace("-", "_"): value for key, value in self.parameters.items()
        }


def parse_loss(document: Mapping[str, Any] | None) -> LossModel:
    """A loss model from its scenario object; FaultError for what does not fit the model."""
    if not document:
        return LossModel()
    model = document["model"]
    legal = _KEYS[model]
    for key in document:
        if key != "model" and key not in legal:
            raise _refused(key, f"not a key of model {model}; use {', '.join(legal) or 'none'}", Code.UNKNOWN)
    parameters = {}
    for key in legal:
        if key not in document and key not in _DEFAULTS:
            raise _refused(key, f"missing; model {model} needs it", Code.MISSING)
        try:
            parameters[key] = parse_fraction(document[key]) if key in document else _DEFAULTS[key]
        except ValueError as error:
            raise _refused(key, str(error), Code.INVALID) from error
    return LossModel(model, parameters)


def _refused(key: str, reason: str, code: Code) -> FaultError:
    return FaultError(Fault((key,), reason, code))
