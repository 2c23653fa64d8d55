# SPDX-License-Identifier: Apache-2.0
"""The rights of signed-in users; those of tokens are looked up each time."""

from __future__ import annotations

import time

from clarion_base.errors import UserError
from clarion_control.controller import Controller
from clarion_control.dashboard.sessions import Holder, Sessions
from clarion_control.model import Actor, Role, Token

SESSION_KEY = "clarion"  # in the signed cookie


class SignedOutError(UserError):
    """The session is over, or its token was revoked or has expired."""

    def __init__(self) -> None:
        super().__init__("you are signed out: sign in again")


class ForbiddenError(UserError):
    """The token's role does not allow this."""

    def __init__(self, needed: Role, has: Role) -> None:
        super().__init__(f"this needs the role {needed.name.lower()}; yours is {has.name.lower()}")


class Guard:
    """Maps sessions of browsers to users."""

    def __init__(self, controller: Controller, sessions: Sessions) -> None:
        self._controller = controller
        self.sessions = sessions

    def token(self, key: str | None) -> Token | None:
        """The valid token behind a session key; None without one."""
        holder = self.sessions.holder(key, time.monotonic())
        return self._controller.tokens.by_id(holder) if isinstance(holder, int) else None

    async def actor(self, key: str | None) -> Actor | None:
        """The user behind a session key, None if the browser has to sign in."""
        holder = self.sessions.holder(key, time.monotonic())
        return self.actor_of(holder) if holder is not None else None

    def actor_of(self, holder: Holder) -> Actor | None:
        """The user that signed in; None if their token is not valid any more."""
        if isinstance(holder, Actor):
            return holder
        token = self._controller.tokens.by_id(holder)
        return None if token is None else Actor(token.name, token.role)

    async def require(self, key: str | None, role: Role) -> Actor:
        """The user behind a session key, who must have a role; SignedOutError or ForbiddenError."""
        actor = await self.actor(key)
        if actor is None:
            raise SignedOutError
        if actor.role < role:
            raise ForbiddenError(role, actor.role)
        return actor
