# SPDX-License-Identifier: Apache-2.0
"""The form that edits a port: checks and messages as of REST; edits survive a concurrent change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nicegui import ui
from nicegui.element import Element

from clarion_contract.errors import SettingsError
from clarion_contract.settings import PortSettings
from clarion_contract.settings_json import checked, merged
from clarion_control.dashboard import parts, settings_edit
from clarion_control.dashboard.settings_edit import (
    BY_NAME,
    FIELDS,
    PORT_FIELDS,
    XCP,
    XCP_FIELDS,
    FieldProblem,
    FormField,
    Value,
)
from clarion_control.dashboard.visit import Visit
from clarion_control.errors import StaleVersionError
from clarion_control.model import Actor, DesiredPort, PortState, Role

_PAIRS = {"xcp.alpha": "xcp.beta", "xcp.min_interval_us": "xcp.max_interval_us"}  # side by side


class SettingsForm:
    """A card with all settings of a port, read-only for users without the right to change them."""

    def __init__(self, visit: Visit, name: str, state: PortState) -> None:
        self._visit = visit
        self._name, self._port = name, state.port
        self._base = self._desired(state)  # the settings that the edits are based on
        self._newer: DesiredPort | None = None  # a concurrent change since then
        self._inputs: dict[str, Any] = {}
        self._filling = False
        self._editable = visit.may(Role.OPERATOR)
        with parts.card("Settings") as box:
            box.props('id="settings"')
            self._state = parts.Badge("", "")
            self._notice = parts.block()
            with parts.block("form", "form").props("novalidate").on("submit.prevent", self._save):
                self._draw()
        self._state.move(box.default_slot.children[0])

    def _draw(self) -> None:
        # Values set after the page is drawn could reach the browser late and overwrite input.
        self._first = settings_edit.values(self._base.settings)
        with parts.block("fieldset"):
            self._switch(XCP, "XCP", "Explicit rate feedback for the traffic of this port")
            self._xcp = parts.block("fieldset")
            with self._xcp:
                self._fields(XCP_FIELDS)
        with parts.block("fieldset"):
            self._fields(PORT_FIELDS)
        self._xcp.set_visibility(bool(self._first[XCP]))
        self._problem = parts.text("", "p", "problem").props('role="alert"')
        self._problem.set_visibility(False)
        if self._editable:
            with parts.block(classes="buttons"):
                self._button = parts.block("button", "button primary").props('type="submit"')
                with self._button:
                    parts.text("Apply")
                with parts.block("button", "button").props('type="button"').on("click", self._discard):
                    parts.text("Discard edits")
        else:
            parts.text("Your role may only look; changes need the role operator.", "p", "hint")

    def _fields(self, fields: Iterable[FormField]) -> None:
        for field in fields:
            if field.write is None:
                self._switch(field.name, field.label, field.hint)
            elif field.name in _PAIRS:
                with parts.block(classes="pair"):
                    self._text(field)
                    self._text(BY_NAME[_PAIRS[field.name]])
            elif field.name not in _PAIRS.values():
                with parts.block():
                    self._text(field)

    def _text(self, field: FormField) -> None:
        name = field.name
        entry = ui.input(field.label, value=str(self._first[name]), on_change=self._edited).props(
            f'outlined dense stack-label bottom-slots hint="{field.hint}" name="{name}" autocomplete="off"'
        )
        entry.props(add="" if self._editable else "readonly")
        entry.without_auto_validation()  # it would clear the messages of our own checks
        self._inputs[name] = entry

    def _switch(self, name: str, label: str, hint: str) -> None:
        with parts.block():
            entry = ui.switch(label, value=bool(self._first[name]), on_change=self._edited).props(
                f'data-name="{name}"'
            )
            entry.props(add="" if self._editable else "disable")
            parts.text(hint, "p", "hint under-switch")
        self._inputs[name] = entry

    # From the store to the fields.

    def refresh(self, state: PortState) -> None:
        """Shows the present settings; unsaved edits stay."""
        if state.desired is None:
            self._state.show("not known yet", "")
        elif state.applied:
            self._state.show(f"applied · version {state.desired.version}", "good")
        else:
            self._state.show(f"version {state.desired.version} not applied yet", "warn")
        desired = self._desired(state)
        if desired.version != self._base.version and not self._is_edited():
            self._start_from(desired)
        elif desired.version != (self._newer or self._base).version:
            self._newer = desired
            self._tell_newer()

    def _desired(self, state: PortState) -> DesiredPort:
        """The desired settings; all off for a port that has none yet."""
        return state.desired or DesiredPort(PortSettings(state.port), 0, 0)

    def _start_from(self, desired: DesiredPort, keep: Mapping[str, Value] | None = None) -> None:
        self._base, self._newer = desired, None
        self._notice.clear()
        self._fill({**settings_edit.values(desired.settings), **(keep or {})})
        self._clear_problems()

    def _fill(self, entered: Mapping[str, Value]) -> None:
        self._filling = True
        for name, value in entered.items():
            self._inputs[name].value = value
        self._filling = False
        self._xcp.set_visibility(bool(entered[XCP]))

    # From the fields to the store.

    def _entered(self) -> dict[str, Value]:
        return {
            name: entry.value if isinstance(entry.value, bool) else (entry.value or "")
            for name, entry in self._inputs.items()
        }

    def _own_edits(self) -> dict[str, Value]:
        before = settings_edit.values(self._base.settings)
        return {name: value for name, value in self._entered().items() if value != before[name]}

    def _is_edited(self) -> bool:
        return bool(self._own_edits())

    def _edited(self) -> None:
        """Checks the input on each edit, without access to the store."""
        if self._filling:
            return
        self._xcp.set_visibility(bool(self._inputs[XCP].value))
        self._clear_problems()
        try:
            patch = settings_edit.changes(self._base.settings, self._entered())
            ports = self._visit.controller.switches.get(self._name).ports
            checked(self._name, ports, merged(self._name, self._base.settings, patch))
        except FieldProblem as problem:
            self._show_problem(problem.name, problem.reason)
        except SettingsError as error:
            self._show_settings_error(error)

    async def _save(self) -> None:
        self._clear_problems()
        base = self._base
        try:
            patch = settings_edit.changes(base.settings, self._entered())
        except FieldProblem as problem:
            self._show_problem(problem.name, problem.reason)
            return
        if not patch:
            self._say("Nothing was changed.")
            return

        async def change(actor: Actor) -> None:
            try:
                await self._visit.controller.ports.change(
                    actor, self._name, self._port, patch, if_version=base.version
                )
            except SettingsError as error:
                self._show_settings_error(error)
                raise
            except StaleVersionError:
                state = await self._visit.controller.ports.get(self._name, self._port)
                if state.desired is not None:
                    self._newer = state.desired
                    self._tell_newer()
                raise

        self._button.props(add="disabled")
        try:
            stored = await self._visit.act(Role.OPERATOR, change, f"{self._name} port {self._port}: applied")
        finally:
            self._button.props(remove="disabled")
        if stored:
            state = await self._visit.controller.ports.get(self._name, self._port)
            if state.desired is not None:
                self._start_from(state.desired)
                self.refresh(state)

    def _discard(self) -> None:
        self._start_from(self._newer or self._base)

    # Concurrent changes.

    def _tell_newer(self) -> None:
        """Shows a concurrent change, and offers to rebase the edits on it."""
        base, newer = self._base, self._newer
        if newer is None:
            return
        self._notice.clear()
        with self._notice, parts.block(classes="banner warn").props('role="alert"'):
            parts.text("Somebody else changed this port since you began:", "strong")
            with parts.block("ul"):
                for label, then, now in settings_edit.differences(base.settings, newer.settings):
                    parts.text(f"{label}: {then} → {now}", "li")
            with parts.block(classes="buttons"):
                self._choice("Keep my edits", self._rebase)
                self._choice("Take theirs", self._discard)

    def _choice(self, label: str, action: Any) -> None:
        button: Element = parts.block("button", "button small").props('type="button"').on("click", action)
        with button:
            parts.text(label)

    def _rebase(self) -> None:
        """Reapplies the edits to the newer settings; nothing is saved yet."""
        if self._newer is not None:
            self._start_from(self._newer, keep=self._own_edits())
            self._edited()

    # Problems.

    def _show_settings_error(self, error: SettingsError) -> None:
        for field in FIELDS:
            if field.path == error.fault.path:
                self._show_problem(field.name, error.fault.reason)
                return
        self._say(str(error))

    def _show_problem(self, name: str, reason: str) -> None:
        self._inputs[name].error = reason

    def _say(self, sentence: str) -> None:
        self._problem.text = sentence
        self._problem.set_visibility(True)

    def _clear_problems(self) -> None:
        self._problem.set_visibility(False)
        for name, entry in self._inputs.items():
            if name != XCP and BY_NAME[name].write is not None:
                entry.error = None
