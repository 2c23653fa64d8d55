# SPDX-License-Identifier: Apache-2.0
"""Authentication and authorisation: bearer tokens (RFC 6750) and their roles."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from clarion_control.api.context import ApiContext
from clarion_control.api.problems import Problem
from clarion_control.model import Actor, Role, Token

REALM = 'Bearer realm="clarion"'
MAX_TOKEN_CHARACTERS = 512


async def admit(api: ApiContext, request: Request, role: Role | None) -> None:
    """Lets the request on, or raises Problem; without a role it needs no token."""
    address = request.client.host if request.client else ""
    if role is None:
        api.limits.anonymous(address)
        return
    text = _bearer(request.headers.getlist("authorization"))
    token = await api.controller.tokens.authenticate(text) if text else None
    if token is None:
        if text is not None:
            api.limits.failed(address)
        else:
            api.limits.anonymous(address)
        raise _unauthenticated(text)
    api.limits.request(token.id)
    if token.role < role:
        needs = f"this needs the role {role.name.lower()}; token {token.name} is {token.role.name.lower()}"
        raise Problem("forbidden", needs)
    request.state.token = token


def _bearer(values: list[str]) -> str | None:
    """The token that came; "" for something that is none."""
    if not values:
        return None
    scheme, _, text = values[0].partition(" ")
    text = text.strip()
    fits = len(values) == 1 and scheme.lower() == "bearer" and text.isascii()
    return text if fits and len(text) <= MAX_TOKEN_CHARACTERS else ""


def _unauthenticated(text: str | None) -> Problem:
    if text is None:
        return Problem("unauthenticated", "no token was sent", headers={"WWW-Authenticate": REALM})
    challenge = f'{REALM}, error="invalid_token"'
    detail = "the token is not known, has expired or was revoked"
    return Problem("unauthenticated", detail, headers={"WWW-Authenticate": challenge})


async def _token(request: Request) -> Token:  # what is not async, FastAPI hands to a thread
    token: Token = request.state.token
    return token


async def _actor(request: Request) -> Actor:
    token: Token = request.state.token
    return Actor(token.name, token.role)


BearerToken = Annotated[Token, Depends(_token)]
Asker = Annotated[Actor, Depends(_actor)]
