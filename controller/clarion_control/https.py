# SPDX-License-Identifier: Apache-2.0
"""HTTPS of the controller: its certificate, which may be renewed while it serves."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator

from clarion_base import tasks
from clarion_base.tls import ReloadedPems

CERTIFICATE_CHECK_S = 2.0  # how soon a new certificate is used


@contextlib.asynccontextmanager
async def context(files: ReloadedPems | None) -> AsyncIterator[ssl.SSLContext | None]:
    """TLS with what the files hold at the time, for each connection that is accepted."""
    if files is None:
        yield None
        return
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    files.pems.load(made)
    renewing = asyncio.create_task(_renew(made, files), name="new certificates")
    try:
        yield made
    finally:
        await tasks.end(renewing)


async def _renew(context: ssl.SSLContext, files: ReloadedPems) -> None:
    while True:
        await asyncio.sleep(CERTIFICATE_CHECK_S)
        pems = files.newer()
        if pems is not None:
            pems.load(context)
