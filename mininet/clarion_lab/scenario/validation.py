# SPDX-License-Identifier: Apache-2.0
"""JSON-schema validation that answers with the one field to mend, in words."""

from __future__ import annotations

import json
import math
import pathlib
from collections.abc import Iterable
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry, Resource

from clarion_base.faults import Code, Fault, Path
from clarion_base.units import UNITS

SCHEMAS = pathlib.Path(__file__).resolve().parent / "schema"


@cache
def validator(name: str) -> Draft202012Validator:
    """The validator of schema/NAME.schema.json."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    return Draft202012Validator(schema, registry=_schemas())


def _schemas() -> Registry[Any]:
    """All schemas, so that one can name another by its file."""
    files = SCHEMAS.glob("*.schema.json")
    contents = ((file.name, Resource.from_contents(json.loads(file.read_text()))) for file in files)
    return Registry[Any]().with_resources(contents)


def first_fault(name: str, document: object) -> Fault | None:
    """The first fault of `document` against schema NAME, or None if it is valid."""
    errors = sorted(
        validator(name).iter_errors(document), key=lambda error: (len(error.path), str(error.path))
    )
    return _described(errors[0]) if errors else None


def first_non_finite(document: object, path: Path = ()) -> Fault | None:
    """The first infinity or NaN, which the bounds of a schema do not refuse."""
    if isinstance(document, float) and not math.isfinite(document):
        return Fault(path, f"{document}: not a finite number")
    inner: Iterable[tuple[Any, object]] = ()
    if isinstance(document, dict):
        inner = document.items()
    elif isinstance(document, list):
        inner = enumerate(document)
    for key, value in inner:
        fault = first_non_finite(value, (*path, key))
        if fault:
            return fault
    return None


def _described(error: ValidationError) -> Fault:
    path = tuple(error.absolute_path)
    schema: dict[str, Any] = error.schema if isinstance(error.schema, dict) else {}
    value = error.instance
    if error.validator == "additionalProperties" and isinstance(value, dict):
        legal = schema.get("properties", {})
        unknown = next(str(key) for key in value if key not in legal)
        return Fault((*path, unknown), f"unknown key; use {', '.join(legal)}", Code.UNKNOWN)
    if error.validator == "required" and isinstance(value, dict):
        missing = next(str(key) for key in schema["required"] if key not in value)
        return Fault((*path, missing), "missing", Code.MISSING)
    if error.validator == "enum":
        legal = [choice for choice in schema["enum"] if choice is not False]  # which is YAML's "off"
        return Fault(path, f"{_shown(value)}: use {', '.join(map(str, legal))}", Code.UNKNOWN)
    if error.validator == "type":
        if "units" in schema and isinstance(value, (int, float)) and not isinstance(value, bool):
            return Fault(path, f"{_shown(value)}: missing unit; use {', '.join(UNITS[schema['units']])}")
        wanted = schema["type"]
        names = [_with_article(kind) for kind in (wanted if isinstance(wanted, list) else [wanted])]
        return Fault(path, f"{_shown(value)}: must be {' or '.join(names)}")
    if error.validator in ("minimum", "maximum", "exclusiveMinimum"):
        return Fault(path, f"{_shown(value)}: {_legal_range(schema)}", Code.OUT_OF_RANGE)
    if error.validator in ("minItems", "maxItems") and isinstance(value, list):
        return Fault(path, f"has {len(value)}: {_legal_length(schema)}", Code.OUT_OF_RANGE)
    if error.validator in ("minLength", "minProperties"):
        return Fault(path, "must not be empty")
    if error.validator == "anyOf":
        choices = [choice["required"][0] for choice in schema["anyOf"]]
        return Fault(path, f"give {' or '.join(choices)}")
    return Fault(path, error.message)


def _with_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _legal_range(schema: dict[str, Any]) -> str:
    if "exclusiveMinimum" in schema:
        low = f"must be above {schema['exclusiveMinimum']}"
        return f"{low} and at most {schema['maximum']}" if "maximum" in schema else low
    if "minimum" in schema and "maximum" in schema:
        return f"must lie from {schema['minimum']} to {schema['maximum']}"
    return (
        f"must be at least {schema['minimum']}"
        if "minimum" in schema
        else f"must be at most {schema['maximum']}"
    )


def _legal_length(schema: dict[str, Any]) -> str:
    low, high = schema.get("minItems", 0), schema.get("maxItems")
    if low == high:
        return f"give {low}"
    return f"give at least {low}" if high is None else f"give {low} to {high}"


def _shown(value: object) -> str:
    return (
        json.dumps(value)
        if isinstance(value, (str, int, float, bool)) or value is None
        else type(value).__name__
    )
