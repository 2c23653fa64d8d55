# SPDX-License-Identifier: Apache-2.0
"""Every operation under generated requests, right ones and wrong ones, with every role and without a token.

No answer is a 5xx, every answer fits the OpenAPI document, and no request is accepted beyond the rights of
its role. CLARION_FUZZ_EXAMPLES sets the number of examples; docs/rest.md has the command and its figures.
"""

from __future__ import annotations

import copy
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from sqlalchemy import Connection, select

from clarion_control.model import ACCESS, Role
from clarion_control.store import schema
from fakes.rest_server import Served, served

from .operations import ROLES

# The server's thread draws random pauses, which Hypothesis attributes to a strategy.
pytestmark = [
    pytest.mark.slow,  # together: a second for each operation of the API
    pytest.mark.filterwarnings("ignore:Do not use the .random. module inside strategies"),
]

EXAMPLES = int(os.environ.get("CLARION_FUZZ_EXAMPLES", "6"))
CHECKS = [
    negative_data_rejection,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]
STREAMS = {("GET", "/v1/telemetry/stream"), ("GET", "/v1/experiments/{id}/events")}
# Existing objects, so that requests get beyond "unknown".
THERE: dict[str, list[Any]] = {
    "switch": ["s1", "s2"],
    "port": [1, 2],
    "policy": ["capacity", "stability", "convergence", "noise"],
    "id": [1, 2, 3, 4],
    "path": ["summary.json", "iperf3/flow-1.json", "../../controller.db"],
}
STATE = [
    schema.switches, schema.desired_ports, schema.desired_forwarding, schema.policies, schema.decisions,
    schema.tokens, schema.experiments, schema.summaries, schema.audit,
]  # fmt: skip
COURSE = {
    "tokens": ("last_used_us",),
    "experiments": ("state", "started_us", "ended_us", "error", "files"),
}
asked: Counter[str] = Counter()
unreachable: Counter[str] = Counter()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("rest")) as made:
        with client(made) as http:
            settled = {"scenario": "smoke"}
            for _ in range(2):
                answer = http.post("/v1/experiments", json=settled, headers=bearer(made, Role.EXPERIMENTER))
                assert answer.status_code == 201
        yield made


def document(server: Served) -> dict[str, Any]:
    """The OpenAPI document without its security: the test supplies the tokens."""
    made = copy.deepcopy(server.rig.app.openapi())
    del made["components"]["securitySchemes"]
    for item in made["paths"].values():
        for operation in item.values():
            del operation["security"]
    return made


def client(server: Served) -> httpx.Client:
    return httpx.Client(base_url=server.url, timeout=60)


def bearer(server: Served, role: Role | None) -> dict[str, str]:
    return {} if role is None else {"Authorization": f"Bearer {server.rig.tokens[role]}"}


def send(http: httpx.Client, case: Case[Any], headers: dict[str, str]) -> httpx.Response | None:
    """One request; None if no HTTP client would send it."""
    arguments = case.as_transport_kwargs(base_url=str(http.base_url))
    arguments["headers"] = {**arguments.get("headers", {}), **headers}
    for name in ("verify", "allow_redirects", "stream"):
        arguments.pop(name, None)
    if "data" in arguments:
        arguments["content"] = arguments.pop("data")
    try:
        with http.stream(**arguments) as response:
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                response.read()
            return response
    except (httpx.InvalidURL, UnicodeError, TypeError, httpx.UnsupportedProtocol, httpx.LocalProtocolError):
        return None


@pytest.mark.parametrize("key", ROLES, ids=" ".join)
def test_requests_of_every_kind(server: Served, key: tuple[str, str]) -> None:
    """Each request goes out once without a token, then with each role."""
    method, path = key
    operation = schemathesis.openapi.from_dict(document(server))[path][method]

    @given(data=st.data())
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize="CLARION_FUZZ_EXAMPLES" not in os.environ,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(data: st.DataObject) -> None:
        case = drawn(data, operation, key)
        for role in (None, *Role):
            before = stored(server)
            response = send(http, case, bearer(server, role))
            if response is not None:
                asked[role.name if role else "no token"] += 1
                judge(case, response, key, role)
                if response.status_code in (401, 403):
                    assert stored(server) == before, "refused, but carried out"

    with client(server) as http:
        ask()


def stored(server: Served) -> dict[str, list[str]]:
    """All state that requests can change, except the progress of running experiments and the records of
    who was refused.
    """

    def rows(connection: Connection) -> dict[str, list[str]]:
        return {
            table.name: sorted(
                str(row)
                for row in connection.execute(
                    select(*(column for column in table.c if column.name not in COURSE.get(table.name, ())))
                    if table is not schema.audit
                    else select(table).where(table.c.action.not_in([action.value for action in ACCESS]))
                )
            )
            for table in STATE
        }

    return server.rig.store.read_now(rows)


def drawn(data: st.DataObject, operation: Any, key: tuple[str, str]) -> Case[Any]:
    """A request, valid or invalid by the document, mostly to an existing object."""
    method, path = key
    mode = data.draw(st.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE]))
    fixed = {
        name: data.draw(st.sampled_from(values))
        for name, values in THERE.items()
        if f"{{{name}}}" in path and data.draw(st.integers(0, 3))
    }
    case: Case[Any] = data.draw(operation.as_strategy(generation_mode=mode))
    case.path_parameters = {**(case.path_parameters or {}), **fixed}
    if method == "DELETE" and path in ("/v1/tokens/{id}", "/v1/switches/{switch}"):
        case.path_parameters = {"id": 10**9, "switch": "s9"}  # must not delete the test's own objects
    return case


def judge(case: Case[Any], response: httpx.Response, key: tuple[str, str], role: Role | None) -> None:
    """Check that the answer is allowed for this role."""
    needs = ROLES[key]
    if (case.path_parameters or {}).get("switch") not in THERE["switch"] and response.status_code == 503:
        # A switch that an earlier request has added: it is unreachable, and the answer says so.
        assert response.json()["type"] == "/problems/unreachable"
        unreachable[role.name if role else "no token"] += 1
        return
    assert response.status_code < 500, response.text
    if "\n" in unquote(str((case.path_parameters or {}).get("path", ""))):
        assert response.status_code == 404  # no route has a line break, so the role is not checked
        return
    if needs is not None and role is None:
        assert response.status_code in (401, 413), response.text
    elif needs is not None and role is not None and role < needs:
        assert response.status_code in (403, 413), response.text
    else:
        assert response.status_code not in (401, 403, 429), response.text
        if key not in STREAMS or response.status_code != 200:
            case.validate_response(response, checks=CHECKS)


def test_nothing_was_done_that_a_role_does_not_allow(server: Served) -> None:
    """The audit of all requests above shows no refused action."""
    done: set[tuple[str, str]] = set()
    with client(server) as http:
        page: str | None = "/v1/audit?limit=1000"
        while page:
            answer = http.get(page, headers=bearer(server, Role.ADMIN)).json()
            done |= {
                (record["actor"], record["action"])
                for record in answer["items"]
                if record["action"] not in {action.value for action in ACCESS}
            }
            page = answer["next"]
    assert {actor for actor, _ in done} <= {"ann", "controller", "operator", "experimenter", "admin"}
    admins = {action for action in {action for _, action in done} if action.startswith(("switch.", "token."))}
    assert not [
        action for actor, action in done if actor in ("operator", "experimenter") and action in admins
    ]
    runs = {"experiment.create", "experiment.stop"}
    assert not [action for actor, action in done if actor == "operator" and action in runs]
    print(f"requests: {dict(asked)}, of them 503 unreachable: {dict(unreachable)}")
