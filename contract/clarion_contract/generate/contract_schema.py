# SPDX-License-Identifier: Apache-2.0
"""XCP's settings in a scenario as JSON schema. A scenario writes min-interval for min_interval_us."""

from __future__ import annotations

import json
from typing import Any

from clarion_contract.generate.contract_model import Contract
from clarion_contract.setting import Setting

CAPACITIES = ("start", "told", "measured")
CAPACITY = (
    "What ports hand out: their link's rate of the start, told with every step of it, or what they measure."
)
ABOUT = "Made by `python -m clarion_contract.generate` from contract.yaml; do not edit."


def as_schema(contract: Contract) -> str:
    """Return the schema."""
    enabled = {"type": "boolean", "description": "Whether shaped ports have XCP."}
    capacity = {"enum": list(CAPACITIES), "description": CAPACITY}
    properties: dict[str, Any] = {"enabled": enabled, "capacity": capacity}
    for setting in contract.xcp:
        if setting.unit != "bit/s":  # a port's capacity is its link's rate
            properties[setting.key("-")] = _property(setting)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "xcp.schema.json",
        "$comment": ABOUT,
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }
    return json.dumps(schema, indent=2) + "\n"


def _property(setting: Setting) -> dict[str, Any]:
    if setting.kind == "flag":
        return {"type": "boolean", "description": setting.description}
    if setting.unit == "us":
        return {"type": "string", "units": "time", "description": setting.description}
    return {"type": "number", "description": setting.description}
