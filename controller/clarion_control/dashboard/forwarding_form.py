# SPDX-License-Identifier: Apache-2.0
"""The form that edits the forwarding of a switch; edits survive a concurrent change."""

from __future__ import annotations

from functools import partial

from nicegui import ui
from nicegui.element import Element

from clarion_contract.errors import SettingsError
from clarion_control.dashboard import forwarding_edit, parts
from clarion_control.dashboard.forwarding_edit import NOTHING, EntryProblem, Row
from clarion_control.dashboard.visit import Visit
from clarion_control.errors import StaleVersionError
from clarion_control.model import Actor, Role
from clarion_p4rt.switch import Forwarding, Switch

UNSET = (
    "Nothing is set: the switch forwards by entries of others, or learns by itself. "
    "What is applied here takes the place of that."
)


class _Inputs:
    """The inputs of one entry."""

    def __init__(self, form: ForwardingForm, row: Row) -> None:
        self.box = parts.block(classes="pair")
        with self.box:
            self.address = form.input("Ethernet address", row.address, "such as 02:00:00:00:00:01")
            with parts.block(classes="entry-port"):
                self.port = form.input("Port", row.port, "to which its frames go")
                button = parts.button("Remove", partial(form.remove, self), "button small")
                button.props["aria-label"] = "Remove this entry"

    @property
    def row(self) -> Row:
        return Row(str(self.address.value or "").strip(), str(self.port.value or "").strip())


