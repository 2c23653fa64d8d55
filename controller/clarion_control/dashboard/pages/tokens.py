# SPDX-License-Identifier: Apache-2.0
"""All tokens: making and revoking them."""

from __future__ import annotations

from functools import partial

from nicegui import ui

from clarion_control.dashboard import parts, quantities, token_list
from clarion_control.dashboard.dashboard import Dashboard
from clarion_control.dashboard.token_admin import NewToken, RevokeToken
from clarion_control.dashboard.visit import Visit
from clarion_control.model import Role, Token
from clarion_control.store.clock import now_us

COLUMNS = ("Name", "Role", "Created", "Last used", "Expires", "")
REFRESH_S = 5.0


def register(dashboard: Dashboard) -> None:
    """The page at /tokens."""

    @dashboard.page("/tokens", "/tokens", "Tokens")
    async def tokens(visit: Visit) -> None:
        if visit.may(Role.ADMIN):
            await TokensPage(visit).build()
            return
        parts.heading("Tokens")
        with parts.card():
            parts.empty("Tokens are for admins.")


class TokensPage:
    """The list and the form."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._shown: list[Token] | None = None

    async def build(self) -> None:
        """Draws the page and keeps it up to date."""
        parts.heading("Tokens")
        with parts.block(classes="stack"):
            with parts.card("New token", "Its text is shown once; the store keeps only a digest"):
                NewToken(self._visit, self.refresh)
            with parts.card("All tokens"):
                self._revoked = ui.switch("Revoked ones, too", on_change=self.refresh)
                self._table = parts.block()
        self._revoke = RevokeToken(self._visit, self.refresh)
        await self.refresh()
        ui.timer(REFRESH_S, self.refresh, immediate=False)

    async def refresh(self) -> None:
        """Draws the rows anew if any has changed."""
        found = token_list.listed(await self._visit.controller.tokens.all(), revoked=self._revoked.value)
        if found == self._shown:
            return
        self._shown = found
        self._table.clear()
        with self._table, parts.block("table", "table rows"):
            parts.head_row(*COLUMNS)
            with parts.block("tbody"):
                for token in found:
                    self._row(token)

    def _row(self, token: Token) -> None:
        with parts.block("tr").props(f'data-token="{token.id}"'):
            parts.cell_text("Name", "title", token.name)
            parts.cell_text("Role", content=parts.role_name(token.role))
            parts.cell_text("Created", "number", quantities.instant(token.created_us))
            parts.cell_text("Last used", "number", quantities.instant(token.last_used_us))
            with parts.cell("Expires"), parts.block(classes="badges"):
                never = token.expires_us is None
                parts.text("never" if never else quantities.instant(token.expires_us), classes="number")
                state = token_list.state(token, now_us())
                if state is not None:
                    parts.Badge(*state)
            with parts.cell(""):
                if token.revoked_us is None:
                    button = parts.button("Revoke", partial(self._revoke.ask, token), "button small")
                    button.props["aria-label"] = f"Revoke {token.name}"
