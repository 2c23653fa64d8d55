# SPDX-License-Identifier: Apache-2.0
"""Scenario files as documents: reading YAML, `--set` overrides, and the points of a sweep."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from clarion_base.errors import UserError
from clarion_base.faults import ScenarioError
from clarion_base.paths import SCENARIOS
from clarion_lab.scenario.validation import first_fault, first_non_finite

Document = dict[str, Any]


@dataclass(frozen=True)
class Point:
    """One point of a sweep: its name, what it sets, and the whole document."""

    name: str
    settings: Mapping[str, Any]
    document: Document


class _Loader(yaml.SafeLoader):
    """Safe YAML that refuses a key given twice, which plain YAML silently lets win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise yaml.MarkedYAMLError(
                    problem="a key must be a plain value", problem_mark=key_node.start_mark
                )
            if key in seen:
                raise yaml.MarkedYAMLError(
                    problem=f'key "{key}" given twice', problem_mark=key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


# YAML 1.1 reads 1e-3 as text; it is meant as a number.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"),
    list("-+0123456789"),
)


def shipped() -> dict[str, Path]:
    """The scenarios that come with Clarion, by name; numbers in names count as numbers."""

    def natural(path: Path) -> list[tuple[int, str]]:
        return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", path.stem)]

    return {path.stem: path for path in sorted(SCENARIOS.glob("*.yaml"), key=natural)}


def locate(scenario: str) -> Path:
    """The file of a shipped name or of a path; UserError lists the names."""
    known = shipped()
    if scenario in known:
        return known[scenario]
    path = Path(scenario)
    if path.suffix in (".yaml", ".yml") or "/" in scenario:
        if path.is_file():
            return path
        raise UserError(f"scenario {scenario}: no such file")
    raise UserError(f"scenario {scenario}: unknown name; use {', '.join(known)} or a path to a .yaml file")


def read(path: Path) -> Document:
    """The document of a scenario file, not yet validated."""
    try:
        document = _parse(path.read_text())
    except _NotYamlError as error:
        raise ScenarioError(path.stem, (error.where,), f"not YAML: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(path.stem, (), f"cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise ScenarioError(path.stem, (), "must be a mapping of keys to values")
    return document


class _NotYamlError(Exception):
    """Text that is not YAML, with the place and in one line."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(" ".join(reason.split()))
        self.where = where


def _parse(text: str) -> Any:
    """The value that YAML text holds."""
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        raise _NotYamlError(f"line {mark.line + 1}" if mark else "file", reason) from error
    except (ValueError, OverflowError) as error:  # such as a date in month 13
        raise _NotYamlError("file", str(error)) from error
    except RecursionError as error:
        raise _NotYamlError("file", "nested too deeply") from error


def _parse_option(option: str, text: str, value: str) -> Any:
    try:
        return _parse(value)
    except _NotYamlError as error:
        raise UserError(f"{option} {text}: not YAML: {error}") from error


def parse_assignment(text: str, option: str = "--set") -> tuple[str, Any]:
    """`key=value` of an option, with the value read as YAML."""
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise UserError(f'{option} {text}: write key=value, such as links.bottleneck.rate="50 Mbit/s"')
    key = key.strip()
    if key.partition(".")[0] == "sweep":
        raise UserError(f"{option} {text}: give swept values as --sweep KEY=A,B,...")
    return key, _parse_option(option, text, value)


def parse_sweep(text: str) -> tuple[str, list[Any]]:
    """`key=a,b,c` with each value read as YAML."""
    key, sign, values = text.partition("=")
    if not sign or not key or not values:
        raise UserError(f"--sweep {text}: write key=value,value,...")
    return key.strip(), [_parse_option("--sweep", text, value) for value in values.split(",")]


def assign(name: str, document: Document, key: str, value: object) -> None:
    """Sets one field by its dotted name; list elements by number. Missing mappings on the way are made."""
    parts = key.split(".")
    here: Any = document
    for depth, part in enumerate(parts):
        last = depth == len(parts) - 1
        if isinstance(here, list):
            if not part.isdecimal() or int(part) >= len(here):
                raise ScenarioError(name, tuple(parts), f'"{part}": use a number from 0 to {len(here) - 1}')
            if last:
                here[int(part)] = value
            else:
                here = here[int(part)]
        elif isinstance(here, dict):
            if last:
                here[part] = value
            else:
                here = here.setdefault(part, {})
        else:
            above = ".".join(parts[:depth])
            reason = (
                f'"{part}": nothing lies under a plain value; set all of it, {above}={{{part}: VALUE, ...}}'
            )
            raise ScenarioError(name, tuple(parts), reason)


def check(name: str, document: Document) -> None:
    """Raises ScenarioError with the first fault against the schema."""
    try:
        fault = first_non_finite(document) or first_fault("scenario", document)
    except RecursionError as error:
        raise ScenarioError(name, (), "a YAML alias refers to itself") from error
    if fault:
        raise ScenarioError(name, fault.path, fault.reason, fault.code)


def points(name: str, document: Document, settings: Iterable[tuple[str, Any]] = ()) -> list[Point]:
    """The points of the document's sweep (their cartesian product, in order), or the document itself.

    Settings are applied first; one that names a swept key replaces that key's whole list.
    """
    base = copy.deepcopy(document)
    check(name, base)
    sweep: dict[str, list[Any]] = dict(base.pop("sweep", {}))
    for key, value in settings:
        sweep.pop(key, None)
        assign(name, base, key, value)
    check(name, base)
    if not sweep:
        return [Point("", {}, base)]
    _check_labels(name, sweep)
    made = []
    for values in itertools.product(*sweep.values()):
        chosen = dict(zip(sweep, values, strict=True))
        point = copy.deepcopy(base)
        for key, value in chosen.items():
            assign(name, point, key, value)
        check(name, point)
        made.append(Point("_".join(_label(value) for value in values), chosen, point))
    return made


def _check_labels(name: str, sweep: Mapping[str, list[Any]]) -> None:
    """Every point needs a directory name of its own, made of the labels of its values."""
    for key, values in sweep.items():
        labels = [_label(value) for value in values]
        for label, value in zip(labels, values, strict=True):
            if label in ("", ".", ".."):
                raise ScenarioError(name, ("sweep", key), f'"{value}": cannot name a directory of results')
            if labels.count(label) > 1:
                raise ScenarioError(name, ("sweep", key), f'"{value}" given twice')
    names = ["_".join(map(_label, values)) for values in itertools.product(*sweep.values())]
    if len(set(names)) < len(names):
        raise ScenarioError(name, ("sweep",), "two points have the same name; rename or leave out a value")


def _label(value: object) -> str:
    return f"{value}".replace(" ", "").replace("/", "p").replace("%", "pct")