class ForwardingForm:
    """A card with all entries of a switch."""

    def __init__(self, visit: Visit, switch: Switch, forwarding: Forwarding | None) -> None:
        self._visit = visit
        self._switch = switch
        self._entries: list[_Inputs] = []
        self._newer: tuple[Forwarding | None, int] | None = None  # a concurrent change since the base
        self._filling = False
        self._notice = parts.block()
        self._unset = parts.text(UNSET, "p")
        with parts.block("form", "form").props("novalidate").on("submit.prevent", self._save):
            self._rows = parts.block(classes="form")
            with parts.block(classes="buttons"):
                parts.button("Add entry", self._add, "button small", icon="add")
            self._flood = self.input("Ports for all other addresses", "", "such as 1, 2, 5-8; none: dropped")
            self._problem = parts.text("", "p", "problem").props('role="alert"')
            with parts.block(classes="buttons"):
                self._button: Element = parts.block("button", "button primary").props('type="submit"')
                with self._button:
                    parts.text("Apply")
                parts.button("Discard edits", self._discard)
                self._leave_dialog()
        self._start_from(forwarding, visit.controller.forwarding.version(switch.name))

    def input(self, label: str, value: str, hint: str) -> ui.input:
        """An input that is checked with all others on each edit."""
        entry = ui.input(label, value=value, on_change=self._edited).props(
            f'outlined dense stack-label bottom-slots hint="{hint}" autocomplete="off" spellcheck="false"'
        )
        return entry.without_auto_validation()

    def remove(self, entry: _Inputs) -> None:
        """Takes an entry out of the form."""
        self._entries.remove(entry)
        self._rows.remove(entry.box)
        self._edited()

    def _add(self) -> None:
        with self._rows:
            self._entries.append(_Inputs(self, Row()))
        self._entries[-1].address.run_method("focus")

    def _leave_dialog(self) -> None:
        with ui.dialog() as dialog, ui.card().classes("dialog"):
            parts.text(f"Leave the forwarding of {self._switch.name} alone?", "h2")
            parts.text("The controller stops managing it; the switch keeps the entries that it has.", "p")

            async def leave() -> None:
                dialog.close()
                await self._store(None, "left alone")

            with parts.block(classes="buttons"):
                parts.button("Leave it alone", leave, "button danger")
                parts.button("Cancel", dialog.close)
        self._leave = parts.button("Leave it alone", dialog.open)

    # From the store to the fields.

    async def refresh(self) -> None:
        """Shows the present table; unsaved edits stay."""
        forwarding, version = await self._present()
        if version == self._base_version:
            return
        if not self._is_edited():
            self._start_from(forwarding, version)
        elif self._newer is None or version != self._newer[1]:
            self._newer = forwarding, version
            self._tell_newer()

    async def _present(self) -> tuple[Forwarding | None, int]:
        service = self._visit.controller.forwarding
        return await service.get(self._switch.name), service.version(self._switch.name)

    def _start_from(self, base: Forwarding | None, version: int, show: Forwarding | None = None) -> None:
        self._base, self._base_version = base, version
        self._newer = None
        self._notice.clear()
        self._unset.set_visibility(base is None)
        self._leave.set_visibility(base is not None)
        self._filling = True
        self._rows.clear()
        with self._rows:
            shown = show or base or NOTHING
            self._entries = [_Inputs(self, row) for row in forwarding_edit.rows(shown)]
        self._flood.value = forwarding_edit.flood(shown)
        self._filling = False
        self._clear_problems()

    # From the fields to the store.

    def _entered(self) -> Forwarding:
        flooded = str(self._flood.value or "").strip()
        entered = [entry.row for entry in self._entries]
        return forwarding_edit.table(self._switch.name, self._switch.ports, entered, flooded)

    def _is_edited(self) -> bool:
        try:
            return bool(forwarding_edit.differences(self._base, self._entered()))
        except EntryProblem:
            return True

    def _edited(self) -> None:
        if self._filling:
            return
        self._clear_problems()
        try:
            self._entered()
        except EntryProblem as problem:
            self._show(problem)

    async def _save(self) -> None:
        self._clear_problems()
        try:
            entered = self._entered()
        except EntryProblem as problem:
            self._show(problem)
            return
        if self._base is None and entered == NOTHING:
            self._say("Give an entry, or ports for all other addresses: with neither all frames are dropped.")
            return
        if self._base is not None and not forwarding_edit.differences(self._base, entered):
            self._say("Nothing was changed.")
            return
        await self._store(entered, "applied")

    async def _store(self, forwarding: Forwarding | None, done: str) -> None:
        name, version = self._switch.name, self._base_version

        async def store(actor: Actor) -> None:
            try:
                await self._visit.controller.forwarding.set(actor, name, forwarding, if_version=version)
            except SettingsError as error:
                self._say(error.fault.reason)
                raise
            except StaleVersionError:
                self._newer = await self._present()
                self._tell_newer()
                raise

        self._button.props(add="disabled")
        try:
            stored = await self._visit.act(Role.OPERATOR, store, f"{name} forwarding: {done}")
        finally:
            self._button.props(remove="disabled")
        if stored:
            self._start_from(*await self._present())

    def _discard(self) -> None:
        self._start_from(*(self._newer or (self._base, self._base_version)))

    # Concurrent changes.

    def _tell_newer(self) -> None:
        assert self._newer is not None
        self._notice.clear()
        with self._notice, parts.block(classes="banner warn").props('role="alert"'):
            parts.text("Somebody else changed the forwarding since you began:", "strong")
            with parts.block("ul"):
                for line in forwarding_edit.differences(self._base, self._newer[0]):
                    parts.text(line, "li")
            with parts.block(classes="buttons"):
                parts.button("Keep my edits", self._rebase, "button small")
                parts.button("Take theirs", self._discard, "button small")

    def _rebase(self) -> None:
        """Puts the edits onto the newer table; nothing is saved yet."""
        if self._newer is None:
            return
        try:
            mine = self._entered()
        except EntryProblem as problem:
            self._show(problem)
            return
        theirs, version = self._newer
        rebased = forwarding_edit.rebased(self._base or NOTHING, mine, theirs or NOTHING)
        self._start_from(theirs, version, show=rebased)
        self._edited()

    # Problems.

    def _show(self, problem: EntryProblem) -> None:
        if problem.row is None:
            self._flood.error = problem.reason
        else:
            getattr(self._entries[problem.row], problem.field).error = problem.reason

    def _say(self, sentence: str) -> None:
        self._problem.text = sentence
        self._problem.set_visibility(True)

    def _clear_problems(self) -> None:
        self._problem.set_visibility(False)
        self._flood.error = None
        for entry in self._entries:
            entry.address.error = entry.port.error = None
