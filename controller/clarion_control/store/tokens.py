# SPDX-License-Identifier: Apache-2.0
"""Bearer tokens. The store has only their digests; a token is 256 random bits, so a plain hash is enough."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, func, select

from clarion_control.errors import ExistsError, FieldError, FullError, NotFoundError
from clarion_control.model import OIDC_PREFIX, Action, Actor, Role, Token
from clarion_control.store import audit
from clarion_control.store.clock import now_us
from clarion_control.store.schema import audit as audit_table
from clarion_control.store.schema import tokens

PREFIX = "clarion_"  # so that secret scanners and people recognise it
FORM = re.compile(r"clarion_[A-Za-z0-9_-]{43}")  # of every token: 256 bits in base64url
MAX_NAME = 64
MAX_VALID = 10_000  # controllers keep all valid ones in memory, some 5 MB
LIFE_S = 90 * 86_400  # of a token that is given no other
Expiry = int | Literal["default"] | None  # Unix time in us; the default is LIFE_S from now, None never

_CHANGES = (Action.TOKEN_CREATE.value, Action.TOKEN_REVOKE.value)


def create(
    connection: Connection, actor: Actor, name: str, role: Role, expires_us: Expiry = "default"
) -> tuple[Token, str]:
    """A new token and its text, which cannot be read again. FullError when MAX_VALID are valid; expired and
    revoked ones do not count.
    """
    check_name(name)
    if expires_us == "default":
        expires_us = now_us() + LIFE_S * 1_000_000
    if expires_us is not None and expires_us <= now_us():
        raise FieldError("expires_us", "must be in the future")
    if connection.execute(select(tokens.c.id).where(tokens.c.name == name)).first():
        raise ExistsError("token", name)
    if count_valid(connection) >= MAX_VALID:
        raise FullError("tokens", MAX_VALID, "revoke those that are not used any more")
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
    return int(connection.execute(select(func.count()).where(_is_valid())).scalar_one())


def valid(connection: Connection) -> tuple[int, list[tuple[str, Token]]]:
    """The id of the newest audit record, and the tokens that are valid now with their digests."""
    newest = audit.last_id(connection)  # read first: what is newer is found by `changed_since`
    rows = connection.execute(select(tokens).where(_is_valid()))
    return newest, [(row.digest, _token(row)) for row in rows]


def changed_since(connection: Connection, audit_id: int) -> tuple[int, bool]:
    """The id of the newest audit record, and whether tokens were made or revoked after `audit_id`.

    Both leave an audit record in their own transaction, so that the end of one index answers: where nothing
    happened that is one look at it, however many tokens and records there are.
    """
    newest = audit.last_id(connection)
    if newest <= audit_id:
        return newest, newest < audit_id  # fewer than before: another database was put in place
    columns = audit_table.c
    query = select(columns.id).where(columns.id > audit_id, columns.action.in_(_CHANGES)).limit(1)
    return newest, connection.execute(query).first() is not None


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


def used(connection: Connection, times_us: Mapping[int, int]) -> None:
    """Records when tokens were used last, by their number."""
    for token_id, time_us in times_us.items():
        connection.execute(tokens.update().where(tokens.c.id == token_id).values(last_used_us=time_us))


def digest(text: str) -> str:
    """The SHA-256 digest of a token, as stored."""
    return hashlib.sha256(text.encode()).hexdigest()


def _is_valid() -> ColumnElement[bool]:
    unexpired = (tokens.c.expires_us.is_(None)) | (tokens.c.expires_us > now_us())
    return tokens.c.revoked_us.is_(None) & unexpired


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
