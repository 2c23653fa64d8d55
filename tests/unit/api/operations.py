# SPDX-License-Identifier: Apache-2.0
"""All operations of the API with the roles that they need: written down by hand, from the documents."""

from __future__ import annotations

from clarion_control.model import Role

EVERYBODY = None
VIEWER = Role.VIEWER
OPERATOR = Role.OPERATOR
EXPERIMENTER = Role.EXPERIMENTER
ADMIN = Role.ADMIN

_PORT = "/v1/switches/{switch}/ports/{port}"

ROLES: dict[tuple[str, str], Role | None] = {
    ("GET", "/v1/health"): EVERYBODY,
    ("GET", "/v1/controllers"): VIEWER,
    ("GET", "/metrics"): VIEWER,
    ("GET", "/v1/switches"): VIEWER,
    ("POST", "/v1/switches"): ADMIN,
    ("GET", "/v1/switches/{switch}"): VIEWER,
    ("PATCH", "/v1/switches/{switch}"): ADMIN,
    ("DELETE", "/v1/switches/{switch}"): ADMIN,
    ("GET", "/v1/switches/{switch}/forwarding"): VIEWER,
    ("PUT", "/v1/switches/{switch}/forwarding"): OPERATOR,
    ("DELETE", "/v1/switches/{switch}/forwarding"): OPERATOR,
    ("GET", "/v1/switches/{switch}/ports"): VIEWER,
    ("GET", _PORT): VIEWER,
    ("PUT", _PORT): OPERATOR,
    ("PATCH", _PORT): OPERATOR,
    ("GET", "/v1/links"): VIEWER,
    ("GET", f"{_PORT}/telemetry"): VIEWER,
    ("GET", f"{_PORT}/telemetry/latest"): VIEWER,
    ("GET", f"{_PORT}/telemetry/summary"): VIEWER,
    ("GET", "/v1/switches/{switch}/drops"): VIEWER,
    ("GET", "/v1/telemetry/stream"): VIEWER,
    ("GET", "/v1/policies"): VIEWER,
    ("GET", f"{_PORT}/policies"): VIEWER,
    ("GET", f"{_PORT}/policies/{{policy}}"): VIEWER,
    ("PUT", f"{_PORT}/policies/{{policy}}"): OPERATOR,
    ("POST", f"{_PORT}/policies/{{policy}}/resume"): OPERATOR,
    ("GET", "/v1/decisions"): VIEWER,
    ("GET", "/v1/decisions/{id}"): VIEWER,
    ("POST", "/v1/decisions/{id}/undo"): OPERATOR,
    ("GET", "/v1/scenarios"): VIEWER,
    ("GET", "/v1/experiments"): VIEWER,
    ("POST", "/v1/experiments"): EXPERIMENTER,
    ("GET", "/v1/experiments/{id}"): VIEWER,
    ("DELETE", "/v1/experiments/{id}"): EXPERIMENTER,
    ("GET", "/v1/experiments/{id}/events"): VIEWER,
    ("GET", "/v1/experiments/{id}/files"): VIEWER,
    ("GET", "/v1/experiments/{id}/files/{path}"): VIEWER,
    ("POST", "/v1/runs"): OPERATOR,
    ("PUT", "/v1/runs/{id}/progress"): OPERATOR,
    ("PUT", "/v1/runs/{id}/result"): OPERATOR,
    ("GET", "/v1/audit"): OPERATOR,
    ("GET", "/v1/tokens"): ADMIN,
    ("POST", "/v1/tokens"): ADMIN,
    ("GET", "/v1/tokens/{id}"): ADMIN,
    ("DELETE", "/v1/tokens/{id}"): ADMIN,
}
