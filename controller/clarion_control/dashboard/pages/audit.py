# SPDX-License-Identifier: Apache-2.0
"""All audit records, with filters."""

from __future__ import annotations

from urllib.parse import urlencode

from clarion_control.dashboard import parts
from clarion_control.dashboard.audit_table import audit_table
from clarion_control.dashboard.dashboard import Dashboard
from clarion_control.dashboard.visit import Visit
from clarion_control.model import Role

PAGE = 50


def register(dashboard: Dashboard) -> None:
    """The page at /audit."""

    @dashboard.page("/audit", "/audit", "Audit")
    async def audit(visit: Visit) -> None:
        parts.heading("Audit")
        if not visit.may(Role.OPERATOR):
            with parts.card():
                parts.empty("The audit is for operators and admins.")
            return
        asked = visit.request.query_params
        filters = {name: asked[name] for name in ("switch", "actor") if asked.get(name)}
        before = asked.get("before", "")
        records = await visit.controller.records.audit(
            **filters, before_id=int(before) if before.isdecimal() else None, limit=PAGE
        )
        with parts.card():
            _filters(filters)
            audit_table(records)
            with parts.block(classes="buttons pager"):
                if before:
                    parts.link("Newest", _address(filters), "button small")
                if len(records) == PAGE:
                    older = _address(filters | {"before": str(records[-1].id)})
                    parts.link("Older", older, "button small")


def _filters(filters: dict[str, str]) -> None:
    with parts.block("form", "filters").props('method="get" action="/audit" role="search"'):
        for name, label in (("switch", "Switch"), ("actor", "Who")):
            with parts.block("label"):
                parts.text(label)
                entry = parts.block("input", "text-input").props(f'name="{name}" autocomplete="off"')
                entry.props["value"] = filters.get(name, "")
        with parts.block("button", "button").props('type="submit"'):
            parts.text("Filter")


def _address(query: dict[str, str]) -> str:
    return f"/audit?{urlencode(query)}" if query else "/audit"
