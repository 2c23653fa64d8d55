# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI document is complete: a client can be written from it alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from clarion_control.api.app import document
from clarion_control.api.problems import MEDIA_TYPE, PROBLEMS

from .operations import ROLES

DOCUMENT: dict[str, Any] = document()
OPERATIONS = {
    (method.upper(), path): operation
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
}
SCHEMAS = DOCUMENT["components"]["schemas"]
EACH = pytest.mark.parametrize("key", OPERATIONS, ids=" ".join)


def contents(operation: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Place, media type and description of every body of an operation."""
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        yield "request", media_type, content
    for status, response in operation["responses"].items():
        for media_type, content in response.get("content", {}).items():
            yield status, media_type, content


def examples(content: dict[str, Any]) -> list[Any]:
    if "example" in content:
        return [content["example"]]
    return [each["value"] for each in content.get("examples", {}).values()]


def test_every_operation_is_in_the_table() -> None:
    assert OPERATIONS.keys() == ROLES.keys()


@EACH
def test_an_operation_says_what_it_is(key: tuple[str, str]) -> None:
    operation = OPERATIONS[key]
    for field in ("summary", "description", "operationId", "tags", "responses"):
        assert operation.get(field), f"no {field}"
    assert operation["summary"][0].isupper()
    assert not operation["summary"].endswith(".")
    assert operation["description"].strip().endswith(".")
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", operation["operationId"])
    assert set(operation["tags"]) <= {tag["name"] for tag in DOCUMENT["tags"]}


def test_operation_ids_are_unique() -> None:
    ids = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(set(ids)) == len(ids)


@EACH
def test_an_operation_says_who_may(key: tuple[str, str]) -> None:
    operation, role = OPERATIONS[key], ROLES[key]
    assert operation["x-clarion-role"] == ("none" if role is None else role.name.lower())
    assert operation["security"] == ([] if role is None else [{"bearer": []}])
    assert ("401" in operation["responses"]) is (role is not None)
    assert ("403" in operation["responses"]) is (role not in (None, ROLES["GET", "/v1/switches"]))


@EACH
def test_an_operation_says_how_it_fails(key: tuple[str, str]) -> None:
    operation = OPERATIONS[key]
    responses = operation["responses"]
    assert "429" in responses
    assert "Retry-After" in responses["429"]["headers"]
    assert "422" in responses
    if "requestBody" in operation:
        assert {"400", "413", "415"} <= responses.keys()
    assert any(status.startswith("2") for status in responses)
    for status, response in responses.items():
        assert response["description"].strip()
        if status[0] in "45" and key[1] != "/v1/health":
            assert list(response["content"]) == [MEDIA_TYPE]
    for segment, problem in (
        ("{switch}", "unknown-switch"),
        ("{port}", "unknown-port"),
        ("{id}", "unknown-"),
    ):
        if segment in key[1]:
            assert any(
                name.startswith(problem) for name in responses["404"]["content"][MEDIA_TYPE]["examples"]
            )


@EACH
def test_parameters_are_described_and_limited(key: tuple[str, str]) -> None:
    named = set(re.findall(r"\{(\w+)\}", key[1]))
    parameters = OPERATIONS[key].get("parameters", [])
    assert {each["name"] for each in parameters if each["in"] == "path"} == named
    for each in parameters:
        assert each["description"], each["name"]


@EACH
def test_every_body_has_a_schema_and_examples_that_fit(key: tuple[str, str]) -> None:
    for where, media_type, content in contents(OPERATIONS[key]):
        assert content.get("schema"), f"{where} {media_type}: no schema"
        shown = examples(content)
        assert shown, f"{where} {media_type}: no example"
        schema = {**content["schema"], "components": {"schemas": SCHEMAS}}
        for example in shown:
            Draft202012Validator(schema).validate(example)


@EACH
def test_writing_takes_a_body_of_a_stated_schema(key: tuple[str, str]) -> None:
    method, path = key
    without = path.endswith(("/resume", "/undo"))
    assert ("requestBody" in OPERATIONS[key]) is (method in ("PUT", "PATCH", "POST") and not without)
    if method == "PATCH":
        types = set(OPERATIONS[key]["requestBody"]["content"])
        assert types == {"application/json", "application/merge-patch+json"}


@pytest.mark.parametrize("name", SCHEMAS)
def test_objects_are_closed_and_every_field_is_described(name: str) -> None:
    schema = SCHEMAS[name]
    assert schema.get("description"), "not described"
    if schema.get("type") == "object" and name != "Problem":
        assert schema["additionalProperties"] is False
        for field, stated in schema["properties"].items():
            plain = "$ref" in stated or "$ref" in stated.get("items", {}) or "anyOf" in stated
            assert stated.get("description") or plain, f"{field} is not described"


def test_nothing_is_left_of_the_frameworks_own_errors() -> None:
    assert not {"HTTPValidationError", "ValidationError"} & SCHEMAS.keys()


def test_problem_types_in_the_document_are_those_of_the_table() -> None:
    assert SCHEMAS["Problem"]["properties"]["type"]["enum"] == [kind.uri for kind in PROBLEMS.values()]
