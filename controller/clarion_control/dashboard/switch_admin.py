# SPDX-License-Identifier: Apache-2.0
"""Adding, changing and removing a switch: for admins."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nicegui import ui

from clarion_control.dashboard import parts
from clarion_control.dashboard.port_row import switch_address
from clarion_control.dashboard.visit import Visit
from clarion_control.errors import ExistsError, FieldError
from clarion_control.model import Actor, Role
from clarion_p4rt.switch import Switch, TlsFiles

MAX_PORTS = 64
_RANGE = re.compile(r"(\d{1,4})(?:\s*-\s*(\d{1,4}))?")
_ADDRESS = ("address", "Address", "HOST:PORT of its P4Runtime server; of another machine with TLS")
_FIELDS = (
    ("name", "Name", "such as s1"),
    _ADDRESS,
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


class SwitchDialog:
    """A form about a switch in a dialog, with the files of TLS. Errors are shown at the fields they name."""

    def __init__(
        self,
        title: str,
        submit: str,
        save: Callable[[], Awaitable[None]],
        fields: Sequence[tuple[str, str, str]],
        values: Mapping[str, str],
    ) -> None:
        """`save` is called to submit, with `values` in the fields at first."""
        self._inputs: dict[str, Any] = {}
        with ui.dialog() as self._dialog, ui.card().classes("dialog"):
            parts.text(title, "h2")
            with parts.block("form", "form").props("novalidate").on("submit.prevent", save):
                for field in fields:
                    self._input(*field)
                with parts.block("details") as self._tls:
                    parts.text("Mutual TLS", "summary")
                    with parts.block(classes="form below"):
                        for field in _TLS:
                            self._input(*field)
                with parts.block(classes="buttons"):
                    with parts.block("button", "button primary").props('type="submit"'):
                        parts.text(submit)
                    parts.button("Cancel", self._dialog.close)
        for name, value in values.items():
            self._inputs[name].value = value

    def open(self) -> None:
        """Shows it."""
        self._dialog.open()

    def close(self) -> None:
        """Hides it."""
        self._dialog.close()

    def given(self) -> dict[str, str]:
        """What the fields hold. Errors of before go away."""
        for entry in self._inputs.values():
            entry.error = None
        return {name: str(entry.value or "").strip() for name, entry in self._inputs.items()}

    @contextlib.contextmanager
    def showing_errors(self) -> Iterator[None]:
        """Shows an error that is raised at its field, and raises it on."""
        try:
            yield
        except FieldError as error:
            if error.field.startswith("tls"):
                self._tls.props("open")
            self._inputs[FIELD_OF.get(error.field, error.field)].error = error.reason
            raise
        except ExistsError as error:
            self._inputs["name"].error = str(error)
            raise

    def _input(self, name: str, label: str, hint: str) -> None:
        entry = ui.input(label).props(
            f'outlined dense stack-label bottom-slots hint="{hint}" name="{name}" autocomplete="off"'
        )
        self._inputs[name] = entry


class AddSwitch:
    """The button and its dialog."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._form = SwitchDialog("Add a switch", "Add", self._add, _FIELDS, {"device_id": "1"})
        parts.button("Add switch", self._form.open, "button", icon="add")

    async def _add(self) -> None:
        given = self._form.given()

        async def add(actor: Actor) -> None:
            with self._form.showing_errors():
                await self._visit.controller.switches.add(
                    actor,
                    name=given["name"],
                    address=given["address"],
                    device_id=_whole(given["device_id"]),
                    ports=port_list(given["ports"]),
                    tls=_tls(given),
                )

        if await self._visit.act(Role.ADMIN, add, f"{given['name']}: added"):
            self._form.close()
            ui.navigate.to(switch_address(given["name"]))


class ChangeSwitch:
    """The button, and the dialog for how a switch is reached."""

    def __init__(self, visit: Visit, switch: Switch) -> None:
        self._visit = visit
        self._name = switch.name
        values = {"address": switch.address}
        if switch.tls is not None:
            paths = (switch.tls.ca, switch.tls.certificate, switch.tls.key)
            values |= {name: path for (name, _, _), path in zip(_TLS, paths, strict=True)}
        self._form = SwitchDialog(f"Change {switch.name}", "Change", self._change, [_ADDRESS], values)
        parts.button("Change", self._form.open)

    async def _change(self) -> None:
        given = self._form.given()

        async def change(actor: Actor) -> None:
            with self._form.showing_errors():
                switches = self._visit.controller.switches
                now = switches.get(self._name)
                await switches.change(actor, replace(now, address=given["address"], tls=_tls(given)))

        if await self._visit.act(Role.ADMIN, change, f"{self._name}: changed"):
            self._form.close()
            ui.navigate.reload()


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
