# SPDX-License-Identifier: Apache-2.0
"""Audit records as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clarion_control.dashboard import parts, quantities
from clarion_control.dashboard.port_row import port_address
from clarion_control.model import AuditRecord, Origin

SHOWN = 4  # fields; the others on demand
SEPARATOR = " · "


def audit_table(records: Sequence[AuditRecord], *, place: bool = True) -> None:
    """Draws the records, the newest first; `place` adds a column for the switch."""
    if not records:
        parts.empty("Nothing has been changed yet.")
        return
    with parts.block("table", "table rows"):
        parts.head_row("Time", "Who", "What", *(("Where",) if place else ("Port",)), "Change")
        with parts.block("tbody"):
            for record in records:
                _row(record, place)


def _row(record: AuditRecord, place: bool) -> None:
    with parts.block("tr").props(f'data-audit="{record.id}"'):
        parts.cell_text("Time", "number", quantities.instant(record.time_us).removesuffix(" UTC"))
        with parts.cell("Who"), parts.block(classes="badges"):
            parts.text(record.actor)
            if record.origin is not Origin.MANUAL:
                parts.Badge(record.origin.value, plain=True)
        parts.cell_text("What", content=record.action)
        with parts.cell("Where" if place else "Port"):
            if record.switch is not None and record.port is not None:
                name = f"{record.switch} port {record.port}" if place else f"Port {record.port}"
                parts.link(name, port_address(record.switch, record.port))
            else:
                parts.text((record.switch or quantities.DASH) if place else quantities.DASH)
        with parts.cell("Change"), parts.block(classes="changes"):
            _changes(differences(record.before, record.after))
            if record.reason:
                parts.text(record.reason, "div", "hint")


def _changes(lines: Sequence[str]) -> None:
    if len(lines) <= SHOWN:
        parts.text(SEPARATOR.join(lines))
        return
    with parts.block("details", "more"):
        with parts.block("summary"):
            parts.text(SEPARATOR.join(lines[: SHOWN - 1]))
            parts.text(f" and {len(lines) - SHOWN + 1} more", classes="accent")
        parts.text(SEPARATOR.join(lines[SHOWN - 1 :]))


def differences(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> list[str]:
    """The changes of a record, one line for each field that differs."""
    old, new = _flat(before), _flat(after)
    lines = []
    for name in [*old, *(name for name in new if name not in old)]:
        if old.get(name) != new.get(name):
            label, then = quantities.named(name, old.get(name))
            now = quantities.named(name, new.get(name))[1]
            lines.append(f"{label}: {then} → {now}" if before is not None else f"{label}: {now}")
    return lines


def _flat(document: Mapping[str, Any] | None, prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in (document or {}).items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat
