# SPDX-License-Identifier: Apache-2.0
"""The settings of a port as JSON: what REST takes and gives, the store keeps and the audit shows.

{"xcp": {"capacity_bps": 100000000, "alpha": 0.4, "beta": 0.226, "gamma": 0.1,
         "min_interval_us": 1000, "max_interval_us": 1000000},
 "stamp": false, "check": false, "edge": false, "queue_limit_bytes": null}
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, fields
from typing import Any

from clarion_contract.errors import SettingsError
from clarion_contract.settings import PortSettings, XcpSettings, checked_settings

_PORT_FIELDS = ("xcp", "stamp", "check", "edge", "queue_limit_bytes")
_XCP_FIELDS = tuple(field.name for field in fields(XcpSettings))
_ENTRY = re.compile(r"(xcp_port|queue_port|port)\[\d+\](?:\.(\w+))?")


def to_json(settings: PortSettings) -> dict[str, Any]:
    """The settings without the port's number."""
    return {
        "xcp": None if settings.xcp is None else asdict(settings.xcp),
        "stamp": settings.stamp,
        "check": settings.check,
        "edge": settings.edge,
        "queue_limit_bytes": settings.queue_limit_bytes,
    }


def from_json(switch: str, port: int, document: Mapping[str, Any]) -> PortSettings:
    """The settings that a document says; what it leaves out is off, or has its default.

    SettingsError for a field that does not exist or has the wrong type; ranges are `checked`'s business.
    """
    document = _object(switch, f"port[{port}]", document, _PORT_FIELDS)
    for name in ("stamp", "check", "edge"):
        if not isinstance(document.get(name, False), bool):
            raise SettingsError(switch, f"port[{port}].{name}", "use true or false")
    xcp = document.get("xcp")
    return PortSettings(
        port,
        xcp=None if xcp is None else _xcp(switch, port, xcp),
        stamp=document.get("stamp", False),
        check=document.get("check", False),
        edge=document.get("edge", False),
        queue_limit_bytes=document.get("queue_limit_bytes"),
    )


def checked(switch: str, ports: Collection[int], settings: PortSettings) -> PortSettings:
    """The settings, or SettingsError if a switch with these ports may not get them."""
    return checked_settings(switch, ports, [settings])[settings.port]


def merged(switch: str, current: PortSettings, changes: Mapping[str, Any]) -> PortSettings:
    """The settings after a merge patch (RFC 7396): null takes a field away, so that it has its default.

    Alpha without beta sets both: beta = alpha^2 * sqrt 2, where the control loop is stable.
    """
    entry = f"port[{current.port}]"
    changes = _object(switch, entry, changes, _PORT_FIELDS)
    document = to_json(current)
    for name, value in changes.items():
        if value is None:
            document.pop(name)
        elif name == "xcp":
            xcp = _object(switch, f"xcp_{entry}", value, _XCP_FIELDS)
            document["xcp"] = _merged_xcp(document["xcp"] or {}, xcp)
        else:
            document[name] = value
    return from_json(switch, current.port, document)


def pointer(entry: str) -> str:
    """The JSON pointer of the field that a SettingsError names; "" for all of the document."""
    match = _ENTRY.fullmatch(entry)
    if match is None:
        return ""
    table, name = match.groups()
    path = ["xcp"] if table == "xcp_port" else []
    return "".join(f"/{part}" for part in [*path, *([name] if name else [])])


def _merged_xcp(current: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    xcp = dict(current)
    if "alpha" in changes and "beta" not in changes:
        xcp.pop("beta", None)
    for name, value in changes.items():
        if value is None:
            xcp.pop(name, None)
        else:
            xcp[name] = value
    return xcp


def _xcp(switch: str, port: int, value: object) -> XcpSettings:
    given = dict(_object(switch, f"xcp_port[{port}]", value, _XCP_FIELDS))
    if given.get("capacity_bps") is None:
        raise SettingsError(switch, f"xcp_port[{port}].capacity_bps", "give the capacity in bit/s")
    given = {name: value for name, value in given.items() if value is not None}
    alpha = given.get("alpha")
    if "beta" not in given and isinstance(alpha, (int, float)):
        given["beta"] = alpha**2 * math.sqrt(2) if abs(alpha) < 1 else 0.0
    return XcpSettings(**given)


def _object(switch: str, entry: str, value: object, known: Collection[str]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SettingsError(switch, entry, f"use an object with {', '.join(known)}")
    for name in value:
        if name not in known:
            field = f"{entry}.{name}" if re.fullmatch(r"\w{1,64}", str(name)) else entry
            raise SettingsError(switch, field, f"there is no such field; there are {', '.join(known)}")
    return value
