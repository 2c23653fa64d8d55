# SPDX-License-Identifier: Apache-2.0
"""Refuses bodies that are too large, whether they say so or not."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clarion_control.api.problems import Problem

PREFIX = "/v1"


class BodyLimit:
    """ASGI middleware for the API; what else lives on the same server looks after itself."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets the request on, or answers."""
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX):
            await self._app(scope, receive, send)
            return
        for name, value in scope["headers"]:
            if name == b"content-length" and (not value.isdigit() or int(value[:20]) > self._max_bytes):
                await self._too_large().response()(scope, receive, send)
                return
        received = 0

        async def limited() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._max_bytes:
                raise self._too_large()
            return message

        await self._app(scope, limited, send)

    def _too_large(self) -> Problem:
        # The rest of the body is not read, so the connection cannot be used again.
        detail = f"at most {self._max_bytes} bytes are taken"
        return Problem("body-too-large", detail, headers={"Connection": "close"})
