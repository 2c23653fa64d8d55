# SPDX-License-Identifier: Apache-2.0
"""The ranges of the OpenAPI document are those that checks.py enforces."""

from __future__ import annotations

import math
from typing import Any

import pytest

from clarion_contract.errors import SettingsError
from clarion_contract.settings import XCP
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
    ("xcp", "beta"),
    ("xcp", "gamma"),
    ("xcp", "min_interval_us"),
    ("xcp", "max_interval_us"),
    ("", "queue_limit_bytes"),
]


def taken(group: str, field: str, value: float, *, allow_unstable: bool = False) -> bool:
    """Whether the checks accept this value."""
    settings = {**BASE, "xcp": {**BASE["xcp"], "allow_unstable": allow_unstable}}
    if allow_unstable:
        settings["xcp"]["beta"] = 0.226  # the default follows alpha, beyond beta's range
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
    low, high = stated["minimum"], stated["maximum"]  # FastAPI writes them as 8.0
    step = 1 if stated_type(stated) == "integer" else 1e-5
    if step == 1:
        low, high = int(low), int(high)
    assert taken(group, field, low, allow_unstable=True)
    assert taken(group, field, high, allow_unstable=True)
    assert not taken(group, field, low - step, allow_unstable=True)
    assert not taken(group, field, high + step, allow_unstable=True)


def stated_type(stated: dict[str, Any]) -> str:
    return str(next(each["type"] for each in stated.get("anyOf", [stated]) if each["type"] != "null"))


@pytest.mark.parametrize("field", ["alpha", "gamma"])
def test_beyond_the_stable_range_only_by_the_switch(field: str) -> None:
    stable = XCP[field].stable
    assert stable is not None
    assert stable.above is not None
    assert stable.below is not None
    for value in (stable.above, stable.below):
        assert not taken("xcp", field, value)
        assert taken("xcp", field, value, allow_unstable=True)
    assert taken("xcp", field, math.nextafter(stable.below, 0))
    assert taken("xcp", field, stable.above + 0.01)
