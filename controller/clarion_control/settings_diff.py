# SPDX-License-Identifier: Apache-2.0
"""The fields of a port that differ between two settings."""

from __future__ import annotations

from typing import Any

from clarion_contract.settings import PortSettings
from clarion_contract.settings_json import to_json


def differences(before: PortSettings, after: PortSettings) -> dict[str, list[Any]]:
    """Old and new value of each field that differs, by names such as "xcp.alpha"; None stands for a field of
    XCP where XCP is off.
    """
    old, new = _flat(before), _flat(after)
    return {name: [old.get(name), new.get(name)] for name in old | new if old.get(name) != new.get(name)}


def _flat(settings: PortSettings) -> dict[str, Any]:
    document = to_json(settings)
    xcp = document.pop("xcp") or {}
    return document | {f"xcp.{name}": value for name, value in xcp.items()}
