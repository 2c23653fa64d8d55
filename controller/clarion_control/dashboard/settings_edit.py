# SPDX-License-Identifier: Apache-2.0
"""The settings of a port as the fields of a form: text with units on one side, a merge patch on the other.

Ranges are not checked here but where REST has them checked, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from clarion_base.units import parse_rate, parse_size, parse_time
from clarion_contract import settings
from clarion_contract.setting import Setting
from clarion_contract.settings import PortSettings, XcpSettings
from clarion_contract.settings_json import to_json
from clarion_control.dashboard import quantities

Value = str | bool


class FieldProblem(ValueError):  # noqa: N818 - what a form shows beside a field
    """Input that cannot be parsed; the message is shown beside the field."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(reason)
        self.name = name
        self.reason = reason


@dataclass(frozen=True)
class FormField:
    """One field. Its path is its place in the port's JSON form, such as ("xcp", "alpha")."""

    path: tuple[str, ...]
    label: str
    hint: str
    write: Callable[[Any], str] | None = None  # None: on or off
    read: Callable[[str], Any] | None = None

    @property
    def name(self) -> str:
        """The dotted path: "xcp.alpha"."""
        return ".".join(self.path)


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


def _count(text: str) -> int:
    if not text.strip().isdecimal():
        raise ValueError(f'"{text}": not a whole number')
    return int(text)


def _plain(number: float) -> str:
    """A plain number with six digits: more than the switch keeps. Untouched fields are not sent back."""
    return f"{number:.6g}"


_HINTS = {  # what fits under an input; the others show what the contract says of them
    "capacity_bps": "What the link carries, such as 100 Mbit/s, or: measured",
    "alpha": "Gain on spare capacity",
    "beta": "Empty: alpha² √2",
    "gamma": "Share of the traffic that is shuffled for fairness",
    "min_interval_us": "of the control interval",
    "max_interval_us": "of the control interval",
    "queue_limit_bytes": "Empty: no limit but that of the switch",
}
_QUANTITIES: Mapping[str, tuple[Callable[[Any], str], Callable[[str], Any]]] = {
    "bit/s": (quantities.exact_rate, _quantity(parse_rate, "bit/s")),
    "us": (quantities.exact_duration, _quantity(parse_time, "us")),
    "B": (quantities.exact_size, _quantity(parse_size, "B")),
    "": (_plain, _number),
}


def _or_word(
    word: str, write: Callable[[Any], str], read: Callable[[str], Any]
) -> tuple[Callable[[Any], str], Callable[[str], Any]]:
    """The same for a field that may also be a word."""
    return (
        lambda value: word if value == word else write(value),
        lambda text: word if text == word else read(text),
    )


def _form_field(group: tuple[str, ...], field: Setting) -> FormField:
    hint = _HINTS.get(field.name, field.about[0].upper() + field.about[1:])
    write: Callable[[Any], str] | None = None
    read: Callable[[str], Any] | None = None
    if field.kind == "whole" and not field.unit:
        write, read = str, _count
    elif field.kind != "flag":
        write, read = _QUANTITIES[field.unit]
    if field.zero and write is not None and read is not None:
        write, read = _or_word(field.zero, write, read)
    return FormField((*group, field.name), field.label, hint, write, read)


XCP = "xcp"
XCP_FIELDS = tuple(_form_field((XCP,), field) for field in settings.XCP.values())
_PORT = [_form_field((), field) for field in settings.PORT.values()]
PORT_FIELDS = tuple(sorted(_PORT, key=lambda field: field.write is None))  # quantities first
FIELDS = (*XCP_FIELDS, *PORT_FIELDS)
BY_NAME = {field.name: field for field in FIELDS}
_DEFAULTS = to_json(PortSettings(0, XcpSettings(0)))


def values(port: PortSettings) -> dict[str, Value]:
    """The texts of the form's fields; without XCP, those of XCP show its defaults."""
    document = to_json(port)
    has_xcp = document["xcp"] is not None
    shown: dict[str, Value] = {XCP: has_xcp}
    for field in FIELDS:
        value = _at(document if has_xcp or not _is_xcp(field) else _DEFAULTS, field.path)
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
        (patch.setdefault(XCP, {}) if _is_xcp(field) else patch)[field.path[-1]] = read
    return patch


def differences(before: PortSettings, after: PortSettings) -> list[tuple[str, str, str]]:
    """Label, old and new text of each field that differs."""
    old, new = values(before), values(after)
    found = []
    if old[XCP] != new[XCP]:
        found.append(("XCP", _shown(old[XCP]), _shown(new[XCP])))
    for field in FIELDS:
        then, now = old[field.name], new[field.name]
        if then != now and (not _is_xcp(field) or new[XCP]):
            found.append((field.label, _shown(then), _shown(now)))
    return found


def _read(field: FormField, text: str) -> Any:
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


def _is_xcp(field: FormField) -> bool:
    return field.path[0] == XCP


def _at(document: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = document
    for part in path:
        value = value[part]
    return value
