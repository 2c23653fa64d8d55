# SPDX-License-Identifier: Apache-2.0
"""The tokens of users and programs. All valid ones are in memory, where every request is checked."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import logging
import secrets

from clarion_base import tasks
from clarion_base.errors import UserError
from clarion_control.model import Actor, Role, Token
from clarion_control.store import Store, tokens
from clarion_control.store.clock import now_us
from clarion_control.store.tokens import Expiry

LOG = logging.getLogger(__name__)

REFRESH_S = 2.0  # for so long a token may stay valid after another process has revoked it
LOOK_AGAIN_S = 1.0  # between two looks at the store for tokens that are not known, of whomever they are
USE_RECORDED_EVERY_US = 60_000_000
DAY_US = 86_400_000_000
WARNING_US = 14 * DAY_US  # before a token expires


class Tokens:
    """The tokens of one store; `open` it, and `close` it.

    There are at most `tokens.MAX_VALID` valid ones, which the store sees to, so that all fit in memory and
    one that is not there is not valid.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._key = secrets.token_bytes(32)
        self._valid: dict[bytes, tuple[str, Token]] = {}
        self._by_id: dict[int, Token] = {}
        self._seen = -1  # the audit record up to which changes of tokens are known
        self._refreshing = asyncio.Lock()
        self._looked_s = -float("inf")
        self._recorded_us: dict[int, int] = {}  # by token: its last use that the store has or is to get
        self._used_us: dict[int, int] = {}  # those that it is to get
        self._warned_us = 0
        self._failing = False
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Reads the valid tokens, and begins to follow what other processes change."""
        await self._refresh()
        self._task = asyncio.create_task(self._follow(), name="tokens")

    async def close(self) -> None:
        """Ends, and records the last uses."""
        if self._task is not None:
            await tasks.end(self._task)
            with contextlib.suppress(UserError):
                await self._record_uses()

    async def create(
        self, actor: Actor, name: str, role: Role, expires_us: Expiry = "default"
    ) -> tuple[Token, str]:
        """A new token and its text, which cannot be read again; it expires after 90 days by default."""
        made = await self._store.change(tokens.create, actor, name, role, expires_us)
        await self._refresh()
        return made

    async def all(self) -> list[Token]:
        """All tokens, also revoked ones."""
        return await self._store.read(tokens.listed)

    async def revoke(self, actor: Actor, token_id: int) -> Token:
        """Makes a token useless: here at once, with other controllers of the store within seconds."""
        token = await self._store.change(tokens.revoke, actor, token_id)
        self._by_id.pop(token_id, None)
        self._valid = {index: each for index, each in self._valid.items() if each[1].id != token_id}
        await self._refresh()
        return token

    def valid(self, text: str) -> Token | None:
        """The valid token with this text, from memory.

        How long this takes says nothing of valid tokens. They are found by a hash with a key that only this
        process knows, so nobody can choose what to come close to; digests, not tokens, are compared, in
        constant time; and a digest does not lead back to its token of 256 random bits.
        """
        if not tokens.FORM.fullmatch(text):
            return None
        digest = tokens.digest(text)
        known, token = self._valid.get(self._index(digest), ("", None))
        if not hmac.compare_digest(known, digest) or token is None or not is_valid(token):
            return None
        self._note_use(token)
        return token

    async def look_again(self, text: str) -> Token | None:
        """`valid` for a token that is not known, which another process may have made a moment ago.

        The store is asked at most once in LOOK_AGAIN_S in all; the caller limits how often each source may.
        """
        now_s = asyncio.get_running_loop().time()
        if not tokens.FORM.fullmatch(text) or now_s < self._looked_s + LOOK_AGAIN_S:
            return None
        self._looked_s = now_s
        await self._refresh()
        return self.valid(text)

    def by_id(self, token_id: int) -> Token | None:
        """The valid token of this number, from memory."""
        token = self._by_id.get(token_id)
        return token if token is not None and is_valid(token) else None

    def next_expiry_us(self) -> int | None:
        """When the next token expires; None if none will."""
        now = now_us()
        times_us = (token.expires_us for token in self._by_id.values())
        return min((each for each in times_us if each is not None and each > now), default=None)

    def _index(self, digest: str) -> bytes:
        return hashlib.blake2b(digest.encode(), key=self._key, digest_size=16).digest()

    async def _refresh(self) -> None:
        """Reads the valid tokens if any was made or revoked since the last time."""
        async with self._refreshing:  # an answer that is older must not come after a newer one
            newest, changed = await self._store.read(tokens.changed_since, self._seen)
            if changed or self._seen < 0:
                newest, found = await self._store.read(tokens.valid)
                self._valid = {self._index(digest): (digest, token) for digest, token in found}
                self._by_id = {token.id: token for _, token in found}
                known = self._by_id.keys() & self._recorded_us.keys()
                self._recorded_us = {token_id: self._recorded_us[token_id] for token_id in known}
            self._seen = newest

    async def _follow(self) -> None:
        while True:
            self._warn()
            await asyncio.sleep(REFRESH_S)
            try:
                await self._refresh()
                await self._record_uses()
                self._failing = False
            except UserError as error:
                if not self._failing:
                    LOG.warning("tokens: %s; those known so far stay valid", error)
                self._failing = True

    def _note_use(self, token: Token) -> None:
        last_us = max(self._recorded_us.get(token.id, 0), token.last_used_us or 0)
        now = now_us()
        if now - last_us >= USE_RECORDED_EVERY_US:
            self._recorded_us[token.id] = self._used_us[token.id] = now

    async def _record_uses(self) -> None:
        used_us, self._used_us = self._used_us, {}
        if used_us:
            try:
                await self._store.append(tokens.used, used_us)
            except UserError:
                self._used_us = used_us | self._used_us
                raise

    def _warn(self) -> None:
        """Once a day, of tokens that expire soon."""
        if now_us() < self._warned_us + DAY_US:
            return
        self._warned_us = now_us()
        for token in self._by_id.values():
            if (left := expires_soon_us(token)) is not None:
                LOG.warning(
                    "token %s expires in %s; make the one that takes its place: clarion token create",
                    token.name,
                    days(left),
                )


def is_valid(token: Token) -> bool:
    """Whether it is neither revoked nor expired."""
    return token.revoked_us is None and (token.expires_us is None or token.expires_us > now_us())


def expires_soon_us(token: Token) -> int | None:
    """How long a valid token has left, if that is no more than two weeks."""
    if token.expires_us is None or not is_valid(token):
        return None
    left_us = token.expires_us - now_us()
    return left_us if left_us <= WARNING_US else None


def days(time_us: int) -> str:
    """A remaining time for people: 9 days, 5 hours."""
    unit, size_us = ("day", DAY_US) if time_us >= DAY_US else ("hour", DAY_US // 24)
    count = time_us // size_us
    return f"{count} {unit}{'' if count == 1 else 's'}"
