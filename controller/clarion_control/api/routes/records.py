# SPDX-License-Identifier: Apache-2.0
"""Audit and tokens."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response

from clarion_control.api.auth import Asker
from clarion_control.api.context import Api
from clarion_control.api.operations import LINK, LOCATION, operation, router
from clarion_control.api.pages import next_page
from clarion_control.api.schemas.base import LINE, PAGE_ITEMS, BeforeId, Limit, OfSwitch, RecordId
from clarion_control.api.schemas.records import Audit, AuditView, MadeToken, NewToken, Tokens, TokenView
from clarion_control.errors import NotFoundError
from clarion_control.model import Role

routes = router("records")

OfActor = Annotated[
    str | None,
    Query(description="Only those of this actor.", max_length=100, pattern=LINE, examples=["alice"]),
]


@routes.get(
    "/v1/audit",
    **operation(
        Role.OPERATOR,
        "list_audit",
        "All changes, sign-ins and refusals",
        headers=LINK,
        description="Newest first: who, when, from what, to what; and who came in, or did not.",
    ),
)
async def list_audit(
    request: Request,
    response: Response,
    api: Api,
    switch: OfSwitch = None,
    actor: OfActor = None,
    before_id: BeforeId = None,
    limit: Limit = PAGE_ITEMS,
) -> Audit:
    """A page of audit records from the store."""
    found = await api.controller.records.audit(switch=switch, actor=actor, before_id=before_id, limit=limit)
    items = [AuditView.of(each) for each in found]
    return Audit(items=items, next=next_page(request, response, [each.id for each in items], limit))


@routes.get(
    "/v1/tokens",
    **operation(Role.ADMIN, "list_tokens", "All tokens", description="Without their secrets."),
)
async def list_tokens(api: Api) -> Tokens:
    """All tokens, revoked ones included, without secrets."""
    return Tokens(items=[TokenView.of(token) for token in await api.controller.tokens.all()])


@routes.post(
    "/v1/tokens",
    **operation(
        Role.ADMIN,
        "create_token",
        "Make a token",
        "already-exists",
        "conflict",
        body=True,
        status=201,
        headers=LOCATION,
        description="The answer is the only place where its secret is ever shown.",
    ),
)
async def create_token(api: Api, actor: Asker, new: NewToken, response: Response) -> MadeToken:
    """Create a token; its text is only in this answer."""
    token, secret = await api.controller.tokens.create(actor, new.name, new.role_value, new.expiry)
    response.headers["Location"] = f"/v1/tokens/{token.id}"
    response.headers["Cache-Control"] = "no-store"
    return MadeToken(token=TokenView.of(token), secret=secret)


@routes.get(
    "/v1/tokens/{id}",
    **operation(Role.ADMIN, "get_token", "A token", "unknown-token", description="Without its secret."),
)
async def get_token(api: Api, id: RecordId) -> TokenView:
    """One token, without its secret."""
    for token in await api.controller.tokens.all():
        if token.id == id:
            return TokenView.of(token)
    raise NotFoundError("token", id)


@routes.delete(
    "/v1/tokens/{id}",
    **operation(
        Role.ADMIN,
        "revoke_token",
        "Revoke a token",
        "unknown-token",
        description="It is not valid any more; its record stays, for the audit.",
    ),
)
async def revoke_token(api: Api, actor: Asker, id: RecordId) -> TokenView:
    """Revoke a token; it stays in the list."""
    return TokenView.of(await api.controller.tokens.revoke(actor, id))
