# SPDX-License-Identifier: Apache-2.0
"""Adding a switch, and removing one: for admins."""

from __future__ import annotations

import re
from typing import Any

from nicegui import ui

from clarion_control.dashboard import parts
from clarion_control.dashboard.port_row import switch_address
from clarion_control.dashboard.visit import Visit
from clarion_control.errors import ExistsError, FieldError
from clarion_control.model import Actor, Role
from clarion_p4rt.switch import TlsFiles

MAX_PORTS = 64
_RANGE = re.compile(r"(\d{1,4})(?:\s*-\s*(\d{1,4}))?")
_FIELDS = (
    ("name", "Name", "such as s1"),
    ("address", "Address", "HOST:PORT of its P4Runtime server; of another machine with TLS"),
    ("device_id", "Device id", "as the switch was given it"),
    ("ports", "Ports", "such as 1, 2, 5-8"),
)
_TLS = (
    ("tls.ca", "CA certificate", "path on the controller's machine"),
    ("tls.certificate", "Certificate", "path of a PEM file"),
    ("tls.key", "Key", "path of a PEM file, which may be the certificate's"),
)
FIELD_OF = {"tls": "tls.ca"}  # the input at which an error of a field is shown, where it has none of its own


def port_list(text: str) -> list[int]:
    """Parses a list of ports such as "1, 2, 5-8". FieldError for anything else."""
    ports: list[int] = []
    for part in filter(None, (each.strip() for each in text.split(","))):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise FieldError("ports", f"{part}: write numbers and ranges, such as 1, 2, 5-8")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last - first >= MAX_PORTS:
            raise FieldError("ports", f"{part}: write at most {MAX_PORTS} ports, the lower one first")
        ports.extend(range(first, last + 1))
    return ports


class AddSwitch:
    """The button and its dialog."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._inputs: dict[str, Any] = {}
        with ui.dialog() as self._dialog, ui.card().classes("dialog"):
            parts.text("Add a switch", "h2")
            with parts.block("form", "form").props("novalidate").on("submit.prevent", self._add):
                for field in _FIELDS:
                    self._input(*field)
                with parts.block("details"):
                    parts.text("Mutual TLS", "summary")
                    with parts.block(classes="form below"):
                        for field in _TLS:
                            self._input(*field)
                with parts.block(classes="buttons"):
                    with parts.block("button", "button primary").props('type="submit"'):
                        parts.text("Add")
                    parts.button("Cancel", self._dialog.close)
        self._inputs["device_id"].value = "1"
        parts.button("Add switch", self._dialog.open, "button", icon="add")

    def _input(self, name: str, label: str, hint: str) -> None:
        entry = ui.input(label).props(
            f'outlined dense stack-label bottom-slots hint="{hint}" name="{name}" autocomplete="off"'
        )
        self._inputs[name] = entry

    async def _add(self) -> None:
        for entry in self._inputs.values():
            entry.error = None
        given = {name: str(entry.value or "").strip() for name, entry in self._inputs.items()}

        async def add(actor: Actor) -> None:
            try:
                await self._visit.controller.switches.add(
                    actor,
                    name=given["name"],
                    address=given["address"],
                    device_id=_whole(given["device_id"]),
                    ports=port_list(given["ports"]),
                    tls=_tls(given),
                )
            except FieldError as error:
                self._inputs[FIELD_OF.get(error.field, error.field)].error = error.reason
                raise
            except ExistsError as error:
                self._inputs["name"].error = str(error)
                raise

        if await self._visit.act(Role.ADMIN, add, f"{given['name']}: added"):
            self._dialog.close()
            ui.navigate.to(switch_address(given["name"]))


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise FieldError("device_id", "use a whole number from 1")
    return int(text)


def _tls(given: dict[str, str]) -> TlsFiles | None:
    paths = [given[name] for name, _, _ in _TLS]
    return TlsFiles(*paths) if any(paths) else None


class RemoveSwitch:
    """The button and its confirmation dialog."""

    def __init__(self, visit: Visit, name: str) -> None:
        self._visit = visit
        self._name = name
        with ui.dialog() as dialog, ui.card().classes("dialog"):
            parts.text(f"Remove {name}?", "h2")
            parts.text(
                "The controller forgets it and what was desired of its ports. The switch itself stays as it"
                " is and forwards on.",
                "p",
            )
            with parts.block(classes="buttons"):
                parts.button("Remove", self._remove, "button danger")
                parts.button("Cancel", dialog.close)
        parts.button("Remove switch", dialog.open)

    async def _remove(self) -> None:
        async def remove(actor: Actor) -> None:
            await self._visit.controller.switches.remove(actor, self._name)

        if await self._visit.act(Role.ADMIN, remove, f"{self._name}: removed"):
            ui.navigate.to("/")
