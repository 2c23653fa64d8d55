# SPDX-License-Identifier: Apache-2.0
"""Who may come in: tokens of the store, remembered for a moment since every request asks."""

from __future__ import annotations

import time

from clarion_control.model import Actor, Role, Token
from clarion_control.store import Store, tokens
from clarion_control.store.clock import now_us

REMEMBERED_S = 2.0  # so long a token may be good that another process has revoked
MAX_REMEMBERED = 1000


class Access:
    """The tokens of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._remembered: dict[str, tuple[Token, float]] = {}
        self._used: dict[int, int] = {}

    async def create(
        self, actor: Actor, name: str, role: Role, expires_us: int | None = None
    ) -> tuple[Token, str]:
        """A new token and its text."""
        return await self._store.change(tokens.create, actor, name, role, expires_us)

    async def tokens(self) -> list[Token]:
        """All tokens."""
        return await self._store.read(tokens.listed)

    async def revoke(self, actor: Actor, token_id: int) -> Token:
        """Makes a token useless."""
        token = await self._store.change(tokens.revoke, actor, token_id)
        self._remembered.clear()
        return token

    async def authenticate(self, text: str) -> Token | None:
        """The valid token with this text."""
        if not text.startswith(tokens.PREFIX) or not text.isascii():
            return None
        digest = tokens.digest(text)
        now = time.monotonic()
        token, until = self._remembered.get(digest, (None, 0.0))
        if token is None or now >= until or _expired(token):
            token = await self._store.read(tokens.find, digest)
            if token is None:
                self._remembered.pop(digest, None)
                return None
            if len(self._remembered) >= MAX_REMEMBERED:
                self._remembered.clear()
            self._remembered[digest] = (token, now + REMEMBERED_S)
        last = max(self._used.get(token.id, 0), token.last_used_us or 0)
        if now_us() - last >= tokens.USE_RECORDED_EVERY_US:
            self._used[token.id] = now_us()
            await self._store.append(tokens.used, token.id)
        return token


def _expired(token: Token) -> bool:
    return token.expires_us is not None and token.expires_us <= now_us()
