# SPDX-License-Identifier: Apache-2.0
"""The tokens of users and programs, cached for a moment since every request checks one."""

from __future__ import annotations

import time

from clarion_control.model import Actor, Role, Token
from clarion_control.store import Store, tokens
from clarion_control.store.clock import now_us

CACHED_S = 2.0  # for so long a token may stay valid after another process has revoked it
MAX_CACHED = 1000


class Tokens:
    """The tokens of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cached: dict[str, tuple[Token, float]] = {}
        self._used: dict[int, int] = {}

    async def create(
        self, actor: Actor, name: str, role: Role, expires_us: int | None = None
    ) -> tuple[Token, str]:
        """A new token and its text, which cannot be read again."""
        return await self._store.change(tokens.create, actor, name, role, expires_us)

    async def all(self) -> list[Token]:
        """All tokens, also revoked ones."""
        return await self._store.read(tokens.listed)

    async def revoke(self, actor: Actor, token_id: int) -> Token:
        """Makes a token useless: here at once, with other controllers of the store within seconds."""
        token = await self._store.change(tokens.revoke, actor, token_id)
        self._cached.clear()
        return token

    async def authenticate(self, text: str) -> Token | None:
        """The valid token with this text."""
        if not text.startswith(tokens.PREFIX) or not text.isascii():
            return None
        digest = tokens.digest(text)
        now = time.monotonic()
        token, until = self._cached.get(digest, (None, 0.0))
        if token is None or now >= until or _expired(token):
            token = await self._store.read(tokens.find, digest)
            if token is None:
                self._cached.pop(digest, None)
                return None
            if len(self._cached) >= MAX_CACHED:
                self._cached.clear()
            self._cached[digest] = (token, now + CACHED_S)
        last = max(self._used.get(token.id, 0), token.last_used_us or 0)
        if now_us() - last >= tokens.USE_RECORDED_EVERY_US:
            self._used[token.id] = now_us()
            await self._store.append(tokens.used, token.id)
        return token


def _expired(token: Token) -> bool:
    return token.expires_us is not None and token.expires_us <= now_us()
