# SPDX-License-Identifier: Apache-2.0
"""The settings of a port as the fields of a form: text with units on one side, a merge patch on the other.

Ranges are not checked here but where REST has them checked, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from clarion_base.units import parse_rate, parse_size, parse_time
from clarion_contract.settings import PortSettings, XcpSettings
from clarion_contract.settings_json import to_json
from clarion_control.dashboard import quantities

Value = str | bool


class FieldProblem(ValueError):  # noqa: N818 - what a form shows beside a field
    """A field that cannot be read."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(reason)
        self.name = name
        self.reason = reason


@dataclass(frozen=True)
class Field:
    """One field. Its name is its place in the port's JSON form, such as "xcp.alpha"."""

    name: str
    label: str
    hint: str
    write: Callable[[Any], str] | None = None  # None: on or off
    read: Callable[[str], Any] | None = None

    @property
    def pointer(self) -> str:
        """As a JSON pointer, as settings_json names fields."""
        return "/" + self.name.replace(".", "/")


def _quantity(parse: Callable[[object], int], unit: str) -> Callable[[str], int]:
    """Reads a number with a unit; without one it has the unit that REST uses."""

    def read(text: str) -> int:
        plain = text.replace(quantities.GAP, " ").replace("µ", "u").strip()
        return parse(f"{plain} {unit}" if plain.replace(".", "", 1).isdigit() else plain)

    return read


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise ValueError(f'"{text}": not a number') from None


def _plain(number: float) -> str:
    """Six digits are more than the switch keeps; what is not touched is not sent back either."""
    return f"{number:.6g}"


XCP = "xcp"
FIELDS = (
    Field(
        "xcp.capacity_bps",
        "Capacity",
        "What the link carries, such as 100 Mbit/s",
        quantities.exact_rate,
        _quantity(parse_rate, "bit/s"),
    ),
    Field("xcp.alpha", "Alpha", "Gain on spare capacity", _plain, _number),
    Field("xcp.beta", "Beta", "Empty: alpha² √2", _plain, _number),
    Field("xcp.gamma", "Gamma", "Share of the traffic that is shuffled for fairness", _plain, _number),
    Field(
        "xcp.min_interval_us",
        "Shortest interval",
        "of the control interval",
        quantities.exact_duration,
        _quantity(parse_time, "us"),
    ),
    Field(
        "xcp.max_interval_us",
        "Longest interval",
        "of the control interval",
        quantities.exact_duration,
        _quantity(parse_time, "us"),
    ),
    Field(
        "queue_limit_bytes",
        "Queue limit",
        "Empty: no limit but that of the switch",
        quantities.exact_size,
        _quantity(parse_size, "B"),
    ),
    Field("stamp", "Stamp", "Numbers packets for the next wire, so that its losses can be counted"),
    Field("check", "Check", "Looks for losses of the wire into this port"),
    Field("edge", "Edge", "A host is behind this port: its claims are zeroed"),
)
BY_NAME = {field.name: field for field in FIELDS}
_DEFAULTS = to_json(PortSettings(0, XcpSettings(0)))


def values(settings: PortSettings) -> dict[str, Value]:
    """What the form shows; a port without XCP shows what XCP would start with."""
    document = to_json(settings)
    has_xcp = document["xcp"] is not None
    shown: dict[str, Value] = {XCP: has_xcp}
    for field in FIELDS:
        value = _at(document if has_xcp or not _is_xcp(field) else _DEFAULTS, field.name)
        if field.write is None:
            shown[field.name] = bool(value)
        else:
            shown[field.name] = "" if value is None else field.write(value)
    if not has_xcp:
        shown["xcp.capacity_bps"] = ""
    return shown


def changes(base: PortSettings, entered: Mapping[str, Value]) -> dict[str, Any]:
    """The merge patch from `base` to what was entered, or FieldProblem."""
    before = values(base)
    patch: dict[str, Any] = {}
    switched_on = bool(entered[XCP]) and base.xcp is None
    if not entered[XCP] and base.xcp is not None:
        patch[XCP] = None
    for field in FIELDS:
        if _is_xcp(field) and not entered[XCP]:
            continue
        value = entered[field.name]
        if value == before[field.name] and not (_is_xcp(field) and switched_on):
            continue
        read = value if field.read is None else _read(field, str(value))
        group, _, name = field.name.rpartition(".")
        (patch.setdefault(group, {}) if group else patch)[name] = read
    return patch


def differences(before: PortSettings, after: PortSettings) -> list[tuple[str, str, str]]:
    """What differs, as label, then and now, in the words of the form."""
    old, new = values(before), values(after)
    found = []
    if old[XCP] != new[XCP]:
        found.append(("XCP", _shown(old[XCP]), _shown(new[XCP])))
    for field in FIELDS:
        then, now = old[field.name], new[field.name]
        if then != now and (not _is_xcp(field) or new[XCP]):
            found.append((field.label, _shown(then), _shown(now)))
    return found


def _read(field: Field, text: str) -> Any:
    if not text.strip():
        if field.name == "xcp.capacity_bps":
            raise FieldProblem(field.name, "give the capacity, such as 100 Mbit/s")
        return None
    try:
        assert field.read is not None
        return field.read(text.strip())
    except ValueError as error:
        raise FieldProblem(field.name, str(error)) from None


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return value or "none"


def _is_xcp(field: Field) -> bool:
    return field.name.startswith("xcp.")


def _at(document: Mapping[str, Any], name: str) -> Any:
    value: Any = document
    for part in name.split("."):
        value = value[part]
    return value
