# SPDX-License-Identifier: Apache-2.0
"""Authentication and authorisation: bearer tokens (RFC 6750) and their roles."""

from __future__ import annotations

from typing import Annotated, NoReturn

from fastapi import Depends, Request

from clarion_control.api.context import ApiContext
from clarion_control.api.problems import Problem
from clarion_control.model import Action, Actor, Role, Token

REALM = 'Bearer realm="clarion"'
MAX_TOKEN_CHARACTERS = 512


async def admit(api: ApiContext, request: Request, role: Role | None) -> None:
    """Lets the request on, or raises Problem; without a role it needs no token.

    A token that is not valid costs its source one of few attempts before it costs the store anything.
    """
    address = request.client.host if request.client else ""
    if role is None:
        api.limits.anonymous(address)
        return
    text = _bearer(request.headers.getlist("authorization"))
    if text is None:
        api.limits.anonymous(address)
        raise _unauthenticated(text)
    token = api.controller.tokens.valid(text)
    if token is None:
        token = await _looked_up(api, text, address)
    api.limits.request(token.id)
    if token.role < role:
        _refuse(api, request, token, role, address)
    request.state.token = token


async def _looked_up(api: ApiContext, text: str, address: str) -> Token:
    token = None
    try:
        api.limits.failed(address)
        token = await api.controller.tokens.look_again(text)
    finally:
        if token is None:
            api.controller.access.note(Action.REQUEST_FAIL, address)
    if token is None:
        raise _unauthenticated(text)
    return token


def _refuse(api: ApiContext, request: Request, token: Token, role: Role, address: str) -> NoReturn:
    api.controller.access.note(
        Action.REQUEST_REFUSE,
        address,
        Actor(token.name, token.role),
        request=f"{request.method} {request.scope['route'].path}",
        needs=role.name.lower(),
    )
    needs = f"this needs the role {role.name.lower()}; token {token.name} is {token.role.name.lower()}"
    raise Problem("forbidden", needs)


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
