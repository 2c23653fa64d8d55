# SPDX-License-Identifier: Apache-2.0
"""Server-sent events: from an iterator of events to a response that ends when it should."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from fastapi import Request
from pydantic import BaseModel
from sse_starlette import EventSourceResponse, ServerSentEvent

from clarion_control.api.context import ApiContext, of
from clarion_control.model import Token


def sent(name: str, data: BaseModel, event_id: str | None = None) -> ServerSentEvent:
    """One event."""
    return ServerSentEvent(data.model_dump_json(), event=name, id=event_id)


def stream(
    request: Request,
    token: Token,
    events: AsyncIterator[ServerSentEvent],
    on_close: Callable[[], None] = lambda: None,
) -> EventSourceResponse:
    """The response; check the streams' limits before making `events`."""
    api = of(request)
    text = request.headers["authorization"].partition(" ")[2].strip()
    body = _guarded(api, token, text, events, on_close)
    return EventSourceResponse(body, ping=api.options.heartbeat_s, sep="\n")


async def _guarded(
    api: ApiContext,
    token: Token,
    text: str,
    events: AsyncIterator[ServerSentEvent],
    on_close: Callable[[], None],
) -> AsyncIterator[ServerSentEvent]:
    """The events until the server ends, or the token is not valid any more."""
    closing = asyncio.ensure_future(api.streams.closing.wait())
    step: asyncio.Future[ServerSentEvent] | None = None
    loop = asyncio.get_running_loop()
    check_at = loop.time() + api.options.heartbeat_s
    try:
        with api.streams.opened(token.id):
            while True:
                if step is None:
                    step = asyncio.ensure_future(anext(events))
                wait_s = max(0.0, check_at - loop.time())
                waited: set[asyncio.Future[Any]] = {step, closing}
                await asyncio.wait(waited, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
                if closing.done():
                    return
                if loop.time() >= check_at:
                    if api.controller.tokens.valid(text) is None:
                        return
                    check_at = loop.time() + api.options.heartbeat_s
                if step.done():
                    try:
                        made = step.result()
                    except StopAsyncIteration:
                        return
                    step = None
                    yield made
    finally:
        closing.cancel()
        if step is not None:
            step.cancel()
            with contextlib.suppress(asyncio.CancelledError, StopAsyncIteration):
                await step
        on_close()
