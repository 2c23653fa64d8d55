# SPDX-License-Identifier: Apache-2.0
"""Bearer tokens. The store has only their digests; a token is 256 random bits, so a plain hash is enough."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

from sqlalchemy import Connection, Row, func, select

from clarion_control.errors import ExistsError, FieldError, NotFoundError
from clarion_control.model import OIDC_PREFIX, Action, Actor, Role, Token
from clarion_control.store import audit
from clarion_control.store.clock import now_us
from clarion_control.store.schema import tokens

PREFIX = "clarion_"  # so that secret scanners and people recognise it
MAX_NAME = 64
USE_RECORDED_EVERY_US = 60_000_000


def create(
    connection: Connection, actor: Actor, name: str, role: Role, expires_us: int | None = None
) -> tuple[Token, str]:
    """A new token and its text, which cannot be read again."""
    check_name(name)
    if expires_us is not None and expires_us <= now_us():
        raise FieldError("expires_us", "must be in the future")
    if connection.execute(select(tokens.c.id).where(tokens.c.name == name)).first():
        raise ExistsError("token", name)
    text = PREFIX + secrets.token_urlsafe(32)
    values = {
        "name": name,
        "role": role.name.lower(),
        "digest": digest(text),
        "created_us": now_us(),
        "expires_us": expires_us,
    }
    token = _token(connection.execute(tokens.insert().values(values).returning(tokens)).one())
    after = {"id": token.id, "name": name, "role": role.name.lower(), "expires_us": expires_us}
    audit.record(connection, actor, Action.TOKEN_CREATE, after=after)
    return token, text


def check_name(name: str) -> None:
    """FieldError for a name that no token can have."""
    if not 1 <= len(name) <= MAX_NAME or not name.isprintable() or name != name.strip():
        raise FieldError("name", f"use 1 to {MAX_NAME} printable characters")
    if name.startswith(OIDC_PREFIX):
        raise FieldError("name", f"{OIDC_PREFIX} is for people who sign in by OpenID Connect; use another")


def listed(connection: Connection) -> list[Token]:
    """All tokens, also revoked ones, in the order of their creation."""
    return [_token(row) for row in connection.execute(select(tokens).order_by(tokens.c.id))]


def count_valid(connection: Connection) -> int:
    """The number of tokens that are valid now."""
    query = select(func.count()).where(tokens.c.revoked_us.is_(None)).select_from(tokens)
    unexpired = (tokens.c.expires_us.is_(None)) | (tokens.c.expires_us > now_us())
    return int(connection.execute(query.where(unexpired)).scalar_one())


def revoke(connection: Connection, actor: Actor, token_id: int) -> Token:
    """Revokes a token; no effect on a revoked one."""
    row = connection.execute(select(tokens).where(tokens.c.id == token_id)).first()
    if row is None:
        raise NotFoundError("token", token_id)
    if row.revoked_us is not None:
        return _token(row)
    # The name can be given again, to the token that takes this one's place.
    values = {"revoked_us": now_us(), "name": f"{row.name} (revoked {token_id})"}
    where = tokens.c.id == token_id
    row = connection.execute(tokens.update().where(where).values(values).returning(tokens)).one()
    audit.record(connection, actor, Action.TOKEN_REVOKE, before={"id": token_id, "name": row.name})
    return _token(row)


def find(connection: Connection, token_digest: str) -> Token | None:
    """The token with this digest that is valid now."""
    row = connection.execute(select(tokens).where(tokens.c.digest == token_digest)).first()
    if row is None or row.revoked_us is not None:
        return None
    return None if row.expires_us is not None and row.expires_us <= now_us() else _token(row)


def used(connection: Connection, token_id: int) -> None:
    """Records the time of a token's use."""
    connection.execute(tokens.update().where(tokens.c.id == token_id).values(last_used_us=now_us()))


def digest(text: str) -> str:
    """The SHA-256 digest of a token, as stored."""
    return hashlib.sha256(text.encode()).hexdigest()


def _token(row: Row[Any]) -> Token:
    return Token(
        id=row.id,
        name=row.name,
        role=Role[row.role.upper()],
        created_us=row.created_us,
        expires_us=row.expires_us,
        last_used_us=row.last_used_us,
        revoked_us=row.revoked_us,
    )
