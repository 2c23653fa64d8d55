# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI document: what FastAPI makes of the operations, with problem documents and examples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter
from fastapi.openapi.utils import get_openapi

from clarion_control.api.operations import SCHEME, example
from clarion_control.api.problems import PROBLEMS

DESCRIPTION = """\
Switches, their ports' settings, telemetry, the tuner, experiments and the audit of a Clarion controller.

Every request but `/v1/health` carries a token: `Authorization: Bearer TOKEN`. A viewer reads; an operator
also changes ports, forwarding and policies, and reads the audit; an experimenter also runs scenarios on the
controller's machine; an admin also adds and removes switches and makes tokens. `x-clarion-role` names what an
operation needs. Times are Unix time in us, rates bit/s, sizes bytes. In a token's last two weeks answers
have the header `Clarion-Token-Expires`. What goes wrong is a problem document (RFC 9457); its `type` leads to
a page about it.
"""
TAGS = (
    ("health", "Whether the controller works, its figures for Prometheus, and who leads."),
    ("switches", "The switches that the controller manages."),
    ("ports", "Settings of ports: desired ones and those that the switch has confirmed."),
    ("links", "The topology: what the ports of all switches hear of each other."),
    ("telemetry", "What switches report."),
    ("tuner", "Policies that set ports by themselves, and their decisions."),
    ("experiments", "Runs of the scenarios that ship with Clarion."),
    ("records", "Audit and tokens."),
)
_PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "description": "A problem document (RFC 9457).",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "enum": [kind.uri for kind in PROBLEMS.values()]},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string", "description": "What is wrong, in one line."},
        "errors": {
            "type": "array",
            "description": "Each field that is wrong.",
            "items": {
                "type": "object",
                "required": ["detail"],
                "properties": {
                    "detail": {"type": "string"},
                    "pointer": {"type": "string", "description": "JSON pointer to a field of the body."},
                    "parameter": {"type": "string", "description": "Name of a parameter."},
                    "header": {"type": "string", "description": "Name of a header."},
                },
            },
        },
    },
    "examples": [example(PROBLEMS["invalid-settings"])],
}


def describe(version: str, routers: Iterable[APIRouter]) -> dict[str, Any]:
    """The document; making it takes a while."""
    document = get_openapi(
        title="Clarion controller",
        version=version,
        summary="Manages Clarion switches.",
        description=DESCRIPTION,
        routes=[route for router in routers for route in router.routes],
        tags=[{"name": name, "description": text} for name, text in TAGS],
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        servers=[{"url": "/"}],
    )
    components = document.setdefault("components", {})
    components["securitySchemes"] = {
        SCHEME: {"type": "http", "scheme": "bearer", "description": "A token made by `clarion token`."}
    }
    components.setdefault("schemas", {})["Problem"] = _PROBLEM
    for item in document["paths"].values():
        for operation in item.values():
            _add_examples(operation, components["schemas"])
    return document


def _add_examples(operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    holders = [operation.get("requestBody", {}), *operation["responses"].values()]
    for holder in holders:
        for content in holder.get("content", {}).values():
            if "example" not in content and "examples" not in content and content.get("schema"):
                content["example"] = sample(content["schema"], schemas)


def sample(schema: dict[str, Any], schemas: dict[str, Any]) -> Any:
    """A value that fits a schema, made of the examples of its fields."""
    if "$ref" in schema:
        return sample(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema:
        return sample(schema["anyOf"][0], schemas)
    if schema.get("type") == "object":
        return {name: sample(field, schemas) for name, field in schema.get("properties", {}).items()}
    if schema.get("type") == "array":
        items = schema.get("items")
        return [sample(items, schemas)] * schema.get("minItems", 1) if items else []
    plain = {"string": "text", "integer": 1, "number": 0.5, "boolean": True}
    return schema.get("default", plain.get(schema.get("type", "null")))
