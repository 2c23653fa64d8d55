# SPDX-License-Identifier: Apache-2.0
"""The settings of a port as JSON: what REST takes and gives, the store keeps and the audit shows.

{"xcp": {"capacity_bps": 100000000, "alpha": 0.4, "beta": 0.226, "gamma": 0.1,
         "min_interval_us": 1000, "max_interval_us": 1000000, "generation": 2, "allow_unstable": false},
 "stamp": false, "check": false, "edge": false, "wire": false, "queue_limit_bytes": null}

A port that measures its capacity has "measured" for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from clarion_base.faults import Code, Fault, Path
from clarion_contract.checks import FOLLOWED, checked_settings
from clarion_contract.errors import SettingsError
from clarion_contract.setting import Setting
from clarion_contract.settings import PORT, XCP, PortSettings, XcpSettings


def to_json(settings: PortSettings) -> dict[str, Any]:
    """The settings without the port's number."""
    document = dict(vars(settings))  # asdict would copy each of the values, all of which are immutable
    del document["port"]
    if settings.xcp is not None:
        document["xcp"] = xcp_json(settings.xcp)
    return document


def xcp_json(xcp: XcpSettings) -> dict[str, Any]:
    """The settings of XCP, with words where a number stands for one."""
    return {
        name: XCP[name].zero if value == 0 and XCP[name].zero else value for name, value in vars(xcp).items()
    }


def from_json(switch: str, port: int, document: Mapping[str, Any]) -> PortSettings:
    """The settings that a document says; what it leaves out is off, or has its default.

    SettingsError for a field that does not exist or has the wrong type; ranges are `checked`'s business.
    """
    return _Reader(switch, port).settings(document)


def checked(switch: str, ports: Collection[int], settings: PortSettings) -> PortSettings:
    """The settings, or SettingsError if a switch with these ports may not get them."""
    return checked_settings(switch, ports, [settings])[settings.port]


def merged(switch: str, current: PortSettings, changes: Mapping[str, Any]) -> PortSettings:
    """The settings after a merge patch (RFC 7396): null takes a field away, so that it has its default.

    What follows another field, such as beta, is set with it unless both are given.
    """
    reader = _Reader(switch, current.port)
    document = to_json(current)
    for name, value in reader.members((), changes, ("xcp", *PORT)).items():
        if value is None:
            document.pop(name)
        elif name == "xcp":
            document["xcp"] = _merged_xcp(document["xcp"] or {}, reader.members(("xcp",), value, XCP))
        else:
            document[name] = value
    return reader.settings(document)


def xcp_members(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is given of XCP, and what follows it without being given."""
    members = {name: value for name, value in given.items() if value is not None}
    for field in XCP.values():
        leader = members.get(_leader(field))
        if field.name not in members and isinstance(leader, (int, float)):
            is_legal = XCP[_leader(field)].holds(leader)  # or it is refused by itself
            members[field.name] = FOLLOWED[field.name](leader) if is_legal else 0.0
    return members


class _Reader:
    """Reads the settings of one port; SettingsError names the field."""

    def __init__(self, switch: str, port: int) -> None:
        self._switch, self._port = switch, port

    def settings(self, document: Mapping[str, Any]) -> PortSettings:
        members = dict(self.members((), document, ("xcp", *PORT)))
        xcp = members.pop("xcp", None)
        self._check_flags((), members, PORT)
        return PortSettings(self._port, xcp=None if xcp is None else self._xcp(xcp), **members)

    def members(self, path: Path, value: object, known: Collection[str]) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            raise self._refused(path, f"use an object with {', '.join(known)}", Code.INVALID)
        for name in value:
            if name not in known:
                field = (*path, name) if re.fullmatch(r"\w{1,64}", str(name)) else path
                reason = f"there is no such field; there are {', '.join(known)}"
                raise self._refused(field, reason, Code.UNKNOWN)
        return value

    def _xcp(self, value: object) -> XcpSettings:
        members = xcp_members(self.members(("xcp",), value, XCP))
        self._check_flags(("xcp",), members, XCP)
        for field in XCP.values():
            if field.default is None and field.name not in members:
                reason = f"give the {field.label.lower()} in {field.unit}"
                raise self._refused(("xcp", field.name), reason, Code.MISSING)
        return XcpSettings(**{name: self._number(XCP[name], value) for name, value in members.items()})

    def _number(self, field: Setting, value: Any) -> Any:
        """What the word for 0 stands for; all else as it is. Only the word means 0."""
        if not field.zero or not (isinstance(value, str) or value == 0):
            return value
        if value == field.zero:
            return 0
        code = Code.INVALID if isinstance(value, str) else Code.OUT_OF_RANGE
        raise self._refused(("xcp", field.name), f"{json.dumps(value)}: {field.legal}", code)

    def _check_flags(self, path: Path, members: Mapping[str, Any], fields: Mapping[str, Setting]) -> None:
        for name, value in members.items():
            if fields[name].kind == "flag" and not isinstance(value, bool):
                raise self._refused((*path, name), "use true or false", Code.INVALID)

    def _refused(self, path: Path, reason: str, code: Code) -> SettingsError:
        return SettingsError(self._switch, Fault(path, reason, code), self._port)


def _merged_xcp(current: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    xcp = dict(current)
    for field in XCP.values():
        if _leader(field) in changes:
            xcp.pop(field.name, None)
    xcp.update(changes)
    return xcp


def _leader(field: Setting) -> str:
    """The field that this one follows; "" for none."""
    return "" if field.stable is None else field.stable.follows
