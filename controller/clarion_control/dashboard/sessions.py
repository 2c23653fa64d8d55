# SPDX-License-Identifier: Apache-2.0
"""Signed-in sessions and failed attempts: state in memory, with the time as an argument.

A browser holds a random key in a signed cookie; the key stands for its holder. Of a token that is its id, and
the token's rights are looked up before anything is shown or changed, so that revoking it takes
effect at once. A person who signed in by OpenID Connect has the role of then, and for less time. After a
restart of the controller all users sign in again.
"""

from __future__ import annotations

import secrets
from collections import deque
from dataclasses import dataclass

from clarion_control.model import Actor
from clarion_control.sources import source

IDLE_S = 12 * 3600.0  # a page that is open counts as use
LONGEST_S = 7 * 86_400.0
PERSON_S = 8 * 3600.0  # then the provider says again who it is, and what groups they are in
MAX_SESSIONS = 10_000
LINK_S = 15 * 60.0


Holder = int | Actor  # the id of a token, or a person whom the OIDC provider knows


@dataclass
class _Session:
    holder: Holder
    began_s: float
    used_s: float


class Sessions:
    """Signed-in browsers by their key, and one-time codes that sign one in."""

    def __init__(self) -> None:
        self._sessions: dict[str, _Session] = {}
        self._codes: dict[str, tuple[int, float]] = {}

    def begin(self, holder: Holder, now_s: float) -> str:
        """Signs a browser in; its key."""
        self._forget(now_s)
        while len(self._sessions) >= MAX_SESSIONS:
            self._sessions.pop(min(self._sessions, key=lambda key: self._sessions[key].used_s))
        key = secrets.token_urlsafe(32)
        self._sessions[key] = _Session(holder, now_s, now_s)
        return key

    def holder(self, key: str | None, now_s: float) -> Holder | None:
        """Who signed in with the browser, None if it has to sign in."""
        session = self._sessions.get(key or "")
        if session is None:
            return None
        if _is_over(session, now_s):
            del self._sessions[key or ""]
            return None
        session.used_s = now_s
        return session.holder

    def end(self, key: str | None) -> None:
        """Signs the browser out."""
        self._sessions.pop(key or "", None)

    def code(self, token_id: int, now_s: float) -> str:
        """A code that signs one browser in, once, within the next quarter of an hour."""
        self._forget(now_s)
        code = secrets.token_urlsafe(24)
        self._codes[code] = (token_id, now_s + LINK_S)
        return code

    def redeem(self, code: str, now_s: float) -> int | None:
        """The token that the code stands for; the code is spent with it."""
        token_id, until_s = self._codes.pop(code, (None, 0.0))
        return token_id if now_s < until_s else None

    def _forget(self, now_s: float) -> None:
        for key in [key for key, session in self._sessions.items() if _is_over(session, now_s)]:
            del self._sessions[key]
        for code in [code for code, (_, until_s) in self._codes.items() if until_s <= now_s]:
            del self._codes[code]


def _is_over(session: _Session, now_s: float) -> bool:
    longest_s = PERSON_S if isinstance(session.holder, Actor) else LONGEST_S
    return now_s - session.used_s > IDLE_S or now_s - session.began_s > longest_s


class Attempts:
    """Failed sign-ins, limited per minute for each source; a source that fails slows down no other."""

    WINDOW_S = 60.0
    PER_SOURCE = 10
    SOURCES = 10_000

    def __init__(self) -> None:
        self._failures: dict[str, deque[float]] = {}

    def wait_s(self, address: str, now_s: float) -> float:
        """How long a source that fails again has to wait; 0 if it need not."""
        mine = self._failures.get(source(address))
        if mine is None or len(mine) < self.PER_SOURCE:
            return 0.0
        return max(0.0, mine[0] + self.WINDOW_S - now_s)

    def failed(self, address: str, now_s: float) -> None:
        """Counts an attempt that failed; of too many sources the one known longest is let off."""
        name = source(address)
        if name not in self._failures and len(self._failures) >= self.SOURCES:
            self._failures.pop(next(iter(self._failures)))
        self._failures.setdefault(name, deque(maxlen=self.PER_SOURCE)).append(now_s)
