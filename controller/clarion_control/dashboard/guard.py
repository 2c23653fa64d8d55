# SPDX-License-Identifier: Apache-2.0
"""The rights of signed-in users, looked up each time."""

from __future__ import annotations

import time

from clarion_base.errors import UserError
from clarion_control.controller import Controller
from clarion_control.dashboard.sessions import Sessions
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
        """The valid token behind a session key, None if the browser has to sign in."""
        token_id = self.sessions.token_id(key, time.monotonic())
        return None if token_id is None else self._controller.tokens.by_id(token_id)

    async def actor(self, key: str | None) -> Actor | None:
        """The user behind a session key, None if the browser has to sign in."""
        token = self.token(key)
        return None if token is None else Actor(token.name, token.role)

    async def require(self, key: str | None, role: Role) -> Actor:
        """The user behind a session key, who must have a role; SignedOutError or ForbiddenError."""
        actor = await self.actor(key)
        if actor is None:
            raise SignedOutError
        if actor.role < role:
            raise ForbiddenError(role, actor.role)
        return actor
