# SPDX-License-Identifier: Apache-2.0
"""The ranges that the OpenAPI document states are those that settings.py checks."""

from __future__ import annotations

import math
from typing import Any

import pytest

from clarion_contract.errors import SettingsError
from clarion_contract.settings_json import checked, from_json
from clarion_control.api.app import document

SCHEMAS = document()["components"]["schemas"]
BASE: dict[str, Any] = {
    "xcp": {"capacity_bps": 10**8, "min_interval_us": 1, "max_interval_us": 16_000_000},
    "queue_limit_bytes": 1000,
}
FIELDS = [
    ("xcp", "capacity_bps"),
    ("xcp", "alpha"),
    ("xcp", "gamma"),
    ("xcp", "min_interval_us"),
    ("xcp", "max_interval_us"),
    ("", "queue_limit_bytes"),
]


def taken(group: str, field: str, value: float) -> bool:
    """Whether a switch may get this value."""
    settings = {**BASE, "xcp": dict(BASE["xcp"])}
    (settings["xcp"] if group else settings)[field] = value
    try:
        checked("s1", [1], from_json("s1", 1, settings))
    except SettingsError:
        return False
    return True


@pytest.mark.parametrize(("group", "field"), FIELDS)
@pytest.mark.parametrize("schema", ["Settings", "NewSettings", "SettingsChanges"])
def test_the_ends_of_ranges(schema: str, group: str, field: str) -> None:
    names = {"Settings": "Xcp", "NewSettings": "NewXcp", "SettingsChanges": "XcpChanges"}
    stated = SCHEMAS[names[schema] if group else schema]["properties"][field]
    if "minimum" in stated:
        low, high = int(stated["minimum"]), int(stated["maximum"])  # FastAPI writes them as 8.0
        assert taken(group, field, low)
        assert taken(group, field, high)
        assert not taken(group, field, low - 1)
        assert not taken(group, field, high + 1)
    else:
        low, high = stated["exclusiveMinimum"], stated["exclusiveMaximum"]
        assert not taken(group, field, low)
        assert not taken(group, field, high)
        assert taken(group, field, math.nextafter(high, 0))
        assert taken(group, field, low + 0.01)
