# SPDX-License-Identifier: Apache-2.0
"""Making a token, whose text is shown once, and revoking one: for admins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nicegui import ui

from clarion_control.dashboard import parts, token_list
from clarion_control.dashboard.visit import Visit, tell
from clarion_control.errors import ExistsError, FieldError
from clarion_control.model import Actor, Role, Token
from clarion_control.store.clock import now_us
from clarion_control.store.tokens import check_name

Refresh = Callable[[], Awaitable[None]]
_FIELDS = {"name": "name", "expires": "expires", "expires_us": "expires"}


class NewToken:
    """The form for a token, and its text when it was made."""

    def __init__(self, visit: Visit, refresh: Refresh) -> None:
        self._visit = visit
        self._refresh = refresh
        with parts.block("form", "form").props("novalidate").on("submit.prevent", self._create):
            with parts.block(classes="triple"):
                name = self._input("Name", "who or what uses it", "")
                self._role = ui.select(
                    {role.name: parts.role_name(role) for role in Role}, value=Role.VIEWER.name, label="Role"
                ).props("outlined dense stack-label")
                expires = self._input("Expires", "such as 12h or 90d, or never", token_list.USUAL)
            self._inputs = {"name": name, "expires": expires}
            with (
                parts.block(classes="buttons"),
                parts.block("button", "button primary").props('type="submit"'),
            ):
                parts.text("Create token")
        self._made = parts.block()

    def _input(self, label: str, hint: str, value: str) -> ui.input:
        entry = ui.input(label, value=value, on_change=self._edited).props(
            f'outlined dense stack-label bottom-slots hint="{hint}" autocomplete="off" spellcheck="false"'
        )
        return entry.without_auto_validation()

    def _given(self, name: str) -> str:
        return str(self._inputs[name].value or "").strip()

    def _edited(self) -> None:
        """Checks what is there on each edit, without the store."""
        for entry in self._inputs.values():
            entry.error = None
        try:
            if self._given("name"):
                check_name(self._given("name"))
            token_list.expiry_us(self._given("expires"), now_us())
        except FieldError as error:
            self._inputs[_FIELDS[error.field]].error = error.reason

    async def _create(self) -> None:
        made: list[tuple[Token, str]] = []
        name, role = self._given("name"), Role[str(self._role.value)]

        async def create(actor: Actor) -> None:
            try:
                expires_us = token_list.expiry_us(self._given("expires"), now_us())
                made.append(await self._visit.controller.tokens.create(actor, name, role, expires_us))
            except FieldError as error:
                self._inputs[_FIELDS[error.field]].error = error.reason
                raise
            except ExistsError as error:
                self._inputs["name"].error = str(error)
                raise

        if await self._visit.act(Role.ADMIN, create, f"{name}: created"):
            self._inputs["name"].value = ""
            self._edited()
            self._show(*made[0])
            await self._refresh()

    def _show(self, token: Token, text: str) -> None:
        def copy() -> None:
            ui.clipboard.write(text)
            tell("Copied, if the browser allows it; else select the text.", "info")

        def hide() -> None:
            self._made.clear()

        self._made.clear()
        with self._made, parts.block(classes="banner good").props('role="status"'):
            parts.text(f"The token of {token.name}. It is shown only now:", "p")
            parts.text(text, "code").props('id="new-token"').style("overflow-wrap: anywhere")
            with parts.block(classes="buttons"):
                parts.button("Copy", copy, "button small", icon="content_copy")
                parts.button("Done", hide, "button small")


class RevokeToken:
    """The confirmation dialog of a page."""

    def __init__(self, visit: Visit, refresh: Refresh) -> None:
        self._visit = visit
        self._refresh = refresh
        self._token: Token | None = None
        with ui.dialog() as self._dialog, ui.card().classes("dialog"):
            self._question = parts.text("", "h2")
            parts.text("Who uses it is refused from now on. This cannot be taken back.", "p")
            with parts.block(classes="buttons"):
                parts.button("Revoke", self._revoke, "button danger")
                parts.button("Cancel", self._dialog.close)

    def ask(self, token: Token) -> None:
        """Asks whether this one is meant."""
        self._token = token
        self._question.text = f"Revoke {token.name}?"
        self._dialog.open()

    async def _revoke(self) -> None:
        token = self._token
        assert token is not None

        async def revoke(actor: Actor) -> None:
            await self._visit.controller.tokens.revoke(actor, token.id)

        self._dialog.close()
        if await self._visit.act(Role.ADMIN, revoke, f"{token.name}: revoked"):
            await self._refresh()
